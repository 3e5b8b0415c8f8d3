"""Collectives that combine the operands of a group's processes by a region."""

from __future__ import annotations

from collections.abc import Sequence

from xla_core.hlo.ir.builder import scalar_computation
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.opcode import Opcode
from xla_core.stablehlo import ir
from xla_core.stablehlo.lower.context import LoweringContext
from xla_core.stablehlo.ops.common import FALSE, INDEX, tensor
from xla_core.stablehlo.ops.reducers import check_reducer, element_text, promote
from xla_core.stablehlo.ops.replica_groups import (
    CHANNEL_AND_GROUPS,
    GLOBAL_IDS,
    check_channel,
    check_groups,
    check_mesh,
    collective_attributes,
    data_operands,
    with_roots,
)
from xla_core.stablehlo.table.op_table import Attribute, Kind, OpGroup, Trait
from xla_core.stablehlo.verify.compatibility import compatible_dimensions

define = OpGroup("collective_reductions").define


def _reduced(op: ir.Op, type: ir.TensorType) -> ir.TensorType:
    """Checks the region against the elements of an operand, and returns the type of its result."""
    scalar = ir.TensorType((), type.element)
    (result,) = check_reducer(op, op.regions[0], [scalar], [scalar])
    return result


def _all_reduce_rule(op: ir.Op, module: ir.Module) -> Sequence[ir.Type]:
    types = [tensor(op, i) for i in range(len(op.operands))]
    check_groups(op, ragged=True)
    check_channel(op)
    return [ir.TensorType(t.shape, _reduced(op, t).element, t.bounds) for t in types]


def _lower_all_reduce(ctx: LoweringContext, op: ir.Op, *operands: HloInstruction) -> Sequence[HloInstruction]:
    """HLO `all-reduce`, one for each operand."""
    reducer = ctx.region(op.regions[0], "all_reduce_region")
    attributes = collective_attributes(ctx, op)
    inputs = [promote(ctx, [o], op.regions[0].block.arguments[:1])[0] for o in operands]
    if len(inputs) > 1 and len({i.shape.element_type for i in inputs}) == 1:
        return ctx.elements(ctx.add(Opcode.ALL_REDUCE, *inputs, to_apply=reducer, **attributes))
    return [ctx.add(Opcode.ALL_REDUCE, i, to_apply=reducer, **attributes) for i in inputs]


define(
    "stablehlo.all_reduce",
    "operands*",
    "results*",
    rule=_all_reduce_rule,
    symbols=check_mesh,
    lower=_lower_all_reduce,
    regions=1,
    traits=(Trait.COLLECTIVE, Trait.ASYNCHRONOUS, Trait.VERSION_BY_OPERANDS, Trait.PROMOTES),
    attributes={**CHANNEL_AND_GROUPS, **GLOBAL_IDS},
    releases="0.9 1.5",
    doc=(
        "Each process of a group gets the operands of all of them, combined by the region element by element, in "
        "an order that the implementation chooses."
    ),
)


def _reduce_scatter_rule(op: ir.Op, module: ir.Module) -> None:
    operand, result = tensor(op, 0), op.results[0].type
    assert isinstance(result, ir.TensorType)
    dim = int(op.attributes["scatter_dimension"])
    check_groups(op)
    reduced = _reduced(op, operand)
    if operand.rank != result.rank:
        op.fail("operand and result should have same rank")
    if dim >= operand.rank:
        op.fail("scatter dim should be less than operand/result rank")
    check_channel(op)
    here, there = operand.shape[dim], result.shape[dim]
    if ir.DYNAMIC in (here, there):
        return
    if there == 0:
        op.fail("result dimension size at scatter_dimension cannot be zero")
    if here == 0:
        op.fail("operand dimension size at scatter_dimension cannot be zero")
    if here % there:
        op.fail(
            f"operand scatter dimension has size {here}, expected to be a multiple of result scatter "
            f"dimension size {there}"
        )
    for i, (a, b) in enumerate(zip(operand.shape, result.shape, strict=True)):
        if i != dim and not compatible_dimensions(a, b):
            op.fail(f"non scatter dimensions should be same for operand ({a}) and result ({b})")
    if reduced.element != result.element:
        op.fail(f"result element-type is expected to be '{element_text(reduced)}', but got '{element_text(result)}'")


