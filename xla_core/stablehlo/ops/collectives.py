"""Collectives that exchange operands between the processes of a group."""

from __future__ import annotations

from collections.abc import Sequence

from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.opcode import Opcode
from xla_core.stablehlo import ir
from xla_core.stablehlo.lower.context import LoweringContext
from xla_core.stablehlo.lower.type_conversion import shape_of
from xla_core.stablehlo.ops.common import CHANNEL, INDEX, SIZE, tensor
from xla_core.stablehlo.ops.replica_groups import (
    CHANNEL_AND_GROUPS,
    GLOBAL_IDS,
    channel_attributes,
    check_broadcast_groups,
    check_channel,
    check_groups,
    check_mesh,
    collective_attributes,
    data_operands,
    with_roots,
)
from xla_core.stablehlo.table.op_table import Attribute, Kind, OpGroup, Trait
from xla_core.stablehlo.verify.compatibility import compatible_dimensions, list_text

define = OpGroup("collectives").define


def _all_gather_rule(op: ir.Op, module: ir.Module) -> None:
    dim = int(op.attributes["all_gather_dim"])
    check_groups(op)
    check_channel(op, negative="channel_id cannot be negative when useGlobalDeviceIds is set")
    for i, (value, result) in enumerate(zip(op.operands, op.results, strict=True)):
        operand, out = tensor(op, i), result.type
        assert isinstance(out, ir.TensorType)
        del value
        if dim >= operand.rank:
            op.fail("all_gather_dim must be a valid index of operand")
        here = operand.shape[dim]
        if here == 0:
            op.fail("dimension size of operand at 'all_gather_dim' cannot be zero")
        if operand.rank != out.rank:
            op.fail("operand and result must have the same rank")
        if any(
            j != dim and not compatible_dimensions(a, b)
            for j, (a, b) in enumerate(zip(operand.shape, out.shape, strict=True))
        ):
            op.fail("operand and result should have the same shape except for the dimension size at 'all_gather_dim'")
        there = out.shape[dim]
        if ir.DYNAMIC not in (here, there) and there % here:
            op.fail(
                f"result gather dimension has size {there}, expected to be a multiple of operand gather "
                f"dimension size {here}"
            )


def _lower_all_gather(ctx: LoweringContext, op: ir.Op, *operands: HloInstruction) -> Sequence[HloInstruction]:
    """HLO `all-gather`, one for each operand."""
    attributes = collective_attributes(ctx, op)
    dims = (int(op.attributes["all_gather_dim"]),)
    return [
        ctx.add(Opcode.ALL_GATHER, o, shape=shape_of(r.type), dimensions=dims, **attributes)
        for o, r in zip(operands, op.results, strict=True)
    ]


define(
    "stablehlo.all_gather",
    "operands*",
    "results*",
    rule=_all_gather_rule,
    symbols=check_mesh,
    lower=_lower_all_gather,
    traits=(Trait.COLLECTIVE, Trait.ASYNCHRONOUS, Trait.VERSION_BY_OPERANDS),
    attributes={"all_gather_dim": INDEX, **CHANNEL_AND_GROUPS, **GLOBAL_IDS},
    releases="0.9 1.5",
    doc=(
        "Each process of a group gets the operands of all of them, concatenated along `all_gather_dim` in the "
        "group's order."
    ),
    type_traits=("pairwise-element-type",),
)


def _all_to_all_rule(op: ir.Op, module: ir.Module) -> Sequence[ir.Type]:
    split, concat = int(op.attributes["split_dimension"]), int(op.attributes["concat_dimension"])
    count = int(op.attributes["split_count"])
    check_groups(op, size=count)
    results: list[ir.Type] = []
    for i in range(len(op.operands)):
        operand = tensor(op, i)
        for name, dim in (("split", split), ("concat", concat)):
            if dim >= operand.rank:
                op.fail(f"AllToAll {name}_dimension {dim} is out-of-bounds for input rank {operand.rank}")
        if operand.shape[split] != ir.DYNAMIC and operand.shape[split] % count:
            op.fail(
                f"split dimension has size {operand.shape[split]}, expected to be a multiple of split_count {count}"
            )
        shape = list(operand.shape)
        if shape[split] != ir.DYNAMIC:
            shape[split] //= count
        if shape[concat] != ir.DYNAMIC:
            shape[concat] *= count
        bounds = list(operand.bounds)
        if bounds:
            part = bounds[split]
            bounds[split] = None if part is None else part // count
            whole = bounds[concat]
            bounds[concat] = None if whole is None else whole * count
        results.append(ir.TensorType(tuple(shape), operand.element, tuple(bounds)))
    return results


