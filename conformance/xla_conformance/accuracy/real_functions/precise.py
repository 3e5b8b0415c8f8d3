"""Exact values of real functions of f64, by Arb (python-flint), whose results have guaranteed error bounds."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import flint
import numpy as np
from flint import arb

from xla_conformance.accuracy.real_functions.formats import Exact

Array = np.ndarray
_FIRST_PRECISION, _LAST_PRECISION = 128, 1 << 14
_ACCURATE = 80  # the bits that a result must have


def evaluate(name: str, operands: tuple[Array, ...], rough: Array) -> Exact:
    """Computes exact results at float64 operands. Where the approximation `rough` is 0, infinite or NaN, it is kept."""
    with np.errstate(over="ignore"):
        start = Exact.of(rough)
    high, rest = start.high.copy(), np.zeros(rough.shape) if start.rest is None else start.rest.copy()
    ordinary = np.isfinite(rough) & (rough != 0)
    for x in operands:
        ordinary &= np.isfinite(x)
        if name == "atan2":
            ordinary &= x != 0  # Arb's zeros have no sign
    for i in np.flatnonzero(ordinary):
        exact = _value(name, [float(x[i]) for x in operands])
        high[i] = float(exact)
        if math.isfinite(high[i]):
            rest[i] = float((exact - high[i]) / math.ulp(high[i]))
    return Exact(high, rest)


def _value(name: str, operands: Sequence[float]) -> arb:
    """Returns the midpoint of a ball that contains the exact value and is accurate to 80 bits."""
    precision = _FIRST_PRECISION
    while precision <= _LAST_PRECISION:
        with flint.ctx.workprec(precision):
            value = PRECISE[name](*map(arb, operands))
            if value.rel_accuracy_bits() >= _ACCURATE:
                return value.mid()
        precision *= 2
    raise ArithmeticError(f"{name} of {operands}: no accurate value with {_LAST_PRECISION} bits")


def _power(x: arb, y: arb) -> arb:
    """Computes a power. The exponent of a negative base is whole, and its parity gives the sign."""
    result: arb = abs(x) ** y
    return -result if x < 0 and (y / 2).floor() * 2 != y else result


def _lgamma(x: arb) -> arb:
    """Computes log|gamma(x)|, by reflection for x below 0."""
    return x.lgamma() if x > 0 else (arb.pi() / abs(x.sin_pi())).log() - (1 - x).lgamma()


def _zeta(x: arb, q: arb) -> arb:
    """Computes the Hurwitz zeta function. For negative q, x is whole, and the terms below 0 are added one by one."""
    total = arb(0)
    while q < 0:
        total += q ** -int(float(x))
        q += 1
    return total + x.zeta(q)


def _polygamma(n: arb, x: arb) -> arb:
    if n == 0:
        return x.digamma()
    sign = -1 if float(n) % 2 == 0 else 1
    return sign * n.fac() * _zeta(n + 1, x)


PRECISE: dict[str, Callable[..., arb]] = {
    "acos": arb.acos,
    "acosh": arb.acosh,
    "add": lambda x, y: x + y,
    "asin": arb.asin,
    "asinh": arb.asinh,
    "atan": arb.atan,
    "atan2": arb.atan2,
    "atanh": arb.atanh,
    "bessel_i1e": lambda x: x.sgn() * abs(x).bessel_i(1, scaled=True),
    "cbrt": lambda x: x.sgn() * abs(x).root(3),
    "cosh": arb.cosh,
    "cosine": arb.cos,
    "digamma": arb.digamma,
    "divide": lambda x, y: x / y,
    "erf": arb.erf,
    "erf_inv": arb.erfinv,
    "erfc": arb.erfc,
    "exponential": arb.exp,
    "exponential_minus_one": arb.expm1,
    "lgamma": _lgamma,
    "log": arb.log,
    "log_plus_one": arb.log1p,
    "logistic": lambda x: 1 / (1 + (-x).exp()),
    "multiply": lambda x, y: x * y,
    "polygamma": _polygamma,
    "power": _power,
    "rsqrt": arb.rsqrt,
    "sine": arb.sin,
    "sinh": arb.sinh,
    "sqrt": arb.sqrt,
    "square": lambda x: x * x,
    "subtract": lambda x, y: x - y,
    "tan": arb.tan,
    "tanh": arb.tanh,
    "zeta": _zeta,
}
"""Function -> exact value on Arb's numbers, where it is a finite number other than 0."""
