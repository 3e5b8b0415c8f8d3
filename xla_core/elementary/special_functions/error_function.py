"""The inverse of erf, in f32 and f64."""

from __future__ import annotations

import math

from xla_core.elementary.arithmetic import V
from xla_core.elementary.expression import Expression, fitted
from xla_core.elementary.special_functions.coefficients import (
    ERF_INV_FAR,
    ERF_INV_MIDDLE,
    ERF_INV_NEAR,
    ERF_INV_TAIL,
)


def erf_inv(x: Expression[V]) -> Expression[V]:
    """The y with erf(y) = x: infinite at -1 and 1, NaN outside."""
    size = abs(x)
    w = -((1.0 - size) * (1.0 + size)).log()  # 1 - x * x would lose the digits of a small 1 - |x|
    root = w.sqrt()
    start = {"f64": _in_f64}.get(x.kind, fitted)
    factor = (w < 5.0).where(start(w - 2.625, ERF_INV_MIDDLE), start(root - 3.2, ERF_INV_TAIL))
    if x.kind == "f64":
        factor = (w < 16.5).where(factor, start(root - 5.1, ERF_INV_FAR))
    factor = (size < 0.5).where(start(x * x - 0.125, ERF_INV_NEAR), factor)
    y = x * factor
    if x.kind == "f64":
        y = _halley(x, y)
    return size.equals(1.0).where(x * math.inf, y)


def _in_f64(t: Expression[V], table: dict[str, tuple[float, ...]]) -> Expression[V]:
    """Evaluates the f32 fit in f64, as a start for the iteration."""
    return fitted(t, {"f64": table["f32"]})


def _halley(x: Expression[V], y: Expression[V]) -> Expression[V]:
    """Makes one step of Halley's method for erf(y) = x, which triples the correct digits.

    For |x| >= 3/4 the error is computed from erfc(|y|) and 1 - |x|, which keeps its digits.
    """
    tail = (1.0 - abs(x)) - abs(y).op("erfc")
    error = (abs(x) < 0.75).where(y.op("erf") - x, tail * x.sign())
    slope = (2.0 / math.sqrt(math.pi)) * (-(y * y)).exp()
    step = error / (slope + y * error)
    return (slope.equals(0.0) | step.is_nan()).where(y, y - step)
