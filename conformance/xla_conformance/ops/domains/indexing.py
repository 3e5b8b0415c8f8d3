"""Domains of gather and scatter, which share their dimension numbers under two sets of names."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from xla_conformance.ops.choices import Choice, Group
from xla_conformance.ops.comparison import EQUAL
from xla_conformance.ops.domain import domain
from xla_conformance.ops.domains.movement import INDEX_TYPES, far_indices
from xla_conformance.ops.fills import Fill
from xla_conformance.ops.program import Program
from xla_conformance.ops.reducers import (
    NAMES,
    REDUCERS,
    SECONDS,
    fill_of,
    known_reducer,
    reducer,
    several,
    several_types,
    wider,
)
from xla_conformance.ops.sizes import SIZES, SMALL, dimensions, position
from xla_conformance.ops.values import patterns
from xla_core.hlo import ElementType, HloComputation, HloInstruction, Opcode, Shape

_AXES: dict[str, Any] = {
    "roles": (
        "cw",
        "wc",
        Group("w", "c", "cc", "ww"),
        "bcw",
        "wcb",
        Group("cwbc", "bwbc"),
        "wcw",
        "wwc",
        "cwwcw",
        "scalar",
    ),
    "mapped": ("all", "reversed", "first", "last", "none"),
    "vector": ("last", "first", "middle", "implicit"),
    "batch": (1, 2, 0, 3),
    "windows": ("last", "first", "between"),
    "taken": ("half", "one", "all", "mixed"),
    "index": INDEX_TYPES,
    "promise": ("none", "sorted", "unique", "both"),
    "large": ("operand", "indices"),
}
"""The axes of gathers and scatters.

