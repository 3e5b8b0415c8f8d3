"""Decomposes stochastic-convert into truncation and a conditional increment."""

from __future__ import annotations

from xla_core.hlo.builder import Builder
from xla_core.hlo.decompositions.expression import expressions
from xla_core.hlo.element_type import ElementType
from xla_core.hlo.instruction import HloInstruction
from xla_core.hlo.opcode import Opcode


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
