"""Evaluates the elementary functions.

Each function is computed in a wider format and rounded: float32 and narrower in float64, float64 in the machine's
extended precision if it has one. Results are therefore correctly rounded, except for rare near-ties. The complex
functions follow Annex G of C99 on branch cuts and at infinities.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from xla_core.hlo.ops.numerics import CLASS, LONG, LONG_COMPLEX, Array, integer_bounds, round_to, widen, working, wrap
from xla_core.hlo.table.opcode import Opcode

_F64, _C128 = np.dtype(np.float64), np.dtype(np.complex128)
_PI = 4 * np.arctan(LONG.type(1))


def _function(real: Callable[..., Any], complex_: Callable[..., Any] | None = None) -> Callable[..., Array]:
    """Makes a function of any floating or complex type from a function of wide reals and one of
    wide complex numbers.
    """

    def computed(*operands: Array) -> Array:
        dtype = operands[0].dtype
        function = complex_ if CLASS[dtype] == "c" and complex_ is not None else real
        return round_to(function(*[working(x) for x in operands]), dtype)

    return computed


def _parts(real: Array, imag: Array) -> Array:
    real = np.asarray(real)
    result = np.empty(real.shape, LONG_COMPLEX if real.dtype == LONG else _C128)
    result.real, result.imag = real, imag
    return result


# -- real functions ------------------------------------------------------------------------------------------------


def _rsqrt(x: Array) -> Array:
    result: Array = 1 / np.sqrt(x)
    return result


def _logistic(x: Array) -> Array:
    result: Array = 1 / (1 + np.exp(-x))
    return result


_erf, _erfc = np.frompyfunc(math.erf, 1, 1), np.frompyfunc(math.erfc, 1, 1)


def _erf_inv(x: Array) -> Array:
    """Makes three steps of Halley's method for erf(y) = |x|, each of which triples the correct digits.

    The start is right to 0.2 % (Winitzki). Where |x| > 3/4 the error is computed from 1 - |x|, which keeps its digits.
    """
    size = np.abs(x)
    inside = np.where(size < 1, size, 0)
    log = np.log((1 - inside) * (1 + inside))
    half = 2 / (math.pi * 0.147) + log / 2
    y = np.sqrt(np.maximum(np.sqrt(half * half - log / 0.147) - half, 0))
    for _ in range(3):
        error = np.where(inside < 0.75, _erf(y) - inside, (1 - inside) - _erfc(y)).astype(_F64)
        y = y - error / (2 / math.sqrt(math.pi) * np.exp(-y * y) + y * error)
    edge = np.where(size == 1, math.inf, math.nan)
    return np.asarray(np.copysign(np.where(size < 1, y, edge), x))


def _real_power(x: Array, y: Array) -> Array:
    """Exponents of at least 2^54 are even. At some of them, C libraries are wrong for negative long doubles."""
    return np.asarray(np.power(np.where(np.abs(y) >= 2.0**54, np.abs(x), x), y))


# -- complex functions ---------------------------------------------------------------------------------------------


def _complex_expm1(z: Array) -> Array:
    """Computes expm1(x) cos(y) - 2 sin(y/2)^2 + i exp(x) sin(y), which doesn't cancel near 0."""
    x, y = z.real, z.imag
    half = np.sin(y / 2)
    imag = np.where(y == 0, y, np.exp(x) * np.sin(y))
    cosine = np.where(y == 0, 1, np.cos(y))
    real = np.where(y == 0, np.expm1(x), np.expm1(x) * cosine - 2 * half * half)
    plain = np.exp(z)
    far = ~np.isfinite(x) | ~np.isfinite(y) | (x > 40)
    return _parts(np.where(far, plain.real - 1, real), np.where(far, plain.imag, imag))


def _two_sum(x: Array, y: Array) -> tuple[Array, Array]:
    """Returns (rounded sum, its error); both are exact."""
    total = x + y
    part = total - x
    return total, (x - (total - part)) + (y - part)


