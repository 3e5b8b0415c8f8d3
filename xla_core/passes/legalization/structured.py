"""Decompositions of products, windows and data movement."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Sequence

import numpy as np

from xla_core.hlo.evaluation.evaluation_context import EvaluationContext
from xla_core.hlo.ir.builder import Builder
from xla_core.hlo.ir.computation import HloComputation
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.attributes import WindowDimension
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.element_type import ElementType
from xla_core.hlo.values.literal import Literal
from xla_core.hlo.values.shape import Shape
from xla_core.passes.dot_operands import dot_operands
from xla_core.passes.inlining import apply_to_arrays, is_elementwise_of_scalars
from xla_core.passes.legalization.decompositions import decomposition
from xla_core.sizes import ceil_div

_MOST_CONSTANT = 1 << 16  # the most elements of a constant that replaces a broadcast
_ROW = 1 << 12  # elements of a row of a long iota
_MOST_WINDOW = 64  # the most elements of a window that are combined one by one


@decomposition(Opcode.DYNAMIC_RESHAPE)
def _dynamic_reshape(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """A static result has the sizes of its shape. DynamicPadder rewrites the others."""
    return b.reshape(i.operand(0), i.shape.dimensions)


@decomposition(Opcode.DOT)
def _dot(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """Multiplies all pairs, then sums. The products are large, so this is for targets without any dot."""
    kind, operands = i.shape.element_type, dot_operands(i)
    # Dimensions of the product: batch, free of x, free of y, contracted.
    result = [*i.shape.dimensions, *operands[0].sizes(operands[0].contracted)]
    wide, start = [], len(operands[0].batch)
    for o in operands:
        places = [*range(len(o.batch)), *range(start, start + len(o.free)), *range(i.shape.rank, len(result))]
        place = dict(zip((*o.batch, *o.free, *o.contracted), places, strict=True))
        wide.append(b.broadcast(b.convert(o.value, i.shape), result, [place[d] for d in range(o.value.shape.rank)]))
        start += len(o.free)
    times, plus = (Opcode.AND, Opcode.OR) if kind is ElementType.PRED else (Opcode.MULTIPLY, Opcode.ADD)
    product, axes = b.add(times, *wide), range(i.shape.rank, len(result))
    return b.reduce(product, plus, 0, axes) if axes else product


@decomposition(Opcode.REDUCE_WINDOW)
def _reduce_window(i: HloInstruction, b: Builder) -> HloInstruction:
    """Applies the reducer to shifted slices of the padded operand, one for each element of the window.

    Large windows, and those of several operands, are reduced along one dimension after another by `_doubled`. Where the
    windows lie side by side, and for reducers that are not elementwise, the windows are gathered and reduced.
    """
    # A reduction takes the elements of a window in their order in memory, whether the window is reversed or not.
    window = tuple(dataclasses.replace(w, window_reversal=False) for w in i.attribute("window"))
    computation, n = i.attribute("to_apply"), len(i.operands) // 2
    data, initial = i.operands[:n], i.operands[n:]
    counts = next(i.shape.leaves()).dimensions
    starts = [b.broadcast(v, counts) for v in initial]
    if 0 in counts:
        return b.tuple(starts) if i.shape.is_tuple else starts[0]
    padding = tuple(w.padding for w in window)
    wide = [b.convert(x, v.shape) for x, v in zip(data, initial, strict=True)]  # to the type of the accumulator
    padded = [b.add(Opcode.PAD, x, v, padding=padding) for x, v in zip(wide, initial, strict=True)]
    is_small = n == 1 and math.prod(w.size for w in window) <= _MOST_WINDOW
    sides = zip(padded[0].shape.dimensions, window, counts, strict=True)
    side_by_side = all(_are_side_by_side(w, count, size) for size, w, count in sides)
    if not is_elementwise_of_scalars(computation) or (side_by_side and not is_small):
        whole = [_windows(b, x, window, counts) for x in padded]
        return b.add(
            Opcode.REDUCE, *whole, *initial, dimensions=tuple(range(1, 2 * len(window), 2)), to_apply=computation
        )
    if not is_small:
        values = padded
        for d in reversed(range(len(window))):  # from the minor dimension on, which keeps the order of the elements
            values = _doubled(computation, b, values, d, window[d], counts[d])
        results = apply_to_arrays(computation, [*starts, *values], b)
        return b.tuple(results) if i.shape.is_tuple else results[0]
    result = starts[0]
    for offsets in itertools.product(*(range(w.size) for w in window)):
        part = b.add(Opcode.SLICE, padded[0], slice=tuple(map(WindowDimension.element, window, offsets, counts)))
        (result,) = apply_to_arrays(computation, [result, part], b)
    return result


def _doubled(
    computation: HloComputation, b: Builder, values: Sequence[HloInstruction], d: int, w: WindowDimension, count: int
) -> list[HloInstruction]:
    """Reduces the windows along a dimension to one element each.

    It computes windows of 1, 2, 4, ... elements at every position, each from two of half the size. The windows whose
    sizes are the bits set in the window's size, one after another, make up the whole window. This takes about 2 log2(n)
    steps for n elements. Elements keep their order.
    """

    def part(start: int, limit: int, stride: int = 1) -> list[HloInstruction]:
        return [b.slice_in_dim(x, d, start, limit, stride) for x in values]

    results: list[HloInstruction] = []
    covered, width, span = 0, 1, (count - 1) * w.stride + 1
    while True:
        if w.size & width:
            start = covered * w.window_dilation
            here = part(start, start + span, w.stride)
            results = apply_to_arrays(computation, [*results, *here], b) if results else here
            covered += width
        if covered == w.size:
            return results
        size, apart = values[0].shape.dimensions[d], width * w.window_dilation
        values = apply_to_arrays(computation, [*part(0, size - apart), *part(apart, size)], b)
        width *= 2


def _are_side_by_side(w: WindowDimension, count: int, size: int) -> bool:
    """Whether the elements of all windows along a dimension are those of the dimension, in order."""
    is_dense = w.size == 1 or w.window_dilation == 1
    return is_dense and count * w.size == size and (count == 1 or w.stride == w.size)


def _places(w: WindowDimension, count: int) -> np.ndarray:
    """The positions of the elements of all windows along a dimension."""
    return (np.arange(count)[:, None] * w.stride + np.arange(w.size) * w.window_dilation).reshape(-1)


def _windows(b: Builder, x: HloInstruction, window: Sequence[WindowDimension], counts: Sequence[int]) -> HloInstruction:
    """All windows of a padded operand: each dimension becomes two, the window and the position in it."""
    for d, (w, count) in enumerate(zip(window, counts, strict=True)):
        x = _take(b, x, _places(w, count), d)
    return b.reshape(x, [size for w, count in zip(window, counts, strict=True) for size in (count, w.size)])


def _take(b: Builder, x: HloInstruction, places: np.ndarray, axis: int) -> HloInstruction:
    """The slices of x at the positions `places` along an axis."""
    sizes = x.shape.dimensions
    if np.array_equal(places, np.arange(sizes[axis])):
        return x
    result = (*sizes[:axis], len(places), *sizes[axis + 1 :])
    if 0 in result:
        return b.constant(0, x.shape.with_dimensions(result))
    return b.add(
        Opcode.GATHER,
        x,
        b.constant(places, Shape(ElementType.S32, (len(places),))),
        offset_dims=tuple(d for d in range(len(sizes)) if d != axis),
        collapsed_slice_dims=(axis,),
        start_index_map=(axis,),
        index_vector_dim=1,
        slice_sizes=(*sizes[:axis], 1, *sizes[axis + 1 :]),
    )


@decomposition(Opcode.REVERSE)
def _reverse(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """Pads a dimension at the start to a power of two, then swaps halves, halves of halves, and so on."""
    x = i.operand(0)
    for d in i.attribute("dimensions"):
        sizes = x.shape.dimensions
        levels = max(sizes[d] - 1, 0).bit_length()
        x = b.pad_in_dim(x, d, (1 << levels) - sizes[d], 0)
        whole = x.shape.dimensions
        for level in range(levels):
            x = b.reshape(x, (*sizes[:d], 1 << level, 2, 1 << levels - level - 1, *sizes[d + 1 :]))
            halves = [b.slice_in_dim(x, d + 1, which, which + 1) for which in (1, 0)]
            x = b.reshape(b.add(Opcode.CONCATENATE, *halves, dimensions=(d + 1,)), whole)
        x = b.slice_in_dim(x, d, 0, sizes[d])
    return x


@decomposition(Opcode.GET_DIMENSION_SIZE)
def _get_dimension_size(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """A constant if the dimension is static."""
    shape, (d,) = i.operand(0).shape, i.attribute("dimensions")
    return None if any(shape.dynamic_dimensions[d : d + 1]) else b.constant(shape.dimensions[d], i.shape)


@decomposition(Opcode.SET_DIMENSION_SIZE)
def _set_dimension_size(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """Returns the operand if the size is the bound. A static result can have no other size, so any other constant size
    remains as an error.
    """
    (operand, size), (d,) = i.operands, i.attribute("dimensions")
    if i.shape.is_dynamic or operand.shape.is_dynamic:
        return None
    is_wrong = size.opcode == Opcode.CONSTANT and size.literal.item() != operand.shape.dimensions[d]
    return None if is_wrong else operand


@decomposition(Opcode.COPY)
def _copy(i: HloInstruction, b: Builder) -> HloInstruction | None:
    source, result = i.operand(0).shape.layout, i.shape.layout
    return i.operand(0) if source == result or source is None or result is None else None


@decomposition(Opcode.CONCATENATE)
def _concatenate(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """Pads each operand to the full size and selects among them, for targets with pad and select only."""
    (d,) = i.attribute("dimensions")
    if len(i.operands) == 1:
        return i.operand(0)
    where = b.add(Opcode.IOTA, shape=i.shape.without_layout().with_element_type(ElementType.S32), iota_dimension=d)
    start, total, result = 0, i.shape.dimensions[d], None
    for operand in i.operands:
        size = operand.shape.dimensions[d]
        wide = b.pad_in_dim(operand, d, start, total - start - size)
        if result is None:
            result = wide
        else:
            here = b.add(Opcode.COMPARE, where, b.constant(start, where.shape), direction="GE")
            result = b.add(Opcode.SELECT, here, wide, result)
        start += size
    return result


@decomposition(Opcode.IOTA)
def _iota(i: HloInstruction, b: Builder) -> HloInstruction:
    """Repeats a constant vector. A long vector is computed as the sum of two short ones: the starts of its rows, and
    one row.
    """
    d, kind = i.attribute("iota_dimension"), i.shape.element_type
    size = i.shape.dimensions[d]

    def numbers(count: int, step: int = 1) -> HloInstruction:
        return b.constant((np.arange(count) * step).astype(kind.dtype), Shape(kind, (count,)))

    if size <= _MOST_CONSTANT or kind.is_complex or kind.bit_width < 32:  # the sum would be rounded twice
        return b.broadcast(numbers(size), i.shape.dimensions, (d,))
    rows, length = ceil_div(size, _ROW), _ROW
    starts, row = (b.broadcast(n, (rows, length), (k,)) for k, n in enumerate((numbers(rows, length), numbers(length))))
    whole = b.reshape(b.add(Opcode.ADD, starts, row), (rows * length,))
    return b.broadcast(b.slice_in_dim(whole, 0, 0, size), i.shape.dimensions, (d,))


@decomposition(Opcode.BROADCAST)
def _broadcast(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """The constant that a small constant becomes."""
    x = i.operand(0)
    if x.opcode != Opcode.CONSTANT or i.shape.num_elements > _MOST_CONSTANT:
        return None
    value = EvaluationContext().evaluate(i, [x.literal.value])
    return b.constant(Literal.of_value(value, i.shape.without_layout()))
