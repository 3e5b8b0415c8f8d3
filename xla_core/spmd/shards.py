"""Shards in one device's program: a device's shard of a whole tensor, and the whole tensor of all shards."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator
from typing import Any

import numpy as np

from xla_core.errors import InvalidArgumentError
from xla_core.hlo.ir.builder import Builder, scalar_computation
from xla_core.hlo.ir.computation import HloComputation
from xla_core.hlo.ir.effects import is_effect
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.ir.module import HloModule
from xla_core.hlo.table.mesh import AxisRef, groups_along
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.element_type import ElementType
from xla_core.hlo.values.shape import Shape
from xla_core.spmd.sharded_ops import add_sharded, operand_shardings, slice_at
from xla_core.spmd.sharding import DeviceMesh, Sharding, shard_count, shard_indices

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


@dataclasses.dataclass(frozen=True, eq=False)
class _Frame:
    """A computation whose values are computed on shards: the builder's, or one that it calls."""

    call: HloInstruction | None = None
    outer: _Frame | None = None
    called: dict[HloInstruction, _Frame] = dataclasses.field(default_factory=dict)


_Wanted = tuple[_Frame, HloInstruction, Sharding]


class Shards:
    """Remembers the shards from which a whole tensor was gathered, so that slicing it again gives the shard itself.

    Attributes:
        partitions: the number of devices that run the program.
    """

    def __init__(self) -> None:
        self.partitions = 1
        self._of: dict[HloInstruction, tuple[Sharding, HloInstruction]] = {}  # whole tensors
        self._frames: dict[HloComputation, _Frame] = {}
        self._made: dict[_Wanted, HloInstruction | None] = {}
        self._starts: dict[tuple[HloComputation, DeviceMesh, tuple[AxisRef, ...], int], HloInstruction] = {}

    def to_shard(self, b: Builder, value: HloInstruction, sharding: Sharding) -> HloInstruction:
        """Returns this device's shard of a whole tensor.

        A tensor that `to_whole` made of such shards gives back its own. The result of an op that can be divided
        (`operand_shardings`) is computed again from shards. Other tensors are sliced.

        Raises:
            InvalidArgumentError: where the mesh has another number of devices than the program, or a dimension can't
                be split evenly.
        """
        known = self._of.get(value)
        if known is not None and known[0] == sharding:
            return known[1]
        if not sharding.is_divided:
            return value
        shard_shape(value.shape, sharding)  # raises where it can't be split
        devices = len(shard_indices(sharding.mesh, ()))
        if self.partitions != devices:
            raise InvalidArgumentError(f"a mesh of {devices} devices in a program for {self.partitions} partitions")
        if sharding.term_count > 1:
            value = _first_term(b, value, sharding, _device(b))
            sharding = dataclasses.replace(sharding, unreduced=())
        first = (self._frames.setdefault(b.computation, _Frame()), value, sharding)
        wanted = [first]  # a stack, because chains of ops are longer than Python's own
        while wanted:
            needs = [] if wanted[-1] in self._made else self._needs(wanted[-1])
            missing = [need for need in needs or () if need not in self._made]
            if missing:
                wanted += missing
                continue
            this = wanted.pop()
            if this not in self._made:
                self._made[this] = self._make(b, this, needs)
        made = self._made[first]
        assert made is not None
        return made

    def _needs(self, wanted: _Wanted) -> list[_Wanted] | None:
        """Returns the shards from which a shard is made: one of the same tensor under another name, or the op's
        operands.

        None stands for a tensor that is sliced, which is possible in the builder's own computation alone.
        """
        frame, value, sharding = wanted
        if frame.call is None and (value in self._of or not sharding.is_divided):
            return None
        match value.opcode:
            case Opcode.PARAMETER if frame.call is not None and frame.outer is not None:
                return [(frame.outer, frame.call.operand(value.parameter_number), sharding)]
            case Opcode.CALL if not value.shape.is_tuple:
                return self._result(frame, value, None, sharding)
            case Opcode.GET_TUPLE_ELEMENT if value.operand(0).opcode == Opcode.CALL:
                return self._result(frame, value.operand(0), value.tuple_index, sharding)
        shardings = operand_shardings(value, sharding)
        if shardings is None or any(o.shape.is_dynamic for o in value.operands):
            return None
        return [(frame, operand, each) for operand, each in zip(value.operands, shardings, strict=True)]

    def _result(
        self, frame: _Frame, call: HloInstruction, index: int | None, sharding: Sharding
    ) -> list[_Wanted] | None:
        """Returns the shard of a call's result, unless the call has effects: these must not happen twice."""
        (callee,) = call.called_computations
        value = callee.root
        if index is not None:
            if value.opcode != Opcode.TUPLE:
                return None
            value = value.operand(index)
        if is_effect(call):
            return None
        return [(frame.called.setdefault(call, _Frame(call, frame)), value, sharding)]

    def _make(self, b: Builder, wanted: _Wanted, needs: list[_Wanted] | None) -> HloInstruction | None:
        """Makes a shard; None for a shard of a called computation that can't be computed from shards alone."""
        frame, value, sharding = wanted
        known = self._of.get(value)
        if frame.call is None and known is not None and known[0] == sharding:
            return known[1]
        starts = functools.partial(self._start, b, value.shape, sharding)
        shape = shard_shape(value.shape, sharding).without_layout()
        operands = [] if needs is None else [made for need in needs if (made := self._made[need]) is not None]
        if needs is None or len(operands) < len(needs):
            return slice_at(b, value, shape, starts) if frame.call is None else None
        if value.opcode in (Opcode.PARAMETER, Opcode.CALL, Opcode.GET_TUPLE_ELEMENT):
            return operands[0]
        return add_sharded(b, value, operands, shape, starts)

    def _start(self, b: Builder, whole: Shape, sharding: Sharding, dimension: int) -> HloInstruction | None:
        axes = sharding.dimensions[dimension]
        count = shard_count(sharding.mesh, axes)
        if count == 1:
            return None
        size = whole.dimensions[dimension] // count
        key = b.computation, sharding.mesh, axes, size
        if key not in self._starts:
            table = b.constant((shard_indices(sharding.mesh, axes) * size).astype(np.int32))
            start = b.add(Opcode.DYNAMIC_SLICE, table, _device(b), dynamic_slice_sizes=(1,))
            self._starts[key] = b.reshape(start, ())
        return self._starts[key]

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

    def remove_unused(self, module: HloModule) -> None:
        """Removes whole tensors of which only shards are used, with their gathers and the functions that made them.

        No pass may do it: a collective is kept, because other devices may wait for it.
        """
        gathers = {gather for whole, (_, shard) in self._of.items() for gather in _steps(whole, shard)}
        for computation in {gather.parent for gather in gathers} | self._frames.keys():
            assert computation is not None
            for each in reversed(computation.instructions):
                is_used = each.user_count or each.is_root or each.opcode == Opcode.PARAMETER
                if not is_used and (each in gathers or not is_effect(each)):
                    computation.remove(each)
        if self._frames:
            module.remove_unreachable_computations()


def _steps(whole: HloInstruction, shard: HloInstruction) -> Iterator[HloInstruction]:
    while whole is not shard:
        yield whole
        whole = whole.operand(0)


def _device(b: Builder) -> HloInstruction:
    return b.convert(b.add(Opcode.PARTITION_ID, shape=Shape(ElementType.U32)), Shape(ElementType.S32))


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
