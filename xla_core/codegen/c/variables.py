"""Writes the variables and the tables of constants of a module as arrays of C."""

from __future__ import annotations

from typing import Literal

from xla_core.codegen.c.ir_module import Constant, GlobalVariable, Operand
from xla_core.codegen.c.ir_types import IrType
from xla_core.codegen.c.source import Source
from xla_core.errors import UnimplementedError

_PER_LINE = 5


def variable_text(source: Source, variable: GlobalVariable, name: str) -> str:
    """The definition of a variable: an array of 64-bit words in the order of bytes of the target.

    Raises:
        UnimplementedError: its value has addresses.
    """
    assert variable.value is not None
    data = _bytes_of(source, variable.type, variable.value)
    data += bytes(-len(data) % 8)
    order: Literal["big", "little"] = "big" if source.big_endian else "little"
    words = [int.from_bytes(data[at : at + 8], order) for at in range(0, len(data), 8)]
    align = max(8, variable.align)
    constant = "const " if variable.is_constant else ""
    if not any(words):
        values = "0"
    else:
        texts = [f"{word:#x}" for word in words]
        lines = [", ".join(texts[at : at + _PER_LINE]) for at in range(0, len(texts), _PER_LINE)]
        values = ",\n  ".join(lines)
    return f"static {constant}XLA_ALIGNED({align}) uint64_t {name}[{max(1, len(words))}] = {{\n  {values}}};\n"


def _bytes_of(source: Source, type_: IrType, operand: Operand) -> bytes:
    """The bytes of a constant in memory."""
    size = type_.size(source.pointer_bytes)
    if not isinstance(operand, Constant):
        raise UnimplementedError(f"the translation to C has no tables of addresses: {operand.name}")
    value = operand.value
    if isinstance(value, bytes):
        return value
    if isinstance(value, str):
        return bytes(size)
    if isinstance(value, int):
        return value.to_bytes(size, "big" if source.big_endian else "little")
    if not isinstance(value, tuple):
        raise UnimplementedError(f"the translation to C has no tables of addresses: {value.text.strip()[:300]}")
    parts = bytearray()
    for position, member in enumerate(value):
        if type_.kind == "struct":
            parts += bytes(type_.offset(position, source.pointer_bytes) - len(parts))
        parts += _bytes_of(source, member.type, member)
    return bytes(parts) + bytes(size - len(parts))
