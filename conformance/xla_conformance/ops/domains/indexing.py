"""Domains of gather and scatter, which share their dimension numbers under two sets of names."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from xla_conformance.ops.choices import Choice, Group
from xla_conformance.ops.comparison import EQUAL
from xla_conformance.ops.domain import domain
from xla_conformance.ops.domains.dimension_numbers import AXES, choose_numbers
from xla_conformance.ops.domains.movement import INDEX_TYPES
from xla_conformance.ops.fills import Fill
from xla_conformance.ops.program import Program
from xla_conformance.ops.reducers import (
    REDUCERS,
    SECONDS,
    SIDES,
    fill_of,
    known_reducer,
    known_reducers,
    reducer,
    several,
    several_types,
    wider,
)
from xla_conformance.ops.sizes import SIZES, SMALL
from xla_conformance.ops.values import patterns
from xla_core.hlo import ElementType, HloComputation, HloInstruction, Opcode, Shape


def _given(values: np.ndarray) -> Fill:
    return lambda shape, random: values.astype(shape.dtype).reshape(shape.dimensions)


@domain(Opcode.GATHER, **AXES)
def _gather(p: Program, c: Choice) -> HloInstruction:
    n = choose_numbers(c, 1 << 18)
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
    **AXES,
    "roles": ("cw", "wc", "bcw", "wcb", "cww", "bwbc"),
    "batch": (1, 2),
    "taken": ("one",),
    "index": (ElementType.S32, ElementType.U8),
    "large": ("operand",),
}
"""Slices of one element, so that every dimension can be taken for another."""

_SIX: dict[str, Any] = {
    **_SQUARE,
    "roles": ("wcwwcw",),
    "batch": (1,),
    "sizes": (3,),
    "hiding": (),
    "places": ("every",),
}
"""The same for arrays of six dimensions."""


@domain(
    Opcode.GATHER,
    variant="square",
    types_in_turns=True,
    sizes=(Group(3, 4, 5), 17),
    hiding=(),
    places=("every",),
    **_SQUARE,
)
def _square_gather(p: Program, c: Choice) -> HloInstruction:
    return _gather(p, c)


@domain(Opcode.GATHER, variant="six", types_in_turns=True, **_SIX)
def _gather_of_six(p: Program, c: Choice) -> HloInstruction:
    return _gather(p, c)


@domain(
    Opcode.SCATTER,
    rule=EQUAL,
    count=(1, 2, 3),
    second=SECONDS,
    reducer=(*REDUCERS, "replace"),
    accumulator=("same", "wider"),
    ends=(False, True),
    sides=SIDES,
    **AXES,
)
def _scatter(p: Program, c: Choice) -> HloInstruction:
    n = choose_numbers(c, 1 << 12)
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
        made = _replacing(p, types) if replaces else reducer(p, name, total, c.sides)
        fills = [patterns if replaces else fill_of(name, total, 1 + updates, ends=c.ends)]
    operands = [p.parameter(n.operand, t, f) for t, f in zip(types, fills, strict=True)]
    indices = p.parameter(n.indices, c.index, _given(n.starts))
    parts = [p.parameter(n.result, t, f) for t, f in zip(types, fills, strict=True)]
    return p.add(Opcode.SCATTER, *operands, indices, *parts, to_apply=made, **attributes)


_COMBINED: dict[str, Any] = {
    "count": (1, 2),
    "second": SECONDS,
    "reducer": ("add", "maximum", "replace"),
    "accumulator": ("same",),
    "ends": (False,),
    "sides": SIDES[:1],
}


@domain(
    Opcode.SCATTER,
    variant="square",
    types_in_turns=True,
    rule=EQUAL,
    sizes=(Group(3, 4, 5), 17),
    hiding=(),
    places=("every",),
    **_COMBINED,
    **_SQUARE,
)
def _square_scatter(p: Program, c: Choice) -> HloInstruction:
    return _scatter(p, c)


@domain(Opcode.SCATTER, variant="six", types_in_turns=True, rule=EQUAL, **_COMBINED, **_SIX)
def _scatter_of_six(p: Program, c: Choice) -> HloInstruction:
    return _scatter(p, c)


@domain(
    Opcode.SCATTER,
    variant="wide",
    types_in_turns=True,
    pairs=False,
    rule=EQUAL,
    types=[ElementType.F32, ElementType.S64],
    sizes=SMALL,
    hiding=(),
    count=(9, 17),
    second=SECONDS,
    reducer=("add",),
    accumulator=("same",),
    ends=(False,),
    sides=SIDES[:1],
    **_SQUARE,
)
def _wide_scatter(p: Program, c: Choice) -> HloInstruction:
    return _scatter(p, c)


_LENGTHS = (Group(*SIZES[0], *SIZES[1]), SIZES[2], Group(*SIZES[3], *SIZES[4], *SIZES[5]))


def _places(size: int, count: int, *, distinct: bool) -> Fill:
    """Makes indices of rows in random order, some of them out of bounds.

    Each row is named once if distinct. Otherwise half of the indices name one row, so that many updates collide.
    """

    def fill(shape: Shape, random: np.random.Generator) -> np.ndarray:
        inside = random.permutation(size)[:count] if distinct else random.integers(0, max(size, 1), count)
        values = np.resize(inside, count)
        if not distinct:
            values[: count // 2] = values[:1]
        beyond = np.arange(count) >= size if distinct else np.arange(count) % 7 == 3
        values[beyond] = (size + np.arange(count) * random.choice([1, -3]) - 1)[beyond]
        if distinct:  # the remaining indices are out of bounds, each at a place of its own
            values[beyond] = size + 5 + np.flatnonzero(beyond)
        return random.permutation(values).reshape(shape.dimensions).astype(shape.dtype)

    return fill


def _in_order(places: Fill) -> Fill:
    """Makes the same places in ascending order: numbers, or vectors whose first number counts most."""

    def fill(shape: Shape, random: np.random.Generator) -> np.ndarray:
        made = places(shape, random)
        return made[np.lexsort(np.atleast_2d(made.T)[::-1])]

    return fill


_FORMS: dict[str, Any] = {
    "sizes": _LENGTHS,
    "hiding": (),
    "places": ("minor",),
    "index": (Group(*INDEX_TYPES[:4]), Group(*INDEX_TYPES[4:])),
}


def _index_type(c: Choice, *, distinct: bool) -> ElementType:
    """The type of the indices; instead of one of 8 bits one of 32, if all indices have to be distinct."""
    if distinct and c.index.bit_width == 8:
        return ElementType.S32 if c.index.is_signed else ElementType.U32
    return ElementType(c.index)


def _is_sorted(number: int, c: Choice) -> bool:
    """Whether indices ascend. Neighbouring instructions of a program differ in this, and sizes that differ by two."""
    return (number + int(c.size) // 2) % 2 == 0


def _usual_indices(p: Program, element: ElementType, turn: int, count: int, fill: Fill) -> HloInstruction:
    """Adds indices of rows for `index_vector_dim` 1: vectors of one element, or scalars, by turns."""
    return p.parameter((count,) if turn // 2 % 2 else (count, 1), element, fill)


@domain(Opcode.SCATTER, variant="usual", rule=EQUAL, **_FORMS)
def _usual_scatter(p: Program, c: Choice) -> HloInstruction:
    """The most usual scatters: elements and rows, replaced or combined by each reducer; and scatters of nothing."""
    results = []
    names = known_reducers(p.type)
    for number, name in enumerate(["replace", *names, "replace", "add"]):
        row = (5,) if (number + c.size) % 2 else ()
        is_empty = number > len(names) + 1 or (number == len(names) + 1 and c.size % 2 == 0)
        count = 0 if is_empty else c.size // 2 + 1 + (c.size if name != "replace" else 0)
        is_known = name != "replace"
        name = known_reducer(name, p.type) if is_known else name
        fill = fill_of(name, p.type, 1 + count, ends=True) if is_known else patterns
        operand, updates = p.parameter((c.size, *row), fill=fill), p.shape((count, *row))
        places = _places(c.size, count, distinct=not is_known)
        is_sorted = number // 2 % 2 == 1  # at each size the same, as the forms of indices change with the size
        turn = number + c.size // 2 * 2  # even beside each power of two, so rows and elements meet both forms
        element = _index_type(c, distinct=not is_known)
        indices = _usual_indices(p, element, turn, count, _in_order(places) if is_sorted else places)
        made = reducer(p, name, p.type) if is_known else _replacing(p, [p.type])
        attributes: dict[str, Any] = {"update_window_dims": (1,) if row else (), "inserted_window_dims": (0,)}
        attributes |= {"scatter_dims_to_operand_dims": (0,), "index_vector_dim": 1, "unique_indices": not is_known}
        attributes["indices_are_sorted"] = is_sorted
        given = p.parameter(updates.dimensions, fill=fill)
        results.append(p.add(Opcode.SCATTER, operand, indices, given, to_apply=made, **attributes))
    return p.add(Opcode.TUPLE, *results)


@domain(Opcode.GATHER, variant="usual", **_FORMS)
def _usual_gather(p: Program, c: Choice) -> HloInstruction:
    """The most usual gathers: elements and rows, by some indices and by none."""
    results = []
    for row, count in (((), c.size + 3), ((5,), c.size + 3), ((5,), 0)):
        operand = p.parameter((c.size, *row))
        places = _places(c.size, count, distinct=False)
        is_sorted = _is_sorted(len(row), c)
        fill = _in_order(places) if is_sorted else places
        indices = _usual_indices(p, c.index, len(row) + 2 * c.size, count, fill)
        attributes: dict[str, Any] = {"offset_dims": (1,) if row else (), "collapsed_slice_dims": (0,)}
        attributes["indices_are_sorted"] = is_sorted
        attributes |= {"start_index_map": (0,), "index_vector_dim": 1, "slice_sizes": (1, *row)}
        results.append(p.add(Opcode.GATHER, operand, indices, **attributes))
    return p.add(Opcode.TUPLE, *results)


_WINDOWS = (((), (2,)), ((7,), (2, 3)))
"""The other dimensions of an array, and how much of each dimension a window takes."""


def _window_places(sizes: Sequence[int], taken: Sequence[int], *, apart: bool) -> Fill:
    """Makes the starts of windows: inside, and partly or wholly in front of and behind the array.

    Windows that are apart don't overlap: each is a cell of a grid, or at a place of its own behind the last one.
    """

    def fill(shape: Shape, random: np.random.Generator) -> np.ndarray:
        count = shape.dimensions[0]
        cells = [size // part for size, part in zip(sizes, taken, strict=True)]
        picked = random.permutation(np.resize(random.permutation(math.prod(cells)), count))
        inside: np.ndarray = np.stack(np.unravel_index(picked, cells), -1) * np.array(taken)
        if apart:
            _, first = np.unique(picked, return_index=True)
            behind = np.setdiff1d(np.arange(count), first[first % 5 != 2])
            inside[behind] = np.array(sizes) - np.array(taken) + 1
            inside[behind, 0] += np.arange(len(behind))
            return inside.astype(shape.dtype)
        least = 0 if shape.element_type.is_unsigned else -2
        around = np.stack([random.integers(least, size + 2, count) for size in sizes], -1)
        return np.where(np.arange(count)[:, None] % 3 == 0, inside, around).astype(shape.dtype)

    return fill


@domain(Opcode.SCATTER, variant="windows", rule=EQUAL, **_FORMS)
def _scattered_windows(p: Program, c: Choice) -> HloInstruction:
    """Windows whose dimensions all stay, at places that indices name in full. Passes bring scatters into this form."""
    results = []
    names = ("replace", "add", "maximum")
    for (of_name, name), (of_window, (rest, taken)) in itertools.product(enumerate(names), enumerate(_WINDOWS)):
        sizes, count = (c.size, *rest), c.size // 2 + 3
        name = name if name == "replace" else known_reducer(name, p.type)
        made = _replacing(p, [p.type]) if name == "replace" else reducer(p, name, p.type)
        fill = patterns if name == "replace" else fill_of(name, p.type, 1 + count)
        element = _index_type(c, distinct=name == "replace")
        places = _window_places(sizes, taken, apart=name == "replace")
        is_sorted = _is_sorted(of_name + of_window, c)
        results.append(
            p.add(
                Opcode.SCATTER,
                p.parameter(sizes, fill=fill),
                p.parameter((count, len(sizes)), element, _in_order(places) if is_sorted else places),
                p.parameter((count, *taken), fill=fill),
                to_apply=made,
                update_window_dims=tuple(range(1, 1 + len(sizes))),
                inserted_window_dims=(),
                scatter_dims_to_operand_dims=tuple(range(len(sizes))),
                index_vector_dim=1,
                indices_are_sorted=is_sorted,
                unique_indices=name == "replace",
            )
        )
    return p.add(Opcode.TUPLE, *results)


@domain(Opcode.GATHER, variant="windows", **_FORMS)
def _gathered_windows(p: Program, c: Choice) -> HloInstruction:
    """The same for gathers, which move a window that is partly outside inside."""
    results = []
    for number, (rest, taken) in enumerate((*_WINDOWS, ((7, 3), (2, 3, 1)))):
        sizes, count = (c.size, *rest), c.size // 2 + 3
        places = _window_places(sizes, taken, apart=False)
        is_sorted = _is_sorted(number, c)
        results.append(
            p.add(
                Opcode.GATHER,
                p.parameter(sizes),
                p.parameter((count, len(sizes)), c.index, _in_order(places) if is_sorted else places),
                offset_dims=tuple(range(1, 1 + len(sizes))),
                collapsed_slice_dims=(),
                start_index_map=tuple(range(len(sizes))),
                index_vector_dim=1,
                indices_are_sorted=is_sorted,
                slice_sizes=taken,
            )
        )
    return p.add(Opcode.TUPLE, *results)


def _replacing(p: Program, types: Sequence[ElementType]) -> HloComputation:
    def root(made: HloComputation, *parameters: HloInstruction) -> HloInstruction:
        new = parameters[len(types) :]
        return new[0] if len(new) == 1 else made.add(Opcode.TUPLE, *new)

    return p.computation("replace", [*types, *types], root)
