"""How ops other than elementwise ones are divided: their sharding rules, and the attributes of a shard."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.attributes import SliceDimension
from xla_core.hlo.table.op_table import Attributes
from xla_core.hlo.table.sharding_rule import ShardingRule
from xla_core.hlo.values.shape import Shape


def of_nothing(instruction: HloInstruction) -> ShardingRule:
    """The rule of an op without operands."""
    return ShardingRule(())


def of_broadcast(broadcast: HloInstruction) -> ShardingRule:
    return ShardingRule((tuple(broadcast.attribute("dimensions")),))


def of_transpose(transpose: HloInstruction) -> ShardingRule:
    return ShardingRule((tuple(map(int, np.argsort(transpose.attribute("dimensions")))),))


def of_slice(instruction: HloInstruction) -> ShardingRule:
    """A slice that takes a part of a dimension is not divided along it. A dynamic slice needs each start whole."""
    sizes = zip(instruction.operand(0).shape.dimensions, instruction.shape.dimensions, strict=True)
    starts = ((),) * (len(instruction.operands) - 1)
    return ShardingRule(
        (tuple(range(instruction.shape.rank)), *starts),
        tuple(d for d, (before, after) in enumerate(sizes) if before != after),
    )


def of_reshape(reshape: HloInstruction) -> ShardingRule:
    """A reshape is divided where it only adds or removes dimensions of size 1."""
    before, after = reshape.operand(0).shape.dimensions, reshape.shape.dimensions
    kept = [d for d, size in enumerate(after) if size != 1]
    if [after[d] for d in kept] != [size for size in before if size != 1]:
        return ShardingRule(((None,) * len(before),), tuple(range(len(after))))
    source = iter(kept)
    return ShardingRule((tuple(next(source) if size != 1 else None for size in before),))


def of_reduce(reduce: HloInstruction) -> ShardingRule | None:
    """A reduction is divided along the dimensions that stay. One of several operands is not divided."""
    if reduce.shape.is_tuple:
        return None
    reduced, kept = reduce.attribute("dimensions"), iter(range(reduce.shape.rank))
    dimensions = tuple(None if d in reduced else next(kept) for d in range(reduce.operand(0).shape.rank))
    return ShardingRule((dimensions, ()))


def of_gather(gather: HloInstruction) -> ShardingRule | None:
    """A gather is divided along its indices, and along dimensions that its slices take as a whole."""
    operand, indices = (o.shape for o in gather.operands)
    if gather.attribute("operand_batching_dims"):
        return None
    collapsed, offsets = gather.attribute("collapsed_slice_dims"), gather.attribute("offset_dims")
    sizes, vector = gather.attribute("slice_sizes"), gather.attribute("index_vector_dim")
    in_slices = [d for d in range(operand.rank) if d not in collapsed]
    source = dict(zip(in_slices, offsets, strict=True))
    batch = (d for d in range(gather.shape.rank) if d not in offsets)
    of_indices = tuple(None if d == vector else next(batch) for d in range(indices.rank))
    parts = tuple(offset for d, offset in source.items() if sizes[d] != operand.dimensions[d])
    return ShardingRule((tuple(source.get(d) for d in range(operand.rank)), of_indices), parts)


def of_sliced_shard(instruction: HloInstruction, operands: Sequence[Shape], shape: Shape) -> Attributes:
    wholes = zip(operands[0].dimensions, shape.dimensions, instruction.attribute("slice"), strict=True)
    return {"slice": tuple(SliceDimension(0, size) if size == part else given for size, part, given in wholes)}


def of_dynamically_sliced_shard(instruction: HloInstruction, operands: Sequence[Shape], shape: Shape) -> Attributes:
    return {"dynamic_slice_sizes": shape.dimensions}


def of_gathered_shard(gather: HloInstruction, operands: Sequence[Shape], shape: Shape) -> Attributes:
    whole = gather.operand(0).shape.dimensions
    given = zip(gather.attribute("slice_sizes"), whole, operands[0].dimensions, strict=True)
    return {"slice_sizes": tuple(mine if mine != all_ else size for size, all_, mine in given)}
