"""Random bits and numbers."""

from __future__ import annotations

from collections.abc import Sequence

from xla_core.errors import InvalidArgumentError
from xla_core.hlo.element_type import ElementType
from xla_core.hlo.op_table import Attributes, Trait
from xla_core.hlo.ops.rules import array, attr, check, declared_array, dims, entry, normalize
from xla_core.hlo.shape import Shape

__all__: list[str] = []


def _rng(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    result, distribution = declared_array(declared), attributes["distribution"]
    check(distribution in ("rng_uniform", "rng_normal"), lambda: f"distribution {distribution} is unknown")
    for operand in operands:
        if not operand.is_scalar or operand.element_type is not result.element_type:
            raise InvalidArgumentError(f"a parameter is {operand}; expected a scalar {result.element_type}")
    check(
        distribution == "rng_uniform" or result.element_type.is_floating,
        lambda: f"rng_normal of {result.element_type}; expected a floating type",
    )
    return dims(result.element_type, result.dimensions)


def _rng_bit_generator(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    state, algorithm = array(operands[0]), attributes["algorithm"]
    check(algorithm in ("rng_default", "rng_three_fry", "rng_philox"), lambda: f"algorithm {algorithm} is unknown")
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
    return Shape.tuple([normalize(state), normalize(bits)])


def _rng_get_and_update_state(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    return dims(ElementType.U64, (2,)) if declared is None else declared_array(declared)


entry(
    "rng",
    2,
    _rng,
    None,
    Trait.NONDETERMINISTIC,
    Trait.SIDE_EFFECT,
    doc="Uniform numbers in [a, b), or normal ones of mean a and standard deviation b.",
    distribution=attr("enum"),
)
entry(
    "rng-bit-generator",
    1,
    _rng_bit_generator,
    None,
    doc="(state) -> (new state, uniform bits): counter-based, the same bits everywhere.",
    algorithm=attr("enum"),
)
entry(
    "rng-get-and-update-state",
    0,
    _rng_get_and_update_state,
    None,
    Trait.NONDETERMINISTIC,
    Trait.SIDE_EFFECT,
    doc="The execution's random state, which it then advances by delta.",
    delta=attr("int"),
)
