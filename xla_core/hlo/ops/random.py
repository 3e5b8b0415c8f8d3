"""Random bits and numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from xla_core.errors import InvalidArgumentError
from xla_core.hlo.evaluation.environment import Value
from xla_core.hlo.evaluation.evaluation_context import EvaluationContext
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.ops.bit_generators import philox, three_fry
from xla_core.hlo.ops.conversion import convert
from xla_core.hlo.ops.numerics import round_to, widen
from xla_core.hlo.ops.rules import OpGroup, array, attr, check, declared_array, dims
from xla_core.hlo.table.op_table import Attributes, Trait
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.element_type import ElementType
from xla_core.hlo.values.shape import Shape

entry = OpGroup("random").entry


def _rng_shape(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    result, distribution = declared_array(declared), attributes["distribution"]
    for operand in operands:
        if not operand.is_scalar or operand.element_type is not result.element_type:
            raise InvalidArgumentError(f"a parameter is {operand}; expected a scalar {result.element_type}")
    check(
        distribution == "rng_uniform" or result.element_type.is_floating,
        lambda: f"rng_normal of {result.element_type}; expected a floating type",
    )
    return dims(result.element_type, result.dimensions)


def _rng(context: EvaluationContext, instruction: HloInstruction, values: list[Value]) -> Value:
    shape, generator = instruction.shape, context.environment.random
    if instruction.attribute("distribution") == "rng_normal":
        return round_to(generator.normal(widen(values[0]), widen(values[1]), shape.dimensions), shape.dtype)
    if shape.element_type.is_floating:
        low, high = widen(values[0]), widen(values[1])
        result = round_to(low + (high - low) * generator.random(shape.dimensions), shape.dtype)
        return np.where(result >= values[1], values[0], result)  # rounding may have reached the upper bound
    if shape.element_type is ElementType.PRED:
        return generator.random(shape.dimensions) < 0.5
    least, limit = int(values[0]), int(values[1])
    if least >= limit:
        raise InvalidArgumentError(f"there are no integers in [{least}, {limit})")
    wide = np.uint64 if limit > np.iinfo(np.int64).max else np.int64
    return convert(generator.integers(least, limit, shape.dimensions, wide), shape.dtype)


def _rng_bit_generator_shape(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    state, algorithm = array(operands[0]), attributes["algorithm"]
    words = state.num_elements * state.element_type.bit_width // 64
    allowed = {"rng_three_fry": (2,), "rng_philox": (2, 3), "rng_default": (2, 3)}[algorithm]
    check(
        state.rank == 1 and state.element_type in (ElementType.U64, ElementType.U32) and words in allowed,
        lambda: f"the state of {algorithm} is {state.without_layout()}; expected u64[{' or '.join(map(str, allowed))}]",
    )
    parts = declared.tuple_shapes if declared is not None else ()
    check(len(parts) == 2, "the result (state, bits) must be given")
    bits = array(parts[1])
    check(
        bits.element_type.is_integral or bits.element_type.is_floating,
        lambda: f"random bits have no type {bits.element_type}",
    )
    return Shape.tuple([state.without_layout(), bits.without_layout()])


def _rng_bit_generator(context: EvaluationContext, instruction: HloInstruction, values: list[Value]) -> Value:
    """rng_default is Philox, as on XLA's CPU and GPU backends."""
    algorithm, bits = instruction.attribute("algorithm"), instruction.shape.tuple_shapes[1]
    state = np.ascontiguousarray(values[0])
    function = three_fry if algorithm == "rng_three_fry" else philox
    new, words = function(state.view(np.uint64), bits.dimensions, bits.element_type.bit_width)
    if bits.element_type.bit_width < 8:
        result = words.astype(bits.dtype)
    else:
        result = np.ascontiguousarray(words).view(bits.dtype)
    return new.view(state.dtype), result.reshape(bits.dimensions)


def _rng_get_and_update_state(context: EvaluationContext, instruction: HloInstruction, values: list[Value]) -> Value:
    environment = context.environment
    state = environment.rng_state
    environment.rng_state = (state + instruction.attribute("delta")) % (1 << 128)
    return np.array([state & 0xFFFFFFFFFFFFFFFF, state >> 64], np.uint64)


entry(
    Opcode.RNG,
    2,
    _rng_shape,
    _rng,
    Trait.NONDETERMINISTIC,
    Trait.SIDE_EFFECT,
    doc="Uniform numbers in [a, b), or normal ones of mean a and standard deviation b.",
    distribution=attr("enum", values="rng_uniform rng_normal"),
)
entry(
    Opcode.RNG_BIT_GENERATOR,
    1,
    _rng_bit_generator_shape,
    _rng_bit_generator,
    Trait.BITWISE,
    doc="(state) -> (new state, uniform bits): counter-based, the same bits everywhere.",
    algorithm=attr("enum", values="rng_default rng_three_fry rng_philox"),
)
entry(
    Opcode.RNG_GET_AND_UPDATE_STATE,
    0,
    lambda operands, attributes, declared: declared_array(declared or dims(ElementType.U64, (2,))),
    _rng_get_and_update_state,
    Trait.NONDETERMINISTIC,
    Trait.SIDE_EFFECT,
    doc="The execution's random state. The op then advances the state by delta.",
    delta=attr("int"),
)
