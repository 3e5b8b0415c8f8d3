"""Shards in one device's program: a device's shard of a whole tensor, and the whole tensor of all shards."""

from __future__ import annotations

from typing import Any

import numpy as np

from xla_core.errors import InvalidArgumentError
from xla_core.hlo.ir.builder import Builder, scalar_computation
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.mesh import AxisRef, groups_along
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.element_type import ElementType
from xla_core.hlo.values.shape import Shape
from xla_core.spmd.sharding import Sharding, shard_indices

_CHANNEL = 1


def shard_shape(shape: Shape, sharding: Sharding) -> Shape:
    """Returns the shape of one shard. Raises InvalidArgumentError where a dimension can't be split evenly."""
    sizes = []
    for dimension, (size, count) in enumerate(zip(shape.dimensions, sharding.shard_counts, strict=True)):
        if size % count:
            raise InvalidArgumentError(
                f"dimension {dimension} of {shape} can't be split evenly into {count} shards",
                hint="each device must have a shard of the same size",
            )
        sizes.append(size // count)
    return shape.with_dimensions(sizes)


class Shards:
    """The tensors of a module that were gathered from shards: who needs only its shard of one takes the shard itself.

    Attributes:
        partitions: the number of devices that run the program.
    """

    def __init__(self, partitions: int = 1) -> None:
        self.partitions = partitions
        self._of: dict[HloInstruction, tuple[Sharding, HloInstruction]] = {}  # whole tensors

    def to_shard(self, b: Builder, value: HloInstruction, sharding: Sharding) -> HloInstruction:
        """Slices this device's shard of a whole tensor.

        A tensor that `to_whole` made of such shards gives back its own.

        Raises:
            InvalidArgumentError: where the mesh has another number of devices than the program, or a dimension can't
                be split evenly.
        """
        known = self._of.get(value)
        if known is not None and known[0] == sharding:
            return known[1]
        if not sharding.is_divided:
            return value
        sizes, counts = shard_shape(value.shape, sharding).dimensions, sharding.shard_counts
        devices = len(shard_indices(sharding.mesh, ()))
        if self.partitions != devices:
            raise InvalidArgumentError(f"a mesh of {devices} devices in a program for {self.partitions} partitions")
        device = b.convert(b.add(Opcode.PARTITION_ID, shape=Shape(ElementType.U32)), Shape(ElementType.S32))
        if sharding.term_count > 1:
            value = _first_term(b, value, sharding, device)
        if all(count == 1 for count in counts):
            return value
        starts = []
        for split, count, size in zip(sharding.dimensions, counts, sizes, strict=True):
            if count == 1:
                starts.append(b.constant(np.int32(0)))
                continue
            table = b.constant((shard_indices(sharding.mesh, split) * size).astype(np.int32))
            starts.append(b.reshape(b.add(Opcode.DYNAMIC_SLICE, table, device, dynamic_slice_sizes=(1,)), ()))
        return b.add(Opcode.DYNAMIC_SLICE, value, *starts, dynamic_slice_sizes=tuple(sizes))

    def to_whole(self, b: Builder, shard: HloInstruction, sharding: Sharding) -> HloInstruction:
        """Gathers the shards of all devices, and adds the terms of a sum."""
        value = shard
        if sharding.term_count > 1:
            total = scalar_computation(Opcode.ADD, value.shape.element_type, module=b.hlo_module, name="sum")
            value = b.add(Opcode.ALL_REDUCE, value, to_apply=total, **_between(sharding, sharding.unreduced))
        for dimension, (split, count) in enumerate(zip(sharding.dimensions, sharding.shard_counts, strict=True)):
            if count == 1:
                continue
            dims = list(value.shape.dimensions)
            dims[dimension] *= count
            value = b.add(
                Opcode.ALL_GATHER,
                value,
                shape=value.shape.with_dimensions(dims),
                dimensions=(dimension,),
                **_between(sharding, split),
            )
        if value is not shard:
            self._of[value] = (sharding, shard)
        return value

    def remove_unused_gathers(self) -> None:
        """Removes the gathers of whole tensors of which only the shards are used.

        No pass may do it: a collective is kept, because other devices may wait for it.
        """
        for whole, (_, shard) in reversed(self._of.items()):
            while whole is not shard and not whole.user_count and not whole.is_root:
                operand, computation = whole.operand(0), whole.parent
                assert computation is not None
                computation.remove(whole)
                whole = operand


def _first_term(b: Builder, value: HloInstruction, sharding: Sharding, device: HloInstruction) -> HloInstruction:
    """Makes terms of a sum: the value on the first device along the unreduced axes, and zeros on the others."""
    is_first = b.constant(shard_indices(sharding.mesh, sharding.unreduced) == 0)
    mine = b.reshape(b.add(Opcode.DYNAMIC_SLICE, is_first, device, dynamic_slice_sizes=(1,)), ())
    zero = b.broadcast(b.constant(np.zeros((), value.shape.dtype)), value.shape.dimensions)
    everywhere = b.broadcast(mine, value.shape.dimensions)
    return b.add(Opcode.SELECT, everywhere, value, zero)


def _between(sharding: Sharding, axes: tuple[AxisRef, ...]) -> dict[str, Any]:
    """Returns the attributes of a collective between the devices along mesh axes."""
    mesh = sharding.mesh
    groups = groups_along(mesh.axes, None if mesh.ids is None else np.array(mesh.ids, np.int64), axes)
    return {"replica_groups": groups, "channel_id": _CHANNEL, "use_global_device_ids": True}