`roles` has a letter for each dimension of the operand: collapsed (inserted), window, batching. The rest of the axes say
which of them the indices map, where index vectors are in the array of indices, how many batch dimensions it has, where
the window dimensions are in the result, and how much of a window dimension is taken.
"""

_BATCH = (3, 2, 4)


@dataclasses.dataclass(frozen=True)
class _Numbers:
    """The dimension numbers of a choice, with the shapes that they need."""

    operand: tuple[int, ...]
    indices: tuple[int, ...]
    slices: tuple[int, ...]
    result: tuple[int, ...]
    window: tuple[int, ...]
    removed: tuple[int, ...]
    mapped: tuple[int, ...]
    batching: tuple[int, ...]
    index_batching: tuple[int, ...]
    vector: int
    is_sorted: bool
    is_unique: bool
    starts: np.ndarray


def _numbers(c: Choice, most: int) -> _Numbers:
    """Makes the dimension numbers of a choice. The result has about `most` elements at most."""
    roles = "" if c.roles == "scalar" else c.roles
    removed, batching = (tuple(d for d, role in enumerate(roles) if role == wanted) for wanted in "cb")
    operand = _operand_sizes(c, roles)
    slices = _slice_sizes(c, roles, operand, most >> 4)
    mapped, is_implicit = _mapped_dimensions(c, [d for d in range(len(roles)) if d not in batching])
    own = _batch_sizes(c, len(roles), math.prod(slices) * math.prod(operand[d] for d in batching), most)
    batch, index_batching = _with_batching(c, own, [operand[d] for d in batching])
    vector = {"last": len(batch), "first": 0, "middle": (len(batch) + 1) // 2, "implicit": len(batch)}[c.vector]
    indices = list(batch)
    if not is_implicit:
        indices.insert(vector, len(mapped))
        index_batching = [i + (i >= vector) for i in index_batching]
    taken = [slices[d] for d, role in enumerate(roles) if role == "w"]
    window, result = _window_dimensions(c, batch, taken)
    starts, is_sorted, is_unique = _starts(c, operand, slices, mapped, math.prod(batch), bool(batching))
    starts = starts.reshape(*batch, len(mapped))
    return _Numbers(
        operand=tuple(operand),
        indices=tuple(indices),
        slices=tuple(slices),
        result=result,
        window=window,
        removed=removed,
        mapped=mapped,
        batching=batching,
        index_batching=tuple(index_batching),
        vector=vector,
        is_sorted=is_sorted,
        is_unique=is_unique,
        starts=starts[..., 0] if is_implicit else np.moveaxis(starts, -1, vector),
    )


def _is_equal(c: Choice, rank: int) -> bool:
    """Whether all dimensions have one size."""
    return bool(c.place == "every" and rank > 1)


def _has_large_batch(c: Choice) -> bool:
    """Whether the indices, and not the operand, have the chosen size."""
    return bool(c.large == "indices" and c.batch > 0)


def _operand_sizes(c: Choice, roles: str) -> list[int]:
    rank = len(roles)
    sizes = list(dimensions(rank, 41 if _has_large_batch(c) else c.size, c.place, 1 << 15))
    if _is_equal(c, rank) and c.taken in ("half", "mixed"):
        sizes = [min(n, 5) for n in sizes]  # of which a window takes 3, as many as a batch dimension has
    return [max(n, 1) if role == "c" else n for n, role in zip(sizes, roles, strict=True)]


def _slice_sizes(c: Choice, roles: str, operand: Sequence[int], most: int) -> list[int]:
    """How much of each dimension a slice takes; together at most so many elements."""
    takes = [("all", "half")[d % 2] if c.taken == "mixed" else c.taken for d in range(len(operand))]
    of_window = [{"half": (n + 1) // 2, "one": min(n, 1), "all": n}[t] for t, n in zip(takes, operand, strict=True)]
    taken = [of_window[d] if roles[d] == "w" else min(1, n) for d, n in enumerate(operand)]
    while math.prod(taken) > most:
        taken[taken.index(max(taken))] //= 2
    return taken


def _mapped_dimensions(c: Choice, free: Sequence[int]) -> tuple[tuple[int, ...], bool]:
    """Returns the dimensions that the indices map, and whether an index is a scalar instead of a vector."""
    mapped = {"all": free, "reversed": free[::-1], "first": free[:1], "last": free[-1:], "none": free[:0]}[c.mapped]
    is_implicit = c.vector == "implicit" and bool(free)
    return tuple((mapped or free)[:1] if is_implicit else mapped), is_implicit


def _batch_sizes(c: Choice, rank: int, copies: int, most: int) -> list[int]:
    """Returns the sizes of the batch dimensions, for slices that have `copies` elements each."""
    sizes = [3] * c.batch if _is_equal(c, rank) else list(_BATCH[: c.batch])
    while math.prod(sizes) * copies > most and max(sizes, default=1) > 1:
        sizes[sizes.index(max(sizes))] = 1
    if _has_large_batch(c):
        sizes[position(c.place, c.batch)] = min(c.size, max(1, most // max(1, copies)))
    return sizes


def _with_batching(c: Choice, own: Sequence[int], batching: Sequence[int]) -> tuple[list[int], list[int]]:
    """Puts the batching dimensions around the batch dimensions, the operand's last one first.

    Returns all dimensions, and where the batching dimensions are.
    """
    batch = list(own)
    places: list[int] = []
    for number, size in enumerate(batching):
        at = 0 if (number + c.batch) % 2 == 0 else len(batch)
        batch.insert(at, size)
        places = [i + (i >= at) for i in places] + [at]
    return batch, places


def _window_dimensions(
    c: Choice, batch: Sequence[int], taken: Sequence[int]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Returns where the window dimensions are in the result, and the result's sizes."""
    total = len(batch) + len(taken)
    wanted = {
        "last": range(len(batch), total),
        "first": range(len(taken)),
        "between": [2 * i + 1 if 2 * i + 1 < total else total - 1 for i in range(len(taken))],
    }[c.windows]
    window = tuple(wanted) if len(set(wanted)) == len(taken) else tuple(range(len(batch), total))
    of_batch, of_window = iter(batch), iter(taken)
    return window, tuple(next(of_window) if d in window else next(of_batch) for d in range(total))


