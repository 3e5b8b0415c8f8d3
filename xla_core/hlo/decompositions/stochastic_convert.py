"""Decomposes stochastic-convert into truncation and a conditional increment."""

from __future__ import annotations

from xla_core.hlo.builder import Builder
from xla_core.hlo.element_type import ElementType
from xla_core.hlo.instruction import HloInstruction
from xla_core.hlo.opcode import Opcode

__all__ = ["decompose_stochastic_convert"]


def decompose_stochastic_convert(instruction: HloInstruction, b: Builder) -> HloInstruction:
    """Rounds away from zero where the random bits, read as a number in [0, 1), are less than the fraction.

    The comparison is exact: the fraction is scaled by a power of two to the range of the random integers and rounded
    up.
    """
    x, random = instruction.operands
    kind = ElementType.F64 if x.shape.element_type is ElementType.F64 else ElementType.F32
    x = b.convert(x, x.shape.with_element_type(kind))
    magnitude = b.add(Opcode.ABS, x)
    whole = b.add(Opcode.FLOOR, magnitude)
    fraction = b.add(Opcode.SUBTRACT, magnitude, whole)
    scale = b.constant(2.0**random.shape.element_type.bit_width, fraction.shape)
    limit = b.convert(b.add(Opcode.CEIL, b.add(Opcode.MULTIPLY, fraction, scale)), random.shape)
    is_more = b.add(Opcode.COMPARE, random, limit, direction="LT")
    rounded = b.add(Opcode.ADD, whole, b.convert(is_more, whole.shape))
    is_negative = b.add(Opcode.COMPARE, x, b.constant(0, x.shape), direction="LT")
    return b.convert(b.add(Opcode.SELECT, is_negative, b.add(Opcode.NEGATE, rounded), rounded), instruction.shape)
