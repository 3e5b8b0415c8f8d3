"""Faults at one point: an op is wrong for one combination of operands, and right for every other.

The special values here are a list of their own, so that the tests of the suite's values don't compare a list with
itself.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence

import ml_dtypes
import numpy as np

from tests.conformance.zoo.kernels import Arrays, Fault
from xla_core.hlo import ElementType, HloInstruction

Point = tuple[np.ndarray, ...]
"""A scalar for each operand."""


def point_values(element: ElementType) -> np.ndarray:
    """Values of a type at which faults are likely."""
    if element is ElementType.PRED:
        return np.array([False, True])
    if element.is_integral:
        low, high = element.integer_range
        width = element.bit_width
        numbers = {low, low + 1, -1, 0, 1, 2, 3, high - 1, high, width - 1, width, width + 1}
        return np.array(sorted(n for n in numbers if low <= n <= high), object).astype(element.dtype)
    bias = (1 << (element.exponent_bits - 1)) - 1
    tiny, eps = 2.0 ** (1 - bias), 2.0**-element.mantissa_bits
    numbers = [0, 1, 2, 0.5, 1.5, 2.5, 3, 1 + eps, 1 - eps / 2, tiny, tiny * eps, tiny * (1 - eps), math.inf, math.nan]
    with np.errstate(all="ignore"):
        values = np.array([*numbers, *(-n for n in numbers)]).astype(element.dtype)
        largest = np.asarray([ml_dtypes.finfo(element.dtype).max]).astype(element.dtype)
        return np.concatenate([values, largest, -largest])


def points(elements: Sequence[ElementType]) -> Iterator[Point]:
    """Yields every combination of such values of the operands' types."""
    yield from itertools.product(*(list(point_values(t)) for t in elements))


def changed_value(right: np.ndarray) -> np.ndarray:
    """Returns a wrong value for each right one, as near in kind as may be: -0 for 0, the largest number for infinity.

    Denormal numbers become 1, as their negatives may be within the units of the last place that a function may be off.
    """
    element = ElementType.from_numpy(right.dtype)
    if element is ElementType.PRED:
        return ~right
    if element.is_integral:
        return np.where(right == 0, right.dtype.type(1), right.dtype.type(0))
    if element.is_complex:
        return np.where(np.isfinite(right), -right - 1, 1).astype(right.dtype)
    largest = ml_dtypes.finfo(right.dtype).max
    with np.errstate(all="ignore"):
        one = right.dtype.type(1)
        ends = np.copysign(np.asarray(largest).astype(right.dtype), right)
        is_tiny = (right != 0) & (np.abs(right) < ml_dtypes.finfo(right.dtype).smallest_normal)
        return np.where(np.isnan(right) | is_tiny, one, np.where(np.isinf(right), ends, -right)).astype(right.dtype)


def fault_at(point: Point) -> Fault:
    """Makes a fault for operands that have the bits of a point."""

    def wrong(instruction: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
        if len(operands) != len(point) or any(a.dtype != p.dtype for a, p in zip(operands, point, strict=True)):
            return None
        at = np.logical_and.reduce([_bits(a) == _bits(p) for a, p in zip(operands, point, strict=True)])
        if right[0].shape != at.shape or not at.any():
            return None
        return [np.where(at, changed_value(right[0]), right[0]), *right[1:]]

    return wrong


def _bits(array: np.ndarray) -> np.ndarray:
    array = np.asarray(array)
    if not ElementType.from_numpy(array.dtype).is_floating:
        return array
    return np.ascontiguousarray(array).view(f"u{array.dtype.itemsize}").reshape(array.shape)
