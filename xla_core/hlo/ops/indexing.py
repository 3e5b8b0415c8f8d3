"""Gather and scatter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from xla_core.errors import InvalidArgumentError
from xla_core.hlo.op_table import Attributes, Trait
from xla_core.hlo.opcode import Opcode
from xla_core.hlo.ops.combining import combine_at
from xla_core.hlo.ops.rules import (
    OpGroup,
    array,
    attr,
    check,
    check_axes,
    dims,
    extended,
    scalar_signature,
    shape_of_parts,
)
from xla_core.hlo.shape import Shape

if TYPE_CHECKING:
    from xla_core.hlo.environment import Value
    from xla_core.hlo.evaluation_context import EvaluationContext
    from xla_core.hlo.instruction import HloInstruction

__all__: list[str] = []

entry = OpGroup("indexing").entry


def _check_sorted(axes: Sequence[int], what: str) -> None:
    check(list(axes) == sorted(axes), lambda: f"{what} must be sorted, not {list(axes)}")


def _index_shape(indices: Shape, vector_dim: int, what: str) -> tuple[list[int], int]:
    """Returns the dimensions of the indices without the vector dimension, and the length of an index vector."""
    check(array(indices).element_type.is_integral, lambda: f"the indices must be integers, not {indices}")
    check(0 <= vector_dim <= indices.rank, lambda: f"index_vector_dim {vector_dim} is not within {indices} ({what})")
    sizes = list(indices.dimensions)
    return sizes[:vector_dim] + sizes[vector_dim + 1 :], sizes[vector_dim] if vector_dim < indices.rank else 1


def _gather_shape(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    operand, indices = array(operands[0]), operands[1]
    offset_dims, collapsed = attributes.get("offset_dims", ()), attributes.get("collapsed_slice_dims", ())
    batching, index_batching = (
        attributes.get("operand_batching_dims", ()),
        attributes.get("start_indices_batching_dims", ()),
    )
    sizes, index_map = attributes["slice_sizes"], attributes.get("start_index_map", ())
    batch, depth = _index_shape(indices, attributes["index_vector_dim"], "gather")
    rank = len(batch) + len(offset_dims)
    for axes, limit, what in (
        (offset_dims, rank, "offset_dims"),
        ((*collapsed, *batching), operand.rank, "collapsed_slice_dims and operand_batching_dims"),
        ((*index_map, *batching), operand.rank, "start_index_map and operand_batching_dims"),
        (index_batching, indices.rank, "start_indices_batching_dims"),
    ):
        check_axes(axes, limit, what)
    for axes, what in (
        (offset_dims, "offset_dims"),
        (collapsed, "collapsed_slice_dims"),
        (batching, "operand_batching_dims"),
    ):
        _check_sorted(axes, what)
    check(len(index_map) == depth, lambda: f"start_index_map has {len(index_map)} dimensions, an index {depth}")
    check(len(sizes) == operand.rank, lambda: f"{len(sizes)} slice_sizes for an operand of rank {operand.rank}")
    if any(not 0 <= size <= bound for size, bound in zip(sizes, operand.dimensions, strict=True)):
        raise InvalidArgumentError(f"slice_sizes {list(sizes)} do not fit into {operand.without_layout()}")
    check(
        all(sizes[d] <= 1 for d in (*collapsed, *batching)), "collapsed and batching dimensions have slices of size 1"
    )
    _check_batching(operand, indices, batching, index_batching, attributes["index_vector_dim"])
    offsets = [sizes[d] for d in range(operand.rank) if d not in collapsed and d not in batching]
    check(
        len(offsets) == len(offset_dims), lambda: f"{len(offset_dims)} offset_dims for {len(offsets)} kept dimensions"
    )
    kept = [d for d in range(operand.rank) if d not in collapsed and d not in batching]
    whole = [operand.dynamic_flags[d] and sizes[d] == operand.dimensions[d] for d in kept]
    counted = [flag for d, flag in enumerate(indices.dynamic_flags) if d != attributes["index_vector_dim"]]
    offset, rest = iter(zip(offsets, whole, strict=True)), iter(zip(batch, counted, strict=True))
    pairs = [next(offset) if d in offset_dims else next(rest) for d in range(rank)]
    return dims(operand.element_type, [size for size, _ in pairs], [flag for _, flag in pairs])


def _gather(context: EvaluationContext, instruction: HloInstruction, values: list[Value]) -> Value:
    operand, indices = values
    attributes, attribute = instruction.attributes, instruction.attribute
    sizes, offset_dims = attributes["slice_sizes"], attribute("offset_dims")
    batching, removed = attribute("operand_batching_dims"), {*attribute("collapsed_slice_dims")}
    starts = _starts(
        indices,
        attributes["index_vector_dim"],
        operand.ndim,
        attribute("start_index_map"),
        batching,
        attribute("start_indices_batching_dims"),
    )
    kept = [d for d in range(operand.ndim) if d not in removed and d not in batching]
    if instruction.operand(0).shape.is_dynamic:  # whole dimensions keep their actual size; others are extended by zeros
        bounds = instruction.operand(0).shape.dimensions
        sizes = [
            have if d in kept and want == bound else want
            for d, (have, want, bound) in enumerate(zip(operand.shape, sizes, bounds, strict=True))
        ]
    starts = [np.clip(s, 0, max(operand.shape[d] - sizes[d], 0)) for d, s in enumerate(starts)]
    for axis, size in enumerate(sizes):
        operand = extended(operand, axis, size)
    rank = instruction.shape.rank
    return _take(operand, _positions(starts, kept, [sizes[d] for d in kept], offset_dims, rank))


def _check_batching(
    operand: Shape, indices: Shape, batching: Sequence[int], index_batching: Sequence[int], vector_dim: int
) -> None:
    check(len(batching) == len(index_batching), "operand and indices need equally many batching dimensions")
    check(vector_dim not in index_batching, "index_vector_dim cannot be a batching dimension")
    for a, b in zip(batching, index_batching, strict=True):
        if operand.dimensions[a] != indices.dimensions[b]:
            raise InvalidArgumentError(
                f"batching dimension {a} of {operand.without_layout()} is not {b} of {indices.without_layout()}"
            )


def _scatter_shape(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    n, odd = divmod(len(operands), 2)
    check(odd == 1 and n > 0, lambda: f"{len(operands)} operands; expected n operands, the indices, n updates")
    inputs, indices, updates = operands[:n], operands[n], operands[n + 1 :]
    first, update = array(inputs[0]), array(updates[0])
    window, inserted = attributes.get("update_window_dims", ()), attributes.get("inserted_window_dims", ())
    batching, index_batching = (
        attributes.get("input_batching_dims", ()),
        attributes.get("scatter_indices_batching_dims", ()),
    )
    index_map = attributes.get("scatter_dims_to_operand_dims", ())
    batch, depth = _index_shape(indices, attributes["index_vector_dim"], "scatter")
    for axes, limit, what in (
        (window, update.rank, "update_window_dims"),
        ((*inserted, *batching), first.rank, "inserted_window_dims and input_batching_dims"),
        ((*index_map, *batching), first.rank, "scatter_dims_to_operand_dims and input_batching_dims"),
        (index_batching, indices.rank, "scatter_indices_batching_dims"),
    ):
        check_axes(axes, limit, what)
    for axes, what in (
        (window, "update_window_dims"),
        (inserted, "inserted_window_dims"),
        (batching, "input_batching_dims"),
    ):
        _check_sorted(axes, what)
    check(
        len(index_map) == depth,
        lambda: f"scatter_dims_to_operand_dims has {len(index_map)} dimensions, an index {depth}",
    )
    _check_batching(first, indices, batching, index_batching, attributes["index_vector_dim"])
    kept = [d for d in range(first.rank) if d not in inserted and d not in batching]
    check(len(kept) == len(window), lambda: f"{len(window)} update_window_dims for {len(kept)} window dimensions")
    for d, w in zip(kept, window, strict=True):
        if update.dimensions[w] > first.dimensions[d]:
            raise InvalidArgumentError(
                f"the window of {update.without_layout()} is larger than {first.without_layout()}"
            )
    scattered = [size for d, size in enumerate(update.dimensions) if d not in window]
    check(
        scattered == batch,
        lambda: f"the updates {update.without_layout()} don't fit indices {indices.without_layout()}",
    )
    for a, b in zip(inputs, updates, strict=True):
        check(
            array(a).dimensions == first.dimensions and array(b).dimensions == update.dimensions,
            "operands must have one shape, and so must updates",
        )
    types = scalar_signature(attributes["to_apply"], inputs, "to_apply")
    return shape_of_parts([dims(t, first.dimensions, s.dynamic_dimensions) for t, s in zip(types, inputs, strict=True)])


def _scatter(context: EvaluationContext, instruction: HloInstruction, values: list[Value]) -> Value:
    """An update window is dropped as a whole if any part of it is out of bounds."""
    n = len(values) // 2
    operands, indices, updates = values[:n], values[n], values[n + 1 :]
    attribute = instruction.attribute
    first, update = operands[0], updates[0]
    batching, window_dims = attribute("input_batching_dims"), attribute("update_window_dims")
    removed = {*attribute("inserted_window_dims"), *batching}
    starts = _starts(
        indices,
        instruction.attributes["index_vector_dim"],
        first.ndim,
        attribute("scatter_dims_to_operand_dims"),
        batching,
        attribute("scatter_indices_batching_dims"),
    )
    kept = [d for d in range(first.ndim) if d not in removed]
    sizes = [update.shape[d] for d in window_dims]
    if first.ndim == 0:
        numbers, inside = np.zeros(update.shape, np.int64), np.ones(update.shape, np.bool_)
    else:
        positions = _positions(starts, kept, sizes, window_dims, update.ndim)
        inside = np.ones(update.shape, np.bool_)
        for d, start in enumerate(starts):
            window = sizes[kept.index(d)] if d in kept else 1
            fits = (start >= 0) & (start <= first.shape[d] - window)
            inside &= _over_batch(fits, window_dims, update.ndim)
        numbers = _row_major(positions, first.shape)
    return combine_at(context, instruction.attributes["to_apply"], operands, numbers, inside, updates)


def _take(operand: np.ndarray, positions: Sequence[np.ndarray]) -> Value:
    """Returns the elements at positions, which are an array of indices for each dimension."""
    if not positions:
        return operand
    return operand.reshape(-1)[_row_major(positions, operand.shape)]


def _row_major(positions: Sequence[np.ndarray], sizes: Sequence[int]) -> np.ndarray:
    number = positions[0]
    for position, size in zip(positions[1:], sizes[1:], strict=True):
        number = number * size + position
    return number


def _starts(
    indices: np.ndarray,
    vector_dim: int,
    rank: int,
    index_map: Sequence[int],
    batching: Sequence[int],
    index_batching: Sequence[int],
) -> list[np.ndarray]:
    """Returns, for each operand dimension, the start index of every element of the indices' batch."""
    wide = indices.astype(np.int64) if indices.dtype != np.uint64 else np.minimum(indices, _LARGE).astype(np.int64)
    vectors = np.moveaxis(wide, vector_dim, -1) if vector_dim < indices.ndim else wide[..., None]
    batch = vectors.shape[:-1]
    starts = [np.zeros(batch, np.int64) for _ in range(rank)]
    for position, d in enumerate(index_map):
        starts[d] = vectors[..., position]
    for d, axis in zip(batching, index_batching, strict=True):
        axis -= axis > vector_dim
        numbers = np.arange(batch[axis]).reshape((-1,) + (1,) * (len(batch) - 1 - axis))
        starts[d] = np.broadcast_to(numbers, batch)
    return starts


