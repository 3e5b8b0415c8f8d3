"""Raises collectives. Replica groups are listed in full."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from xla_core.errors import UnimplementedError
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.ops.collective_groups import CollectiveGroups
from xla_core.hlo.table.opcode import Opcode
from xla_core.stablehlo import ir
from xla_core.stablehlo.translate.raising.context import RaisingContext, raises
from xla_core.stablehlo.translate.raising.contraction import i64_pairs
from xla_core.stablehlo.translate.raising.data import started
from xla_core.stablehlo.translate.raising.values import Raised, single, type_of


def _groups(ctx: RaisingContext, instruction: HloInstruction) -> list[tuple[int, ...]]:
    """Returns the groups. An empty list stands for one group of all participants."""
    given = list(instruction.attribute("replica_groups") or ())
    if given:  # they may name more devices than the module is for
        return given
    counts = ctx.program.source.num_replicas, ctx.program.source.num_partitions
    return [tuple(range(CollectiveGroups.of(instruction.opcode, instruction.attributes, counts).count or 1))]


def _attributes(ctx: RaisingContext, instruction: HloInstruction) -> dict[str, Any]:
    groups = _groups(ctx, instruction)
    width = max(map(len, groups))
    rows = np.full((len(groups), width), -1, np.int64)
    for row, group in zip(rows, groups, strict=True):
        row[: len(group)] = group
    return {
        "replica_groups": ir.dense(rows),
        "use_global_device_ids": ir.UNIT if instruction.attributes.get("use_global_device_ids") else None,
        "has_dynamic_root": ir.UNIT if instruction.attributes.get("has_dynamic_root") else None,
        **_channel(instruction),
    }


def _channel(instruction: HloInstruction) -> dict[str, Any]:
    channel = instruction.attributes.get("channel_id")
    return {"channel_handle": ir.ChannelHandle(int(channel), ir.ChannelType.DEVICE_TO_DEVICE)} if channel else {}


@raises(Opcode.ALL_REDUCE, Opcode.ALL_REDUCE_START, Opcode.COLLECTIVE_REDUCE)
def _all_reduce(ctx: RaisingContext, instruction: HloInstruction, operands: Sequence[Raised]) -> Raised:
    name = "stablehlo.collective_reduce" if instruction.opcode == Opcode.COLLECTIVE_REDUCE else "stablehlo.all_reduce"
    region = ctx.region(instruction.attribute("to_apply"))
    return ctx.results(name, operands, [region], **_attributes(ctx, instruction))


@raises(Opcode.REDUCE_SCATTER)
def _reduce_scatter(ctx: RaisingContext, instruction: HloInstruction, operands: Sequence[Raised]) -> Raised:
    if len(operands) != 1:
        raise UnimplementedError("a reduce-scatter of several operands has no counterpart in StableHLO")
    (dimension,) = instruction.attribute("dimensions")
    region = ctx.region(instruction.attribute("to_apply"))
    attributes = _attributes(ctx, instruction)
    return ctx.results(
        "stablehlo.reduce_scatter", operands[:1], [region], scatter_dimension=int(dimension), **attributes
    )


@raises(Opcode.ALL_GATHER, Opcode.ALL_GATHER_START)
def _all_gather(ctx: RaisingContext, instruction: HloInstruction, operands: Sequence[Raised]) -> Raised:
    (dimension,) = instruction.attribute("dimensions")
    shape = instruction.shape.tuple_shapes[1] if instruction.opcode.endswith("start") else instruction.shape
    results = ctx.op(
        "stablehlo.all_gather",
        [single(o) for o in operands],
        [type_of(leaf) for leaf in shape.leaves()],
        all_gather_dim=int(dimension),
        **_attributes(ctx, instruction),
    )
    value: Raised = tuple(results) if shape.is_tuple else results[0]
    if not instruction.opcode.endswith("start"):
        return value
    return started(ctx, instruction, tuple(operands) if len(operands) > 1 else operands[0], value)


@raises(Opcode.ALL_TO_ALL)
def _all_to_all(ctx: RaisingContext, instruction: HloInstruction, operands: Sequence[Raised]) -> Raised:
    dimensions = instruction.attribute("dimensions")
    if not dimensions or len(operands) != 1:
        raise UnimplementedError(
            "an all-to-all of one operand for each participant has no counterpart in StableHLO",
            hint="concatenate the operands, and give the dimension to split",
        )
    attributes = _attributes(ctx, instruction)
    attributes.pop("use_global_device_ids")
    return ctx.results(
        "stablehlo.all_to_all",
        operands[:1],
        split_dimension=int(dimensions[0]),
        concat_dimension=int(dimensions[0]),
        split_count=int(attributes["replica_groups"].type.shape[1]),
        **attributes,
    )


@raises(Opcode.RAGGED_ALL_TO_ALL)
def _ragged_all_to_all(ctx: RaisingContext, instruction: HloInstruction, operands: Sequence[Raised]) -> Raised:
    """Adds the custom call that JAX writes. (XLA: hlo_function_importer.cc.)"""
    config: dict[str, Any] = {"replica_groups": _attributes(ctx, instruction)["replica_groups"]}
    if instruction.attributes.get("channel_id"):
        config["channel_id"] = int(instruction.attributes["channel_id"])
    return ctx.results(
        "stablehlo.custom_call",
        operands,
        call_target_name="ragged_all_to_all",
        backend_config=config,
        api_version=ir.TypedInt(4, "i32"),
    )


@raises(Opcode.COLLECTIVE_BROADCAST)
def _broadcast(ctx: RaisingContext, instruction: HloInstruction, operands: Sequence[Raised]) -> Raised:
    attributes = _attributes(ctx, instruction)
    attributes.pop("use_global_device_ids")
    return ctx.results("stablehlo.collective_broadcast", operands, **attributes)


@raises(Opcode.COLLECTIVE_PERMUTE, Opcode.COLLECTIVE_PERMUTE_START)
def _permute(ctx: RaisingContext, instruction: HloInstruction, operands: Sequence[Raised]) -> Raised:
    if len(operands) != 1 or instruction.attributes.get("slice_sizes"):
        raise UnimplementedError("a collective-permute into a part of its result has no counterpart in StableHLO")
    pairs = i64_pairs(instruction.attribute("source_target_pairs"))
    value = single(operands[0])
    name = "stablehlo.collective_permute"
    moved = ctx.add(name, [value], value.type, source_target_pairs=pairs, **_channel(instruction))
    return moved if instruction.opcode == Opcode.COLLECTIVE_PERMUTE else started(ctx, instruction, value, moved)
