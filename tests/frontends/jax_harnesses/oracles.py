"""Oracles that compute functions in a wider type, for functions where JAX's errors are larger than ours."""

from __future__ import annotations

from collections.abc import Callable

import mpmath
import numpy as np

Array = np.ndarray


def _precise(function: Callable[..., mpmath.mpf]) -> Callable[..., Array]:
    """Computes with mpmath to 40 digits."""

    def element(*x: float) -> float:
        with mpmath.workdps(40):
            return float(function(*(mpmath.mpf(float(v)) for v in x)))

    return np.vectorize(element, otypes=[np.float64])


ORACLES: dict[str, Callable[..., Array]] = {
    "acos": np.arccos,
    "acosh": np.arccosh,
    "asin": np.arcsin,
    "asinh": np.arcsinh,
    "atan": np.arctan,
    "atan2": np.arctan2,
    "atanh": np.arctanh,
    "bessel_i0e": _precise(lambda x: mpmath.exp(-abs(x)) * mpmath.besseli(0, x)),
    "bessel_i1e": _precise(lambda x: mpmath.exp(-abs(x)) * mpmath.besseli(1, x)),
    "cbrt": np.cbrt,
    "cos": np.cos,
    "cosh": np.cosh,
    "digamma": _precise(mpmath.digamma),
    "erf": _precise(mpmath.erf),
    "erf_inv": _precise(lambda x: mpmath.erfinv(x) if abs(x) <= 1 else mpmath.nan),
    "erfc": _precise(mpmath.erfc),
    "exp": np.exp,
    "expm1": np.expm1,
    "igamma": _precise(lambda a, x: mpmath.gammainc(a, 0, x, regularized=True)),
    "igammac": _precise(lambda a, x: mpmath.gammainc(a, x, regularized=True)),
    "lgamma": _precise(lambda x: mpmath.log(abs(mpmath.gamma(x)))),
    "log": np.log,
    "log1p": np.log1p,
    "logistic": lambda x: 1 / (1 + np.exp(-x)),
    "pow": np.power,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "sin": np.sin,
    "sinh": np.sinh,
    "sqrt": np.sqrt,
    "tan": np.tan,
    "tanh": np.tanh,
}
"""By the name of JAX's primitive; numpy's compute in the type that they are given. They are asked for finite values."""


def oracle(group: str, arguments: list[Array], dtype: np.dtype) -> Array:
    """The function of these arguments, computed in long double, rounded to a type."""
    wide = [a.astype(np.clongdouble if a.dtype.kind == "c" else np.longdouble) for a in arguments]
    with np.errstate(all="ignore"):
        value = np.asarray(ORACLES[group](*wide))
        return value.astype(np.complex128 if value.dtype.kind == "c" else np.float64).astype(dtype)