def _over_batch(start: np.ndarray, window_dims: Sequence[int], rank: int) -> np.ndarray:
    """Reshapes an array over the batch so that it broadcasts to the result."""
    sizes = iter(start.shape)
    return start.reshape([1 if d in window_dims else next(sizes) for d in range(rank)])


def _positions(
    starts: Sequence[np.ndarray], kept: Sequence[int], sizes: Sequence[int], window_dims: Sequence[int], rank: int
) -> list[np.ndarray]:
    """Returns, for each operand dimension, the index of every element of the windows.

    Window dimension i is dimension window_dims[i] of the result and runs over operand dimension kept[i]. The batch
    fills the other dimensions of the result in order.
    """
    result = []
    for d, start in enumerate(starts):
        position = _over_batch(start, window_dims, rank)
        if d in kept:
            index = kept.index(d)
            shape = [1] * rank
            shape[window_dims[index]] = sizes[index]
            position = position + np.arange(sizes[index]).reshape(shape)
        result.append(position)
    if not result:
        return result
    whole = list(_over_batch(starts[0], window_dims, rank).shape)
    for axis, size in zip(window_dims, sizes, strict=True):
        whole[axis] = size
    return [np.broadcast_to(result[0], whole), *result[1:]]


_LARGE = np.uint64(np.iinfo(np.int64).max)


