"""Compares arrays by absolute, relative and ULP (units in the last place) differences.

(XLA: xla/literal_comparison.h.)
"""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from xla_core.errors import InvalidArgumentError
from xla_core.hlo.values.element_type import ElementType


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Tolerance:
    """An element is right where any of these tolerances holds. Equal values, and two NaNs, are always right.

    Attributes:
        ulp: the largest difference in units in the last place.
        rtol, atol: |actual - expected| <= atol + rtol * |expected|; `atol` may be an array of the result's shape.
        scaled: |actual - expected| <= scaled * (the largest finite |expected| of the array). This fits the results of
            long sums, whose small elements carry the rounding errors of large ones.
    """

    ulp: float = 0.0
    rtol: float = 0.0
    atol: float | np.ndarray = 0.0
    scaled: float = 0.0

    def __str__(self) -> str:
        parts = [
            f"{factor:.3g}{of}"
            for factor, of in (
                (self.ulp, " ULP"),
                (float(np.max(self.atol)), ""),
                (self.rtol, " of the element"),
                (self.scaled, " of the largest element"),
            )
            if factor
        ]
        if not parts:
            return "equal"
        return "within " + " or ".join(filter(None, [", ".join(parts[:-1]), parts[-1]]))


@dataclasses.dataclass(frozen=True, slots=True)
class Difference:
    """The result of `compare_arrays`. `index`, `actual` and `expected` describe the worst wrong element, if any.

    `max_absolute` leaves out infinities for finite numbers that are within the tolerance, at the limit of overflow.
    """

    elements: int
    wrong: int
    max_absolute: float
    max_ulp: float
    index: tuple[int, ...] | None = None
    actual: str = ""
    expected: str = ""

    @property
    def equal(self) -> bool:
        """Whether every element is within the tolerance."""
        return self.wrong == 0

    def __str__(self) -> str:
        text = f"max |difference| {self.max_absolute:.3g}, max ULP {self.max_ulp:.3g}"
        if self.equal:
            return text
        at = ",".join(map(str, self.index or ()))
        return f"{self.wrong} of {self.elements} wrong, at [{at}] {self.actual} for {self.expected}; {text}"


def compare_arrays(actual: np.ndarray, expected: np.ndarray, tolerance: Tolerance | None = None) -> Difference:
    """Compares two arrays of one shape and dtype.

    Raises:
        InvalidArgumentError: where shapes or dtypes differ; no tolerance covers that.
    """
    if actual.shape != expected.shape or actual.dtype != expected.dtype:
        raise InvalidArgumentError(
            f"the result is {actual.dtype}{list(actual.shape)}, expected {expected.dtype}{list(expected.shape)}"
        )
    tolerance = tolerance or Tolerance()
    if actual.size == 0:
        return Difference(0, 0, 0.0, 0.0)
    ulps = ulp_distance(actual, expected)
    if not ulps.any():
        return Difference(actual.size, 0, 0.0, 0.0)
    with np.errstate(all="ignore"):
        wide = np.complex128 if actual.dtype.kind == "c" else np.float64
        wanted = expected.astype(wide)
        absolute = np.where(ulps == 0, 0.0, np.abs(actual.astype(wide) - wanted))
        absolute = np.where(np.isnan(absolute), np.inf, absolute)
        magnitude = np.abs(wanted)
        finite = magnitude[np.isfinite(magnitude)]
        scale = tolerance.scaled * float(finite.max()) if finite.size and tolerance.scaled else 0.0
        margin = np.maximum(tolerance.atol + tolerance.rtol * magnitude, scale)
        right = (ulps <= tolerance.ulp) | ((absolute <= margin) & np.isfinite(absolute))
    wrong = int(right.size - np.count_nonzero(right))
    counted = np.where(right & np.isinf(absolute), 0.0, absolute)
    result = Difference(actual.size, wrong, float(counted.max()), float(ulps.max()))
    if not wrong:
        return result
    where = np.unravel_index(int(np.argmax(np.where(right, -1.0, ulps))), actual.shape)
    index = tuple(int(i) for i in where)
    return dataclasses.replace(result, index=index, actual=str(actual[index]), expected=str(expected[index]))


def ulp_distance(actual: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """Returns the distance between two arrays of one dtype in units in the last place, as float64.

    For floats, it is the number of steps between neighbouring values; it is 0 for two NaNs and infinite for a NaN and a
    number. For complex numbers, it is the distance in the plane over the spacing of floats at |expected|. For integers
    and pred, it is the absolute difference.
    """
    element = ElementType.from_numpy(expected.dtype)
    if element.is_complex:
        return _complex_distance(actual, expected)
    if not element.is_floating:
        wide = [np.asarray(x).astype(object) for x in (actual, expected)]
        return np.asarray(np.where(actual == expected, 0.0, np.abs(wide[0] - wide[1])), np.float64)
    width = element.byte_width * 8
    bits = np.dtype(f"u{element.byte_width}")
    a, b = (np.ascontiguousarray(x).view(bits).reshape(x.shape).astype(np.uint64) for x in (actual, expected))
    sign = np.uint64(1 << (element.bit_width - 1)) if element.has_sign_bit else np.uint64(0)
    magnitude = np.uint64((1 << width) - 1) ^ sign
    am, bm = a & magnitude, b & magnitude
    apart = np.where((a & sign) == (b & sign), np.maximum(am, bm) - np.minimum(am, bm), am + bm)
    with np.errstate(invalid="ignore"):  # bfloat16 is compared as float32, and signaling NaNs raise the flag
        nan_a, nan_b = np.isnan(actual), np.isnan(expected)
    result = np.where(nan_a | nan_b, np.inf, apart.astype(np.float64))
    return np.where(nan_a & nan_b, 0.0, result)


def _complex_distance(actual: np.ndarray, expected: np.ndarray) -> np.ndarray:
    part = expected.real.dtype
    with np.errstate(all="ignore"):
        size = np.minimum(np.abs(expected.astype(np.complex128)), float(np.finfo(part).max)).astype(part)
        spacing = np.spacing(size).astype(np.float64)
        distance = np.abs(actual.astype(np.complex128) - expected.astype(np.complex128)) / spacing
    distance = np.where(np.isnan(distance), math.inf, distance)
    same_parts = _same(actual.real, expected.real) & _same(actual.imag, expected.imag)
    return np.where(same_parts, 0.0, distance)


def _same(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    same: np.ndarray = (a == b) | (np.isnan(a) & np.isnan(b))
    return same
