"""rng_expander: expands rng to random bits and arithmetic (XLA: xla/service/rng_expander.h)."""

from __future__ import annotations

import math

from xla_core.hlo.decompositions.expression import HloExpression, expressions
from xla_core.hlo.ir.builder import Builder
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.element_type import ElementType
from xla_core.hlo.values.shape import Shape
from xla_core.passes.expanders.expander import OpExpander
from xla_core.sizes import ceil_div


class RngExpander(OpExpander):
    """Expands rng with bits from Philox.

    The state of the generator is that of the executable (rng-get-and-update-state), which advances with each use.
    Uniform floats are computed from random mantissas in f32, or in f64 for f64. Normal floats use the Box-Muller
    transform. Uniform integers are the remainder of 32 random bits, or of 64 bits for 64-bit integers.
    """

    opcodes = frozenset({Opcode.RNG})

    def matches(self, instruction: HloInstruction) -> bool:
        return instruction.shape.num_elements > 0

    def expand(self, instruction: HloInstruction, b: Builder) -> HloInstruction:
        result, kind = instruction.shape, instruction.shape.element_type
        low, high = expressions(b, *instruction.operands)
        if kind is ElementType.PRED:
            return (_bits(b, Shape(ElementType.U32, result.dimensions)) & 1).equals(1).i
        if kind.is_integral:
            unsigned = ElementType.U64 if kind.bit_width == 64 else ElementType.U32
            start, end = low.astype(unsigned), high.astype(unsigned)
            return (_bits(b, Shape(unsigned, result.dimensions)) % (end - start) + start).astype(kind).i
        wide = Shape(ElementType.F64 if kind is ElementType.F64 else ElementType.F32, result.dimensions)
        first, second = low.astype(wide.element_type), high.astype(wide.element_type)
        if instruction.attribute("distribution") == "rng_normal":
            return (_normal(b, wide) * second + first).astype(kind).i
        numbers = (_unit(b, wide) * (second - first) + first).astype(kind)
        # Rounding may give the upper end, which is not in the interval; such numbers become the lower end.
        return (numbers >= high).where(low, numbers).i


def _bits(b: Builder, shape: Shape) -> HloExpression:
    words = shape.num_elements * shape.element_type.bit_width // 32
    state = b.add(Opcode.RNG_GET_AND_UPDATE_STATE, shape=Shape(ElementType.U64, (2,)), delta=ceil_div(words, 4))
    both = Shape.tuple([state.shape, shape])
    drawn = b.add(Opcode.RNG_BIT_GENERATOR, state, shape=both, algorithm="rng_default")
    return HloExpression(b, b.element(drawn, 1))


def _unit(b: Builder, shape: Shape) -> HloExpression:
    """Uniform numbers in [0, 1): numbers in [1, 2) with random mantissas, minus 1."""
    is_double = shape.element_type is ElementType.F64
    bits = _bits(b, shape.with_element_type(ElementType.U64 if is_double else ElementType.U32))
    one = 0x3FF0000000000000 if is_double else 0x3F800000
    return (bits >> (12 if is_double else 9) | one).bits(shape.element_type) - 1


def _normal(b: Builder, shape: Shape) -> HloExpression:
    """Normal numbers by the Box-Muller transform: sqrt(-2 log(1 - u)) cos(2 pi v)."""
    u, v = _unit(b, shape), _unit(b, shape)
    radius = ((1 - u).op(Opcode.LOG) * -2).op(Opcode.SQRT)
    return radius * (v * (2 * math.pi)).op(Opcode.COSINE)
