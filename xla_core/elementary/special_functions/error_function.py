"""erfc and the inverse of erf, in f32 and f64."""

from __future__ import annotations

import math

from xla_core.elementary.arithmetic import V
from xla_core.elementary.expression import Expression, fitted, polynomial, with_mantissa_bits
from xla_core.elementary.special_functions.coefficients import (
    ERF_INV_FAR,
    ERF_INV_MIDDLE,
    ERF_INV_NEAR,
    ERF_INV_TAIL,
    ERF_WITHIN,
    ERFCX_FAR,
    ERFCX_MIDDLE,
)


def erfc(x: Expression[V]) -> Expression[V]:
    """1 - erf(x).

    For |x| > 3/4 it multiplies exp(-x^2) by a fit of exp(x^2) erfc(|x|), so that a small result is accurate too.
    """
    y = abs(x)
    # For larger y the result underflows to 0. The limit avoids inf - inf below.
    y = y.minimum(30.0 if x.kind == "f32" else 40.0)
    inverse = 1.0 / y
    rest = (y < 2.5).where(fitted(y - 1.625, ERFCX_MIDDLE), fitted(inverse * inverse - 0.08, ERFCX_FAR) / y)
    far = _times_exp_of_minus_square(rest, y)
    erf = x + x * polynomial(x * x, ERF_WITHIN[x.kind])
    result = (x < 0.75).where(1.0 - erf, far)
    return (x < -0.75).where(2.0 - far, x.is_nan().where(x, result))


def _times_exp_of_minus_square(factor: Expression[V], y: Expression[V]) -> Expression[V]:
    """Computes factor * exp(-y^2).

    The square of the upper half of y's digits is exact. The rest of the exponent is small; its exponential comes from a
    polynomial and is added last.
    """
    head = with_mantissa_bits(y, 11 if y.kind == "f32" else 25)
    rest = (head - y) * (head + y)  # below y^2 / 2048: 0.05 where the result is not 0
    less_one = rest + rest * rest * (0.5 + rest * (1 / 6))
    power = (-(head * head)).exp()
    return power * factor + power * (factor * less_one)


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
    tail = (1.0 - abs(x)) - erfc(abs(y))
    error = (abs(x) < 0.75).where(y.op("erf") - x, tail * x.sign())
    slope = (2.0 / math.sqrt(math.pi)) * (-(y * y)).exp()
    step = error / (slope + y * error)
    return (slope.equals(0.0) | step.is_nan()).where(y, y - step)
