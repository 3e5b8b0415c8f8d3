"""Decomposes mulhi, the high half of a product, into products of half-width integers."""

from __future__ import annotations

from xla_core.hlo.builder import Builder
from xla_core.hlo.decompositions.expression import Expression, expressions
from xla_core.hlo.instruction import HloInstruction


def decompose_mulhi(instruction: HloInstruction, b: Builder) -> HloInstruction:
    """Computes in the operands' own type.

    The product of halves treats the operands as unsigned. For signed types, each negative operand then has the other
    operand subtracted from the result.
    """
    x, y = expressions(b, *instruction.operands)
    half = x.shape.element_type.bit_width // 2

    def halves(v: Expression) -> tuple[Expression, Expression]:
        return v >> half, v & ((1 << half) - 1)

    (high_x, low_x), (high_y, low_y) = halves(x), halves(y)
    carry, _ = halves(low_x * low_y)
    first, rest = halves(high_x * low_y + carry)
    second, _ = halves(low_x * high_y + rest)
    result = high_x * high_y + (first + second)
    if x.shape.element_type.is_signed:
        result = result - (x < 0).where(y, 0) - (y < 0).where(x, 0)
    return result.i
