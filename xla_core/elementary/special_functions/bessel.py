"""The exponentially scaled modified Bessel function of order 1."""

from __future__ import annotations

from xla_core.elementary.arithmetic import V
from xla_core.elementary.expression import Expression, fitted
from xla_core.elementary.special_functions.coefficients import I1_NEAR, I1E_FAR, I1E_MIDDLE


def bessel_i1e(x: Expression[V]) -> Expression[V]:
    """exp(-|x|) I1(x), computed with a polynomial in x^2 for |x| < 2, and in 1 / |x| beyond."""
    y = abs(x)
    near = y * fitted(y * y - 2.0, I1_NEAR) * (-y).exp()
    inverse = 1.0 / y
    scaled = (y < 8.0).where(fitted(inverse - 0.3125, I1E_MIDDLE), fitted(inverse - 0.0625, I1E_FAR))
    result = (y < 2.0).where(near, scaled / y.sqrt())
    return (x < 0.0).where(-result, x.equals(0.0).where(x, result))
