"""The decomposition of reduce into a tree of slices, and of reduce and map into loops over single elements."""

from __future__ import annotations

import math

from xla_core.hlo.decompositions.loops import Values, counted_loop
from xla_core.hlo.ir.builder import Builder
from xla_core.hlo.ir.combiner import combiner
from xla_core.hlo.ir.computation import HloComputation
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.opcode import Opcode
from xla_core.passes.inlining import apply_to_arrays, is_elementwise_of_scalars
from xla_core.passes.legalization.decompositions import decomposition


@decomposition(Opcode.REDUCE)
def _reduce(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """Combines the elements of each dimension in pairs until one is left, then combines that one with the initial
    value.

    It supports any number of operands and any elementwise reducer, for devices that support few reducers or none. An op
    that may combine elements in any order combines the halves of the dimension, which are contiguous. Any other reducer
    combines neighbours, the innermost dimension first, because its result may depend on the row-major order, as that of
    an argmax does, which breaks ties by position. A reducer that isn't elementwise is called for each element.
    """
    computation = i.attribute("to_apply")
    count = len(i.operands) // 2
    initial = i.operands[count:]
    values = [b.convert(x, start.shape) for x, start in zip(i.operands[:count], initial, strict=True)]
    kept = next(i.shape.leaves()).dimensions
    if 0 in values[0].shape.dimensions:
        return _result(i, b, [b.broadcast(start, kept) for start in initial])
    if not is_elementwise_of_scalars(computation):
        return _result(i, b, _reduced_in_turn(i, b, values))
    ordered = combiner(computation) is None
    for axis in sorted(i.attribute("dimensions"), reverse=True):
        while (size := values[0].shape.dimensions[axis]) > 1:
            half = size // 2
            # The start, limit and stride of the two operands of the reducer.
            pair = [(0, 2 * half, 2), (1, 2 * half, 2)] if ordered else [(0, half, 1), (half, 2 * half, 1)]
            first, second = ([b.slice_in_dim(v, axis, *bounds) for v in values] for bounds in pair)
            last = [b.slice_in_dim(v, axis, size - 1, size) for v in values] if size % 2 else []
            values = apply_to_arrays(computation, [*first, *second], b)
            if last:
                ends = zip(values, last, strict=True)
                values = [b.add(Opcode.CONCATENATE, *end, dimensions=(axis,)) for end in ends]
    starts = [b.broadcast(start, kept) for start in initial]
    return _result(i, b, apply_to_arrays(computation, [*starts, *(b.reshape(v, kept) for v in values)], b))


def _reduced_in_turn(i: HloInstruction, b: Builder, values: Values) -> Values:
    """Calls the reducer for one element after another, as for a reducer that has a loop in it."""
    axes, kept = sorted(i.attribute("dimensions")), next(i.shape.leaves()).dimensions
    order = [d for d in range(values[0].shape.rank) if d not in axes] + axes
    rows = [b.reshape(b.transpose(v, order), (v.shape.num_elements,)) for v in values]
    size = math.prod(values[0].shape.dimensions[d] for d in axes)
    starts = [b.broadcast(start, (math.prod(kept),)) for start in i.operands[len(values) :]]

    def body(inner: Builder, turn: HloInstruction, changing: Values, constant: Values) -> Values:
        row = inner.add(Opcode.DIVIDE, turn, inner.constant(size, turn.shape))
        operands = [*elements_at(inner, changing, row), *elements_at(inner, constant, turn)]
        return with_elements(inner, changing, row, called(i, inner, operands))

    results = counted_loop(i, b, rows[0].shape.num_elements, starts, rows, body)
    return [b.reshape(result, kept) for result in results]


@decomposition(Opcode.MAP)
def _map(i: HloInstruction, b: Builder) -> HloInstruction:
    """Applies the computation to whole arrays, or calls it for each element where it isn't elementwise."""
    computation = i.attribute("to_apply")
    if is_elementwise_of_scalars(computation):
        return apply_to_arrays(computation, i.operands, b)[0]
    size = i.shape.num_elements
    start = b.constant(0, i.shape.without_layout().with_dimensions((size,)))
    if not size:
        return b.reshape(start, i.shape.dimensions)

    def body(inner: Builder, turn: HloInstruction, changing: Values, constant: Values) -> Values:
        return with_elements(inner, changing, turn, called(i, inner, elements_at(inner, constant, turn)))

    (result,) = counted_loop(i, b, size, [start], [b.reshape(x, (size,)) for x in i.operands], body)
    return b.reshape(result, i.shape.dimensions)


def called(i: HloInstruction, b: Builder, operands: Values) -> Values:
    """The results of a call of the computation that `i` applies."""
    computation: HloComputation = i.attribute("to_apply")
    call = b.add(Opcode.CALL, *operands, to_apply=computation)
    return b.elements(call) if call.shape.is_tuple else [call]


def elements_at(b: Builder, values: Values, place: HloInstruction) -> Values:
    """The elements of some vectors at a place."""
    parts = [b.add(Opcode.DYNAMIC_SLICE, v, place, dynamic_slice_sizes=(1,)) for v in values]
    return [b.reshape(part, ()) for part in parts]


def with_elements(b: Builder, values: Values, place: HloInstruction, elements: Values) -> Values:
    """Some vectors, each with another element at a place."""
    pairs = zip(values, elements, strict=True)
    return [b.add(Opcode.DYNAMIC_UPDATE_SLICE, v, b.reshape(element, (1,)), place) for v, element in pairs]


def _result(i: HloInstruction, b: Builder, values: list[HloInstruction]) -> HloInstruction:
    return b.tuple(values) if i.shape.is_tuple else values[0]