def _two_square(x: Array) -> tuple[Array, Array]:
    """Returns (rounded square, its error), exact unless something overflows. (Dekker 1971.)"""
    scaled = x * x.dtype.type(2 ** ((np.finfo(x.dtype).nmant + 2) // 2) + 1)
    high = scaled - (scaled - x)
    low = x - high
    square = x * x
    return square, ((high * high - square) + 2 * high * low) + low * low


def _complex_log1p(z: Array) -> Array:
    """Computes log|1 + z| by log1p of the exact sum 2 x + x^2 + y^2, where 1 + z is neither large nor near the pole."""
    x, y = z.real, z.imag
    size = np.maximum(np.abs(1 + x), np.abs(y))
    near = (size > 0.5) & (size < 4)
    u, v = np.where(near, x, 0), np.where(near, y, 0)
    (first, first_low), (second, second_low) = _two_square(u), _two_square(v)
    total, low = _two_sum(2 * u, first)
    total, lower = _two_sum(total, second)
    modulus = np.log1p(total + ((low + lower) + (first_low + second_low))) / 2
    return _parts(np.where(near, modulus, np.log(np.hypot(1 + x, y))), np.arctan2(y, 1 + x))


def _complex_rsqrt(z: Array) -> Array:
    root = np.sqrt(z)
    infinite = np.isinf(z.real) | np.isinf(z.imag)
    inverse = 1 / np.where((root == 0) | infinite, 1, root)
    return np.where(
        infinite,
        _parts(np.zeros_like(z.real), -np.copysign(0.0, z.imag)),
        np.where(root == 0, complex(np.inf, np.nan), inverse),
    )


def _complex_logistic(z: Array) -> Array:
    """Computes the logistic function by e = e^-|x| and d = (1 - e)^2 + 4 e cos(y / 2)^2.

    The real part is (1 + e cos(y)) / d for x >= 0 and e (e + cos(y)) / d for x < 0; the imaginary part is e sin(y) / d.
    Nothing cancels near the poles.
    """
    x, y = z.real, z.imag
    e, less = np.exp(-np.abs(x)), -np.expm1(-np.abs(x))
    settled = np.isinf(x) & ~np.isfinite(y)
    angle = np.where(settled, 0, y)
    twice = 2 * np.cos(angle / 2) ** 2  # 1 + cos(y)
    below = less * less + 2 * e * twice
    left = e * np.where(e < 0.5, np.cos(angle) + e, twice - less)
    real = np.where(x < 0, left, less + e * twice) / below
    return _parts(real, np.where(settled, 0, e * np.sin(angle) / below))


def _complex_cbrt(z: Array) -> Array:
    """Computes the principal cube root: the cube root of the modulus at a third of the angle."""
    size = np.abs(z)
    tiny = size < np.finfo(size.dtype).tiny * 2**80  # here the modulus would have few bits
    scaled = np.where(tiny, z * size.dtype.type(2**90), z)
    root = np.cbrt(np.abs(scaled)) * np.where(tiny, size.dtype.type(2) ** -30, size.dtype.type(1))
    angle = np.angle(z) / 3
    imag = np.where(angle == 0, z.imag * (z.real != np.inf), root * np.sin(angle))
    return np.where(z == 0, z, _parts(root * np.cos(angle), imag))


def _complex_atan2(y: Array, x: Array) -> Array:
    """Computes -i log((x + i y) / sqrt(x^2 + y^2)).

    The real part is half of the difference between the angles of x + i y and x - i y. The imaginary part is half of the
    logarithm of |x - i y| / |x + i y|, by log1p of the difference of the squares. The result is NaN where the quotient
    is not finite.
    """
    size = np.maximum(np.maximum(np.abs(x.real), np.abs(x.imag)), np.maximum(np.abs(y.real), np.abs(y.imag)))
    exponent = np.where(np.isfinite(size), np.frexp(size)[1], 0)
    x, y = (_parts(np.ldexp(v.real, -exponent), np.ldexp(v.imag, -exponent)) for v in (x, y))
    plus, minus = _parts(x.real - y.imag, x.imag + y.real), _parts(x.real + y.imag, x.imag - y.real)
    apart = x.real * y.imag - x.imag * y.real
    less = np.where(apart < 0, np.abs(minus), np.abs(plus))
    excess = 4 * np.abs(apart) / (less * less)
    logarithm = np.copysign(np.log1p(excess) / 4, apart)
    across = plus.real * minus.real + plus.imag * minus.imag
    beside_pole = plus.imag * minus.real - plus.real * minus.imag
    along = -2 * _sum_of_products((-x.real, y.real), (-x.imag, y.imag))  # zeros get the sign of half a turn
    half = np.arctan2(np.where(excess > 1, beside_pole, along), across) / 2
    half = np.copysign(half, np.where(half == 0, along, half))
    rough = _angle_by_root(x, y, plus, minus)
    angle = np.where(np.abs(rough - half) < _PI / 2, half, half - np.copysign(_PI, half))
    finite = np.isfinite(size) & (plus != 0) & (minus != 0)
    return np.where(finite, _parts(angle, logarithm), complex(np.nan, np.nan))


def _angle_by_root(x: Array, y: Array, plus: Array, minus: Array) -> Array:
    """Approximates the angle of (x + i y) / sqrt((x + i y) (x - i y)).

    It is half of the difference between the angles of the two factors, plus half a turn where their sum exceeds half a
    turn. Near that limit, the sign of the imaginary part of the product decides, which is 2 (Re x Im x + Re y Im y).
    """
    first, second = np.angle(plus), np.angle(minus)
    total = first + second
    side = _sum_of_products((x.real, x.imag), (y.real, y.imag))
    left = plus.real * minus.real - plus.imag * minus.imag < 0
    beyond = np.where(left, np.signbit(side) != np.signbit(total), np.abs(total) > _PI)
    angle = (first - second) / 2
    return np.asarray(np.where(beyond, angle - np.copysign(_PI, angle), angle))


def _sum_of_products(*pairs: tuple[Array, Array]) -> Array:
    """Returns the sum of the products v w.

    If the sum is zero, its sign is that of the same sum with each zero factor replaced by a tiny number of its sign.
    """
    total = sum(v * w for v, w in pairs)
    tiny = sum(np.copysign(v == 0, v) * w for pair in pairs for v, w in (pair, pair[::-1]))
    return np.asarray(np.where(total == 0, np.copysign(0.0, tiny), total))


def _complex_power(a: Array, b: Array) -> Array:
    """Computes exp(b log a), with 0^0 = 1, and 0^b = 0 for a positive real part of b."""
    zero = a == 0
    log = np.log(np.where(zero, 1, a))
    result = np.exp(b * log)
    of_zero = np.where(b == 0, 1, np.where(b.real > 0, 0, complex(np.nan, np.nan)))
    return np.where(zero, of_zero, np.where(b == 0, 1, result))


def _complex_tan(z: Array) -> Array:
    """Computes -i tanh(i z), which is right for large imaginary parts."""
    rotated = np.tanh(_parts(-z.imag, z.real))
    return _parts(rotated.imag, -rotated.real)


erf = _function(lambda x: np.asarray(_erf(x.astype(_F64)), dtype=_F64))
erfc = _function(lambda x: np.asarray(_erfc(x.astype(_F64)), dtype=_F64))
erf_inv = _function(lambda x: _erf_inv(x.astype(_F64)))
atan2 = _function(np.arctan2, _complex_atan2)
_power = _function(_real_power, _complex_power)
_rounded_sqrt = _function(np.sqrt)


def _sqrt(x: Array) -> Array:
    """Uses numpy's sqrt for numpy's types. A wider format would round f64 twice."""
    return np.asarray(np.sqrt(x)) if CLASS[x.dtype] == "f" else _rounded_sqrt(x)


FUNCTIONS: Mapping[Opcode, tuple[Callable[..., Array], str, float]] = {
    Opcode.EXPONENTIAL: (_function(np.exp), "e to the power x.", 14),
    Opcode.EXPONENTIAL_MINUS_ONE: (_function(np.expm1, _complex_expm1), "exp(x) - 1, exact near 0.", 20),
    Opcode.LOG: (_function(np.log), "The natural logarithm.", 33),
    Opcode.LOG_PLUS_ONE: (_function(np.log1p, _complex_log1p), "log(1 + x), exact near 0.", 36),
    Opcode.LOGISTIC: (_function(_logistic, _complex_logistic), "1 / (1 + exp(-x)).", 18),
    Opcode.SQRT: (_sqrt, "The square root.", 4),
    Opcode.RSQRT: (_function(_rsqrt, _complex_rsqrt), "The reciprocal square root.", 4),
    Opcode.CBRT: (_function(np.cbrt, _complex_cbrt), "The cube root.", 150),
    Opcode.SINE: (_function(np.sin), "The sine.", 110),
    Opcode.COSINE: (_function(np.cos), "The cosine.", 110),
    Opcode.TAN: (_function(np.tan, _complex_tan), "The tangent.", 125),
    Opcode.TANH: (_function(np.tanh), "The hyperbolic tangent.", 18),
    Opcode.ACOS: (_function(np.arccos), "The inverse cosine.", 220),
    Opcode.ACOSH: (_function(np.arccosh), "The inverse hyperbolic cosine.", 86),
    Opcode.ASIN: (_function(np.arcsin), "The inverse sine.", 220),
    Opcode.ASINH: (_function(np.arcsinh), "The inverse hyperbolic sine.", 86),
    Opcode.ATAN: (_function(np.arctan), "The inverse tangent.", 21),
    Opcode.ATANH: (_function(np.arctanh), "The inverse hyperbolic tangent.", 73),
    Opcode.COSH: (_function(np.cosh), "The hyperbolic cosine.", 43),
    Opcode.SINH: (_function(np.sinh), "The hyperbolic sine.", 44),
}
"""Opcode -> the function of one floating-point or complex operand, what it is in words, and its `OpDef.cost`."""


def power(a: Array, b: Array) -> Array:
    """The power a^b. Integers wrap; a negative exponent gives the truncated quotient; for pred it is a | ~b."""
    kind = CLASS[a.dtype]
    if kind == "b":
        return np.asarray(a | ~b)
    if kind not in "iun":
        return _power(a, b)
    base, exponent = widen(a), widen(b)
    base, exponent = np.broadcast_arrays(base, exponent)
    negative = exponent < 0
    rest = np.where(negative, exponent.dtype.type(0), exponent)
    result, square = np.ones_like(base), base.copy()
    while np.any(rest > 0):
        result = np.where(rest & rest.dtype.type(1), result * square, result)
        square = square * square
        rest = rest >> rest.dtype.type(1)
    if integer_bounds(a.dtype)[0]:
        odd = (exponent & exponent.dtype.type(1)) != 0
        inverse = np.where(base == 1, 1, np.where(base == -1, np.where(odd, -1, 1), 0)).astype(base.dtype)
        result = np.where(negative, inverse, result)
    return wrap(result, a.dtype)
