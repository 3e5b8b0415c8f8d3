"""The values of a case's arguments. Each function makes one argument: (shape, random) -> array."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from xla_core.hlo import ElementType, Shape

__all__ = ["Fill", "between", "distinct", "indices"]

Fill = Callable[[Shape, np.random.Generator], np.ndarray]


def distinct(shape: Shape, random: np.random.Generator) -> np.ndarray:
    """Makes an array whose elements differ, so that an element at a wrong place shows.

    Types with fewer values than the array has elements get random values: an element at a wrong place is likely to
    show, and several are certain to.
    """
    element, count = shape.element_type, shape.num_elements
    if element.is_complex:
        part = Shape(element.component, shape.dimensions)
        return np.asarray(distinct(part, random) + 1j * distinct(part, random)).astype(shape.dtype)
    if element is ElementType.PRED:
        values = random.integers(0, 2, count)
    elif element.bit_width >= 32:
        values = random.permutation(count) - (0 if element.is_unsigned else count // 2)
    elif element.is_integral:
        low, high = element.integer_range
        values = random.integers(low, high, count, endpoint=True)
    else:
        return _random_floats(element, count, random).reshape(shape.dimensions)
    return values.reshape(shape.dimensions).astype(shape.dtype)


def _random_floats(element: ElementType, count: int, random: np.random.Generator) -> np.ndarray:
    """Makes random bits without NaN."""
    bits = random.integers(0, 1 << element.bit_width, count).astype(f"u{element.byte_width}")
    values = bits.view(element.dtype)
    with np.errstate(all="ignore"):
        return np.where(np.isnan(values), values.dtype.type(1), values)


def between(low: int, high: int) -> Fill:
    """Makes arrays of whole numbers from low to high; a type that has no negative numbers gets magnitudes."""

    def fill(shape: Shape, random: np.random.Generator) -> np.ndarray:
        values = random.integers(low, high, shape.dimensions, endpoint=True)
        if shape.element_type.is_complex:
            return np.asarray(values + 1j * random.integers(low, high, shape.dimensions, endpoint=True), shape.dtype)
        if shape.element_type.is_unsigned:
            values = np.abs(values)
        return np.asarray(values).astype(shape.dtype)

    return fill


def indices(low: int, high: int) -> Fill:
    """Makes arrays of indices from low to high, both included at least once where there is room for them."""

    def fill(shape: Shape, random: np.random.Generator) -> np.ndarray:
        least, most = shape.element_type.integer_range
        values = random.integers(max(low, least), min(high, most), shape.num_elements, endpoint=True)
        edges = [max(low, least), min(high, most)][: values.size]
        values[: len(edges)] = edges
        return random.permutation(values).reshape(shape.dimensions).astype(shape.dtype)

    return fill
