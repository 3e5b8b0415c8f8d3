"""Gather and scatter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from xla_core.errors import InvalidArgumentError
from xla_core.hlo.evaluation.environment import Value
from xla_core.hlo.evaluation.evaluation_context import EvaluationContext
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.ops import sharding_rules
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
from xla_core.hlo.table.op_table import Attributes, Trait
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.shape import Shape

entry = OpGroup("indexing").entry


class DimensionNumbers(NamedTuple):
    """The dimension numbers of a gather or scatter, under names that both share."""

    window: Sequence[int]  # of the gather's result or the scatter's updates; the others are of the batch
    removed: Sequence[int]  # of the operand: the window has no such dimension
    mapped: Sequence[int]  # of the operand: the dimension of each number in an index vector
    batching: Sequence[int]  # of the operand
    index_batching: Sequence[int]  # of the indices
    vector: int  # of the indices: the dimension of index vectors


_GATHER = (
    "offset_dims",
    "collapsed_slice_dims",
    "start_index_map",
    "operand_batching_dims",
    "start_indices_batching_dims",
)
_SCATTER = (
    "update_window_dims",
    "inserted_window_dims",
    "scatter_dims_to_operand_dims",
    "input_batching_dims",
    "scatter_indices_batching_dims",
)


def _dimensions(names: Sequence[str], attributes: Attributes) -> DimensionNumbers:
    return DimensionNumbers._make([*(attributes.get(name, ()) for name in names), attributes["index_vector_dim"]])


def dimension_numbers(instruction: HloInstruction) -> DimensionNumbers:
    """Returns the dimension numbers of a gather or scatter."""
    return _dimensions(_GATHER if instruction.opcode == Opcode.GATHER else _SCATTER, instruction.attributes)


def _checked(
    names: Sequence[str], attributes: Attributes, operand: Shape, indices: Shape, rank: int | None
) -> tuple[DimensionNumbers, list[int], list[int]]:
    """Checks the dimension numbers; `rank` is that of the updates, None for a gather, whose result follows.

    It returns them, the sizes of the indices' batch, and the operand's dimensions that the window has.
    """
    numbers = _dimensions(names, attributes)
    check(array(indices).element_type.is_integral, lambda: f"the indices must be integers, not {indices}")
    check(0 <= numbers.vector <= indices.rank, lambda: f"index_vector_dim {numbers.vector} is not within {indices}")
    batch = list(indices.dimensions)
    depth = batch.pop(numbers.vector) if numbers.vector < indices.rank else 1
    window, removed, mapped, batching, index_batching, vector = numbers
    for axes, limit, what in (
        (window, len(batch) + len(window) if rank is None else rank, names[0]),
        ((*removed, *batching), operand.rank, f"{names[1]} and {names[3]}"),
        ((*mapped, *batching), operand.rank, f"{names[2]} and {names[3]}"),
        (index_batching, indices.rank, names[4]),
    ):
        check_axes(axes, limit, what)
    for axes, what in ((window, names[0]), (removed, names[1]), (batching, names[3])):
        check(list(axes) == sorted(axes), f"{what} must be sorted, not {list(axes)}")
    check(len(mapped) == depth, lambda: f"{names[2]} has {len(mapped)} dimensions, an index {depth}")
    check(len(batching) == len(index_batching), "operand and indices need equally many batching dimensions")
    check(vector not in index_batching, "index_vector_dim cannot be a batching dimension")
    for a, b in zip(batching, index_batching, strict=True):
        if operand.dimensions[a] != indices.dimensions[b]:
            raise InvalidArgumentError(
                f"batching dimension {a} of {operand.without_layout()} is not {b} of {indices.without_layout()}"
            )
    kept = [d for d in range(operand.rank) if d not in removed and d not in batching]
    check(len(kept) == len(window), lambda: f"{len(window)} {names[0]} for {len(kept)} kept dimensions of the operand")
    return numbers, batch, kept


def _gather_shape(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    operand, indices, sizes = array(operands[0]), operands[1], attributes["slice_sizes"]
    numbers, batch, kept = _checked(_GATHER, attributes, operand, indices, None)
    check(len(sizes) == operand.rank, lambda: f"{len(sizes)} slice_sizes for an operand of rank {operand.rank}")
    if any(not 0 <= size <= bound for size, bound in zip(sizes, operand.dimensions, strict=True)):
        raise InvalidArgumentError(f"slice_sizes {list(sizes)} do not fit into {operand.without_layout()}")
    check(
        all(sizes[d] <= 1 for d in (*numbers.removed, *numbers.batching)),
        "collapsed and batching dimensions have slices of size 1",
    )
    nothing = any(sizes[d] == 0 for d in numbers.removed) and 0 not in (*batch, *(sizes[d] for d in kept))
    check(
        not nothing, lambda: f"a slice of size 0 in a collapsed dimension of {operand.without_layout()} has no element"
    )
    whole = [(sizes[d], operand.dynamic_flags[d] and sizes[d] == operand.dimensions[d]) for d in kept]
    counted = [flag for d, flag in enumerate(indices.dynamic_flags) if d != numbers.vector]
    offset, rest = iter(whole), iter(zip(batch, counted, strict=True))
    pairs = [next(offset) if d in numbers.window else next(rest) for d in range(len(batch) + len(kept))]
    return dims(operand.element_type, [size for size, _ in pairs], [flag for _, flag in pairs])


def _gather(context: EvaluationContext, instruction: HloInstruction, values: list[Value]) -> Value:
    operand, indices = values
    numbers, sizes = dimension_numbers(instruction), instruction.attribute("slice_sizes")
    starts = _starts(indices, operand.ndim, numbers)
    kept = [d for d in range(operand.ndim) if d not in numbers.removed and d not in numbers.batching]
    if instruction.operand(0).shape.is_dynamic:  # whole dimensions keep their actual size; others are extended by zeros
        bounds = instruction.operand(0).shape.dimensions
        sizes = [
            have if d in kept and want == bound else want
            for d, (have, want, bound) in enumerate(zip(operand.shape, sizes, bounds, strict=True))
        ]
    starts = [np.clip(s, 0, max(operand.shape[d] - sizes[d], 0)) for d, s in enumerate(starts)]
    for axis, size in enumerate(sizes):
        operand = extended(operand, axis, size)
    positions = _positions(starts, kept, [sizes[d] for d in kept], numbers.window, instruction.shape.rank)
    if not positions:  # each index takes the whole scalar
        return np.broadcast_to(operand, [size for d, size in enumerate(indices.shape) if d != numbers.vector])
    return operand.reshape(-1)[_row_major(positions, operand.shape)]


def _scatter_shape(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    n, odd = divmod(len(operands), 2)
    check(odd == 1 and n > 0, lambda: f"{len(operands)} operands; expected n operands, the indices, n updates")
    inputs, indices, updates = operands[:n], operands[n], operands[n + 1 :]
    first, update = array(inputs[0]), array(updates[0])
    numbers, batch, kept = _checked(_SCATTER, attributes, first, indices, update.rank)
    for d, w in zip(kept, numbers.window, strict=True):
        if update.dimensions[w] > first.dimensions[d]:
            raise InvalidArgumentError(
                f"the window of {update.without_layout()} is larger than {first.without_layout()}"
            )
    scattered = [size for d, size in enumerate(update.dimensions) if d not in numbers.window]
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
    first, update = operands[0], updates[0]
    numbers = dimension_numbers(instruction)
    starts = _starts(indices, first.ndim, numbers)
    kept = [d for d in range(first.ndim) if d not in numbers.removed and d not in numbers.batching]
    sizes = [update.shape[d] for d in numbers.window]
    inside = np.ones(update.shape, np.bool_)
    if first.ndim == 0:
        places = np.zeros(update.shape, np.int64)
    else:
        for d, start in enumerate(starts):
            window = sizes[kept.index(d)] if d in kept else 1
            fits = (start >= 0) & (start <= first.shape[d] - window)
            inside &= _over_batch(fits, numbers.window, update.ndim)
        places = _row_major(_positions(starts, kept, sizes, numbers.window, update.ndim), first.shape)
    return combine_at(context, instruction.attribute("to_apply"), operands, places, inside, updates)


def _row_major(positions: Sequence[np.ndarray], sizes: Sequence[int]) -> np.ndarray:
    number = positions[0]
    for position, size in zip(positions[1:], sizes[1:], strict=True):
        number = number * size + position
    return number


def _starts(indices: np.ndarray, rank: int, numbers: DimensionNumbers) -> list[np.ndarray]:
    """Returns, for each operand dimension, the start index of every element of the indices' batch."""
    wide = indices.astype(np.int64) if indices.dtype != np.uint64 else np.minimum(indices, _LARGE).astype(np.int64)
    vectors = np.moveaxis(wide, numbers.vector, -1) if numbers.vector < indices.ndim else wide[..., None]
    batch = vectors.shape[:-1]
    starts = [np.zeros(batch, np.int64) for _ in range(rank)]
    for position, d in enumerate(numbers.mapped):
        starts[d] = vectors[..., position]
    for d, axis in zip(numbers.batching, numbers.index_batching, strict=True):
        axis -= axis > numbers.vector
        counted = np.arange(batch[axis]).reshape((-1,) + (1,) * (len(batch) - 1 - axis))
        starts[d] = np.broadcast_to(counted, batch)
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
    numbers = _dimensions(_GATHER, attributes)
    return [[(0, a), (1, b)] for a, b in zip(numbers.batching, numbers.index_batching, strict=True)]


