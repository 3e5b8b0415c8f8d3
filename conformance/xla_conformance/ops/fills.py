"""The values of a case's arguments. Each function makes one argument: (shape, random) -> array."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from xla_core.hlo import Shape

__all__ = ["Fill", "between", "indices"]

Fill = Callable[[Shape, np.random.Generator], np.ndarray]


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
