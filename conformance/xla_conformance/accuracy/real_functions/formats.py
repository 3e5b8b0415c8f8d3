"""Number formats as sets of numbers: rounding to nearest by looking the neighbours up, and errors in ULP.

Nothing here rounds by the arithmetic that the evaluator or a backend rounds by: of a format of 16 bits and fewer, all
values are listed, and the nearest is searched.
"""

from __future__ import annotations

import dataclasses
import functools

import numpy as np

from xla_core.hlo import ElementType

__all__ = ["Errors", "Exact", "Format", "all_values", "errors"]

Array = np.ndarray


@dataclasses.dataclass(frozen=True)
class Exact:
    """Exact results, as far as they are known: an array of float64, and what is missing in units of its spacing."""

    high: Array
    rest: Array | None = None

    @staticmethod
    def of(values: Array) -> Exact:
        """From float64, or from what is wider."""
        high = np.asarray(values).astype(np.float64)
        if values.dtype == np.float64:
            return Exact(high)
        with np.errstate(invalid="ignore"):
            rest = ((values - high) / np.spacing(np.abs(high))).astype(np.float64)
        return Exact(high, np.where(np.isfinite(high), rest, 0.0))


def all_values(element_type: ElementType) -> Array:
    """Every bit pattern of a type of 16 bits and fewer."""
    width = element_type.bit_width
    bits = np.arange(1 << width, dtype=np.uint16 if width > 8 else np.uint8)
    return bits.view(element_type.dtype)


class Format:
    """A floating type by its values.

    Attributes:
        dtype: numpy's.
        mantissa_bits: behind the point.
        least, largest: the positive finite values at the ends.
        has_nan, has_infinity, has_negative_zero, has_zero: which it has.
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
        # Between two neighbours lies the point from which the upper one is nearer; ties go to the even one. Beyond the
        # largest the next number would follow, which stands for infinity.
        following = 2 * self.largest - float(self.magnitudes[-2]) if self.mantissa_bits else 2 * self.largest
        steps = np.append(self.magnitudes, following)
        self._middles = (steps[:-1] + steps[1:]) / 2
        even = np.arange(len(self._middles)) % 2 == 0
        if not self.mantissa_bits:  # a format of exponents alone rounds ties up
            even[:] = False
        self._middles = np.where(even, np.nextafter(self._middles, np.inf), self._middles)

    def round(self, values: Array) -> Array:
        """float64 values rounded to nearest even, as float64: infinite, NaN or the largest where they are too large."""
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
        """The spacing of the format's numbers at float64 values."""
        exponent = np.frexp(np.where(np.isfinite(values), values, self.largest))[1] - 1
        return np.asarray(np.maximum(np.ldexp(1.0, exponent - self.mantissa_bits), self.least))

    def steps(self, values: Array) -> Array:
        """How many numbers of the format lie between 0 and |values|, which are among them; of infinity, all."""
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
    """One entry a result. `ulp` is 0 where a result is wrong or isn't fixed; `expected` is the correctly rounded."""

    ulp: Array
    wrong: Array
    expected: Array


def errors(got: Array, exact: Exact, element_type: ElementType, floor: Array | float = 0.0) -> Errors:
    """The distance of results from exact ones in ULP of the correctly rounded ones: 0.5 at most where those came.

    Args:
        got: results, of the type's dtype.
        exact: what they should be.
        floor: the unit is at least that of numbers of this size: an absolute error near zeros, where it is above 0.

    Wrong are: NaN for a number or a number for NaN; a finite number for an exact infinity; a zero of the other sign.
    A number that is too large or nearly so counts by how many numbers lie between. Not fixed is the result where it is
    NaN and the format has none; where it is too small for f32 and the format has no zero; where only the absolute error
    counts and the largest number is below its unit.
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