def _lower_all_to_all(ctx: LoweringContext, op: ir.Op, *operands: HloInstruction) -> Sequence[HloInstruction]:
    """HLO `all-to-all` along the split dimension; a transpose moves the parts to the concat dimension."""
    attributes = collective_attributes(ctx, op)
    split, concat = int(op.attributes["split_dimension"]), int(op.attributes["concat_dimension"])
    count = int(op.attributes["split_count"])
    made = []
    for operand, result in zip(operands, op.results, strict=True):
        exchanged = ctx.add(Opcode.ALL_TO_ALL, operand, dimensions=(split,), **attributes)
        if split != concat:
            dims = operand.shape.dimensions
            parts = ctx.reshape(exchanged, (*dims[:split], count, dims[split] // count, *dims[split + 1 :]))
            order = [i for i in range(len(dims) + 1) if i != split]
            target = concat if concat < split else concat + 1
            order.insert(order.index(target), split)
            moved = ctx.add(Opcode.TRANSPOSE, parts, dimensions=tuple(order))
            exchanged = ctx.reshape(moved, shape_of(result.type).dimensions)
        made.append(exchanged)
    return made


define(
    "stablehlo.all_to_all",
    "operands*",
    "results*",
    rule=_all_to_all_rule,
    symbols=check_mesh,
    lower=_lower_all_to_all,
    traits=(Trait.COLLECTIVE, Trait.ASYNCHRONOUS, Trait.VERSION_BY_OPERANDS),
    attributes={"split_dimension": INDEX, "concat_dimension": INDEX, "split_count": SIZE, **CHANNEL_AND_GROUPS},
    releases="0.9 1.5",
    doc=(
        "Each process splits its operand into `split_count` parts along `split_dimension` and sends part j to "
        "process j of its group; the received parts are concatenated along `concat_dimension`."
    ),
    type_traits=("pairwise-element-type",),
)


def _permute_rule(op: ir.Op, module: ir.Module) -> Sequence[ir.Type]:
    pairs = op.attributes["source_target_pairs"]
    if isinstance(pairs, ir.DenseElements):
        if pairs.type.rank != 2:
            op.fail(f"expect source_target_pairs attribute to be of rank 2, but got rank {pairs.type.rank}")
        if pairs.type.shape[1] != 2:
            op.fail(f"expect source_target_pairs attribute of shape (N, 2), but got ({list_text(pairs.type.shape)})")
    seen: dict[str, set[int]] = {"sources": set(), "targets": set()}
    for pair in _pairs(op):
        for (name, ids), process in zip(seen.items(), pair, strict=True):
            if process < 0:
                op.fail("replica ids in source_target_pairs must be >= 0.")
            if process in ids:
                op.fail(f"duplicate {name} not allowed.")
            ids.add(process)
    return [o.type for o in op.operands]


def _pairs(op: ir.Op) -> list[tuple[int, int]]:
    value = op.attributes["source_target_pairs"]
    rows = value.array.reshape(-1, 2).tolist() if isinstance(value, ir.DenseElements) else value
    return [(int(a), int(b)) for a, b in rows]


def _lower_permute(ctx: LoweringContext, op: ir.Op, *operands: HloInstruction) -> Sequence[HloInstruction]:
    """HLO `collective-permute`, one for each operand."""
    pairs = tuple(_pairs(op))
    return [
        ctx.add(Opcode.COLLECTIVE_PERMUTE, o, source_target_pairs=pairs, **channel_attributes(op)) for o in operands
    ]


define(
    "stablehlo.collective_permute",
    "operand",
    "result",
    rule=_permute_rule,
    lower=_lower_permute,
    traits=(Trait.COLLECTIVE, Trait.ASYNCHRONOUS),
    attributes={"source_target_pairs": Attribute(Kind.ELEMENTS), "channel_handle": CHANNEL},
    doc=(
        "Sends the operand from the source to the target of each of `source_target_pairs`; a process that is no "
        "target gets zeros."
    ),
    type_traits=("same-element-type",),
)


def _collective_broadcast_rule(op: ir.Op, module: ir.Module) -> Sequence[ir.Type]:
    check_broadcast_groups(op)
    return data_operands(op, "collective_broadcast")


def _lower_collective_broadcast(ctx: LoweringContext, op: ir.Op, *operands: HloInstruction) -> Sequence[HloInstruction]:
    """HLO `collective-broadcast`, one for each operand."""
    attributes = collective_attributes(ctx, op)
    inputs, rooted = with_roots(ctx, op, operands)
    return [ctx.add(Opcode.COLLECTIVE_BROADCAST, *values, **attributes, **rooted) for values in inputs]


define(
    "stablehlo.collective_broadcast",
    "operands*",
    "results*",
    rule=_collective_broadcast_rule,
    symbols=check_mesh,
    lower=_lower_collective_broadcast,
    traits=(Trait.COLLECTIVE, Trait.ASYNCHRONOUS, Trait.VERSION_BY_OPERANDS),
    attributes={**CHANNEL_AND_GROUPS, "has_dynamic_root": Attribute(Kind.BOOL, False, since=2)},
    releases="0.16 1.20",
    doc=(
        "Each process of a group gets the operand of the group's first process (or of the root that the last "
        "operand names); a process that is in no group gets zeros."
    ),
)
