"""Elementary functions of f32 and f64 that HLO has an op for and StableHLO hasn't, by formulas over those that it has.

The formulas are the textbook's, arranged so that small arguments keep their digits. erf beyond 1: Cephes, ndtr.c.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from xla_core.stablehlo.expressions import Expression, polynomial, select

__all__ = ["COMPLEX_FORMULAS", "FORMULAS"]


def _acos(x: Expression) -> Expression:
    angle = 2.0 * ((1.0 - x) * (1.0 + x)).sqrt().op("atan2", 1.0 + x)
    return select(x.equal(-1.0), math.pi, angle)


def _asin(x: Expression) -> Expression:
    return 2.0 * x.op("atan2", 1.0 + ((1.0 - x) * (1.0 + x)).sqrt())


def _atan(x: Expression) -> Expression:
    return x.op("atan2", 1.0)


def _acosh(x: Expression) -> Expression:
    above = x - 1.0
    near = (above + (above * (x + 1.0)).sqrt()).log1p()
    result = select(x > _large(x), x.log() + math.log(2), near)
    return select(x < 1.0, math.nan, result)


def _asinh(x: Expression) -> Expression:
    size = abs(x)
    square = size * size
    near = (size + square / (1.0 + (square + 1.0).sqrt())).log1p()
    return x.sign() * select(size > _large(x), size.log() + math.log(2), near)


def _atanh(x: Expression) -> Expression:
    result = 0.5 * (x.log1p() - (-x).log1p())
    return select(abs(x) > 1.0, math.nan, result)


def _half_exp(x: Expression) -> Expression:
    """exp(x) / 2, also where exp(x) is too large."""
    root = (0.5 * x).exp()
    return (0.5 * root) * root


def _cosh(x: Expression) -> Expression:
    return _half_exp(x) + _half_exp(-x)


def _sinh(x: Expression) -> Expression:
    grown = x.op("exponential-minus-one")
    near = 0.5 * (grown + grown / (grown + 1.0))
    return select(abs(x) < 1.0, near, _half_exp(x) - _half_exp(-x))


def _complex_cosh(x: Expression) -> Expression:
    a, b = x.real(), x.imag()
    return (_cosh(a) * b.cos()).op("complex", _sinh(a) * b.sin())


def _complex_sinh(x: Expression) -> Expression:
    a, b = x.real(), x.imag()
    return (_sinh(a) * b.cos()).op("complex", _cosh(a) * b.sin())


def _large(x: Expression) -> float:
    """Where the square of a number is about to be too large."""
    return math.sqrt(float(np.finfo(x.element_type.dtype).max)) / 2


_ERFC_NUMERATOR = (
    2.46196981473530512524e-10,
    5.64189564831068821977e-1,
    7.46321056442269912687e0,
    4.86371970985681366614e1,
    1.96520832956077098242e2,
    5.26445194995477358631e2,
    9.34528527171957607540e2,
    1.02755188689515710272e3,
    5.57535335369399327526e2,
)
_ERFC_DENOMINATOR = (
    1.0,
    1.32281951154744992508e1,
    8.67072140885989742329e1,
    3.54937778887819891062e2,
    9.75708501743205489753e2,
    1.82390916687909736289e3,
    2.24633760818710981792e3,
    1.65666309194161350182e3,
    5.57535340817727675546e2,
)
_ERF_SERIES = tuple((-1) ** n * 2 / math.sqrt(math.pi) / (math.factorial(n) * (2 * n + 1)) for n in reversed(range(20)))


def _erf(x: Expression) -> Expression:
    near = x * polynomial(x * x, _ERF_SERIES)
    size = abs(x).minimum(6.5)  # beyond it is 1
    ratio = polynomial(size, _ERFC_NUMERATOR) / polynomial(size, _ERFC_DENOMINATOR)
    far = 1.0 - (-(size * size)).exp() * ratio
    return select(x.is_nan(), x, select(abs(x) < 1.0, near, x.sign() * far))


FORMULAS: dict[str, Callable[[Expression], Expression]] = {
    "acos": _acos,
    "acosh": _acosh,
    "asin": _asin,
    "asinh": _asinh,
    "atan": _atan,
    "atanh": _atanh,
    "cosh": _cosh,
    "erf": _erf,
    "sinh": _sinh,
}
"""Functions of real numbers by the names of their ops."""

COMPLEX_FORMULAS: dict[str, Callable[[Expression], Expression]] = {"cosh": _complex_cosh, "sinh": _complex_sinh}
"""Functions of complex numbers."""