def _gather_sizes(attributes: Attributes, ranks: Sequence[int]) -> list[list[tuple[int, int]]]:
    """The batching dimensions of operand and indices have equal sizes."""
    operand, indices = attributes.get("operand_batching_dims", ()), attributes.get("start_indices_batching_dims", ())
    return [[(0, a), (1, b)] for a, b in zip(operand, indices, strict=True)]


def _scatter_sizes(attributes: Attributes, ranks: Sequence[int]) -> list[list[tuple[int, int]]]:
    """Returns the groups of dimensions that have equal sizes.

    The inputs have equal sizes, and so have the updates. Batch dimensions of the updates match those of the indices,
    and batching dimensions of the inputs match them too.
    """
    n = len(ranks) // 2
    updates = range(n + 1, 2 * n + 1)
    places = [d for d in range(ranks[n]) if d != attributes["index_vector_dim"]]
    windows = attributes.get("update_window_dims", ())
    batch = [d for d in range(ranks[n + 1]) if d not in windows]
    input_batching, index_batching = (
        attributes.get("input_batching_dims", ()),
        attributes.get("scatter_indices_batching_dims", ()),
    )
    batching = dict(zip(index_batching, input_batching, strict=True))
    inputs = [[(k, d) for k in range(n)] for d in range(ranks[0]) if d not in input_batching]
    counted = [
        [(n, p), *((u, d) for u in updates), *((k, batching[p]) for k in range(n) if p in batching)]
        for p, d in zip(places, batch, strict=True)
    ]
    return [*inputs, *counted, *([(u, d) for u in updates] for d in windows)]


