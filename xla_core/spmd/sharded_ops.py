"""The division of ops: which shards of its operands an op needs for a shard of its result."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

import numpy as np

from xla_core.hlo.ir.builder import Builder
from xla_core.hlo.ir.instruction import HloInstruction
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
    op = instruction.op
    if op.sharding_rule is not None:
        rule = op.sharding_rule(instruction)
        if rule is None or any(sharding.shard_counts[d] > 1 for d in rule.whole):
            return None
        return [_moved(sharding, dimensions) for dimensions in rule.operands]
    if not _BY_DEVICE.isdisjoint(op.traits) or any(not o.shape.is_array for o in instruction.operands):
        return None
    if not sharding.is_divided and not instruction.called_computations:
        return [_whole(sharding, operand.shape.rank) for operand in instruction.operands]
    if not instruction.is_elementwise:
        return None
    return [sharding if operand.shape.rank else _whole(sharding, 0) for operand in instruction.operands]


def _whole(sharding: Sharding, rank: int) -> Sharding:
    return _moved(sharding, (None,) * rank)


def _moved(sharding: Sharding, dimensions: Sequence[int | None]) -> Sharding:
    """Returns the sharding of a tensor whose dimension k is divided like dimension `dimensions[k]` of another.

    None stands for a dimension that is not divided.
    """
    return dataclasses.replace(
        sharding, dimensions=tuple(() if d is None else sharding.dimensions[d] for d in dimensions)
    )


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
    changed = instruction.op.shard_attributes
    attributes = {} if changed is None else changed(instruction, [o.shape for o in operands], shape)
    return b.clone(instruction, operands, shape=shape, **attributes)


def slice_at(b: Builder, value: HloInstruction, shape: Shape, starts: Starts) -> HloInstruction:
    """Slices this device's shard of a whole tensor."""
    if value.shape.dimensions == shape.dimensions:
        return value
    at = [starts(dimension) or b.constant(np.int32(0)) for dimension in range(shape.rank)]
    return b.add(Opcode.DYNAMIC_SLICE, value, *at, dynamic_slice_sizes=shape.dimensions)
