"""How ops are divided: which shards of its operands an op needs for a shard of its result."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

import numpy as np

from xla_core.hlo.ir.builder import Builder
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.attributes import SliceDimension
from xla_core.hlo.table.mesh import AxisRef
from xla_core.hlo.table.op_table import Trait
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.element_type import ElementType
from xla_core.hlo.values.shape import Shape
from xla_core.spmd.sharding import Sharding

Starts = Callable[[int], HloInstruction | None]
"""Dimension -> where this device's shard begins, as s32[]; None in a dimension that is not split."""

_BY_DEVICE = frozenset({Trait.SIDE_EFFECT, Trait.NONDETERMINISTIC, Trait.PER_DEVICE})


def operand_shardings(instruction: HloInstruction, sharding: Sharding) -> list[Sharding] | None:
    """Returns the shardings of the operands from whose shards the op computes a shard of its result.

    Returns None for an op that is not divided.
    """
    if not instruction.shape.is_array or instruction.shape.is_dynamic:
        return None
    match instruction.opcode:
        case Opcode.CONSTANT | Opcode.IOTA:
            return []
        case Opcode.BROADCAST:
            return [_moved(sharding, instruction.attribute("dimensions"))]
        case Opcode.TRANSPOSE:
            source = np.argsort(instruction.attribute("dimensions"))
            return [_moved(sharding, [int(dimension) for dimension in source])]
        case Opcode.SLICE:
            return _of_slice(instruction, sharding)
        case Opcode.RESHAPE:
            return _of_reshape(instruction, sharding)
        case Opcode.DYNAMIC_SLICE:
            of_slice = _of_slice(instruction, sharding)
            return of_slice and of_slice + [_whole(sharding, 0)] * (len(instruction.operands) - 1)
        case Opcode.GATHER:
            return _of_gather(instruction, sharding)
        case Opcode.REDUCE:
            operand, reduced = instruction.operand(0), instruction.attribute("dimensions")
            kept = iter(sharding.dimensions)
            dimensions = tuple(() if d in reduced else next(kept) for d in range(operand.shape.rank))
            return [dataclasses.replace(sharding, dimensions=dimensions), _whole(sharding, 0)]
    if not _BY_DEVICE.isdisjoint(instruction.op.traits) or any(not o.shape.is_array for o in instruction.operands):
        return None
    if not sharding.is_divided and not instruction.called_computations:
        return [_whole(sharding, operand.shape.rank) for operand in instruction.operands]
    if not instruction.is_elementwise:
        return None
    return [sharding if operand.shape.rank else _whole(sharding, 0) for operand in instruction.operands]


def _of_slice(instruction: HloInstruction, sharding: Sharding) -> list[Sharding] | None:
    """A slice that takes a part of a dimension is not divided along it."""
    sizes = zip(instruction.operand(0).shape.dimensions, instruction.shape.dimensions, strict=True)
    for (before, after), count in zip(sizes, sharding.shard_counts, strict=True):
        if before != after and count > 1:
            return None
    return [sharding]


def _of_reshape(instruction: HloInstruction, sharding: Sharding) -> list[Sharding] | None:
    """A reshape is divided where it only adds or removes dimensions of size 1."""
    before, after = instruction.operand(0).shape.dimensions, instruction.shape.dimensions
    kept = [d for d, size in enumerate(after) if size != 1]
    if [after[d] for d in kept] != [size for size in before if size != 1]:
        return None if sharding.is_divided else [_whole(sharding, len(before))]
    axes = (sharding.dimensions[d] for d in kept)
    return [dataclasses.replace(sharding, dimensions=tuple(next(axes) if size != 1 else () for size in before))]


def _of_gather(instruction: HloInstruction, sharding: Sharding) -> list[Sharding] | None:
    """A gather is divided along its indices, and along dimensions that its slices take as a whole."""
    operand, indices = (o.shape for o in instruction.operands)
    if instruction.attribute("operand_batching_dims"):
        return None
    collapsed, offsets = instruction.attribute("collapsed_slice_dims"), instruction.attribute("offset_dims")
    sizes, vector = instruction.attribute("slice_sizes"), instruction.attribute("index_vector_dim")
    of_operand: list[tuple[AxisRef, ...]] = [()] * operand.rank
    in_slices = [d for d in range(operand.rank) if d not in collapsed]
    for d, offset in zip(in_slices, offsets, strict=True):
        if sharding.shard_counts[offset] > 1 and sizes[d] != operand.dimensions[d]:
            return None
        of_operand[d] = sharding.dimensions[offset]
    batch = (axes for d, axes in enumerate(sharding.dimensions) if d not in offsets)
    of_indices = tuple(() if d == vector else next(batch) for d in range(indices.rank))
    return [
        dataclasses.replace(sharding, dimensions=tuple(of_operand)),
        dataclasses.replace(sharding, dimensions=of_indices),
    ]


def _whole(sharding: Sharding, rank: int) -> Sharding:
    return dataclasses.replace(sharding, dimensions=((),) * rank)


def _moved(sharding: Sharding, dimensions: Sequence[int]) -> Sharding:
    """Returns the sharding of a tensor whose dimensions are these of another."""
    return dataclasses.replace(sharding, dimensions=tuple(sharding.dimensions[d] for d in dimensions))


def add_sharded(
    b: Builder, instruction: HloInstruction, operands: Sequence[HloInstruction], shape: Shape, starts: Starts
) -> HloInstruction:
    """Adds the op on shards.

    Args:
        operands: shards as `operand_shardings` says.
        shape: the shape of the result's shard.
        starts: where the shard begins in the whole result.
    """
    if instruction.opcode == Opcode.CONSTANT:
        literal = instruction.literal
        if literal.is_splat:
            return b.constant(literal.array.reshape(-1)[:1].reshape(()), shape) if literal.array.size else instruction
        return slice_at(b, b.clone(instruction, ()), shape, starts)
    if instruction.opcode == Opcode.IOTA:
        start = starts(instruction.attribute("iota_dimension"))
        if start is not None:  # whole numbers are exact in s32 and may not be in the result's type
            numbers = b.clone(instruction, (), shape=shape.with_element_type(ElementType.S32))
            return b.convert(b.add(Opcode.ADD, numbers, b.broadcast(start, shape.dimensions)), shape)
    if instruction.opcode == Opcode.SLICE:
        wholes = zip(operands[0].shape.dimensions, shape.dimensions, instruction.attribute("slice"), strict=True)
        slices = tuple(SliceDimension(0, size) if size == part else given for size, part, given in wholes)
        return b.clone(instruction, operands, shape=shape, slice=slices)
    if instruction.opcode == Opcode.DYNAMIC_SLICE:
        return b.clone(instruction, operands, shape=shape, dynamic_slice_sizes=shape.dimensions)
    if instruction.opcode == Opcode.GATHER:
        whole, part = instruction.operand(0).shape.dimensions, operands[0].shape.dimensions
        given = zip(instruction.attribute("slice_sizes"), whole, part, strict=True)
        sizes = tuple(mine if mine != all_ else size for size, all_, mine in given)
        return b.clone(instruction, operands, shape=shape, slice_sizes=sizes)
    return b.clone(instruction, operands, shape=shape)


def slice_at(b: Builder, value: HloInstruction, shape: Shape, starts: Starts) -> HloInstruction:
    """Slices this device's shard of a whole tensor."""
    if value.shape.dimensions == shape.dimensions:
        return value
    at = [starts(dimension) or b.constant(np.int32(0)) for dimension in range(shape.rank)]
    return b.add(Opcode.DYNAMIC_SLICE, value, *at, dynamic_slice_sizes=shape.dimensions)
