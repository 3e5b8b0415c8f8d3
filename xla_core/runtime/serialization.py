"""Serialized executables: a header that says what can read them, then the backend's own bytes. Never a pickle."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from xla_core.backend.compile_options import CompileOptions
from xla_core.backend.executable import Executable
from xla_core.backend.platform import Platform
from xla_core.backend.version import CONTRACT_VERSION, version_text
from xla_core.errors import FailedPreconditionError, InvalidArgumentError

__all__ = ["MAGIC", "pack", "unpack"]

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
    text = json.dumps(header, sort_keys=True).encode()
    rest = len(text).to_bytes(_LENGTH, "little") + text + executable.serialize()
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
