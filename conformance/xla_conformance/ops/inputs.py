"""Arguments of the cases: special values and values of all sizes, which depend only on the seed."""

from __future__ import annotations

import functools

import numpy as np

from xla_core.hlo import ElementType, Shape

__all__ = ["index_array", "moderate_array", "special_array"]


def special_array(shape: Shape, random: np.random.Generator) -> np.ndarray:
    """Makes an array of all special values of the type and numbers of all magnitudes, in random order.

    It is for elementwise ops. Complex arrays have moderate numbers only, because results at infinities need a test of
    their own.
    """
    element = shape.element_type
    if element.is_complex or element is ElementType.PRED:
        return moderate_array(shape, random)
    special = _special_values(element)
    count = shape.num_elements
    if element.is_floating:
        spread = random.standard_normal(count) * np.exp2(random.integers(-12, 12, count))
        rest = _clipped(spread, element)
    else:
        rest = _random_integers(element, count, random)
    values = np.concatenate([special, rest])[:count]
    return random.permutation(values).reshape(shape.dimensions)


def moderate_array(shape: Shape, random: np.random.Generator, *, positive: bool = False) -> np.ndarray:
    """Makes an array of floats in [-1, 1), or in [0.25, 1) if `positive`; of integers with one digit; or of pred."""
    element = shape.element_type
    low = 0.25 if positive else -1.0
    if element.is_complex:
        values = random.uniform(low, 1, shape.dimensions) + 1j * random.uniform(low, 1, shape.dimensions)
    elif element is ElementType.F8E8M0FNU:  # powers of two, all positive
        values = np.exp2(random.integers(-2, 3, shape.dimensions))
    elif element.is_floating:
        values = random.uniform(low, 1, shape.dimensions)
    elif element is ElementType.PRED:
        values = random.integers(0, 2, shape.dimensions)
    else:
        least = 1 if positive else -9 if element.is_signed else 0
        limit = 1 << (element.bit_width - element.is_signed)
        values = random.integers(max(least, -limit), min(10, limit), shape.dimensions)
    with np.errstate(all="ignore"):
        return np.asarray(np.asarray(values).astype(shape.dtype))


def index_array(shape: Shape, random: np.random.Generator) -> np.ndarray:
    """Makes an array of indices from -3 to 8, some of them out of bounds."""
    return np.asarray(random.integers(-3, 9, shape.dimensions).astype(shape.dtype))


@functools.cache
def _special_values(element: ElementType) -> np.ndarray:
    if element.is_floating:
        numbers = [0.0, -0.0, 1, -1, 0.5, 2, -2.5, 3, 10, np.pi, -np.pi / 2, 0.3, 1e3, -1e5, 3e38, 1e-6, -1e-30]
        plain = [*numbers, np.inf, -np.inf, np.nan]
        with np.errstate(all="ignore"):
            values = np.asarray(plain).astype(element.dtype)
            one = np.ones((), element.dtype)
            least = np.nextafter(np.zeros((), element.dtype), one)
        return np.concatenate([values, np.asarray([least, -least, np.nextafter(one, one + one)], element.dtype)])
    width, signed = element.bit_width, element.is_signed
    low, high = (-(1 << (width - 1)), (1 << (width - 1)) - 1) if signed else (0, (1 << width) - 1)
    numbers = [0, 1, 2, 3, 7, width - 1, width, width + 1, low, low + 1, high, high - 1, high // 2, -1, -2, -7]
    return np.asarray([n for n in numbers if low <= n <= high], np.int64 if signed else np.uint64).astype(element.dtype)


def _clipped(values: np.ndarray, element: ElementType) -> np.ndarray:
    with np.errstate(all="ignore"):
        return values.astype(element.dtype)


def _random_integers(element: ElementType, count: int, random: np.random.Generator) -> np.ndarray:
    """Makes random integers of all magnitudes."""
    shifts = random.integers(0, element.bit_width, count).astype(np.uint64)
    words = (
        random.integers(0, 1 << 64, count, dtype=np.uint64, endpoint=False)
        if element.bit_width == 64
        else (random.integers(0, 1 << element.bit_width, count).astype(np.uint64))
    )
    shifted = words >> shifts
    if element.is_signed:
        signs = np.where(random.integers(0, 2, count) == 1, -1, 1)
        half = (shifted >> np.uint64(1)).astype(np.int64)
        return (half * signs).astype(element.dtype)
    return shifted.astype(element.dtype)
