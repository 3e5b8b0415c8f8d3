"""Serialized executables: a header that says which backend can read them, then the backend's own bytes.

They contain native code, so only trusted bytes may be loaded: the fingerprint that `unpack` checks detects damage, but
doesn't tell who made the bytes.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any

from pydantic import NonNegativeInt

from xla_core.backend.executable import Executable
from xla_core.backend.version import CONTRACT_VERSION, version_text
from xla_core.checked_model import CheckedModel
from xla_core.compile_options import CompileOptions
from xla_core.errors import FailedPreconditionError, InvalidArgumentError
from xla_core.hlo.values.element_type import ElementType
from xla_core.hlo.values.shape import Shape
from xla_core.package_version import __version__
from xla_core.runtime.device import DeviceSet
from xla_core.runtime.programs.program import EXECUTABLE_MAGIC
from xla_core.runtime.programs.signature import Signature

_LENGTH = 8  # bytes of the header's length, little-endian
_HINT = "pass what serialize() returned"
_FINGERPRINT = hashlib.sha256().digest_size


class Part(CheckedModel):
    """One compilation of a program with dynamic shapes: its signature, and the length of its bytes."""

    shapes: tuple[tuple[ElementType, tuple[NonNegativeInt, ...]], ...]
    values: tuple[tuple[int, Any], ...]
    bytes: NonNegativeInt

    @property
    def signature(self) -> Signature:
        shapes = tuple(Shape(element_type, sizes) for element_type, sizes in self.shapes)
        return Signature(shapes, tuple((number, _as_tuples(value)) for number, value in self.values))


class Program(CheckedModel):
    """The source of a program with dynamic shapes: whether it is text or bytecode, and its length in bytes."""

    text: bool
    bytes: NonNegativeInt


class Header(CheckedModel):
    """The header of an executable's bytes, as JSON. The first six fields say which backend can read the rest."""

    contract: str
    xla_core: str
    platform: str
    backend_version: str
    target: str
    compiler: str
    name: str
    options: CompileOptions
    program: Program | None = None
    compiled: tuple[Part, ...] = ()


def pack(devices: DeviceSet, executable: Executable, options: CompileOptions) -> bytes:
    """Serializes an executable: magic, fingerprint of the rest, length of the header, header as JSON, payload."""
    name = options.name or executable.module.name
    return _packed(Header(**_identity(devices), name=name, options=options), executable.serialize())


def fingerprint(devices: DeviceSet, executable: Executable) -> str:
    """Returns a digest of the backend that can run an executable and of the executable's own fingerprint."""
    identity = json.dumps(_identity(devices), sort_keys=True)
    return hashlib.sha256(f"{identity}\n{executable.fingerprint()}".encode()).hexdigest()


def pack_dynamic(
    devices: DeviceSet,
    name: str,
    options: CompileOptions,
    source: str | bytes,
    compiled: Sequence[tuple[Signature, bytes]],
) -> bytes:
    """Serializes a program with dynamic shapes like `pack`.

    The payload is the program's source, and then its compilations, each made by `pack`.
    """
    program = source.encode() if isinstance(source, str) else source
    header = Header(
        **_identity(devices),
        name=name,
        options=options,
        program=Program(text=isinstance(source, str), bytes=len(program)),
        compiled=tuple(
            Part(
                shapes=tuple((s.element_type, s.dimensions) for s in signature.shapes),
                values=signature.values,
                bytes=len(data),
            )
            for signature, data in compiled
        ),
    )
    return _packed(header, b"".join([program, *(data for _, data in compiled)]))


def unpack_dynamic(header: Header, payload: bytes) -> tuple[str | bytes, list[tuple[Signature, bytes]]] | None:
    """Splits a payload of `pack_dynamic` into source and compilations; returns None for a payload of `pack`.

    Raises:
        InvalidArgumentError: for a malformed payload.
    """
    if header.program is None:
        return None
    if len(payload) != header.program.bytes + sum(part.bytes for part in header.compiled):
        raise _malformed("its parts are not as long as it says")
    start = header.program.bytes
    program = payload[:start]
    compiled = []
    for part in header.compiled:
        compiled.append((part.signature, payload[start : start + part.bytes]))
        start += part.bytes
    try:
        return (program.decode() if header.program.text else program), compiled
    except UnicodeDecodeError as error:
        raise _malformed(f"its program is no text: {error}") from None


def _as_tuples(value: Any) -> Any:
    return tuple(map(_as_tuples, value)) if isinstance(value, list) else value


def _packed(header: Header, payload: bytes) -> bytes:
    try:
        values = header.model_dump(mode="json", exclude_defaults=True, exclude={"options"})
        values["options"] = header.options.model_dump(mode="json")
    except ValueError as error:  # pydantic raises a subclass of it
        raise InvalidArgumentError(
            f"the options of this executable cannot be written as JSON: {error}",
            hint="a backend's options must be numbers, text, and lists and mappings of them",
        ) from error
    text = json.dumps(values, sort_keys=True).encode()
    rest = len(text).to_bytes(_LENGTH, "little") + text + payload
    return EXECUTABLE_MAGIC + hashlib.sha256(rest).digest() + rest


def unpack(data: bytes, devices: DeviceSet) -> tuple[Header, bytes]:
    """Checks bytes made by `pack` or `pack_dynamic` for this platform, and returns their header and payload.

    Raises:
        InvalidArgumentError: for other or damaged bytes.
        FailedPreconditionError: for an executable of another backend, version or target, with all differences.
    """
    if not isinstance(data, (bytes, bytearray, memoryview)):
        raise InvalidArgumentError(f"{type(data).__name__} is not a serialized executable", hint=_HINT)
    data = bytes(data)
    if not data.startswith(EXECUTABLE_MAGIC):
        raise InvalidArgumentError("these bytes are not a serialized executable", hint=_HINT)
    start = len(EXECUTABLE_MAGIC) + _FINGERPRINT
    digest, rest = data[len(EXECUTABLE_MAGIC) : start], data[start:]
    if hashlib.sha256(rest).digest() != digest:
        raise InvalidArgumentError("this serialized executable is damaged or cut off: its fingerprint is wrong")
    end = _LENGTH + int.from_bytes(rest[:_LENGTH], "little")
    try:
        values = json.loads(rest[_LENGTH:end])
    except (ValueError, RecursionError) as error:
        raise _malformed(f"its header is not JSON: {error}") from None
    if not isinstance(values, dict):
        raise _malformed(f"its header is a {type(values).__name__}")
    differences = [
        f"{what} is {values.get(what)!r}, here it is {here!r}"
        for what, here in _identity(devices).items()
        if values.get(what) != here
    ]
    if differences:
        raise FailedPreconditionError(
            "this serialized executable was made for something else: " + "; ".join(differences),
            hint="compile the program again here",
        )
    try:
        return Header(**values), rest[end:]
    except InvalidArgumentError as error:
        raise _malformed(error.message) from None


def _malformed(why: str) -> InvalidArgumentError:
    return InvalidArgumentError(f"this serialized executable is malformed: {why}", hint=_HINT)


def _identity(devices: DeviceSet) -> dict[str, Any]:
    compiler = devices.platform.compiler
    return {
        "contract": version_text((CONTRACT_VERSION[0], 0)),
        "xla_core": __version__,  # the core assigns the buffers again when it loads the executable
        "platform": devices.platform.name,
        "backend_version": devices.backend_version,
        "target": compiler.target_config.fingerprint(),
        "compiler": compiler.fingerprint(),
    }