def _starts(
    c: Choice,
    operand: Sequence[int],
    slices: Sequence[int],
    mapped: Sequence[int],
    count: int,
    batched: bool,
) -> tuple[np.ndarray, bool, bool]:
    """Makes index vectors, a row each: with the promises of the choice, or all over the operand and beyond it.

    Returns:
        The rows, and whether they are sorted and unique. Sorted rows ascend as indices into the operand, whatever the
        order in which the indices map its dimensions.
    """
    random = np.random.default_rng(len(str(c)) + count)
    least, most = c.index.integer_range
    if c.promise != "none" and mapped and not batched:
        # each vector of a grid of windows that don't overlap, once
        order = sorted(mapped)
        cells = [max(1, operand[d] // max(1, slices[d])) for d in order]
        number = math.prod(cells)
        is_sorted, is_unique = c.promise in ("sorted", "both"), c.promise in ("unique", "both") and number >= count
        picked = random.permutation(number)[:count] if is_unique else random.integers(0, number, count)
        if is_sorted:
            picked = np.sort(picked)
        places = dict(zip(order, np.unravel_index(picked, cells), strict=True))
        rows = np.stack([places[d] * max(1, slices[d]) for d in mapped], -1)
        if rows.size == 0 or int(rows.max()) <= most:
            return rows, is_sorted, is_unique
    low = [-2] * len(mapped)
    high = [operand[d] - slices[d] + 2 for d in mapped]
    columns = [random.integers(a, b, count, endpoint=True) for a, b in zip(low, high, strict=True)]
    rows = np.stack(columns, -1) if columns else np.zeros((count, 0), np.int64)
    rows = np.clip(rows, least, min(most, (1 << 62)))
    far = np.array(far_indices(c.index), np.uint64 if c.index is ElementType.U64 else np.int64).astype(np.int64)
    flat = rows[2::5].reshape(-1)
    rows[2::5] = np.resize(far, flat.shape).reshape(rows[2::5].shape)
    return rows, False, False


def _given(values: np.ndarray) -> Fill:
    return lambda shape, random: values.astype(shape.dtype).reshape(shape.dimensions)


@domain(Opcode.GATHER, **_AXES)
def _gather(p: Program, c: Choice) -> HloInstruction:
    n = _numbers(c, 1 << 18)
    operand, indices = p.parameter(n.operand), p.parameter(n.indices, c.index, _given(n.starts))
    return p.add(
        Opcode.GATHER,
        operand,
        indices,
        offset_dims=n.window,
        collapsed_slice_dims=n.removed,
        start_index_map=n.mapped,
        operand_batching_dims=n.batching,
        start_indices_batching_dims=n.index_batching,
        index_vector_dim=n.vector,
        slice_sizes=n.slices,
        indices_are_sorted=n.is_sorted,
    )


_SQUARE: dict[str, Any] = {
    **_AXES,
    "roles": ("cw", "wc", "bcw", "wcb", "cww", "bwbc"),
    "batch": (1, 2),
    "taken": ("one",),
    "index": (ElementType.S32, ElementType.U8),
    "large": ("operand",),
}
"""Slices of one element, so that every dimension can be taken for another."""


@domain(
    Opcode.GATHER,
    variant="square",
    alike=True,
    sizes=(Group(3, 4, 5), 17),
    empty=(),
    places=("every",),
    **_SQUARE,
)
def _square_gather(p: Program, c: Choice) -> HloInstruction:
    return _gather(p, c)


@domain(
    Opcode.SCATTER,
    rule=EQUAL,
    count=(1, 2, 3),
    second=SECONDS,
    reducer=(*REDUCERS, "replace"),
    accumulator=("same", "wider"),
    ends=(False, True),
    **_AXES,
)
def _scatter(p: Program, c: Choice) -> HloInstruction:
    n = _numbers(c, 1 << 12)
    count = 1 if p.type.is_complex and not n.is_unique else c.count  # several take the largest
    total = wider(p.type) if c.accumulator == "wider" and count == 1 else p.type
    updates = math.prod(n.result)
    attributes: dict[str, Any] = {
        "update_window_dims": n.window,
        "inserted_window_dims": n.removed,
        "scatter_dims_to_operand_dims": n.mapped,
        "input_batching_dims": n.batching,
        "scatter_indices_batching_dims": n.index_batching,
        "index_vector_dim": n.vector,
        "indices_are_sorted": n.is_sorted,
        "unique_indices": n.is_unique,
    }
    name = known_reducer(c.reducer if c.reducer != "replace" else "add", total)
    if count > 1:
        types = several_types(p, count, c.second)
        made = _replacing(p, types) if n.is_unique else several(p, types)
        fills = [fill_of("maximum", t, 1) if not t.is_complex else patterns for t in types]
    else:
        types = [p.type]
        replaces = c.reducer == "replace" and n.is_unique
        made = _replacing(p, types) if replaces else reducer(p, name, total)
        fills = [patterns if replaces else fill_of(name, total, 1 + updates, ends=c.ends)]
    operands = [p.parameter(n.operand, t, f) for t, f in zip(types, fills, strict=True)]
    indices = p.parameter(n.indices, c.index, _given(n.starts))
    parts = [p.parameter(n.result, t, f) for t, f in zip(types, fills, strict=True)]
    return p.add(Opcode.SCATTER, *operands, indices, *parts, to_apply=made, **attributes)


@domain(
    Opcode.SCATTER,
    variant="square",
    alike=True,
    rule=EQUAL,
    sizes=(Group(3, 4, 5), 17),
    empty=(),
    places=("every",),
    count=(1, 2),
    second=SECONDS,
    reducer=("add", "maximum", "replace"),
    accumulator=("same",),
    ends=(False,),
    **_SQUARE,
)
def _square_scatter(p: Program, c: Choice) -> HloInstruction:
    return _scatter(p, c)


@domain(
    Opcode.SCATTER,
    variant="wide",
    alike=True,
    pairs=False,
    rule=EQUAL,
    types=[ElementType.F32, ElementType.S64],
    sizes=SMALL,
    empty=(),
    count=(9, 17),
    second=SECONDS,
    reducer=("add",),
    accumulator=("same",),
    ends=(False,),
    **_SQUARE,
)
def _wide_scatter(p: Program, c: Choice) -> HloInstruction:
    return _scatter(p, c)


_LENGTHS = (Group(*SIZES[0], *SIZES[1]), SIZES[2], Group(*SIZES[3], *SIZES[4], *SIZES[5]))


def _places(size: int, count: int, *, distinct: bool) -> Fill:
    """Makes indices of rows in random order, some of them out of bounds; each row is named once if distinct."""

    def fill(shape: Shape, random: np.random.Generator) -> np.ndarray:
        inside = random.permutation(size)[:count] if distinct else random.integers(0, max(size, 1), count)
        values = np.resize(inside, count)
        beyond = np.arange(count) >= size if distinct else np.arange(count) % 7 == 3
        values[beyond] = (size + np.arange(count) * random.choice([1, -3]) - 1)[beyond]
        if distinct:  # the remaining indices are out of bounds, each at a place of its own
            values[beyond] = size + 5 + np.flatnonzero(beyond)
        return random.permutation(values).reshape(shape.dimensions).astype(shape.dtype)

    return fill


def _usual_indices(p: Program, turn: int, count: int, fill: Fill) -> HloInstruction:
    """Adds indices of rows for `index_vector_dim` 1: vectors of one element, or scalars, by turns."""
    element = (ElementType.S32, ElementType.S64, ElementType.U32)[turn % 3]
    return p.parameter((count,) if turn // 2 % 2 else (count, 1), element, fill)


@domain(Opcode.SCATTER, variant="usual", rule=EQUAL, sizes=_LENGTHS, empty=(), places=("minor",))
def _usual_scatter(p: Program, c: Choice) -> HloInstruction:
    """The most usual scatters: elements and rows, replaced or combined by each reducer; and scatters of nothing."""
    results = []
    names = dict.fromkeys(known_reducer(name, p.type) for name in NAMES)
    for number, name in enumerate(["replace", *names, "replace", "add"]):
        row = (5,) if number % 2 else ()
        is_empty = number > len(names) + 1 or (number == len(names) + 1 and c.size % 2 == 0)
        count = 0 if is_empty else c.size // 2 + 1 + (c.size if name != "replace" else 0)
        is_known = name != "replace"
        name = known_reducer(name, p.type) if is_known else name
        fill = fill_of(name, p.type, 1 + count, ends=True) if is_known else patterns
        operand, updates = p.parameter((c.size, *row), fill=fill), p.shape((count, *row))
        indices = _usual_indices(p, number + 2 * c.size, count, _places(c.size, count, distinct=not is_known))
        made = reducer(p, name, p.type) if is_known else _replacing(p, [p.type])
        attributes: dict[str, Any] = {"update_window_dims": (1,) if row else (), "inserted_window_dims": (0,)}
        attributes |= {"scatter_dims_to_operand_dims": (0,), "index_vector_dim": 1, "unique_indices": not is_known}
        given = p.parameter(updates.dimensions, fill=fill)
        results.append(p.add(Opcode.SCATTER, operand, indices, given, to_apply=made, **attributes))
    return p.add(Opcode.TUPLE, *results)


@domain(Opcode.GATHER, variant="usual", sizes=_LENGTHS, empty=(), places=("minor",))
def _usual_gather(p: Program, c: Choice) -> HloInstruction:
    """The most usual gathers: elements and rows, by some indices and by none."""
    results = []
    for row, count in (((), c.size + 3), ((5,), c.size + 3), ((5,), 0)):
        operand = p.parameter((c.size, *row))
        fill = _places(c.size, count, distinct=False)
        indices = _usual_indices(p, len(row) + 2 * c.size, count, fill)
        attributes: dict[str, Any] = {"offset_dims": (1,) if row else (), "collapsed_slice_dims": (0,)}
        attributes |= {"start_index_map": (0,), "index_vector_dim": 1, "slice_sizes": (1, *row)}
        results.append(p.add(Opcode.GATHER, operand, indices, **attributes))
    return p.add(Opcode.TUPLE, *results)


def _replacing(p: Program, types: Sequence[ElementType]) -> HloComputation:
    def root(made: HloComputation, *parameters: HloInstruction) -> HloInstruction:
        new = parameters[len(types) :]
        return new[0] if len(new) == 1 else made.add(Opcode.TUPLE, *new)

    return p.computation("replace", [*types, *types], root)
