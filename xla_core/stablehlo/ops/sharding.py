"""Shardy's ops: sharding constraints, and manual computations, which JAX's shard_map becomes.

There is no partitioner. Outside of a manual computation every device holds whole tensors, so the lowering ignores
sharding constraints. Each device slices its shard at the entry of a manual computation, and the results' shards are
gathered at its exit, unless the program has them as shards already (`xla_core.spmd`).
"""

from __future__ import annotations

from collections.abc import Sequence

from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.spmd import Sharding
from xla_core.stablehlo import ir
from xla_core.stablehlo.lower.context import LoweringContext
from xla_core.stablehlo.sharding.shardy import axis_names, parse_shardings
from xla_core.stablehlo.table.assembly_format import RETURN_ASSEMBLY
from xla_core.stablehlo.table.op_table import Arity, Attribute, Kind, OpGroup, Trait, Values
from xla_core.stablehlo.table.type_constraints import ANY

define = OpGroup("sharding").define


def _same(op: ir.Op, module: ir.Module) -> Sequence[ir.Type]:
    return [op.operands[0].type]


def _lower_constraint(ctx: LoweringContext, op: ir.Op, operand: HloInstruction) -> HloInstruction:
    """The operand: a sharding constraint directs the partitioner and doesn't change the value."""
    return operand


define(
    "sdy.sharding_constraint",
    "input",
    rule=_same,
    lower=_lower_constraint,
    attributes={"sharding": Attribute(Kind.ANY)},
    assembly="% sharding:sharding attr-dict : :same:",
    doc="The operand. The op tells Shardy how to partition it.",
)


# -- manual computations ---------------------------------------------------------------------------------------------


def _manual(sharding: Sharding, axes: frozenset[str]) -> Sharding:
    """Returns the sharding along the manual axes. The partitioner may use the other axes."""
    return Sharding(
        sharding.mesh,
        tuple(tuple(axis for axis in dimension if axis.name in axes) for dimension in sharding.dimensions),
        tuple(axis for axis in sharding.unreduced if axis.name in axes),
    )


def _shardings(op: ir.Op, module: ir.Module, name: str, values: Sequence[ir.Value]) -> list[Sharding]:
    found = parse_shardings(op.attributes[name], module, op)
    if len(found) != len(values):
        op.fail(f"{name} says {len(found)} shardings of {len(values)} values")
    return found


def _manual_rule(op: ir.Op, module: ir.Module) -> None:
    block = op.regions[0].block
    returned = block.ops[-1].operands
    axes = axis_names(op.attributes["manual_axes"])
    for name, outside, inside in (
        ("in_shardings", op.operands, block.arguments),
        ("out_shardings", op.results, returned),
    ):
        if len(outside) != len(inside):
            op.fail(f"has {len(outside)} values outside and {len(inside)} inside, by {name}")
        for sharding, whole, part in zip(_shardings(op, module, name, outside), outside, inside, strict=True):
            _check(op, sharding, axes, whole.type, part.type)


def _check(op: ir.Op, sharding: Sharding, axes: frozenset[str], whole: ir.Type, part: ir.Type) -> None:
    """Checks that the tensor outside consists of shards of the type inside."""
    if isinstance(whole, ir.TokenType) and isinstance(part, ir.TokenType):
        return
    if not isinstance(whole, ir.TensorType) or not isinstance(part, ir.TensorType) or whole.rank != part.rank:
        op.fail(f"a shard of '{whole}' can't have type '{part}'")
    counts = _manual(sharding, axes).shard_counts or [1] * whole.rank
    if len(counts) != whole.rank:
        op.fail(f"a sharding of {len(counts)} dimensions doesn't fit '{whole}'")
    for size, shard, count in zip(whole.shape, part.shape, counts, strict=True):
        if ir.DYNAMIC not in (size, shard) and size != shard * count:
            op.fail(f"'{whole}' in {count} parts along a dimension of {size} does not give shards of type '{part}'")


def _lower_manual(ctx: LoweringContext, op: ir.Op, *operands: HloInstruction) -> Sequence[HloInstruction]:
    """A dynamic-slice of each operand at the device's index, the body, and an all-gather of each result."""
    source, block = ctx.module.source, op.regions[0].block
    axes = axis_names(op.attributes["manual_axes"])
    ins = _shardings(op, source, "in_shardings", op.operands)
    outs = _shardings(op, source, "out_shardings", op.results)
    metadata = ctx.metadata
    for operand, sharding, argument in zip(operands, ins, block.arguments, strict=True):
        ctx.values[argument] = ctx.module.shards.to_shard(ctx, operand, _manual(sharding, axes))
    results = ctx.lower_block(block)
    ctx.metadata = metadata
    shards = ctx.module.shards
    return [shards.to_whole(ctx, result, _manual(out, axes)) for result, out in zip(results, outs, strict=True)]


define(
    "sdy.manual_computation",
    (Values("tensors", ANY, Arity.VARIADIC),),
    (Values("results", ANY, Arity.VARIADIC),),
    rule=_manual_rule,
    lower=_lower_manual,
    regions=1,
    traits=(Trait.COLLECTIVE,),
    attributes={
        "in_shardings": Attribute(Kind.ANY),
        "out_shardings": Attribute(Kind.ANY),
        "manual_axes": Attribute(Kind.ANY),
    },
    assembly="<manual_computation>",
    doc=(
        "Runs its body on every device of a mesh: on the device's shards of the operands, as in_shardings splits them "
        "along the manual axes. out_shardings gives the shardings by which the body's results are shards of the op's "
        "results."
    ),
)
define(
    "sdy.return",
    (Values("results", ANY, Arity.VARIADIC),),
    "",
    lower=None,
    traits=(Trait.TERMINATOR,),
    assembly=RETURN_ASSEMBLY,
    doc="Ends a region.",
)
