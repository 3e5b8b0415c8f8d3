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
from xla_conformance.ops.domains.movement import INDEX_TYPES
from xla_conformance.ops.fills import Fill
from xla_conformance.ops.program import Program
from xla_conformance.ops.reducers import REDUCERS, fill_of, known_reducer, reducer, several, wider
from xla_conformance.ops.sizes import dimensions, position
from xla_conformance.ops.values import patterns
from xla_core.hlo import ElementType, HloComputation, HloInstruction, Opcode

__all__: list[str] = []

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
    "taken": ("half", "one", "all"),
    "index": INDEX_TYPES,
    "promise": ("none", "sorted", "unique", "both"),
    "large": ("operand", "indices"),
}
"""What gathers and scatters vary.

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
    roles = "" if c.roles == "scalar" else c.roles
    rank = len(roles)
    large_batch = c.large == "indices" and c.batch > 0
    is_equal = c.place == "every" and rank > 1
    operand = list(dimensions(rank, 41 if large_batch else c.size, c.place, 1 << 15))
    if is_equal and c.taken == "half":
        operand = [min(n, 5) for n in operand]  # of which a window takes 3, as many as a batch dimension has
    operand = [max(n, 1) if roles[d] == "c" else n for d, n in enumerate(operand)]
    batching = tuple(d for d in range(rank) if roles[d] == "b")
    removed = tuple(d for d in range(rank) if roles[d] == "c")
    kept = [d for d in range(rank) if roles[d] == "w"]
    free = [d for d in range(rank) if roles[d] != "b"]
    every = {"all": free, "reversed": free[::-1], "first": free[:1], "last": free[-1:], "none": free[:0]}[c.mapped]
    is_implicit = c.vector == "implicit" and bool(free)  # then an index is a scalar
    if is_implicit:
        every = (every or free)[:1]
    mapped = tuple(every)
    of_window = [{"half": (n + 1) // 2, "one": min(n, 1), "all": n}[c.taken] for n in operand]
    taken = [of_window[d] if roles[d] == "w" else min(1, n) for d, n in enumerate(operand)]
    while math.prod(taken) > most >> 4:
        taken[taken.index(max(taken))] //= 2
    own = [3] * c.batch if is_equal else list(_BATCH[: c.batch])
    copies = math.prod(taken) * math.prod(operand[d] for d in batching)
    while math.prod(own) * copies > most and max(own, default=1) > 1:
        own[own.index(max(own))] = 1
    if large_batch:
        own[position(c.place, c.batch)] = min(c.size, max(1, most // max(1, copies)))
    # batching dimensions of the indices stand around the others, the last one of the operand first
    batch = list(own)
    index_batching: list[int] = []
    for number, d in enumerate(batching):
        at = 0 if (number + c.batch) % 2 == 0 else len(batch)
        batch.insert(at, operand[d])
        index_batching = [i + (i >= at) for i in index_batching] + [at]
    vector = {"last": len(batch), "first": 0, "middle": (len(batch) + 1) // 2, "implicit": len(batch)}[c.vector]
    indices = list(batch)
    if not is_implicit:
        indices.insert(vector, len(mapped))
        index_batching = [i + (i >= vector) for i in index_batching]
    total = len(batch) + len(kept)
    window = {
        "last": range(len(batch), total),
        "first": range(len(kept)),
        "between": [2 * i + 1 if 2 * i + 1 < total else total - 1 for i in range(len(kept))],
    }[c.windows]
    places = tuple(window) if len(set(window)) == len(kept) else tuple(range(len(batch), total))
    of_batch, of_kept = iter(batch), iter([taken[d] for d in kept])
    result = tuple(next(of_kept) if d in places else next(of_batch) for d in range(total))
    starts, is_unique = _starts(c, operand, taken, mapped, math.prod(batch), bool(batching))
    starts = starts.reshape(*batch, len(mapped))
    return _Numbers(
        tuple(operand),
        tuple(indices),
        tuple(taken),
        result,
        places,
        removed,
        mapped,
        batching,
        tuple(index_batching),
        vector,
        c.promise in ("sorted", "both") and not batching,
        is_unique,
        np.moveaxis(starts, -1, vector) if not is_implicit else starts[..., 0],
    )


def _starts(
    c: Choice,
    operand: Sequence[int],
    taken: Sequence[int],
    mapped: Sequence[int],
    count: int,
    batched: bool,
) -> tuple[np.ndarray, bool]:
    """Makes index vectors, a row each: with the promises of the choice, or all over the operand and beyond it."""
    random = np.random.default_rng(len(str(c)) + count)
    least, most = c.index.integer_range
    if c.promise != "none" and not batched:
        # each vector of a grid of windows that don't overlap, once
        cells = [max(1, operand[d] // max(1, taken[d])) for d in mapped]
        number = math.prod(cells)
        unique = c.promise in ("unique", "both") and number >= count and bool(mapped)
        picked = random.permutation(number)[:count] if unique else random.integers(0, number, count)
        if c.promise in ("sorted", "both"):
            picked = np.sort(picked)
        rows = np.stack(np.unravel_index(picked, cells or (1,)), -1)[:, : len(mapped)]
        rows = rows * np.array([max(1, taken[d]) for d in mapped], np.int64).reshape(1, -1)
        if rows.size == 0 or int(rows.max()) <= most:
            return rows, unique
    low = [-2] * len(mapped)
    high = [operand[d] - taken[d] + 2 for d in mapped]
    columns = [random.integers(a, b, count, endpoint=True) for a, b in zip(low, high, strict=True)]
    rows = np.stack(columns, -1) if columns else np.zeros((count, 0), np.int64)
    return np.clip(rows, least, min(most, (1 << 62))), False


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
        indices_are_sorted=n.is_sorted and n.is_unique,
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


@domain(Opcode.GATHER, variant="square", sizes=(Group(3, 4, 5), 17), empty=(), places=("every",), **_SQUARE)
def _square_gather(p: Program, c: Choice) -> HloInstruction:
    return _gather(p, c)


@domain(
    Opcode.SCATTER,
    rule=EQUAL,
    count=(1, 2, 3),
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
        "indices_are_sorted": n.is_sorted and n.is_unique,
        "unique_indices": n.is_unique,
    }
    name = known_reducer(c.reducer if c.reducer != "replace" else "add", total)
    if count > 1:
        types = [p.type, ElementType.S32, ElementType.F32][:count]
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
    rule=EQUAL,
    sizes=(Group(3, 4, 5), 17),
    empty=(),
    places=("every",),
    count=(1, 2),
    reducer=("add", "maximum", "replace"),
    accumulator=("same",),
    ends=(False,),
    **_SQUARE,
)
def _square_scatter(p: Program, c: Choice) -> HloInstruction:
    return _scatter(p, c)


def _replacing(p: Program, types: Sequence[ElementType]) -> HloComputation:
    def root(made: HloComputation, *parameters: HloInstruction) -> HloInstruction:
        new = parameters[len(types) :]
        return new[0] if len(new) == 1 else made.add(Opcode.TUPLE, *new)

    return p.computation("replace", [*types, *types], root)
