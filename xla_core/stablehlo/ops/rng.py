"""rng and rng_bit_generator."""

from __future__ import annotations

from collections.abc import Sequence

from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.shape import Shape
from xla_core.stablehlo import ir
from xla_core.stablehlo.lower.context import LoweringContext
from xla_core.stablehlo.lower.type_conversion import shape_of
from xla_core.stablehlo.ops.common import enum, tensor, tensor_of
from xla_core.stablehlo.table.op_table import OpGroup, Trait, Values
from xla_core.stablehlo.table.type_constraints import Elements, TypeConstraint
from xla_core.stablehlo.verify.compatibility import compatible_shapes, fail_inferred

define = OpGroup("rng").define

_SCALAR = TypeConstraint(Elements.PRED | Elements.INTEGER | Elements.FLOAT, rank=0)
_NUMBER = TypeConstraint(Elements.INTEGER | Elements.FLOAT)
_STATIC_NUMBER = TypeConstraint(Elements.INTEGER | Elements.FLOAT, static=True)
_SHAPE = TypeConstraint(Elements.INTEGER | Elements.INDEX, rank=1, static=True)
_UNKNOWN = -(2**63)
"""MLIR's number for a dynamic size (`ShapedType::kDynamic`). As an element of `shape` it makes that size dynamic."""


def _rng_rule(op: ir.Op, module: ir.Module) -> Sequence[ir.Type] | None:
    a, _, shape = (tensor(op, i) for i in range(3))
    if op.attributes["rng_distribution"] == "NORMAL" and not str(a.element).startswith(("f", "bf")):
        op.fail("mu and sigma must be floats")
    known = ir.constant_of(op.operands[2])
    if known is None:
        return [ir.TensorType((ir.DYNAMIC,) * shape.shape[0], a.element)]
    sizes = [int(n) for n in known.reshape(-1)]
    inferred = ir.TensorType(tuple(n if n >= 0 else ir.DYNAMIC for n in sizes), a.element)
    _check_sizes(op, sizes, inferred)
    return [inferred]


def _check_sizes(op: ir.Op, sizes: Sequence[int], inferred: ir.TensorType) -> None:
    """Checks negative sizes as StableHLO does: `_UNKNOWN` fits every declared size, any other only a dynamic one."""
    result = tensor_of(op.results[0])
    written = [i for i, n in enumerate(sizes) if _UNKNOWN < n < 0]
    if result.rank == len(sizes) and any(result.shape[i] != ir.DYNAMIC for i in written):
        text = "x".join("?" if n == _UNKNOWN else str(n) for n in sizes)
        fail_inferred(op, f"'tensor<{text}x{inferred.element}>'")


def _lower_rng(
    ctx: LoweringContext, op: ir.Op, a: HloInstruction, b: HloInstruction, shape: HloInstruction
) -> HloInstruction:
    """HLO `rng`."""
    result = op.results[0].type
    if isinstance(result, ir.TensorType) and not result.is_static:
        sizes = ctx.static_value(shape, op, "shape")
        declared = a.shape.with_dimensions([int(n) for n in sizes])
    else:
        declared = shape_of(result)
    name = f"rng_{str(op.attributes['rng_distribution']).lower()}"
    return ctx.add(Opcode.RNG, a, b, shape=declared, distribution=name)


define(
    "stablehlo.rng",
    (Values("a", _SCALAR), Values("b", _SCALAR), Values("shape", _SHAPE, static=True)),
    result_types=TypeConstraint(Elements.PRED | Elements.INTEGER | Elements.FLOAT),
    rule=_rng_rule,
    lower=_lower_rng,
    traits=(Trait.SIDE_EFFECT,),
    type_traits=("element-type: a b result",),
    attributes={"rng_distribution": enum("rng_distribution")},
    assembly="% , % , % , distribution = rng_distribution:rng_distribution attr-dict : :functional:",
    doc=(
        "Random numbers of the given shape: uniform in [a, b), or normal with mean a and standard deviation b. "
        "Each execution draws other numbers."
    ),
)


def _bit_generator_rule(op: ir.Op, module: ir.Module) -> None:
    state, output = tensor(op, 0), tensor_of(op.results[0])
    if not compatible_shapes(state.shape, output.shape):
        op.fail(f"output state shape must be compatible with initial state shape. Got: '{state}' and '{output}'")


def _lower_bit_generator(ctx: LoweringContext, op: ir.Op, state: HloInstruction) -> Sequence[HloInstruction]:
    """HLO `rng-bit-generator`. A floating-point element has the bits of an unsigned integer of its width."""
    wanted = shape_of(op.results[1].type)
    if op.results[0].type != op.operands[0].type:
        op.fail(f"output state must be as initial state. Got: '{op.operands[0].type}' and '{op.results[0].type}'")
    algorithm = {"THREE_FRY": "rng_three_fry", "PHILOX": "rng_philox"}.get(
        str(op.attributes["rng_algorithm"]), "rng_default"
    )
    made = ctx.add(Opcode.RNG_BIT_GENERATOR, state, shape=Shape.tuple([state.shape, wanted]), algorithm=algorithm)
    return ctx.elements(made)


define(
    "stablehlo.rng_bit_generator",
    (Values("initial_state", _NUMBER),),
    (Values("output_state", _NUMBER), Values("output", _STATIC_NUMBER)),
    rule=_bit_generator_rule,
    lower=_lower_bit_generator,
    attributes={"rng_algorithm": enum("rng_algorithm")},
    assembly="% , algorithm = rng_algorithm:rng_algorithm attr-dict : :functional:",
    doc=(
        "Uniform random bits, and the state for the next call, from a state. The same state gives the same bits on "
        "every device, which are XLA's."
    ),
)
