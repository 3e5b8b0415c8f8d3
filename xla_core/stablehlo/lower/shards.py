"""Shards of tensors in one device's program: a device's shard of a whole tensor, and the whole tensor of all shards."""

from __future__ import annotations

from typing import Any

import numpy as np

from xla_core.errors import InvalidArgumentError
from xla_core.hlo.builder import scalar_computation
from xla_core.hlo.element_type import ElementType
from xla_core.hlo.instruction import HloInstruction
from xla_core.hlo.opcode import Opcode
from xla_core.hlo.shape import Shape
from xla_core.stablehlo import ir
from xla_core.stablehlo.lower.context import LoweringContext
from xla_core.stablehlo.sharding.mesh import mesh_groups
from xla_core.stablehlo.sharding.shardy import Sharding, shard_count, shard_indices

_CHANNEL = 1


def shard_shape(shape: Shape, sharding: Sharding, op: ir.Op) -> Shape:
    """Returns the shape of one shard.

    Raises:
        InvalidArgumentError: where a dimension can't be split evenly; it names `op`.
    """
    sizes = []
    for dimension, split in enumerate(sharding.dimensions):
        count = shard_count(sharding.mesh, split)
        size = shape.dimensions[dimension]
        if size % count:
            op.fail(f"dimension {dimension} of {shape} can't be split evenly into {count} shards")
        sizes.append(size // count)
    return shape.with_dimensions(sizes)


def to_shard(ctx: LoweringContext, value: HloInstruction, sharding: Sharding) -> HloInstruction:
    """Slices this device's shard of a whole tensor. A tensor that `to_whole` made of such shards gives back its own."""
    known = ctx.module.shards.get(value)
    if known is not None and known[0] == sharding:
        return known[1]
    counts = [shard_count(sharding.mesh, split) for split in sharding.dimensions]
    is_sum = shard_count(sharding.mesh, sharding.unreduced) > 1
    if all(count == 1 for count in counts) and not is_sum:
        return value
    sizes = [size // count for size, count in zip(value.shape.dimensions, counts, strict=True)]
    partitions, devices = ctx.module.partitions, len(shard_indices(sharding.mesh, ()))
    if partitions != devices:
        raise InvalidArgumentError(f"a mesh of {devices} devices in a program for {partitions} partitions")
    device = ctx.convert(ctx.add(Opcode.PARTITION_ID, shape=Shape(ElementType.U32)), Shape(ElementType.S32))
    if is_sum:
        value = _first_term(ctx, value, sharding, device)
    starts = []
    for split, count, size in zip(sharding.dimensions, counts, sizes, strict=True):
        if count == 1:
            starts.append(ctx.constant(np.int32(0)))
            continue
        table = ctx.constant((shard_indices(sharding.mesh, split) * size).astype(np.int32))
        starts.append(ctx.reshape(ctx.add(Opcode.DYNAMIC_SLICE, table, device, dynamic_slice_sizes=(1,)), ()))
    if all(count == 1 for count in counts):
        return value
    return ctx.add(Opcode.DYNAMIC_SLICE, value, *starts, dynamic_slice_sizes=tuple(sizes))


def _first_term(
    ctx: LoweringContext, value: HloInstruction, sharding: Sharding, device: HloInstruction
) -> HloInstruction:
    """Makes terms of a sum: the value on the first device along the unreduced axes, and zeros on the others."""
    is_first = ctx.constant(shard_indices(sharding.mesh, sharding.unreduced) == 0)
    mine = ctx.reshape(ctx.add(Opcode.DYNAMIC_SLICE, is_first, device, dynamic_slice_sizes=(1,)), ())
    zero = ctx.broadcast(ctx.constant(np.zeros((), value.shape.dtype)), value.shape.dimensions)
    everywhere = ctx.broadcast(mine, value.shape.dimensions)
    return ctx.add(Opcode.SELECT, everywhere, value, zero)


def to_whole(ctx: LoweringContext, value: HloInstruction, sharding: Sharding, op: ir.Op) -> HloInstruction:
    """Gathers the shards of all devices, and adds the terms of a sum."""
    shard = value
    if shard_count(sharding.mesh, sharding.unreduced) > 1:
        total = scalar_computation(Opcode.ADD, value.shape.element_type, module=ctx.hlo_module, name="sum")
        value = ctx.add(Opcode.ALL_REDUCE, value, to_apply=total, **_between(ctx, sharding, sharding.unreduced, op))
    for dimension, split in enumerate(sharding.dimensions):
        count = shard_count(sharding.mesh, split)
        if count == 1:
            continue
        dims = list(value.shape.dimensions)
        dims[dimension] *= count
        value = ctx.add(
            Opcode.ALL_GATHER,
            value,
            shape=value.shape.with_dimensions(dims),
            dimensions=(dimension,),
            **_between(ctx, sharding, split, op),
        )
    if value is not shard:
        ctx.module.shards[value] = (sharding, shard)
    return value


def _between(ctx: LoweringContext, sharding: Sharding, axes: tuple[ir.AxisRef, ...], op: ir.Op) -> dict[str, Any]:
    """Returns the attributes of a collective between the devices along mesh axes."""
    groups = mesh_groups(ir.ReplicaGroupMeshAxes(sharding.mesh, axes), ctx.module.source, op)
    return {"replica_groups": groups, "channel_id": _CHANNEL, "use_global_device_ids": True}
