"""Number formats: rounding to nearest by searching in a table of all values, and errors in ULP.

For a format of up to 16 bits, all values are listed and rounding searches the nearest one. The rounding here therefore
shares no code with the evaluator or a backend.
"""

from __future__ import annotations

import dataclasses
import functools

import numpy as np

from xla_core.hlo import ElementType

Array = np.ndarray


@dataclasses.dataclass(frozen=True)
class Exact:
    """Exact results: `high` in float64, and `rest`, the difference from the exact value in units of high's spacing."""

    high: Array
    rest: Array | None = None

    @staticmethod
    def of(values: Array) -> Exact:
        """Makes exact results from an array of float64 or a wider type."""
        high = np.asarray(values).astype(np.float64)
        if values.dtype == np.float64:
            return Exact(high)
        with np.errstate(invalid="ignore"):
            rest = ((values - high) / np.spacing(np.abs(high))).astype(np.float64)
        return Exact(high, np.where(np.isfinite(high), rest, 0.0))


def all_values(element_type: ElementType) -> Array:
    """Returns every bit pattern of a type of at most 16 bits."""
    width = element_type.bit_width
    bits = np.arange(1 << width, dtype=np.uint16 if width > 8 else np.uint8)
    return bits.view(element_type.dtype)


def epsilon(element_type: ElementType) -> float:
    """Returns the spacing above 1 of a floating-point type (or of a complex type's parts), and 0 for other types."""
    part = element_type.component
    return 2.0**-part.mantissa_bits if part.is_floating else 0.0


class Format:
    """The values of a floating-point type.

    Attributes:
        dtype: the numpy dtype.
        mantissa_bits: the number of mantissa bits after the point.
        least, largest: the smallest and largest positive finite values.
        has_nan, has_infinity, has_negative_zero, has_zero: which special values the type has.
    """

    def __init__(self, element_type: ElementType) -> None:
        self.element_type, self.dtype = element_type, element_type.dtype
        one = np.ones((), self.dtype)
        if element_type.bit_width > 16:
            limits = np.finfo(self.dtype)
            self.mantissa_bits = int(limits.nmant)
            self.least, self.largest = float(limits.smallest_subnormal), float(limits.max)
            self.has_nan = self.has_infinity = self.has_negative_zero = self.has_zero = True
            return
        with np.errstate(invalid="ignore"):
            values = all_values(element_type).astype(np.float64)
        self.has_nan, self.has_infinity = bool(np.isnan(values).any()), bool(np.isinf(values).any())
        zeros = values == 0
        self.has_zero, self.has_negative_zero = bool(zeros.any()), bool(np.signbit(values[zeros]).any())
        self.magnitudes = np.unique(values[np.isfinite(values) & (values >= 0)])
        self.least, self.largest = float(self.magnitudes[self.magnitudes > 0][0]), float(self.magnitudes[-1])
        above = self.magnitudes[self.magnitudes > float(one.astype(np.float64))][0]
        self.mantissa_bits = round(-np.log2(above - 1))
        # The midpoint of two neighbours divides the values that round down from those that round up; ties go to the
        # even neighbour. After the largest value follows the next number of the pattern, which stands for infinity.
        following = 2 * self.largest - float(self.magnitudes[-2]) if self.mantissa_bits else 2 * self.largest
        steps = np.append(self.magnitudes, following)
        self._middles = (steps[:-1] + steps[1:]) / 2
        even = np.arange(len(self._middles)) % 2 == 0
        if not self.mantissa_bits:  # a format with only exponent bits rounds ties up
            even[:] = False
        self._middles = np.where(even, np.nextafter(self._middles, np.inf), self._middles)

    def round(self, values: Array) -> Array:
        """Rounds float64 values to nearest even and returns them as float64.

        A value that is too large becomes infinity, or NaN if the type has no infinity, or the largest value if it has
        neither.
        """
        if self.element_type.bit_width > 16:
            return np.asarray(values.astype(self.dtype)).astype(np.float64)
        size = np.abs(values)
        place = np.searchsorted(self._middles, np.where(np.isnan(size), 0, size), side="right")
        over = place >= len(self.magnitudes)
        rounded = self.magnitudes[np.minimum(place, len(self.magnitudes) - 1)]
        if self.has_infinity:
            rounded = np.where(over, np.inf, rounded)
        elif self.has_nan:
            rounded = np.where(over, np.nan, rounded)
        rounded = np.copysign(rounded, values)
        if not self.has_zero:
            rounded = np.where(values > 0, rounded, np.nan)
        return np.asarray(np.where(np.isnan(values), np.nan, rounded))

    def unit(self, values: Array) -> Array:
        """Returns the spacing of the format's numbers at float64 values."""
        exponent = np.frexp(np.where(np.isfinite(values), values, self.largest))[1] - 1
        return np.asarray(np.maximum(np.ldexp(1.0, exponent - self.mantissa_bits), self.least))

    def steps(self, values: Array) -> Array:
        """Returns the index of each |value| among the format's nonnegative numbers; infinity follows the largest."""
        size = np.abs(values)
        if self.element_type.bit_width > 16:
            bits = size.astype(self.dtype).view(f"u{self.dtype.itemsize}")
            return np.asarray(bits.astype(np.float64))
        return np.asarray(np.searchsorted(self.magnitudes, size).astype(np.float64))