def _scatter_sizes(attributes: Attributes, ranks: Sequence[int]) -> list[list[tuple[int, int]]]:
    """Returns the groups of dimensions that have equal sizes.

    The inputs have equal sizes, and so have the updates. Batch dimensions of the updates match those of the indices,
    and batching dimensions of the inputs match them too.
    """
    n = len(ranks) // 2
    updates = range(n + 1, 2 * n + 1)
    numbers = _dimensions(_SCATTER, attributes)
    places = [d for d in range(ranks[n]) if d != numbers.vector]
    batch = [d for d in range(ranks[n + 1]) if d not in numbers.window]
    batching = dict(zip(numbers.index_batching, numbers.batching, strict=True))
    inputs = [[(k, d) for k in range(n)] for d in range(ranks[0]) if d not in numbers.batching]
    counted = [
        [(n, p), *((u, d) for u in updates), *((k, batching[p]) for k in range(n) if p in batching)]
        for p, d in zip(places, batch, strict=True)
    ]
    return [*inputs, *counted, *([(u, d) for u in updates] for d in numbers.window)]


entry(
    Opcode.GATHER,
    2,
    _gather_shape,
    _gather,
    Trait.DATA_MOVEMENT,
    Trait.READS_PART,
    Trait.EXACT_IN_WIDER_INTEGERS,
    Trait.INDEX_MAP,
    cost=4,
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
    sharding_rule=sharding_rules.of_gather,
    shard_attributes=sharding_rules.of_gathered_shard,
)
entry(
    Opcode.SCATTER,
    (3, None),
    _scatter_shape,
    _scatter,
    Trait.SIGNLESS,
    doc="The operands with updates combined into windows at the scatter indices. Windows that are not within the "
    "operand are skipped.",
    index_operands=lambda count: ((count - 1) // 2,),
    in_place_operands=lambda count: range((count - 1) // 2),
    same_sizes=_scatter_sizes,
    applications=lambda i: i.operand(len(i.operands) // 2 + 1).shape.num_elements,
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
