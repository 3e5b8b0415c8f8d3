"""Shards of tensors in one device's program: a device's shard of a whole tensor, and the whole tensor of all shards."""

from __future__ import annotations

import numpy as np

from xla_core.errors import InvalidArgumentError
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
    if all(count == 1 for count in counts):
        return value
    sizes = [size // count for size, count in zip(value.shape.dimensions, counts, strict=True)]
    partitions, devices = ctx.module.partitions, len(shard_indices(sharding.mesh, ()))
    if partitions != devices:
        raise InvalidArgumentError(f"a mesh of {devices} devices in a program for {partitions} partitions")
    device = ctx.convert(ctx.add(Opcode.PARTITION_ID, shape=Shape(ElementType.U32)), Shape(ElementType.S32))
    starts = []
    for split, count, size in zip(sharding.dimensions, counts, sizes, strict=True):
        if count == 1:
            starts.append(ctx.constant(np.int32(0)))
            continue
        table = ctx.constant((shard_indices(sharding.mesh, split) * size).astype(np.int32))
        starts.append(ctx.reshape(ctx.add(Opcode.DYNAMIC_SLICE, table, device, dynamic_slice_sizes=(1,)), ()))
    return ctx.add(Opcode.DYNAMIC_SLICE, value, *starts, dynamic_slice_sizes=tuple(sizes))


def to_whole(ctx: LoweringContext, value: HloInstruction, sharding: Sharding, op: ir.Op) -> HloInstruction:
    """Gathers the shards of all devices."""
    shard = value
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
            replica_groups=mesh_groups(ir.ReplicaGroupMeshAxes(sharding.mesh, split), ctx.module.source, op),
            channel_id=_CHANNEL,
            use_global_device_ids=True,
        )
    if value is not shard:
        ctx.module.shards[value] = (sharding, shard)
    return value
