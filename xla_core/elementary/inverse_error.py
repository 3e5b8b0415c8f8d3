"""The inverse of the error function."""

from __future__ import annotations

import math

from xla_core.elementary.arithmetic import Arithmetic, V
from xla_core.elementary.functions import function
from xla_core.elementary.logarithm import log_of, split

# Polynomials for erf_inv(x) / x, the lowest degree first. At each centre the constant term is almost exactly a float of
# f32. w is -log(1 - x^2).
_MIDDLE = (  # w - 1.9814453125, for w < 5
    1.37258017, 0.24983938, -0.00187345175, -0.00170820905, 0.000215130553, 8.18116587e-06, -4.87695797e-06,
    2.84690827e-07, 6.4260341e-08, -8.79103812e-09,
)  # fmt: skip
_TAIL = (  # sqrt(w) - 3.232421875, for 5 <= w < 16.5
    3.06621671, 1.00506687, 0.00557450112, -0.00393661112, 0.00263262773, -0.00176536362, 0.00104350131,
    -0.000409411994, -6.51741357e-05, 0.000117588257,
)  # fmt: skip
_FAR = (  # sqrt(w) - 5.1, for w >= 16.5
    4.950935, 1.0102665, -0.00019875237, -0.00018654598, 6.6371336e-05, -1.7031669e-05, 4.4215503e-06, -9.877053e-07,
)  # fmt: skip


@function("erf-inv")
def erf_inv(m: Arithmetic[V], x: V) -> V:
    """Multiplies x by a polynomial in w = -log(1 - x^2) or in its root. In f64 this is the start of an iteration."""
    size, one = m.abs(x), m.constant(1.0, x)
    # Without fused multiply-adds, x * x would lose the digits of a small 1 - |x|.
    rest = m.fma(m.neg(x), x, one) if m.has_fma else m.mul(m.sub(one, size), m.add(size, 1.0))
    mantissa, exponent = split(m, rest, denormals=False)
    w = m.neg(log_of(m, m.sub(mantissa, 1.0), exponent))
    root = m.sqrt(w)
    middle, tail = m.polynomial(m.sub(w, 1.9814453125), _MIDDLE), m.polynomial(m.sub(root, 3.232421875), _TAIL)
    factor = m.select(m.less(w, 5.0), middle, tail)
    if m.is_wide(x):
        factor = m.choose(m.less(w, 16.5), factor, m.polynomial(m.sub(root, 5.1), _FAR))
    y = m.mul(x, factor)
    if m.is_wide(x):
        y = _halley(m, x, y)
    edge = m.choose(m.equal(size, 1.0), m.mul(x, math.inf), math.nan)
    return m.select(m.less(size, 1.0), y, edge)


def _halley(m: Arithmetic[V], x: V, y: V) -> V:
    """Makes one step of Halley's method for erf(y) = x, which triples the correct digits.

    For |x| >= 3/4 the error is computed from erfc(|y|) and 1 - |x|, which keeps its digits.
    """
    size = m.abs(x)
    tail = m.sub(m.sub(m.constant(1.0, x), size), m.emit("erfc", m.abs(y)))
    tail = m.select(m.less(x, 0.0), m.neg(tail), tail)
    error = m.select(m.less(size, 0.75), m.sub(m.emit("erf", y), x), tail)
    slope = m.mul(m.emit("exponential", m.neg(m.mul(y, y))), 2.0 / math.sqrt(math.pi))
    step = m.div(error, m.add(slope, m.mul(y, error)))
    return m.select(m.or_(m.equal(slope, 0.0), m.fcmp("uno", step, step)), y, m.sub(y, step))
