"""Arrangements of an argument's values: which of them are equal, and in which order they are.

Kernels have shortcuts for equal, sorted and zero elements, and faults where only some elements are so. An arrangement
makes an array of the values of another one, their negatives and zeros, so that sums that were exact stay exact.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from xla_conformance.accuracy.real_functions.formats import format_of
from xla_core.hlo import ElementType

ROWS = "rows"
"""The name of all arrangements at once, of rows by turns."""

Arrange = Callable[[np.ndarray, np.random.Generator], np.ndarray]
"""Makes an array of one dimension from another one, which has an element or more."""


def arranged(name: str, values: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Returns an array of the same shape and type, with the values arranged as `ARRANGEMENTS` says.

    With `ROWS`, its rows along one of the dimensions are arranged in different ways, by turns.
    """
    if not values.size:
        return values
    if name != ROWS:
        made = ARRANGEMENTS[name](values.reshape(-1), random)
        return np.ascontiguousarray(made.astype(values.dtype, copy=False)).reshape(values.shape)
    axis = int(random.integers(values.ndim)) if values.ndim else 0
    made = np.array(values)
    rows = np.moveaxis(np.atleast_1d(made), axis, -1)
    flat = rows.reshape(-1, rows.shape[-1])
    for number, way in enumerate(random.permutation(list(ARRANGEMENTS))[: len(flat)]):
        turns = slice(number, None, len(ARRANGEMENTS))
        flat[turns] = arranged(str(way), flat[turns], random)
    return np.ascontiguousarray(np.moveaxis(flat.reshape(rows.shape), -1, axis)).reshape(values.shape)


def _equal(values: np.ndarray, random: np.random.Generator) -> np.ndarray:
    return np.repeat(values[random.integers(values.size)], values.size)


def _one_apart(values: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """One element differs: the first, the last, or any."""
    made = _equal(values, random)
    made[(0, -1, random.integers(values.size))[random.integers(3)]] = values[random.integers(values.size)]
    return made


def _few(values: np.ndarray, random: np.random.Generator) -> np.ndarray:
    few = values[random.integers(0, values.size, 3)]
    return few[random.integers(0, len(few), values.size)]


def _ascending(values: np.ndarray, random: np.random.Generator) -> np.ndarray:
    magnitudes = np.abs(values) if values.dtype.kind == "c" else values
    with np.errstate(invalid="ignore"):  # signaling NaNs
        return values[np.argsort(np.nan_to_num(magnitudes.astype(np.float64)), kind="stable")]


def _descending(values: np.ndarray, random: np.random.Generator) -> np.ndarray:
    return _ascending(values, random)[::-1]


def _runs(values: np.ndarray, random: np.random.Generator) -> np.ndarray:
    length = int(random.integers(2, 10))
    return np.repeat(values[: -(-values.size // length)], length)[: values.size]


def _zeros(values: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Zeros, of both signs where the type has them; the smallest numbers of a type without zero."""
    zeros = np.zeros(values.size, values.dtype)
    return _with_signs(zeros, random.integers(0, 2, values.size) == 1)


def _few_not_zero(values: np.ndarray, random: np.random.Generator) -> np.ndarray:
    kept = random.random(values.size) < 1 / 16
    kept[random.integers(values.size)] = True
    return np.where(kept, values, np.zeros((), values.dtype))


def _cancelling(values: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Each second element is the negative of the one before it."""
    doubled = np.repeat(values[::2], 2)[: values.size]
    return _with_signs(doubled, np.arange(values.size) % 2 == 1)


def _extremes(values: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """The least and the largest of the values, and of integers the ends of the type and the numbers beside zero."""
    element = ElementType.from_numpy(values.dtype)
    if element.is_integral:
        low, high = element.integer_range
        ends = [n for n in (low, low + 1, -1, 0, 1, high - 1, high) if low <= n <= high]
        return np.array(ends, object).astype(values.dtype)[random.integers(0, len(ends), values.size)]
    ordered = _ascending(values, random)
    return ordered[[0, -1]][random.integers(0, 2, values.size)]


def _with_signs(values: np.ndarray, negative: np.ndarray) -> np.ndarray:
    """Returns the values, of which some are made negative where the type has such numbers."""
    element = ElementType.from_numpy(values.dtype)
    if element is ElementType.PRED or element.is_unsigned:
        return values
    if element.is_floating and not (element.has_zero and format_of(element).has_negative_zero):
        negative = negative & (values != 0) & element.has_sign_bit
    return np.where(negative, -values, values) if negative.any() else values


ARRANGEMENTS: Mapping[str, Arrange] = {
    "equal": _equal,
    "one apart": _one_apart,
    "few": _few,
    "ascending": _ascending,
    "descending": _descending,
    "runs": _runs,
    "zeros": _zeros,
    "few not zero": _few_not_zero,
    "cancelling": _cancelling,
    "extremes": _extremes,
}
