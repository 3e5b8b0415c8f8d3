"""Any program that a caller may have, as an HloModule of their own."""

from __future__ import annotations

import re
from typing import Any

from xla_core import profiler
from xla_core.errors import InvalidArgumentError, XlaError
from xla_core.hlo.module import HloModule

__all__ = ["is_hlo_text", "module_name", "parse", "stablehlo_source"]

_BYTECODE_MAGIC = b"ML\xefR"
_NO_NAME = re.compile(r"[^A-Za-z0-9_.\-]")
_HLO_TEXT = re.compile(r"(?:\s|//[^\n]*\n|/\*.*?\*/)*HloModule\b", re.DOTALL)


def parse(program: str | bytes | HloModule, *, file: str = "") -> HloModule:
    """Reads StableHLO text or bytecode, or HLO text (told by its first word, `HloModule`), into a new HloModule.

    Args:
        program: text; text as UTF-8 bytes; MLIR bytecode (a portable artifact of StableHLO); or a module, which is
            copied.
        file: its name, for locations in errors.

    Raises:
        InvalidArgumentError: for a malformed program: where, and what was expected.
        UnimplementedError: for bytecode of a newer format.
    """
    if isinstance(program, HloModule):
        return program.clone()
    if isinstance(program, (bytes, bytearray, memoryview)):
        data = bytes(program)
        if data.startswith(_BYTECODE_MAGIC):
            with profiler.span("parse", "compile", bytes=len(data)):
                return _parse_stablehlo(data, file)
        try:
            program = data.decode()
        except UnicodeDecodeError as error:
            raise InvalidArgumentError(
                f"these bytes are neither MLIR bytecode nor UTF-8 text (byte {error.start} is {data[error.start]:#04x})"
            ) from None
    if not isinstance(program, str):
        raise InvalidArgumentError(
            f"{type(program).__name__} is not a program", hint="pass StableHLO or HLO text, bytes, or an HloModule"
        )
    with profiler.span("parse", "compile", characters=len(program)):
        if is_hlo_text(program):
            return _parse_hlo(program, file)
        return _parse_stablehlo(program, file)


def is_hlo_text(text: str) -> bool:
    """Whether a program's first word is HLO text's, `HloModule`."""
    return _HLO_TEXT.match(text) is not None


def stablehlo_source(program: str | bytes | HloModule) -> str | bytes | None:
    """StableHLO as it was given, text or bytecode; None for HLO."""
    if isinstance(program, (bytes, bytearray, memoryview)):
        data = bytes(program)
        return data if data.startswith(_BYTECODE_MAGIC) or not is_hlo_text(data.decode()) else None
    return program if isinstance(program, str) and not is_hlo_text(program) else None


def module_name(wanted: str) -> str:
    """`wanted` as HLO text can have it: letters, digits, "_", "." and "-"."""
    name = _NO_NAME.sub("_", wanted)
    return name if name[:1].isalpha() or name[:1] == "_" else f"_{name}"


def _parse_hlo(text: str, file: str) -> HloModule:
    from xla_core.hlo.parser import parse_hlo  # each reader only for its own texts
    from xla_core.hlo.verifier import verify

    module = parse_hlo(text, file=file)
    try:
        verify(module)  # the reader takes shapes as they are written
    except XlaError as error:
        if error.location is None:
            _find_line(error, text, file)
        raise
    return module


def _find_line(error: XlaError, text: str, file: str) -> None:
    """The verifier names an instruction that has no metadata: its place is where the text defines it."""
    from xla_core.hlo.text.cursor import Cursor

    name = re.match(r"([^\s:]+)(?: = |: )", error.message)
    definition = name and re.search(rf"(?<![\w.$-]){re.escape(name[1])}\s*=\s", text)
    if definition:
        place = Cursor(text, file).error("", position=definition.start())
        error.location, error.snippet = place.location, place.snippet


def _parse_stablehlo(source: str | bytes, file: str) -> HloModule:
    from xla_core.stablehlo import to_hlo

    module: Any = to_hlo(source, file=file)
    checked: HloModule = module
    return checked
