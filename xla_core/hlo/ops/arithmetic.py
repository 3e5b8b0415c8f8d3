"""Evaluates the elementwise ops of arithmetic and logic on numpy arrays of any element type."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from xla_core.errors import InvalidArgumentError
from xla_core.hlo.ops.numerics import (
    BIT_WIDTH,
    CLASS,
    POWERS,
    Array,
    compute_in,
    integer_bounds,
    round_to,
    signless,
    total_order_key,
    widen,
    working,
    wrap,
)


def _native(ufunc: Callable[..., Any]) -> Callable[..., Array]:
    """Returns `ufunc` extended to integers of 2 and 4 bits and to float8_e8m0fnu.

    numpy and ml_dtypes round and wrap correctly in their own types. For float8_e8m0fnu, the function is computed in a
    wider type, because ml_dtypes computes in float32, where many of its products underflow.
    """
    wide = compute_in(ufunc)

    def computed(*operands: Array) -> Array:
        dtype = operands[0].dtype
        if CLASS[dtype] == "n":
            return wrap(ufunc(*[widen(x) for x in operands]), dtype)
        result: Array = wide(*operands) if dtype == POWERS else ufunc(*operands)
        return result

    return computed


add, subtract, negate = _native(np.add), _native(np.subtract), _native(np.negative)
_multiply, _float_divide = _native(np.multiply), _native(np.true_divide)


def multiply(a: Array, b: Array) -> Array:
    """The product. Integers wrap; for pred it is `and`."""
    return _complex_multiply(a, b) if CLASS[a.dtype] == "c" else _multiply(a, b)


def _complex_multiply(a: Array, b: Array) -> Array:
    """Computes (x + iy)(u + iv) by its definition, because numpy may fuse products and sums.

    In complex64, the first product of each part is not rounded before the sum, as in XLA's native code and ours.
    """
    x, y, u, v = a.real, a.imag, b.real, b.imag
    first, second = y * v, x * v
    if a.dtype == np.complex64:
        x, y, u, v = (part.astype(np.float64) for part in (x, y, u, v))
    real = x * u - first
    result = np.empty(real.shape, a.dtype)
    result.real, result.imag = real, y * u + second
    return result


def divide(a: Array, b: Array) -> Array:
    """The quotient. Integers truncate; x / 0 has all bits set, and INT_MIN / -1 is INT_MIN."""
    kind = CLASS[a.dtype]
    if kind in "fe":
        return _float_divide(a, b)
    if kind == "c":
        return _complex_divide(working(a), working(b)).astype(a.dtype)
    x, y = widen(a), widen(b)
    zero = y == 0
    y = np.where(zero, y.dtype.type(1), y)
    floor = x // y
    truncated = floor + ((floor * y != x) & ((x < 0) != (y < 0))).astype(x.dtype)
    all_ones = x.dtype.type(-1) if integer_bounds(a.dtype)[0] else x.dtype.type(integer_bounds(a.dtype)[1])
    return wrap(np.where(zero, all_ones, truncated), a.dtype)


def _complex_divide(a: Array, b: Array) -> Array:
    """Divides by Smith's algorithm (numpy's), then corrects zeros and infinities by Annex G of C99."""
    quotient = np.asarray(a / b)
    lost = np.isnan(quotient.real) & np.isnan(quotient.imag)
    if not lost.any():
        return quotient
    a, b = np.broadcast_arrays(a, b)
    x, y, u, v = a.real, a.imag, b.real, b.imag
    by_zero = (b == 0) & ~(np.isnan(x) & np.isnan(y))
    infinite = np.copysign(np.inf, u)
    top = (np.isinf(x) | np.isinf(y)) & np.isfinite(u) & np.isfinite(v)
    bottom = (np.isinf(u) | np.isinf(v)) & np.isfinite(x) & np.isfinite(y)

    def unit(part: Array) -> Array:
        return np.asarray(np.copysign(np.where(np.isinf(part), 1.0, 0.0), part))

    p, q, r, s = unit(x), unit(y), unit(u), unit(v)
    real = np.where(bottom, 0.0 * (x * r + y * s), quotient.real)
    imag = np.where(bottom, 0.0 * (y * r - x * s), quotient.imag)
    real = np.where(top, np.inf * (p * u + q * v), real)
    imag = np.where(top, np.inf * (q * u - p * v), imag)
    real = np.where(by_zero, infinite * x, real)
    imag = np.where(by_zero, infinite * y, imag)
    result = np.empty(quotient.shape, quotient.dtype)
    result.real = np.where(lost, real, quotient.real)
    result.imag = np.where(lost, imag, quotient.imag)
    return result


def remainder(a: Array, b: Array) -> Array:
    """The remainder a - trunc(a / b) * b, which has the sign of a. x rem 0 is x for integers and NaN for floats."""
    if CLASS[a.dtype] == "f":
        exact: Array = np.fmod(a, b)
        return exact
    if CLASS[a.dtype] == "e":
        return round_to(np.fmod(widen(a), widen(b)), a.dtype)
    x, y = widen(a), widen(b)
    zero = y == 0
    return wrap(np.where(zero, x, np.fmod(x, np.where(zero, y.dtype.type(1), y))), a.dtype)


def multiply_high(a: Array, b: Array) -> Array:
    """The high half of the double-width product."""
    width = BIT_WIDTH[a.dtype]
    if width < 64:
        wide = np.int64 if integer_bounds(a.dtype)[0] else np.uint64
        return wrap((widen(a).astype(wide) * widen(b).astype(wide)) >> wide(width), a.dtype)
    x, y = a.view(np.uint64), b.view(np.uint64)
    mask, half = np.uint64(0xFFFFFFFF), np.uint64(32)
    x0, x1, y0, y1 = x & mask, x >> half, y & mask, y >> half
    middle = x1 * y0 + ((x0 * y0) >> half)
    low = x0 * y1 + (middle & mask)
    high = x1 * y1 + (middle >> half) + (low >> half)
    if integer_bounds(a.dtype)[0]:  # corrects the unsigned product
        high = high - np.where(a < 0, y, np.uint64(0)) - np.where(b < 0, x, np.uint64(0))
    return np.asarray(high.astype(np.uint64).view(a.dtype))


def _extreme(which: str, choose: np.ufunc, zero: Callable[[Array, Array], Array]) -> Callable[[Array, Array], Array]:
    """Makes maximum or minimum. `zero` chooses between zeros, +0 above -0."""
    of_integers = _native(choose)

    def computed(a: Array, b: Array) -> Array:
        if CLASS[a.dtype] not in "fe":
            return of_integers(a, b)
        result = choose(a, b)
        zeros = (result == 0) & (a == b)
        return np.asarray(np.where(zeros, zero(a, b), result) if np.any(zeros) else result)

    computed.__doc__ = f"The {which}; NaN if either is NaN. Complex numbers are compared lexicographically."
    return computed


maximum = _extreme("larger", np.maximum, lambda a, b: a + b)
minimum = _extreme("smaller", np.minimum, lambda a, b: -(-a + -b))
bitwise_and, bitwise_or, bitwise_xor = _native(np.bitwise_and), _native(np.bitwise_or), _native(np.bitwise_xor)
bitwise_not = _native(np.invert)


def _shift(shift: np.ufunc) -> Callable[[Array, Array], Array]:
    """Makes a logical shift, which gives 0 if the amount is at least the width."""

    def computed(a: Array, amount: Array) -> Array:
        bits, by = signless(a), signless(amount)
        zero = bits.dtype.type(0)
        beyond = by >= BIT_WIDTH[a.dtype]
        return wrap(np.where(beyond, zero, shift(bits, np.where(beyond, zero, by))), a.dtype)

    return computed


shift_left, shift_right_logical = _shift(np.left_shift), _shift(np.right_shift)


def shift_right_arithmetic(a: Array, amount: Array) -> Array:
    """Shifts a right and fills with its highest bit, in unsigned types too. b may be the width or more."""
    width = BIT_WIDTH[a.dtype]
    unused = 8 * a.dtype.itemsize - width
    bits = signless(a)
    by = np.minimum(signless(amount), bits.dtype.type(width - 1))
    value = (bits << bits.dtype.type(unused)).astype(bits.dtype).view(f"i{bits.dtype.itemsize}")
    return wrap(value >> (by + by.dtype.type(unused)).astype(value.dtype), a.dtype)


def absolute(x: Array) -> Array:
    """The absolute value; the modulus of a complex number. |INT_MIN| is INT_MIN."""
    if CLASS[x.dtype] == "c":
        return np.asarray(np.abs(working(x)).astype(x.real.dtype))
    return _absolute(x)


_absolute = _native(np.abs)


def sign(x: Array) -> Array:
    """-1, 0 or 1. For floats, zero keeps its sign and NaN gives NaN; for complex numbers it is x / |x|."""
    kind = CLASS[x.dtype]
    if kind == "c":
        wide = working(x)
        modulus, unit = np.abs(wide), np.array(wide)
        below = np.where(modulus == 0, 1, modulus)
        unit.real, unit.imag = wide.real / below, wide.imag / below
        return np.where(np.isnan(modulus), complex(np.nan, np.nan), unit).astype(x.dtype)
    if kind in "fe":
        return np.where((x == 0) | (x != x), x, np.copysign(x.dtype.type(1), x))
    return _sign(x)


_sign = _native(np.sign)


def population_count(x: Array) -> Array:
    """Counts the bits that are set."""
    bits = signless(x)
    return wrap(bits if CLASS[x.dtype] == "b" else np.bitwise_count(bits), x.dtype)


def count_leading_zeros(x: Array) -> Array:
    """The number of zero bits above the highest bit that is set."""
    if CLASS[x.dtype] == "b":
        return ~x
    width = BIT_WIDTH[x.dtype]
    bits = signless(x).astype(np.uint64)
    high, low = bits >> np.uint64(32), bits & np.uint64(0xFFFFFFFF)
    length = np.where(high > 0, 32 + _bit_length(high), _bit_length(low))
    return wrap(width - length, x.dtype)


def _bit_length(x: Array) -> Array:
    """Returns the bit length of integers below 2^53, which float64 holds exactly."""
    length: Array = np.frexp(x.astype(np.float64))[1]
    return length


floor, ceil = compute_in(np.floor), compute_in(np.ceil)
round_nearest_even = compute_in(np.rint)


def _away_from_zero(x: Array) -> Array:
    whole = np.trunc(x)
    return np.asarray(np.where(np.abs(x - whole) >= 0.5, whole + np.copysign(1.0, x), whole))


round_nearest_afz = compute_in(_away_from_zero)


_COMPARISONS: dict[str, Callable[[Array, Array], Array]] = {
    "EQ": np.equal,
    "NE": np.not_equal,
    "GE": np.greater_equal,
    "GT": np.greater,
    "LE": np.less_equal,
    "LT": np.less,
}


def compare(direction: str, total_order: bool, a: Array, b: Array) -> Array:
    if total_order:
        a, b = total_order_key(a), total_order_key(b)
    elif CLASS[a.dtype] == "n":
        a, b = widen(a), widen(b)
    try:
        return _COMPARISONS[direction](a, b)
    except KeyError:
        raise InvalidArgumentError(
            f"direction {direction} is none of {', '.join(_COMPARISONS)}", op="compare"
        ) from None


def clamp(low: Array, x: Array, high: Array) -> Array:
    """(low, x, high) -> min(max(low, x), high); the bounds may be scalars."""
    return minimum(maximum(low, x), high)
