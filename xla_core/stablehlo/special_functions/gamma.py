"""lgamma and digamma of f32 and f64."""

from __future__ import annotations

import math

from xla_core.stablehlo.expressions import Expression, polynomial, select
from xla_core.stablehlo.special_functions.coefficients import DIGAMMA, LGAMMA_AT_1, LGAMMA_AT_2, STIRLING

__all__ = ["digamma", "lgamma"]


def lgamma(x: Expression) -> Expression:
    """The logarithm of |gamma(x)|: +inf at 0, at negative integers and at both infinities."""
    negative = x < 0.0
    positive = _lgamma_positive(select(negative, 1.0 - x, x))
    # Reflection: gamma(x) gamma(1 - x) = pi / sin(pi x). The distance to the nearest integer keeps the sine's digits.
    distance = abs(x - x.op("round-nearest-even"))
    reflected = -(((math.pi * distance).sin() * (1.0 / math.pi)).log() + positive)
    result = select(negative, reflected, positive)
    return select(abs(x).equal(math.inf), math.inf, result)


def _lgamma_positive(x: Expression) -> Expression:
    """For x >= 0: polynomials around its zeros 1 and 2, which keep its digits there, and Stirling's formula beyond."""
    element_type = x.element_type
    small = x < 0.5
    at_one = select(small, x, x - 1.0)  # gamma(x) = gamma(x + 1) / x
    near_one = at_one * polynomial(at_one, LGAMMA_AT_1[element_type])
    near_one = select(small, near_one - x.log(), near_one)
    at_two = x - 2.0
    near_two = at_two * polynomial(at_two, LGAMMA_AT_2[element_type])
    v = 12.5 / (x * x) - 1.0
    rest = polynomial(v, STIRLING[element_type]) / x
    # log(x) - 1 stands alone, so that nothing large is taken from something large.
    stirling = (x - 0.5) * (x.log() - 1.0) + (rest + (0.5 * math.log(2 * math.pi) - 0.5))
    return select(x < 1.5, near_one, select(x < 2.5, near_two, stirling))


def digamma(x: Expression) -> Expression:
    """The derivative of lgamma; NaN at 0, at negative integers and at -inf."""
    element_type = x.element_type
    reflect = x < 0.5
    start = select(reflect, 1.0 - x, x)
    # digamma(y) = digamma(y + 1) - 1/y, up to where the asymptotic series holds.
    y, below = start, x.like(0.0)
    for _ in range(4):
        step = y < 4.0
        below = below + select(step, 1.0 / y, 0.0)
        y = select(step, y + 1.0, y)
    inverse = 1.0 / y
    series = polynomial(32.0 * inverse * inverse - 1.0, DIGAMMA[element_type]) * inverse * inverse
    positive = y.log() - (0.5 * inverse + series + below)
    # digamma(x) = digamma(1 - x) - pi / tan(pi x); the tangent has period 1.
    distance = x - x.op("round-nearest-even")
    angle = math.pi * distance
    result = select(reflect, positive - math.pi * (angle.cos() / angle.sin()), positive)
    pole = (x <= 0.0) & x.equal(x.floor())
    return select(pole, math.nan, result)
