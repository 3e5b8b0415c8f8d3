"""Kinds of numbers whose reductions have one result in any order: ends of the range, denormal numbers, NaNs, halves.

`of_kind` makes an array of one kind. `rows` makes an array of all kinds: each row, which a reduction combines to one
number, is of one kind, so that every case of a reduction has all kinds.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np

from xla_conformance.accuracy.real_functions.formats import format_of
from xla_conformance.ops.fills import Fill, halves, scaled, terms, units, with_ends
from xla_conformance.ops.reducers import fill_of
from xla_core.hlo import ElementType, Shape

ENDS = ("lowest", "highest", "least finite", "largest finite")
KINDS = ("whole", "ends", "nan", "all nan", "single", "denormal", "halves", *ENDS)
"""Whole numbers, with an infinity and a NaN or with a NaN in each row, nothing but NaNs, one element that decides the
result among those that change nothing, denormal numbers, integers that differ in one half of their bits only, and one
number everywhere: an infinity or an end of the finite range."""


def identity(name: str, element: ElementType) -> complex:
    """Returns the number that a reducer's result starts from."""
    low, high = _range(element, finite=False)
    ones = high if element.is_unsigned or element is ElementType.PRED else -1
    return {"add": 0, "multiply": 1, "maximum": low, "minimum": high, "clamped": low, "and": ones}.get(name, 0)


def beside_identity(name: str, element: ElementType, count: int) -> Fill:
    """Returns the fill of a reducer's initial value that changes results: any value of `fill_of` but the identity.

    If `fill_of` makes nothing else, it is the identity: products of one-bit integers are all 1.
    """
    neutral = np.asarray(identity(name, element)).astype(element.dtype)

    def fill(shape: Shape, random: np.random.Generator) -> np.ndarray:
        drawn = fill_of(name, element, count)(Shape(element, (256,)), random)
        others = drawn[drawn != neutral]
        return random.choice(others if others.size else drawn, shape.dimensions)

    return fill


def of_kind(kind: str, name: str, element: ElementType, total: ElementType, count: int) -> Fill:
    """Returns the fill of arrays of a kind, or of whole numbers if the type or the reducer has no such kind.

    Args:
        name: the reducer.
        total: the type of its results.
        count: how many elements are combined to one; for "single", one more than the number of rows that are.
    """
    whole = fill_of(name, total, count)
    is_float, is_order = element.is_floating, name in ("maximum", "minimum", "clamped")
    if kind == "halves" and element.is_integral and element.bit_width >= 8 and is_order:
        return lambda shape, random: halves(shape, random, bool(random.integers(2)))
    if kind == "denormal" and (is_float or element.is_complex) and element.has_zero:
        least = format_of(element.component).least
        return _first_in_row(units, least) if name == "multiply" else scaled(terms(count, total), least)
    if kind == "ends" and is_float:
        return with_ends(whole)
    if kind == "single":
        return _single(name, element, count)
    if kind in ("nan", "all nan") and is_float and format_of(element).has_nan:
        return _first_in_row(whole, np.nan) if kind == "nan" else functools.partial(_everywhere, np.nan)
    if kind in ENDS and not element.is_complex:
        finite = kind.endswith("finite")
        is_one_sum = element is total and element.has_infinity and name == "add"
        if is_order or not is_float or (is_one_sum if finite else element.has_infinity):
            ends = _range(element, finite=finite)
            return functools.partial(_everywhere, ends[kind in ("highest", "largest finite")])
    return whole


def rows(name: str, element: ElementType, total: ElementType, along: Sequence[int]) -> Fill:
    """Returns the fill of arrays whose rows along some dimensions are of all kinds, by turns."""

    def fill(shape: Shape, random: np.random.Generator) -> np.ndarray:
        kept = [d for d in range(shape.rank) if d not in along]
        sizes = [shape.dimensions[d] for d in (*kept, *along)]
        count = int(np.prod(sizes[: len(kept)], dtype=np.int64))
        length = int(np.prod(sizes[len(kept) :], dtype=np.int64))
        made = np.zeros((count, length), shape.dtype)
        turns = np.resize(random.permutation(len(KINDS)), count)
        for number, kind in enumerate(KINDS):
            chosen = np.flatnonzero(turns == number)
            part = Shape(shape.element_type, (len(chosen), length))
            combined = 2 if kind == "single" else 1 + length
            made[chosen] = of_kind(kind, name, element, total, combined)(part, random)
        return np.array(np.moveaxis(made.reshape(sizes), range(shape.rank), (*kept, *along)), order="C")

    return fill


def _range(element: ElementType, *, finite: bool) -> tuple[float, float]:
    if element is ElementType.PRED:
        return 0, 1
    if element.is_integral:
        return element.integer_range
    if element.is_complex:
        return 0, 0
    form = format_of(element)
    largest = np.inf if element.has_infinity and not finite else form.largest
    return (-largest if element.has_zero else form.least), largest


def _everywhere(value: complex, shape: Shape, random: np.random.Generator) -> np.ndarray:
    return np.full(shape.dimensions, value, object).astype(shape.dtype)


def _single(name: str, element: ElementType, count: int) -> Fill:
    """Makes arrays of which one element of each row decides the result: the first, the last, or any.

    `count` is one more than the number of rows that are combined to one result.
    """
    neutral = functools.partial(_everywhere, identity(name, element))

    def made(shape: Shape, random: np.random.Generator) -> np.ndarray:
        value = beside_identity(name, element, count)(Shape(element, ()), random)
        return _first_in_row(neutral, value.item())(shape, random)

    return made


def _first_in_row(fill: Fill, value: float) -> Fill:
    """Makes arrays that have a value at one place of each row: the first, the last, or any."""

    def made(shape: Shape, random: np.random.Generator) -> np.ndarray:
        values = fill(shape, random)
        if not values.size or not shape.rank:
            return values
        flat = values.reshape(-1, shape.dimensions[-1])
        places = random.integers(0, flat.shape[1], flat.shape[0])
        places[:1], places[1:2] = 0, flat.shape[1] - 1
        flat[np.arange(len(flat)), places] = np.asarray(value).astype(shape.dtype)
        return flat.reshape(shape.dimensions)

    return made