entry(
    Opcode.GATHER,
    2,
    _gather_shape,
    _gather,
    Trait.DATA_MOVEMENT,
    Trait.EXACT_IN_WIDER_INTEGERS,
    doc="Slices of the operand at (clamped) start indices. (XLA: operation semantics, Gather.)",
    index_operands=lambda count: (1,),
    same_sizes=_gather_sizes,
    offset_dims=attr("ints", (), shown=True),
    collapsed_slice_dims=attr("ints", (), shown=True),
    start_index_map=attr("ints", (), shown=True),
    operand_batching_dims=attr("ints", ()),
    start_indices_batching_dims=attr("ints", ()),
    index_vector_dim=attr("int"),
    slice_sizes=attr("ints"),
    indices_are_sorted=attr("bool", False),
)
entry(
    Opcode.SCATTER,
    (3, None),
    _scatter_shape,
    _scatter,
    doc="The operands with updates combined into windows at scatter indices; windows that lie outside are skipped.",
    index_operands=lambda count: ((count - 1) // 2,),
    same_sizes=_scatter_sizes,
    update_window_dims=attr("ints", (), shown=True),
    inserted_window_dims=attr("ints", (), shown=True),
    scatter_dims_to_operand_dims=attr("ints", (), shown=True),
    input_batching_dims=attr("ints", ()),
    scatter_indices_batching_dims=attr("ints", ()),
    index_vector_dim=attr("int"),
    indices_are_sorted=attr("bool", False),
    unique_indices=attr("bool", False),
    to_apply=attr("computation"),
)
