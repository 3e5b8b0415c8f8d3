"""The decompositions of elementwise ops that legalization and the translation to StableHLO share."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from xla_core.hlo.decompositions.elementary import OPCODES, decompose_elementary
from xla_core.hlo.decompositions.expression import HloExpression, expressions
from xla_core.hlo.ir.builder import Builder
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.element_type import ElementType


def decompose_mulhi(instruction: HloInstruction, b: Builder) -> HloInstruction:
    """Computes the high half of a product by products of half-width integers, in the operands' own type.

    The product of halves treats the operands as unsigned. For signed types, each negative operand then has the other
    operand subtracted from the result.
    """
    x, y = expressions(b, *instruction.operands)
    half = x.shape.element_type.bit_width // 2

    def halves(v: HloExpression) -> tuple[HloExpression, HloExpression]:
        return v >> half, v & ((1 << half) - 1)

    (high_x, low_x), (high_y, low_y) = halves(x), halves(y)
    carry, _ = halves(low_x * low_y)
    first, rest = halves(high_x * low_y + carry)
    second, _ = halves(low_x * high_y + rest)
    result = high_x * high_y + (first + second)
    if x.shape.element_type.is_signed:
        result = result - (x < 0).where(y, 0) - (y < 0).where(x, 0)
    return result.i


def decompose_stochastic_convert(instruction: HloInstruction, b: Builder) -> HloInstruction:
    """Rounds away from zero where the random bits, read as a number in [0, 1), are less than the fraction.

    The comparison is exact: the fraction is scaled by a power of two to the range of the random integers and rounded
    up.
    """
    x, random = expressions(b, *instruction.operands)
    x = x.astype(ElementType.F64 if x.shape.element_type is ElementType.F64 else ElementType.F32)
    whole = abs(x).op(Opcode.FLOOR)
    scaled = (abs(x) - whole) * 2.0**random.shape.element_type.bit_width
    is_more = random < scaled.op(Opcode.CEIL).astype(random.shape.element_type)
    rounded = whole + is_more.astype(whole.shape.element_type)
    return (x < 0).where(-rounded, rounded).astype(instruction.shape.element_type).i


ELEMENTWISE: Mapping[Opcode, Callable[[HloInstruction, Builder], HloInstruction | None]] = {
    **dict.fromkeys(map(Opcode, OPCODES), decompose_elementary),
    Opcode.MULHI: decompose_mulhi,
    Opcode.STOCHASTIC_CONVERT: decompose_stochastic_convert,
}
"""Opcode -> (instruction, builder) -> the replacement, or None for element types that the decomposition lacks."""
