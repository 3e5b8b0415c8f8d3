"""Decomposes mulhi, the high half of a product, into products of half-width integers."""

from __future__ import annotations

from xla_core.hlo.builder import Builder
from xla_core.hlo.instruction import HloInstruction
from xla_core.hlo.opcode import Opcode

__all__ = ["decompose_mulhi"]


def decompose_mulhi(instruction: HloInstruction, b: Builder) -> HloInstruction:
    """Computes in the operands' own type.

    The product of halves treats the operands as unsigned. For signed types, each negative operand then has the other
    operand subtracted from the result.
    """
    x, y = instruction.operands
    half = x.shape.element_type.bit_width // 2
    width, mask = b.constant(half, x.shape), b.constant((1 << half) - 1, x.shape)

    def halves(v: HloInstruction) -> tuple[HloInstruction, HloInstruction]:
        return b.add(Opcode.SHIFT_RIGHT_LOGICAL, v, width), b.add(Opcode.AND, v, mask)

    (high_x, low_x), (high_y, low_y) = halves(x), halves(y)
    carry, _ = halves(b.add(Opcode.MULTIPLY, low_x, low_y))
    first, rest = halves(b.add(Opcode.ADD, b.add(Opcode.MULTIPLY, high_x, low_y), carry))
    second, _ = halves(b.add(Opcode.ADD, b.add(Opcode.MULTIPLY, low_x, high_y), rest))
    result = b.add(Opcode.ADD, b.add(Opcode.MULTIPLY, high_x, high_y), b.add(Opcode.ADD, first, second))
    if x.shape.element_type.is_signed:
        zero = b.constant(0, x.shape)
        for one, other in ((x, y), (y, x)):
            less = b.add(Opcode.SELECT, b.compare(one, zero, "LT"), other, zero)
            result = b.add(Opcode.SUBTRACT, result, less)
    return result
