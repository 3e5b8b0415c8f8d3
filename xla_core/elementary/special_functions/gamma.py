"""lgamma and digamma, in f32 and f64."""

from __future__ import annotations

import math

from xla_core.elementary.arithmetic import V
from xla_core.elementary.expression import Expression, fitted, polynomial
from xla_core.elementary.special_functions.coefficients import (
    COTANGENT,
    DIGAMMA_FAR,
    DIGAMMA_FROM_1,
    DIGAMMA_FROM_2,
    LGAMMA_AT_1,
    LGAMMA_AT_2,
    LGAMMA_FROM_5_2,
    LGAMMA_MINIMUM,
    SINE_RATIO,
    STIRLING,
    TANGENT,
)

# The minimum of lgamma for x > 0, which is the zero of digamma, and lgamma's value there. Each is a sum of two numbers.
_MINIMUM = {
    "f32": (1.4616321325302124, 1.243815006546356e-08),
    "f64": (1.4616321449683622, 9.549995429965697e-17),
}
_AT_MINIMUM = {
    "f32": (-0.12148629128932953, 7.534799207130792e-10),
    "f64": (-0.12148629053584961, 3.364991468473138e-18),
}


def lgamma(x: Expression[V]) -> Expression[V]:
    """The logarithm of |gamma(x)|: +inf at 0, at negative integers and at both infinities."""
    negative = x < 0.0
    near = x > -0.5
    positive = _lgamma_positive(negative.where(near.where(1.0 - x, -x), x))
    # Reflection: gamma(x) gamma(-x) = pi / (-x sin(pi x)). Near 0 we use gamma(1 - x) = -x gamma(-x) instead of
    # gamma(-x); further out 1 - x would be rounded. The sine of the distance to the nearest integer is accurate.
    distance = abs(x - x.op("round-nearest-even"))
    sine = distance * fitted(distance * distance - 0.125, SINE_RATIO)
    reflected = -(near.where(sine, -x * sine).log() + positive)
    pole = negative & distance.equals(0.0)
    result = pole.where(math.inf, negative.where(reflected, positive))
    return abs(x).equals(math.inf).where(math.inf, result)


def _lgamma_positive(x: Expression[V]) -> Expression[V]:
    """Computes lgamma for x >= 0.

    Polynomials around the zeros 1 and 2 and around the minimum between them are accurate there; Stirling's formula
    serves large x.
    """
    kind = x.kind
    small = x < 0.5
    at_one = small.where(x, x - 1.0)  # gamma(x) = gamma(x + 1) / x
    near_one = at_one * polynomial(at_one, LGAMMA_AT_1[kind])
    near_one = small.where(near_one - x.log(), at_one.equals(0.0).where(0.0, near_one))
    from_minimum = x - _MINIMUM[kind][0]
    high, low = _AT_MINIMUM[kind]
    between = (from_minimum * from_minimum * fitted(x - 1.5, LGAMMA_MINIMUM) + low) + high
    at_two = x - 2.0
    near_two = at_two * polynomial(at_two, LGAMMA_AT_2[kind])
    beyond = at_two * fitted(x - 4.5, LGAMMA_FROM_5_2)
    v = 12.5 / (x * x) - 1.0
    rest = polynomial(v, STIRLING[kind]) / x
    # (x - 0.5) * (log(x) - 1) avoids the difference of two large numbers, (x - 0.5) * log(x) - x.
    stirling = (x - 0.5) * (x.log() - 1.0) + (rest + (0.5 * math.log(2 * math.pi) - 0.5))
    result = (x < 2.5).where(near_two, (x < 6.5).where(beyond, stirling))
    return (x < 1.25).where(near_one, (x < 1.75).where(between, result))


def digamma(x: Expression[V]) -> Expression[V]:
    """The derivative of lgamma: NaN at 0, at negative integers and at -inf."""
    reflect = x <= 0.0
    start = reflect.where(1.0 - x, x)
    below = start < 1.0  # digamma(y) = digamma(y + 1) - 1/y
    y = below.where(start + 1.0, start)
    # The rounding error of 1 - x or x + 1, which matters near the zero of digamma.
    lost = reflect.where((1.0 - y) - x, below.where(x - (y - 1.0), 0.0))
    high, low = _MINIMUM[x.kind]
    factor = (y < 2.0).where(fitted(y - 1.5, DIGAMMA_FROM_1), fitted(y - 3.0, DIGAMMA_FROM_2))
    near = ((y - high) + (lost - low)) * factor
    inverse = 1.0 / y
    series = polynomial(32.0 * inverse * inverse - 1.0, DIGAMMA_FAR[x.kind]) * inverse * inverse
    far = y.log() - (0.5 * inverse + series)
    positive = (y < 4.0).where(near, far)
    positive = below.where(positive - 1.0 / start, positive)
    result = reflect.where(positive - _pi_cotangent(x), positive)
    pole = (x <= 0.0) & x.equals(x.floor())
    return pole.where(math.nan, result)


def _pi_cotangent(x: Expression[V]) -> Expression[V]:
    """Computes pi / tan(pi x), which has period 1. Near its zeros it uses the distance to the zero."""
    distance = x - x.op("round-nearest-even")
    size = abs(distance)
    near_zero = size > 0.25
    gap = near_zero.where(0.5 - size, size)
    square = gap * gap - 0.03125
    result = near_zero.where(gap * fitted(square, TANGENT), fitted(square, COTANGENT) / gap)
    return (distance < 0.0).where(-result, result)
