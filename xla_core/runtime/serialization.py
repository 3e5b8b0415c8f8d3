"""Serialized executables: a header that says what can read them, then the backend's own bytes. Never a pickle."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any

from xla_core.backend.compile_options import CompileOptions
from xla_core.backend.executable import Executable
from xla_core.backend.platform import Platform
from xla_core.backend.version import CONTRACT_VERSION, version_text
from xla_core.errors import FailedPreconditionError, InvalidArgumentError
from xla_core.hlo.element_type import ElementType
from xla_core.hlo.shape import Shape
from xla_core.runtime.signature import Signature

__all__ = ["MAGIC", "pack", "pack_dynamic", "unpack", "unpack_dynamic"]

MAGIC = b"XLACORE\x01"
_LENGTH = 8  # bytes of the header's length, little-endian
_FINGERPRINT = hashlib.sha256().digest_size


def pack(platform: Platform, backend_version: str, executable: Executable, options: CompileOptions) -> bytes:
    """Magic, fingerprint of all that follows, length of the header, header as JSON, payload."""
    header = {
        **_identity(platform, backend_version),
        "name": options.name or executable.module.name,
        "options": _dumped(options),
    }
    return _packed(header, executable.serialize())


def pack_dynamic(
    platform: Platform,
    backend_version: str,
    name: str,
    options: CompileOptions,
    source: str | bytes,
    compiled: Sequence[tuple[Signature, bytes]],
) -> bytes:
    """As `pack`, of a program whose sizes its arguments decide: StableHLO, text or bytecode, then what is compiled of
    it, each part itself packed.
    """
    program = source.encode() if isinstance(source, str) else source
    parts = [
        {"shapes": [_shape_data(s) for s in signature.shapes], "values": signature.values, "bytes": len(data)}
        for signature, data in compiled
    ]
    header = {
        **_identity(platform, backend_version),
        "name": name,
        "options": _dumped(options),
        "program": {"text": isinstance(source, str), "bytes": len(program)},
        "compiled": parts,
    }
    return _packed(header, b"".join([program, *(data for _, data in compiled)]))


def unpack_dynamic(header: dict[str, Any], payload: bytes) -> tuple[str | bytes, list[tuple[Signature, bytes]]] | None:
    """Source and compiled parts of what `pack_dynamic` made; None for what `pack` made."""
    if "program" not in header:
        return None
    start = header["program"]["bytes"]
    program = payload[:start]
    compiled = []
    for part in header["compiled"]:
        shapes = tuple(Shape(ElementType(name), tuple(sizes)) for name, sizes in part["shapes"])
        values = tuple((number, _as_tuples(value)) for number, value in part["values"])
        compiled.append((Signature(shapes, values), payload[start : start + part["bytes"]]))
        start += part["bytes"]
    return (program.decode() if header["program"]["text"] else program), compiled


def _shape_data(shape: Shape) -> tuple[str, tuple[int, ...]]:
    return shape.element_type.value, shape.dimensions


def _as_tuples(value: Any) -> Any:
    return tuple(map(_as_tuples, value)) if isinstance(value, list) else value


def _packed(header: dict[str, Any], payload: bytes) -> bytes:
    text = json.dumps(header, sort_keys=True).encode()
    rest = len(text).to_bytes(_LENGTH, "little") + text + payload
    return MAGIC + hashlib.sha256(rest).digest() + rest


def _dumped(options: CompileOptions) -> dict[str, Any]:
    try:
        return options.model_dump(mode="json")
    except ValueError as error:  # pydantic's own kind of it
        raise InvalidArgumentError(
            f"the options of this executable cannot be written as JSON: {error}",
            hint="a backend's options must be numbers, text, and lists and mappings of them",
        ) from error


def unpack(data: bytes, platform: Platform, backend_version: str) -> tuple[dict[str, Any], bytes]:
    """Header and payload of what `pack` made for this platform.

    Raises InvalidArgumentError for other or damaged bytes, FailedPreconditionError for an executable of another
    backend, version or target: each thing that differs is named.
    """
    if not data.startswith(MAGIC):
        raise InvalidArgumentError("these bytes are not a serialized executable", hint="pass what serialize() returned")
    fingerprint, rest = data[len(MAGIC) : len(MAGIC) + _FINGERPRINT], data[len(MAGIC) + _FINGERPRINT :]
    if hashlib.sha256(rest).digest() != fingerprint:
        raise InvalidArgumentError("this serialized executable is damaged or cut off: its fingerprint is wrong")
    end = _LENGTH + int.from_bytes(rest[:_LENGTH], "little")
    header: dict[str, Any] = json.loads(rest[_LENGTH:end])
    differences = [
        f"{what} is {header.get(what)!r}, here it is {here!r}"
        for what, here in _identity(platform, backend_version).items()
        if header.get(what) != here
    ]
    if differences:
        raise FailedPreconditionError(
            "this serialized executable was made for something else: " + "; ".join(differences),
            hint="compile the program again here",
        )
    return header, rest[end:]


def _identity(platform: Platform, backend_version: str) -> dict[str, str]:
    compiler = platform.compiler
    return {
        "contract": version_text((CONTRACT_VERSION[0], 0)),
        "platform": platform.name,
        "backend_version": backend_version,
        "target": compiler.target_config.fingerprint(),
        "compiler": compiler.fingerprint(),
    }
