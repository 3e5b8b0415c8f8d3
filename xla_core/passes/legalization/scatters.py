"""Decomposes a scatter of n updates into a sort, and steps that combine and spread them: about log2(n)²/2 in all."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from xla_core.hlo.decompositions.expression import HloExpression, expressions
from xla_core.hlo.decompositions.loops import Values, counted_loop
from xla_core.hlo.ir.builder import Builder, comparator
from xla_core.hlo.ir.combiner import is_combination
from xla_core.hlo.ir.computation import HloComputation
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.element_type import ElementType
from xla_core.hlo.values.shape import Shape
from xla_core.passes.expanders.scatter_expander import CanonicalScatter, canonical_scatter
from xla_core.passes.inlining import apply_to_arrays, is_elementwise_of_scalars
from xla_core.passes.legalization.decompositions import decomposition
from xla_core.passes.legalization.reductions import called, elements_at, with_elements

_INDEX = Shape(ElementType.S32)
_STEP = 1 << 16  # how many elements a device combines in the time that an iteration of a small loop takes
_GAIN = 4  # how many times longer the loop must take: its program is much shorter
_NONE = -1  # the place of what is no update
_MOST_IN_ROUNDS = 1 << 18
"""Elements. In a round, all are looked at, and there may be as many rounds as updates. Where there are more elements,
the rounds take at most as long as a loop over the elements would, and such a loop applies what is left."""


@decomposition(Opcode.SCATTER)
def sort_scatter(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """Sorts single updates by the element that they update, combines those of one element, and spreads the results over
    the operands.

    This is for many updates that may be combined in any order, where only the last one of an element counts, or where
    no element has two. Other updates are applied in rounds, or, if they are few, by the expander's loop over index
    vectors.
    """
    computation: HloComputation = i.attribute("to_apply")
    apart = i.attribute("unique_indices") and is_elementwise_of_scalars(computation)
    if not _has_types_of_computation(i) or not (apart or _may_be_combined(computation)):
        return None
    n = len(i.operands) // 2
    inputs, indices, updates = i.operands[:n], i.operands[n], i.operands[n + 1 :]
    if indices.shape.element_type is not ElementType.S32:
        return None
    elements, places = updates[0].shape.num_elements, inputs[0].shape.num_elements
    if not elements or not 0 < places < 1 << 31 or not _is_soon_sorted(i, elements, places.bit_length()):
        return None
    scatter = canonical_scatter(i, b)
    keys, *sorted_ = _sorted(b, _places(b, scatter), [b.reshape(u, (elements,)) for u in scatter.updates])
    here, values = _spread(b, keys, sorted_ if apart else _combined(b, computation, keys, sorted_), places)
    flat = [b.reshape(x, (places,)) for x in inputs]
    news = expressions(b, *apply_to_arrays(computation, [*flat, *(v.i for v in values)], b))
    chosen = [here.where(new, HloExpression(b, old)).i for new, old in zip(news, flat, strict=True)]
    return _result(i, b, [b.reshape(c, inputs[0].shape.dimensions) for c in chosen])


@decomposition(Opcode.SCATTER)
def _scatter_in_rounds(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """Sorts the operand's elements and the updates by place, and applies the n-th update of every place in round n.

    This is for many updates that must be applied one after another, in the order of their index vectors. There are as
    many rounds as one place has updates at most; for many elements the number of rounds is limited.
    """
    computation, n = i.attribute("to_apply"), len(i.operands) // 2
    if not is_elementwise_of_scalars(computation) or not _has_types_of_computation(i):
        return None
    places, elements = i.operand(0).shape.num_elements, i.operands[-1].shape.num_elements
    count = places + elements
    if not elements or not places or not _is_soon_sorted(i, count):
        return None
    if i.operands[n].shape.element_type is not ElementType.S32 or count >= 1 << 31:
        return None
    rounds = elements if count <= _MOST_IN_ROUNDS else min(elements, count // (1 + count // _STEP))
    scatter = canonical_scatter(i, b)
    own = b.add(Opcode.IOTA, shape=_INDEX.with_dimensions((places,)), iota_dimension=0)
    keys = b.add(Opcode.CONCATENATE, own, _places(b, scatter).i, dimensions=(0,))
    values = [
        b.add(Opcode.CONCATENATE, b.reshape(x, (places,)), b.reshape(u, (elements,)), dimensions=(0,))
        for x, u in zip(scatter.inputs, scatter.updates, strict=True)
    ]
    sorted_keys, *rest = _sorted(b, HloExpression(b, keys), values)
    is_update = sorted_keys.equals(_shifted(sorted_keys, 1, _NONE)) & (sorted_keys < places)

    def body(inner: Builder, turn: HloInstruction, changing: Values, constant: Values) -> Values:
        *now, waiting = expressions(inner, *changing)
        ready = waiting & ~_shifted(waiting, 1)
        applied = apply_to_arrays(computation, [*(_shifted(v, 1).i for v in now), *(v.i for v in now)], inner)
        news = (ready.where(new, old).i for new, old in zip(expressions(inner, *applied), now, strict=True))
        return [*news, (waiting & ~ready).i]

    def goes_on(inner: Builder, changing: Values) -> HloInstruction:
        return inner.reduce(changing[-1], Opcode.OR, False, (0,))

    *results, left = counted_loop(i, b, rounds, [*(v.i for v in rest), is_update.i], [], body, goes_on)
    if rounds < elements:
        results = _applied_in_turn(i, b, results, left)
    is_last = sorted_keys.differs(_shifted(sorted_keys, -1, _NONE)) & (sorted_keys < places)
    _, kept = _compressed(b, sorted_keys, expressions(b, *results), is_last)
    shape = scatter.inputs[0].shape.dimensions
    return _result(i, b, [b.reshape(b.slice_in_dim(v.i, 0, 0, places), shape) for v in kept])


def _applied_in_turn(i: HloInstruction, b: Builder, sorted_: Values, left: HloInstruction) -> Values:
    """Applies the remaining updates to the elements before them, in one loop, which has no iteration if none remain."""

    def body(inner: Builder, turn: HloInstruction, changing: Values, constant: Values) -> Values:
        *now, is_any = changing
        before = elements_at(inner, now, inner.add(Opcode.SUBTRACT, turn, inner.constant(1, turn.shape)))
        (is_left,) = elements_at(inner, constant, turn)
        own = elements_at(inner, now, turn)
        after = apply_to_arrays(i.attribute("to_apply"), [*before, *own], inner)
        chosen = [inner.add(Opcode.SELECT, is_left, x, y) for x, y in zip(after, own, strict=True)]
        return [*with_elements(inner, now, turn, chosen), is_any]

    is_any = b.reduce(left, Opcode.OR, False, (0,))
    count = left.shape.num_elements
    return counted_loop(i, b, count, [*sorted_, is_any], [left], body, lambda _, changing: changing[-1])[:-1]


@decomposition(Opcode.SCATTER)
def _scatter_in_turn(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """Calls a computation that isn't elementwise (it contains a loop, for example) for one element after another."""
    indices = i.operands[len(i.operands) // 2]
    if is_elementwise_of_scalars(i.attribute("to_apply")) or indices.shape.element_type is not ElementType.S32:
        return None
    if not _has_types_of_computation(i) or any(0 in o.shape.dimensions for o in i.operands):
        return None
    scatter = canonical_scatter(i, b)
    places, end = _places(b, scatter), scatter.inputs[0].shape.num_elements
    count = places.shape.num_elements
    flat = [b.reshape(x, (end,)) for x in scatter.inputs]
    updates = [b.reshape(u, (count,)) for u in scatter.updates]

    def body(inner: Builder, turn: HloInstruction, changing: Values, constant: Values) -> Values:
        keys, *rows = constant
        (place,) = elements_at(inner, [keys], turn)
        before = elements_at(inner, changing, place)
        after = called(i, inner, [*before, *elements_at(inner, rows, turn)])
        is_inside = inner.compare(place, inner.constant(end, place.shape), "LT")
        chosen = [inner.add(Opcode.SELECT, is_inside, x, y) for x, y in zip(after, before, strict=True)]
        return with_elements(inner, changing, place, chosen)

    results = counted_loop(i, b, count, flat, [places.i, *updates], body)
    return _result(i, b, [b.reshape(r, scatter.inputs[0].shape.dimensions) for r in results])


def _is_soon_sorted(i: HloInstruction, elements: int, more: int = 0) -> bool:
    """Whether a sort of so many elements, and `more` steps like its own, are faster than a loop over the indices."""
    updates = i.operands[-1].shape
    window: int = math.prod(updates.dimensions[d] for d in i.attribute("update_window_dims"))
    levels = max(elements - 1, 0).bit_length()
    steps = levels * (levels + 5) // 2 + more
    return _GAIN * steps * (_STEP + elements) < updates.num_elements // max(window, 1) * _STEP


def _result(i: HloInstruction, b: Builder, values: Sequence[HloInstruction]) -> HloInstruction:
    return b.tuple(values) if i.shape.is_tuple else values[0]


def _has_types_of_computation(i: HloInstruction) -> bool:
    """Whether the computation combines elements in the types of the operands."""
    n = len(i.operands) // 2
    types = [o.shape.element_type for o in (*i.operands[:n], *i.operands[n + 1 :])]
    return types == [p.shape.element_type for p in i.attribute("to_apply").parameters] and types[:n] == types[n:]


def _may_be_combined(computation: HloComputation) -> bool:
    """Returns whether, for every result, the updates of one place may first be combined with each other."""
    root, parameters = computation.root, computation.parameters
    n = len(parameters) // 2
    combined = root.operands if root.opcode == Opcode.TUPLE else [root]
    if len(combined) != n:
        return False
    pairs = zip(combined, parameters[:n], parameters[n:], strict=True)
    return all(new is update or is_combination(new, (old, update)) for new, old, update in pairs)


def _places(b: Builder, scatter: CanonicalScatter) -> HloExpression:
    """The index of each update's element in the flat operand; behind the last one for windows that aren't inside."""
    count, sizes = scatter.count, scatter.inputs[0].shape.dimensions
    inside = HloExpression(b, b.broadcast(b.constant(True, Shape(ElementType.PRED)), (count,)))
    first = HloExpression(b, b.constant(0, _INDEX.with_dimensions((count,))))
    for n, d in enumerate(scatter.index_map):
        start = HloExpression(b, b.reshape(b.slice_in_dim(scatter.vectors, 1, n, n + 1), (count,)))
        room = sizes[d] - scatter.window[d]
        inside = inside & (start >= 0) & (start <= room)
        first = first + start * math.prod(sizes[d + 1 :])
    offsets = np.ravel_multi_index(np.indices(scatter.window).reshape(len(sizes), -1), sizes) if sizes else np.zeros(1)
    whole = (count, offsets.size)
    spread = b.broadcast(b.constant(offsets, _INDEX.with_dimensions((offsets.size,))), whole, (1,))
    starts = HloExpression(b, b.broadcast(first.i, whole, (0,))) + HloExpression(b, spread)
    chosen = HloExpression(b, b.broadcast(inside.i, whole, (0,))).where(starts, math.prod(sizes))
    return chosen.reshape((count * offsets.size,))


def _sorted(b: Builder, keys: HloExpression, values: Sequence[HloInstruction]) -> Sequence[HloExpression]:
    before = comparator("LT", keys.element_type, *(v.shape.element_type for v in values), module=b.hlo_module)
    both = b.add(Opcode.SORT, keys.i, *values, dimensions=(0,), is_stable=True, to_apply=before)
    return expressions(b, *b.elements(both))


def _shifted(x: HloExpression, count: int, fill: complex = 0) -> HloExpression:
    """Moves elements `count` places towards the end, or towards the start if it is negative."""
    b, size = x.b, x.shape.dimensions[0]
    part = b.slice_in_dim(x.i, 0, max(-count, 0), size - max(count, 0))
    return HloExpression(b, b.pad_in_dim(part, 0, max(count, 0), max(-count, 0), fill))


def _combined(
    b: Builder, computation: HloComputation, keys: HloExpression, values: Sequence[HloExpression]
) -> Sequence[HloExpression]:
    """Combines each value with all earlier values of its key, in steps over 1, 2, 4, ... places."""
    apart = 1
    while apart < keys.shape.dimensions[0]:
        before = [_shifted(v, apart) for v in values]
        both = expressions(b, *apply_to_arrays(computation, [v.i for v in (*before, *values)], b))
        same = keys.equals(_shifted(keys, apart, _NONE))
        values = [same.where(new, old) for new, old in zip(both, values, strict=True)]
        apart *= 2
    return values


def _spread(
    b: Builder, keys: HloExpression, values: Sequence[HloExpression], places: int
) -> tuple[HloExpression, Sequence[HloExpression]]:
    """Moves the last values of each key to the place of the key; returns where there is one, and the values.

    Values first move towards the start until they lie side by side, then away from it, by powers of two. All keep their
    order and their distances never decrease from one to the next, so that none overwrites another.
    """
    count = keys.shape.dimensions[0]
    is_last = keys.differs(_shifted(keys, -1, _NONE)) & (keys < places)
    keys, values = _compressed(b, keys, values, is_last)
    size = max(count, places)
    keys, *values = (
        HloExpression(b, b.pad_in_dim(v.i, 0, 0, size - count, 0 if n else _NONE))
        for n, v in enumerate((keys, *values))
    )
    numbers = HloExpression(b, b.add(Opcode.IOTA, shape=keys.shape, iota_dimension=0))
    distance = (keys >= 0).where(keys - numbers, 0)
    for k in reversed(range(max(places - 1, 0).bit_length())):
        keys, values, distance = _moved(k, 1, keys, values, distance)
    keys, *values = (HloExpression(b, b.slice_in_dim(v.i, 0, 0, places)) for v in (keys, *values))
    return keys >= 0, values


def _compressed(
    b: Builder, keys: HloExpression, values: Sequence[HloExpression], is_kept: HloExpression
) -> tuple[HloExpression, Sequence[HloExpression]]:
    """Moves the kept elements to the start, side by side; the keys of the rest become -1."""
    count = keys.shape.dimensions[0]
    numbers = HloExpression(b, b.add(Opcode.IOTA, shape=keys.shape, iota_dimension=0))
    rank = is_kept.astype(ElementType.S32)
    for k in range(max(count - 1, 0).bit_length()):
        rank = rank + _shifted(rank, 1 << k)
    keys = is_kept.where(keys, _NONE)
    distance = is_kept.where(numbers - rank + 1, 0)
    for k in range(max(count - 1, 0).bit_length()):
        keys, values, distance = _moved(k, -1, keys, values, distance)
    return keys, values


def _moved(
    k: int, sign: int, keys: HloExpression, values: Sequence[HloExpression], distance: HloExpression
) -> tuple[HloExpression, Sequence[HloExpression], HloExpression]:
    """Moves the elements whose distance has bit k by 2^k, in the direction of `sign`."""
    bit, apart = 1 << k, sign << k
    moves = (distance & bit).differs(0)
    nearing = _shifted(distance, apart)
    comes = (nearing & bit).differs(0)
    keys = comes.where(_shifted(keys, apart, _NONE), moves.where(_NONE, keys))
    values = [comes.where(_shifted(v, apart), v) for v in values]
    return keys, values, comes.where(nearing, moves.where(0, distance))
