"""Exact values of real functions for types up to f32, by the machine's extended precision; `precise` is for f64.

numpy computes functions of `longdouble` by the C library: with 64 bits of mantissa on x86-64 their errors are below
0.001 ULP of f32, and without extended precision they are those of float64. scipy's float64 functions have relative
errors of about 1e-15, except near their zeros. Neither shares code with the evaluator or with a backend.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from xla_conformance.accuracy.real_functions.formats import all_values
from xla_core.hlo import ElementType

Array = np.ndarray
_LONG = np.longdouble
WIDE: dict[str, Callable[..., Array]] = {}
"""Function -> exact values of float64 arrays: float64, or longdouble."""


def _of_long(function: Callable[..., Any]) -> Callable[..., Array]:
    def computed(*operands: Array) -> Array:
        return np.asarray(function(*[x.astype(_LONG) for x in operands]))

    return computed


_ELEMENTARY: dict[str, Callable[..., Any]] = {
    "exponential": np.exp,
    "exponential_minus_one": np.expm1,
    "log": np.log,
    "log_plus_one": np.log1p,
    "logistic": lambda x: 1 / (1 + np.exp(-x)),
    "sine": np.sin,
    "cosine": np.cos,
    "tan": np.tan,
    "tanh": np.tanh,
    "sqrt": np.sqrt,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "cbrt": np.cbrt,
    "acos": np.arccos,
    "asin": np.arcsin,
    "atan": np.arctan,
    "acosh": np.arccosh,
    "asinh": np.arcsinh,
    "atanh": np.arctanh,
    "cosh": np.cosh,
    "sinh": np.sinh,
    "power": np.power,
    "atan2": np.arctan2,
    "divide": np.divide,
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "square": lambda x: x * x,
}
for _name, _function in _ELEMENTARY.items():
    WIDE[_name] = _of_long(_function)


def _scipy(name: str) -> Callable[..., Array]:
    def computed(*operands: Array) -> Array:
        from scipy import special

        return np.asarray(getattr(special, name)(*operands))

    return computed


for _name, _scipys in {
    "erf": "erf",
    "erfc": "erfc",
}.items():
    WIDE[_name] = _scipy(_scipys)


def _odd(name: str) -> Callable[[Array], Array]:
    """Makes an oracle of an odd function, which returns a zero operand unchanged, with its sign."""
    return lambda x: np.asarray(np.where(x == 0, x, _scipy(name)(x)))


def _lgamma(x: Array) -> Array:
    """Computes log|gamma(x)|. At -inf it is +inf, as in C; near 0, where gamma overflows, it is -log|x|."""
    size = np.abs(x)
    result = np.where(size < 1e-30, -np.log(size), _scipy("gammaln")(np.where(size < 1e-30, 1, x)))
    return np.asarray(np.where(np.isinf(x), np.inf, result))


def _digamma(x: Array) -> Array:
    """Computes digamma, with NaN at its poles and at zeros of either sign, as in StableHLO's decomposition."""
    return np.asarray(np.where((x <= 0) & (x == np.floor(x)), np.nan, _scipy("psi")(x)))


WIDE["erf_inv"] = _odd("erfinv")
WIDE["bessel_i1e"] = _odd("i1e")
WIDE["lgamma"] = _lgamma
WIDE["digamma"] = _digamma
_EXACT: dict[str, Callable[..., Any]] = {
    "floor": np.floor,
    "ceil": np.ceil,
    "round_nearest_even": np.rint,
    "round_nearest_afz": lambda x: np.copysign(np.trunc(np.abs(x)) + (np.abs(x - np.trunc(x)) >= 0.5), x),
    "abs": np.abs,
    "negate": np.negative,
    "sign": lambda x: np.where((x == 0) | np.isnan(x), x, np.copysign(1.0, x)),
    "remainder": np.fmod,
    "maximum": lambda a, b: np.where(a == b, np.where(np.signbit(a), b, a), np.maximum(a, b)),
    "minimum": lambda a, b: np.where(a == b, np.where(np.signbit(a), a, b), np.minimum(a, b)),
}
for _name, _function in _EXACT.items():
    WIDE[_name] = _function


def _zeta(x: Array, q: Array) -> Array:
    """The Hurwitz zeta function.

    For a whole x the terms below 0 are real. With g = ceil(q) - q their sum is (-1)^x (zeta(x, g) - zeta(x, 1 - q)).
    """
    x, q = np.broadcast_arrays(x, q)

    def positive(x: Array, q: Array) -> Array:
        return np.asarray(np.where(x > 1000, q**-x, _scipy("zeta")(np.minimum(x, 1000), q)))  # the first term alone

    below, whole, even = q < 0, x == np.floor(x), x % 2 == 0
    right, gap = np.where(below, q - np.floor(q), 0.5), np.where(below, np.ceil(q) - q, 0.5)
    sign = np.where(even, 1.0, -1.0)
    left = positive(x, right) + sign * (positive(x, gap) - positive(x, np.where(below, 1 - q, 1)))
    left = np.where(
        np.isnan(left), np.where(right < gap, np.inf, -np.inf), left
    )  # the sum of two infinities is the larger one
    result = np.where(below, np.where(whole, left, np.nan), positive(x, np.where(q > 0, q, 1)))
    result = np.where(np.isinf(x), np.where(q > 1, 0, np.where(q == 1, 1, np.where(q > 0, np.inf, np.nan))), result)
    pole = (q <= 0) & (q == np.floor(q))
    result = np.where(pole, np.where(even, np.inf, np.nan), result)
    result = np.where((x > 1) & ~np.isnan(q), result, np.nan)
    return np.asarray(np.where(x == 1, np.inf, result))


LARGEST_ORDER = 30
"""The largest order of polygamma that is measured."""


def _polygamma(n: Array, x: Array) -> Array:
    """Computes (-1)^(n + 1) n! zeta(n + 1, x) for whole n from 1, and digamma for n = 0."""
    whole = (n >= 0) & (n == np.floor(n))
    order = np.where(whole & (n <= LARGEST_ORDER), n, 0)
    factorials = np.cumprod(np.concatenate([[1.0], np.arange(1.0, LARGEST_ORDER + 1)]))
    value = np.where(order % 2 == 0, -1, 1) * factorials[order.astype(int)] * _zeta(order + 1, x)
    return np.asarray(np.where(whole, np.where(n == 0, _digamma(x), value), np.nan))


WIDE["zeta"] = _zeta
WIDE["polygamma"] = _polygamma


def next_after(x: Array, y: Array, element_type: ElementType) -> Array:
    """Returns the number after x towards y, from the list of all numbers, or by C's function for f32 and f64."""
    if element_type.bit_width > 16:
        return np.asarray(np.nextafter(x, y).astype(np.float64))
    a, b = x.astype(np.float64), y.astype(np.float64)
    values = all_values(element_type).astype(np.float64)
    line = np.unique(values[~np.isnan(values)] + 0.0)
    steps = (b > a).astype(int) - (b < a).astype(int)
    place = np.searchsorted(line, np.where(np.isnan(a), line[0], a)) + steps
    following = line[np.clip(place, 0, len(line) - 1)]
    following = np.where(following == 0, np.copysign(0.0, a), following)
    return np.asarray(np.where(np.isnan(a) | np.isnan(b), np.nan, np.where(a == b, b, following)))