@functools.cache
def format_of(element_type: ElementType) -> Format:
    return Format(element_type)


@dataclasses.dataclass(frozen=True)
class Errors:
    """The errors of results, with an entry for each result.

    `ulp` is 0 for a wrong result and for one that isn't specified. `expected` is the correctly rounded result.
    """

    ulp: Array
    wrong: Array
    expected: Array


def errors(got: Array, exact: Exact, element_type: ElementType, floor: Array | float = 0.0) -> Errors:
    """Computes the errors of results in ULP of the correctly rounded results, whose own error is at most 0.5.

    Args:
        got: the results, of the type's dtype.
        exact: the exact results.
        floor: the unit is at least the ULP of numbers of this size. A positive floor makes errors near zeros absolute.

    A result is wrong if it is NaN for a number or a number for NaN, a finite number for an exact infinity, or a zero of
    the wrong sign. If the result or the correctly rounded result is infinite, the error is the number of values between
    them. A result isn't specified if it is NaN and the format has no NaN, if it is too small for f32 and the format has
    no zero, or if the error is absolute and the format's largest number is below its unit.
    """
    form = format_of(element_type)
    with np.errstate(all="ignore"):
        values = got.astype(np.float64)
        expected = form.round(exact.high)
        unit = form.unit(np.maximum(np.abs(expected), floor))
        ulp = (values - exact.high) / unit
        if exact.rest is not None:
            ulp = ulp - exact.rest * (np.spacing(np.abs(exact.high)) / unit)
        ulp = np.abs(ulp)
        sign_matters = form.has_negative_zero & (values == 0) & (expected == 0)
        wrong = sign_matters & (np.signbit(values) != np.signbit(exact.high))
        wrong |= np.isnan(values) != np.isnan(expected)
        infinite = np.isinf(values) | np.isinf(expected)
        if infinite.any():
            apart = np.abs(form.steps(values) - form.steps(expected))
            opposite = np.signbit(values) != np.signbit(expected)
            ulp = np.where(infinite, np.where(opposite, np.inf, apart), ulp)
            wrong |= infinite & opposite & ~np.isnan(expected)
            if element_type is not ElementType.F64:  # there an exact infinity may be a large number
                wrong |= np.isinf(exact.high) & np.isfinite(values)
    if not form.has_nan:
        wrong &= ~np.isnan(exact.high)
    saturated = ~np.isnan(values) & (values == expected) & (np.abs(expected) == form.largest)
    loose = np.asarray(floor) > form.largest
    if not form.has_zero:
        loose = loose | (np.abs(exact.high) < 2.0**-126)
    wrong &= ~loose
    settled = np.isnan(values) | np.isnan(expected) | wrong | saturated | loose
    return Errors(np.where(settled, 0.0, ulp), wrong, expected)
