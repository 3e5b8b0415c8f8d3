"""Ops on integers that are carried in s32: u32 by its bits, narrower ones by their values."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from xla_core.hlo.decompositions.expression import HloExpression
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.element_type import ElementType
from xla_core.passes.legalization.carriers.conversions import wrapped

Formula = Callable[..., HloExpression]

_LEAST = -(2**31)


def _ordered(x: HloExpression) -> HloExpression:
    """Maps the bits of u32 to s32 so that the order stays."""
    return x + _LEAST


def _divide(x: HloExpression, y: HloExpression) -> HloExpression:
    """Divides x / 2 in s32, doubles the quotient, and adds 1 if the remainder allows it. x / 0 is 2^32 - 1."""
    approximate = (x >> 1).op(Opcode.DIVIDE, y) << 1
    rest = x - approximate * y
    exact = (_ordered(rest) >= _ordered(y)).where(approximate + 1, approximate)
    large = (_ordered(x) >= _ordered(y)).where(1, x.like(0))
    return y.equals(0).where(-1, (y < 0).where(large, exact))


def _remainder(x: HloExpression, y: HloExpression) -> HloExpression:
    return y.equals(0).where(x, x - _divide(x, y) * y)


def _clamp(low: HloExpression, x: HloExpression, high: HloExpression) -> HloExpression:
    least, most = (_ordered(bound) for bound in (low, high))
    return _ordered(_ordered(x).maximum(least).minimum(most))


U32: Mapping[Opcode, Formula] = {
    Opcode.ABS: lambda x: x,
    Opcode.SIGN: lambda x: x.equals(0).where(0, x.like(1)),
    Opcode.MAXIMUM: lambda x, y: _ordered(_ordered(x).maximum(_ordered(y))),
    Opcode.MINIMUM: lambda x, y: _ordered(_ordered(x).minimum(_ordered(y))),
    Opcode.CLAMP: _clamp,
    Opcode.DIVIDE: _divide,
    Opcode.REMAINDER: _remainder,
}
"""Ops on the bits of u32 that differ from those of s32."""


def compared(direction: str, x: HloExpression, y: HloExpression) -> HloExpression:
    """Compares u32 by their bits."""
    return x.compare(direction, y) if direction in ("EQ", "NE") else _ordered(x).compare(direction, _ordered(y))


def index(x: HloExpression) -> HloExpression:
    """Converts a u32 index to s32. Indices above the greatest s32 stay out of bounds."""
    return (x < 0).where(2**31 - 1, x)


def _bits(kind: ElementType, x: HloExpression) -> HloExpression:
    return x & ((1 << kind.bit_width) - 1)


def _shift_right_arithmetic(kind: ElementType, x: HloExpression, n: HloExpression) -> HloExpression:
    """Shifts in the highest bit, for unsigned integers too."""
    spare = 32 - kind.bit_width
    signed = (x << spare).op(Opcode.SHIFT_RIGHT_ARITHMETIC, spare)
    return wrapped(kind, signed.op(Opcode.SHIFT_RIGHT_ARITHMETIC, _unsigned_count(n)))


def _unsigned_count(n: HloExpression) -> HloExpression:
    """Treats a negative count as too large: all bits are shifted out."""
    return (n < 0).where(32, n)


NARROW: Mapping[Opcode, Formula] = {
    Opcode.SHIFT_LEFT: lambda kind, x, n: wrapped(kind, x << _unsigned_count(n)),
    Opcode.SHIFT_RIGHT_LOGICAL: lambda kind, x, n: wrapped(kind, _bits(kind, x) >> _unsigned_count(n)),
    Opcode.SHIFT_RIGHT_ARITHMETIC: _shift_right_arithmetic,
    Opcode.POPCNT: lambda kind, x: _bits(kind, x).op(Opcode.POPCNT),
    Opcode.COUNT_LEADING_ZEROS: lambda kind, x: _bits(kind, x).op(Opcode.COUNT_LEADING_ZEROS) - (32 - kind.bit_width),
}
"""Ops on narrow integers that give another result in a wider type: (type, operands) -> result."""
