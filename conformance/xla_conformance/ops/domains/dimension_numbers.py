"""The dimension numbers of gather and scatter: their axes, and the arrays that fit a choice of them."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from xla_conformance.ops.choices import Choice, Group
from xla_conformance.ops.domains.movement import INDEX_TYPES, far_indices
from xla_conformance.ops.sizes import dimensions, position
from xla_core.hlo import ElementType

AXES: dict[str, Any] = {
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
    "beyond": (False, True),
    "large": ("operand", "indices"),
}
"""The axes of gathers and scatters.

`roles` has a letter for each dimension of the operand: collapsed (inserted), window, batching. The rest of the axes say
which of them the indices map, where index vectors are in the array of indices, how many batch dimensions it has, where
the window dimensions are in the result, how much of a window dimension is taken, and whether some of the indices with a
promise are out of bounds, as all others are.
"""

_BATCH = (3, 2, 4)


@dataclasses.dataclass(frozen=True)
class Numbers:
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


def choose_numbers(c: Choice, most: int) -> Numbers:
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
    return Numbers(
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
        at = position(c.place, c.batch)
        rest = copies * math.prod(sizes[:at] + sizes[at + 1 :])
        sizes[at] = min(c.size, max(1, most // max(1, rest)))
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
        if c.beyond:  # every fourth index is behind one dimension of the operand in turns, at a place of its own
            for turn, behind in enumerate(range(3, count, 4)):
                at = order[turn % len(order)]
                rows[behind, mapped.index(at)] = operand[at] + turn
            if is_sorted:
                rows = rows[np.lexsort([rows[:, mapped.index(d)] for d in reversed(order)])]
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
