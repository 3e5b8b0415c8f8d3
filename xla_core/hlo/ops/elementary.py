"""What the elementary functions mean.

Each is computed in a wider format and rounded: float32 and narrower in float64, float64 in the machine's extended
precision where it has one, so that results are the correctly rounded ones but for rare near-ties. The complex ones
follow C99's Annex G on branch cuts and at infinities.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from xla_core.hlo.ops.numerics import CLASS, LONG, Array, integer_bounds, round_to, widen, wrap

__all__ = [
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "cbrt",
    "cosh",
    "cosine",
    "erf",
    "exponential",
    "exponential_minus_one",
    "log",
    "log_plus_one",
    "logistic",
    "power",
    "rsqrt",
    "sine",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
]

_F64, _C128 = np.dtype(np.float64), np.dtype(np.complex128)
_EXTENDED = np.finfo(LONG).nmant > np.finfo(np.float64).nmant
_LONG_COMPLEX = np.dtype(np.clongdouble)


def _working(x: Array) -> Array:
    """In the format in which functions of it are computed."""
    if x.dtype == _F64:
        return x.astype(LONG) if _EXTENDED else x
    if x.dtype == _C128:
        return x.astype(_LONG_COMPLEX) if _EXTENDED else x
    return widen(x)


def _function(real: Callable[..., Any], complex_: Callable[..., Any] | None = None) -> Callable[..., Array]:
    """A function of any floating or complex type, from one of wide reals and one of wide complex numbers."""

    def computed(*operands: Array) -> Array:
        dtype = operands[0].dtype
        function = complex_ if CLASS[dtype] == "c" and complex_ is not None else real
        return round_to(function(*[_working(x) for x in operands]), dtype)

    return computed


def _parts(real: Array, imag: Array) -> Array:
    real = np.asarray(real)
    result = np.empty(real.shape, _LONG_COMPLEX if real.dtype == LONG else _C128)
    result.real, result.imag = real, imag
    return result


# -- real functions ------------------------------------------------------------------------------------------------


def _rsqrt(x: Array) -> Array:
    result: Array = 1 / np.sqrt(x)
    return result


def _logistic(x: Array) -> Array:
    result: Array = 1 / (1 + np.exp(-x))
    return result


_erf = np.frompyfunc(math.erf, 1, 1)


def _error_function(x: Array) -> Array:
    return np.asarray(_erf(x.astype(_F64)), dtype=_F64)


# -- complex functions ---------------------------------------------------------------------------------------------


def _complex_expm1(z: Array) -> Array:
    """expm1(x) cos(y) - 2 sin(y/2)^2 + i exp(x) sin(y): no cancellation near 0."""
    x, y = z.real, z.imag
    half = np.sin(y / 2)
    imag = np.where(y == 0, y, np.exp(x) * np.sin(y))
    cosine = np.where(y == 0, 1, np.cos(y))
    real = np.where(y == 0, np.expm1(x), np.expm1(x) * cosine - 2 * half * half)
    plain = np.exp(z)
    far = ~np.isfinite(x) | ~np.isfinite(y) | (x > 40)
    return _parts(np.where(far, plain.real - 1, real), np.where(far, plain.imag, imag))


def _complex_log1p(z: Array) -> Array:
    """log|1 + z| through x (2 + x) + y^2 where that is small, so that nothing cancels near 0."""
    x, y = z.real, z.imag
    near = np.hypot(x, y) < 0.5
    modulus = np.where(near, np.log1p(np.where(near, x * (2 + x) + y * y, 0)) / 2, np.log(np.hypot(1 + x, y)))
    return _parts(modulus, np.arctan2(y, 1 + x))


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
    """1 / (1 + exp(-z)), by exp(z) / (1 + exp(z)) on the left, where exp(-z) overflows."""
    left = z.real < 0
    power = np.exp(np.where(left, z, -z))
    result: Array = np.where(left, power, 1) / (1 + power)
    return result


def _complex_cbrt(z: Array) -> Array:
    """The principal cube root: exp(log(z) / 3)."""
    root = np.cbrt(np.abs(z)) * np.exp(1j * np.angle(z) / 3)
    return np.where(z == 0, z, root)


def _complex_atan2(y: Array, x: Array) -> Array:
    """-i log((x + i y) / sqrt(x^2 + y^2))."""
    result: Array = -1j * np.log((x + 1j * y) / np.sqrt(x * x + y * y))
    return result


def _complex_power(a: Array, b: Array) -> Array:
    """exp(b log a), with 0^0 = 1 and 0^b = 0 for a positive real part of b."""
    zero = a == 0
    log = np.log(np.where(zero, 1, a))
    result = np.exp(b * log)
    of_zero = np.where(b == 0, 1, np.where(b.real > 0, 0, complex(np.nan, np.nan)))
    return np.where(zero, of_zero, np.where(b == 0, 1, result))


def _complex_tan(z: Array) -> Array:
    """-i tanh(i z), which is right for large imaginary parts."""
    rotated = np.tanh(_parts(-z.imag, z.real))
    return _parts(rotated.imag, -rotated.real)


exponential = _function(np.exp)
exponential_minus_one = _function(np.expm1, _complex_expm1)
log = _function(np.log)
log_plus_one = _function(np.log1p, _complex_log1p)
logistic = _function(_logistic, _complex_logistic)
sqrt = _function(np.sqrt)
rsqrt = _function(_rsqrt, _complex_rsqrt)
cbrt = _function(np.cbrt, _complex_cbrt)
sine = _function(np.sin)
cosine = _function(np.cos)
tan = _function(np.tan, _complex_tan)
tanh = _function(np.tanh)
erf = _function(_error_function)
acos = _function(np.arccos)
acosh = _function(np.arccosh)
asin = _function(np.arcsin)
asinh = _function(np.arcsinh)
atan = _function(np.arctan)
atanh = _function(np.arctanh)
cosh = _function(np.cosh)
sinh = _function(np.sinh)
atan2 = _function(np.arctan2, _complex_atan2)
_power = _function(np.power, _complex_power)


def power(a: Array, b: Array) -> Array:
    """Integers wrap; a negative exponent gives 1 for 1, ±1 for -1, else 0; of pred, a or not b."""
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
