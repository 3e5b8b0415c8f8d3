"""Decomposes a scatter of n updates into a sort, and steps that combine and spread them: about log2(n)²/2 in all."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from xla_core.hlo.decompositions.expression import HloExpression, expressions
from xla_core.hlo.ir.builder import Builder, comparator
from xla_core.hlo.ir.combiner import combiner
from xla_core.hlo.ir.computation import HloComputation
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.element_type import ElementType
from xla_core.hlo.values.shape import Shape
from xla_core.passes.expanders.scatter_expander import CanonicalScatter, canonical_scatter
from xla_core.passes.inlining import apply_to_arrays
from xla_core.passes.legalization.decompositions import decomposition

_INDEX = Shape(ElementType.S32)
_STEP = 1 << 16  # how many elements a device combines in the time that an iteration of a small loop takes
_GAIN = 4  # how many times longer the loop must take: its program is much shorter
_NONE = -1  # the place of what is no update


@decomposition(Opcode.SCATTER)
def _scatter(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """Sorts single updates by their place, combines those of a place, and spreads the results over the operand.

    This is for many updates that may be combined in any order, or of which the last one counts. For others, the
    expander's loop applies one index vector after another.
    """
    computation: HloComputation = i.attribute("to_apply")
    if len(i.operands) != 3 or not _may_be_combined(computation):
        return None
    x, indices, updates = i.operands
    kinds = {x.shape.element_type, updates.shape.element_type, *(p.shape.element_type for p in computation.parameters)}
    if len(kinds) != 1 or indices.shape.element_type is not ElementType.S32:
        return None
    elements = updates.shape.num_elements
    count = elements // max(math.prod(updates.shape.dimensions[d] for d in i.attribute("update_window_dims")), 1)
    levels, places = max(elements - 1, 0).bit_length(), x.shape.num_elements
    steps = levels * (levels + 5) // 2 + places.bit_length()
    if not elements or not 0 < places < 1 << 31 or not _GAIN * steps * (_STEP + elements) < count * _STEP:
        return None
    scatter = canonical_scatter(i, b)
    keys, values = _sorted(b, _places(b, scatter), b.reshape(scatter.updates[0], (elements,)))
    values = _combined(b, computation, keys, values)
    here, values = _spread(b, keys, values, places)
    flat = HloExpression(b, b.reshape(x, (places,)))
    (new,) = expressions(b, *apply_to_arrays(computation, [flat.i, values.i], b))
    return b.reshape(here.where(new, flat).i, x.shape.dimensions)


def _may_be_combined(computation: HloComputation) -> bool:
    """Whether updates of a place may be combined with each other first."""
    return combiner(computation) is not None or computation.root is computation.parameters[1]


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


def _sorted(b: Builder, keys: HloExpression, values: HloInstruction) -> Sequence[HloExpression]:
    before = comparator("LT", keys.element_type, values.shape.element_type, module=b.hlo_module)
    both = b.add(Opcode.SORT, keys.i, values, dimensions=(0,), is_stable=True, to_apply=before)
    return expressions(b, *b.elements(both))


def _shifted(x: HloExpression, count: int, fill: complex = 0) -> HloExpression:
    """Moves elements `count` places towards the end, or towards the start if it is negative."""
    b, size = x.b, x.shape.dimensions[0]
    part = b.slice_in_dim(x.i, 0, max(-count, 0), size - max(count, 0))
    return HloExpression(b, b.pad_in_dim(part, 0, max(count, 0), max(-count, 0), fill))


def _combined(b: Builder, computation: HloComputation, keys: HloExpression, values: HloExpression) -> HloExpression:
    """Combines each value with all of its key before it: those of 1, 2, 4, ... places before."""
    apart = 1
    while apart < keys.shape.dimensions[0]:
        before = _shifted(values, apart)
        (both,) = expressions(b, *apply_to_arrays(computation, [before.i, values.i], b))
        values = keys.equals(_shifted(keys, apart, _NONE)).where(both, values)
        apart *= 2
    return values


def _spread(b: Builder, keys: HloExpression, values: HloExpression, places: int) -> tuple[HloExpression, HloExpression]:
    """Moves the last value of each key to the place of the key; returns where there is one, and the values.

    Values first move towards the start until they lie side by side, then away from it, by powers of two. All keep
    their order and the distance never falls from one to the next, so that none meets another.
    """
    count = keys.shape.dimensions[0]
    numbers = HloExpression(b, b.add(Opcode.IOTA, shape=keys.shape, iota_dimension=0))
    is_last = keys.differs(_shifted(keys, -1, _NONE)) & (keys < places)
    rank = is_last.astype(ElementType.S32)
    for k in range(max(count - 1, 0).bit_length()):
        rank = rank + _shifted(rank, 1 << k)
    keys = is_last.where(keys, _NONE)
    distance = is_last.where(numbers - rank + 1, 0)
    for k in range(max(count - 1, 0).bit_length()):
        keys, values, distance = _moved(k, -1, keys, values, distance)
    size = max(count, places)
    keys, values = (HloExpression(b, b.pad_in_dim(v.i, 0, 0, size - count, f)) for v, f in ((keys, _NONE), (values, 0)))
    numbers = HloExpression(b, b.add(Opcode.IOTA, shape=keys.shape, iota_dimension=0))
    distance = (keys >= 0).where(keys - numbers, 0)
    for k in reversed(range(max(places - 1, 0).bit_length())):
        keys, values, distance = _moved(k, 1, keys, values, distance)
    keys, values = (HloExpression(b, b.slice_in_dim(v.i, 0, 0, places)) for v in (keys, values))
    return keys >= 0, values


def _moved(
    k: int, sign: int, keys: HloExpression, values: HloExpression, distance: HloExpression
) -> tuple[HloExpression, HloExpression, HloExpression]:
    """Moves the elements whose distance has bit k by 2^k, in the direction of `sign`."""
    bit, apart = 1 << k, sign << k
    moves = (distance & bit).differs(0)
    nearing = _shifted(distance, apart)
    comes = (nearing & bit).differs(0)
    keys = comes.where(_shifted(keys, apart, _NONE), moves.where(_NONE, keys))
    values = comes.where(_shifted(values, apart), values)
    return keys, values, comes.where(nearing, moves.where(0, distance))
