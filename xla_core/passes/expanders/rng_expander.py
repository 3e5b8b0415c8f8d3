"""rng_expander: expands rng to random bits and arithmetic (XLA: xla/service/rng_expander.h)."""

from __future__ import annotations

import math

from xla_core.hlo.element_type import ElementType
from xla_core.hlo.instruction import HloInstruction
from xla_core.hlo.opcode import Opcode
from xla_core.hlo.shape import Shape
from xla_core.passes.expanders.expander import OpExpander
from xla_core.passes.rewriter import Builder

__all__ = ["RngExpander"]


class RngExpander(OpExpander):
    """Expands rng with bits from Philox.

    The state of the generator is that of the executable (rng-get-and-update-state), which advances with each use.
    Uniform floats are computed from random mantissas in f32, or in f64 for f64. Normal floats use the Box-Muller
    transform. Uniform integers are the remainder of 32 random bits, or of 64 bits for 64-bit integers.
    """

    name = "rng-expander"
    opcodes = frozenset({Opcode.RNG})

    def matches(self, instruction: HloInstruction) -> bool:
        return instruction.shape.num_elements > 0

    def expand(self, instruction: HloInstruction, b: Builder) -> HloInstruction:
        result = instruction.shape
        low, high = instruction.operands
        if result.element_type is ElementType.PRED:
            bits = _bits(b, Shape(ElementType.U32, result.dimensions))
            return b.add(
                Opcode.COMPARE,
                b.add(Opcode.AND, bits, b.constant(1, bits.shape)),
                b.constant(1, bits.shape),
                direction="EQ",
            )
        if result.element_type.is_integral:
            return _integers(b, result, low, high)
        wide = Shape(ElementType.F64 if result.element_type is ElementType.F64 else ElementType.F32, result.dimensions)
        first, second = (b.broadcast(b.convert(o, wide), wide.dimensions) for o in (low, high))
        if instruction.attributes["distribution"] == "rng_normal":
            return b.convert(b.add(Opcode.ADD, first, b.add(Opcode.MULTIPLY, second, _normal(b, wide))), result)
        spread = b.add(Opcode.MULTIPLY, b.add(Opcode.SUBTRACT, second, first), _unit(b, wide))
        numbers = b.convert(b.add(Opcode.ADD, first, spread), result)
        # Rounding may give the upper end, which is not in the interval; such numbers become the lower end.
        ends = b.broadcast(high, result.dimensions)
        starts = b.broadcast(low, result.dimensions)
        return b.add(Opcode.SELECT, b.add(Opcode.COMPARE, numbers, ends, direction="GE"), starts, numbers)


def _bits(b: Builder, shape: Shape) -> HloInstruction:
    words = shape.num_elements * shape.element_type.bit_width // 32
    state = b.add(Opcode.RNG_GET_AND_UPDATE_STATE, shape=Shape(ElementType.U64, (2,)), delta=-(-words // 4))
    both = Shape.tuple([state.shape, shape])
    drawn = b.add(Opcode.RNG_BIT_GENERATOR, state, shape=both, algorithm="rng_default")
    return b.add(Opcode.GET_TUPLE_ELEMENT, drawn, index=1)


def _unit(b: Builder, shape: Shape) -> HloInstruction:
    """Uniform numbers in [0, 1): numbers in [1, 2) with random mantissas, minus 1."""
    is_double = shape.element_type is ElementType.F64
    unsigned = shape.with_element_type(ElementType.U64 if is_double else ElementType.U32)
    bits = _bits(b, unsigned)
    mantissa = b.add(Opcode.SHIFT_RIGHT_LOGICAL, bits, b.constant(12 if is_double else 9, unsigned))
    one = b.constant(0x3FF0000000000000 if is_double else 0x3F800000, unsigned)
    number = b.add(Opcode.BITCAST_CONVERT, b.add(Opcode.OR, mantissa, one), shape=shape)
    return b.add(Opcode.SUBTRACT, number, b.constant(1, shape))


def _normal(b: Builder, shape: Shape) -> HloInstruction:
    """Normal numbers by the Box-Muller transform: sqrt(-2 log(1 - u)) cos(2 pi v)."""
    u, v = _unit(b, shape), _unit(b, shape)
    logarithm = b.add(Opcode.LOG, b.add(Opcode.SUBTRACT, b.constant(1, shape), u))
    radius = b.add(Opcode.SQRT, b.add(Opcode.MULTIPLY, b.constant(-2, shape), logarithm))
    return b.add(
        Opcode.MULTIPLY, radius, b.add(Opcode.COSINE, b.add(Opcode.MULTIPLY, b.constant(2 * math.pi, shape), v))
    )


def _integers(b: Builder, result: Shape, low: HloInstruction, high: HloInstruction) -> HloInstruction:
    unsigned = ElementType.U64 if result.element_type.bit_width == 64 else ElementType.U32
    shape = Shape(unsigned, result.dimensions)
    start, end = (b.convert(o, shape) for o in (low, high))
    span = b.broadcast(b.add(Opcode.SUBTRACT, end, start), shape.dimensions)
    number = b.add(Opcode.REMAINDER, _bits(b, shape), span)
    return b.convert(b.add(Opcode.ADD, b.broadcast(start, shape.dimensions), number), result)
