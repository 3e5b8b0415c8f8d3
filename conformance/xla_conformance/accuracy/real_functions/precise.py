"""Exact values of real functions of f64, by mpmath at 180 bits and more."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from xla_conformance.accuracy.real_functions.formats import Exact

__all__ = ["PRECISE", "evaluate"]

Array = np.ndarray
_BITS = 180

PRECISE: dict[str, Callable[..., Any]] = {}
"""Function -> exact value of mpmath numbers, where it is a finite number other than 0."""


def evaluate(name: str, operands: tuple[Array, ...], rough: Array) -> Exact:
    """Exact results of float64 operands. `rough`, results that may be inexact, says where they are special."""
    import mpmath

    function = PRECISE[name]
    with np.errstate(over="ignore"):
        start = Exact.of(rough)
    high, rest = start.high.copy(), np.zeros(rough.shape) if start.rest is None else start.rest.copy()
    plain = np.isfinite(rough) & (rough != 0)
    for x in operands:
        plain &= np.isfinite(x)
        if name == "atan2":
            plain &= x != 0  # mpmath's zeros have no sign
    with mpmath.workprec(_BITS):
        for i in np.flatnonzero(plain):
            exact = function(mpmath, *[mpmath.mpf(float(x[i])) for x in operands])
            high[i] = _nearest(mpmath, exact)
            if math.isfinite(high[i]):
                rest[i] = float((exact - mpmath.mpf(high[i])) / mpmath.mpf(math.ulp(high[i])))
    return Exact(high, rest)


def _nearest(mpmath: Any, value: Any) -> float:
    """As float64; infinite where it is too large."""
    if abs(value) >= mpmath.mpf(2) ** 1024 - mpmath.mpf(2) ** 970:
        return math.copysign(math.inf, value)
    return float(value)


def _precise(name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        PRECISE[name] = function
        return function

    return register


for _name, _mpmaths in {
    "exponential": "exp",
    "exponential_minus_one": "expm1",
    "log": "log",
    "log_plus_one": "log1p",
    "sine": "sin",
    "cosine": "cos",
    "tan": "tan",
    "tanh": "tanh",
    "sqrt": "sqrt",
    "acos": "acos",
    "asin": "asin",
    "atan": "atan",
    "acosh": "acosh",
    "asinh": "asinh",
    "atanh": "atanh",
    "cosh": "cosh",
    "sinh": "sinh",
    "atan2": "atan2",
    "erf": "erf",
    "erfc": "erfc",
    "erf_inv": "erfinv",
}.items():
    PRECISE[_name] = lambda m, *x, _function=_mpmaths: getattr(m, _function)(*x)

PRECISE["divide"] = lambda m, x, y: x / y
PRECISE["add"] = lambda m, x, y: m.fadd(x, y, exact=True)
PRECISE["subtract"] = lambda m, x, y: m.fsub(x, y, exact=True)
PRECISE["multiply"] = lambda m, x, y: x * y
PRECISE["square"] = lambda m, x: x * x
PRECISE["rsqrt"] = lambda m, x: 1 / m.sqrt(x)
PRECISE["logistic"] = lambda m, x: 1 / (1 + m.exp(-x))
PRECISE["cbrt"] = lambda m, x: m.sign(x) * m.cbrt(abs(x))


@_precise("power")
def _power(m: Any, x: Any, y: Any) -> Any:
    """Of a negative base, whose exponent is whole, by its parity."""
    result = m.power(abs(x), y)
    return -result if x < 0 and y % 2 == 1 else result


@_precise("lgamma")
def _lgamma(m: Any, x: Any) -> Any:
    """log|gamma(x)|, by reflection below 0."""
    if x > 0:
        return m.loggamma(x)
    with m.workprec(_BITS + 200):
        return m.log(m.pi / abs(m.sinpi(x))) - m.loggamma(1 - x)


@_precise("digamma")
def _digamma(m: Any, x: Any) -> Any:
    if x > 0:
        return m.digamma(x)
    with m.workprec(_BITS + 200):
        return m.digamma(1 - x) - m.pi * m.cospi(x) / m.sinpi(x)


@_precise("bessel_i1e")
def _bessel_i1e(m: Any, x: Any) -> Any:
    """exp(-|x|) I1(x); far out by the asymptotic series."""
    y = abs(x)
    if y < 1000:
        return m.besseli(1, x) * m.exp(-y)
    total = term = m.mpf(1)
    for k in range(1, 40):
        term = -term * (4 - (2 * k - 1) ** 2) / (k * 8 * y)
        total += term
    return m.sign(x) * total / m.sqrt(2 * m.pi * y)


def _hurwitz(m: Any, x: Any, q: Any) -> Any:
    """For q > 0: sixty terms, the rest by the Euler-Maclaurin formula."""
    total, a = m.mpf(0), q
    while a < 60:
        total += a**-x
        a += 1
    power = a**-x
    total += power * a / (x - 1) + power / 2
    factor, scale = x, power / a
    for k in range(1, 60):
        term = factor * scale * m.bernoulli(2 * k) / m.factorial(2 * k)
        total += term
        if abs(term) < abs(total) * m.mpf(2) ** -(m.mp.prec + 5):
            break
        factor *= (x + 2 * k - 1) * (x + 2 * k)
        scale /= a * a
    return total


@_precise("zeta")
def _zeta(m: Any, x: Any, q: Any) -> Any:
    """The Hurwitz zeta function; the terms below 0 one by one."""
    total = m.mpf(0)
    while q < 0:
        total += q ** -int(x)
        q += 1
    return total + _hurwitz(m, x, q)


@_precise("polygamma")
def _polygamma(m: Any, n: Any, x: Any) -> Any:
    if n == 0:
        return _digamma(m, x)
    return (-1) ** (int(n) + 1) * m.factorial(n) * _zeta(m, n + 1, x)