def _lower_reduce_scatter(ctx: LoweringContext, op: ir.Op, operand: HloInstruction) -> HloInstruction:
    """HLO `reduce-scatter`."""
    (operand,) = promote(ctx, [operand], op.regions[0].block.arguments[:1])
    return ctx.add(
        Opcode.REDUCE_SCATTER,
        operand,
        shape=ctx.result_shape(op),
        dimensions=(int(op.attributes["scatter_dimension"]),),
        to_apply=ctx.region(op.regions[0], "reduce_scatter_region"),
        **collective_attributes(ctx, op),
    )


define(
    "stablehlo.reduce_scatter",
    "operand",
    rule=_reduce_scatter_rule,
    symbols=check_mesh,
    lower=_lower_reduce_scatter,
    regions=1,
    traits=(Trait.COLLECTIVE, Trait.ASYNCHRONOUS, Trait.VERSION_BY_OPERANDS, Trait.PROMOTES),
    attributes={"scatter_dimension": INDEX, **CHANNEL_AND_GROUPS, **GLOBAL_IDS},
    doc=(
        "The operands of a group's processes combined by the region; the result is split along "
        "`scatter_dimension`, and process i of the group keeps part i."
    ),
)


def _collective_reduce_rule(op: ir.Op, module: ir.Module) -> Sequence[ir.Type]:
    check_groups(op, ragged=True)
    check_channel(op)
    data = data_operands(op, "collective_reduce")
    return [ir.TensorType(type.shape, _reduced(op, type).element) for type in data]


def _lower_collective_reduce(ctx: LoweringContext, op: ir.Op, *operands: HloInstruction) -> Sequence[HloInstruction]:
    """HLO `collective-reduce`, one for each operand."""
    reducer = ctx.region(op.regions[0], "collective_reduce_region")
    attributes = collective_attributes(ctx, op)
    inputs, rooted = with_roots(ctx, op, operands)
    made = []
    for operand, *root in inputs:
        (promoted,) = promote(ctx, [operand], op.regions[0].block.arguments[:1])
        made.append(ctx.add(Opcode.COLLECTIVE_REDUCE, promoted, *root, to_apply=reducer, **attributes, **rooted))
    return made


define(
    "stablehlo.collective_reduce",
    "operands*",
    "results*",
    rule=_collective_reduce_rule,
    symbols=check_mesh,
    lower=_lower_collective_reduce,
    regions=1,
    traits=(Trait.COLLECTIVE, Trait.ASYNCHRONOUS),
    attributes={**CHANNEL_AND_GROUPS, **GLOBAL_IDS, "has_dynamic_root": FALSE},
    releases="1.19",
    doc=(
        "The first process of a group (or the root that the last operand names) gets the operands combined by the "
        "region; the others get zeros."
    ),
)


def _lower_cross_replica_sum(ctx: LoweringContext, op: ir.Op, operand: HloInstruction) -> HloInstruction:
    """HLO `all-reduce` with a sum."""
    total = scalar_computation(Opcode.ADD, operand.shape.element_type, module=ctx.hlo_module, name="sum")
    return ctx.add(Opcode.ALL_REDUCE, operand, to_apply=total, **collective_attributes(ctx, op))


define(
    "stablehlo.cross-replica-sum",
    "operand",
    rule=lambda op, module: [tensor(op, 0)],
    lower=_lower_cross_replica_sum,
    traits=(Trait.COLLECTIVE,),
    attributes={"replica_groups": Attribute(Kind.STRUCT, classes=(ir.DenseElements,))},
    doc="The sum of the operands of all replicas of a group. Old programs have it; `all_reduce` replaced it.",
    type_traits=("compatible-types",),
)
