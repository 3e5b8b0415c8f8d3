"""The sharding of a result by that of the first operand, for ops that move dimensions (`OpDef.result_sharding`)."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from xla_core.spmd import Sharding
from xla_core.stablehlo import ir


def sizes_of(type: ir.Type) -> tuple[int, ...] | None:
    return tuple(type.shape) if isinstance(type, ir.TensorType) else None


def _numbers(op: ir.Op, name: str) -> list[int]:
    return [int(number) for number in np.ravel(np.asarray(op.attributes[name]))]


def of_transpose(op: ir.Op, sharding: Sharding | None) -> Sharding | None:
    return _moved(sharding, _numbers(op, "permutation"))


def of_broadcast(op: ir.Op, sharding: Sharding | None) -> Sharding | None:
    """A dimension of size 1 that becomes larger is not split, so that only the others keep their axes."""
    sources: list[int | None] = [None] * len(sizes_of(op.results[0].type) or ())
    for source, target in enumerate(_numbers(op, "broadcast_dimensions")):
        sources[target] = source
    return _moved(sharding, sources)


def of_reduce(op: ir.Op, sharding: Sharding | None) -> Sharding | None:
    reduced = set(_numbers(op, "dimensions"))
    return _moved(sharding, [d for d in range(len(sharding.dimensions) if sharding else 0) if d not in reduced])


def of_slice(op: ir.Op, sharding: Sharding | None) -> Sharding | None:
    """A dimension of which the slice takes a part is whole in the result."""
    before, after = sizes_of(op.operands[0].type) or (), sizes_of(op.results[0].type) or ()
    return _moved(sharding, [d if before[d] == after[d] else None for d in range(len(after))])


def of_gather(op: ir.Op, sharding: Sharding | None) -> Sharding | None:
    """Keeps the axes of dimensions that the slices take as a whole."""
    before, numbers, sizes = (
        sizes_of(op.operands[0].type) or (),
        op.attributes["dimension_numbers"],
        _numbers(op, "slice_sizes"),
    )
    sources: list[int | None] = [None] * len(sizes_of(op.results[0].type) or ())
    left_out = {*numbers.collapsed_slice_dims, *numbers.operand_batching_dims}
    in_slices = [d for d in range(len(before)) if d not in left_out]
    for source, target in zip(in_slices, numbers.offset_dims, strict=True):
        sources[target] = source if sizes[source] == before[source] else None
    return _moved(sharding, sources)


def of_reshape(op: ir.Op, sharding: Sharding | None) -> Sharding | None:
    """Keeps the axes where the reshape only adds or removes dimensions of size 1."""
    before, after = sizes_of(op.operands[0].type) or (), sizes_of(op.results[0].type) or ()
    kept = [d for d, size in enumerate(before) if size != 1]
    if [before[d] for d in kept] != [size for size in after if size != 1]:
        return None
    sources = iter(kept)
    return _moved(sharding, [next(sources) if size != 1 else None for size in after])


def _moved(sharding: Sharding | None, sources: Sequence[int | None]) -> Sharding | None:
    """Returns the sharding of a result whose dimensions are these of the operand, or None for new ones."""
    if sharding is None:
        return None
    dimensions = tuple(() if source is None else sharding.dimensions[source] for source in sources)
    return dataclasses.replace(sharding, dimensions=dimensions)
