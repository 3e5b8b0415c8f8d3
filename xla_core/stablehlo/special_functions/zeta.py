"""The Hurwitz zeta function, and polygamma by it."""

from __future__ import annotations

import math

from xla_core.hlo.element_type import ElementType
from xla_core.stablehlo.expressions import Expression, select
from xla_core.stablehlo.special_functions.coefficients import BERNOULLI
from xla_core.stablehlo.special_functions.gamma import digamma, lgamma

__all__ = ["polygamma", "zeta"]

_TERMS = 9


def zeta(x: Expression, q: Expression) -> Expression:
    """The sum of (k + q)^-x over k >= 0: +inf at its poles, NaN where it isn't real.

    Summed for the first terms, the rest by the Euler-Maclaurin formula.
    """
    total = q.power(-x)
    a = q
    for _ in range(_TERMS):
        a = a + 1.0
        total = total + a.power(-x)
    power = a.power(-x)
    total = total + power * a / (x - 1.0) - 0.5 * power
    # x (x + 1) ... (x + 2k - 2) B_2k / (2k)! a^(-x - 2k + 1)
    inverse_square = 1.0 / (a * a)
    factor, scale = x, power / a
    for k, coefficient in enumerate(BERNOULLI if x.element_type is ElementType.F64 else BERNOULLI[:8]):
        total = total + factor * scale * coefficient
        factor = factor * (x + float(2 * k + 1)) * (x + float(2 * k + 2))
        scale = scale * inverse_square
    total = select(x.is_nan() | q.is_nan(), math.nan, total)
    total = select(q.equal(math.inf), 0.0, total)
    whole_q, whole_x = q.equal(q.floor()), x.equal(x.floor())
    undefined = (q <= 0.0) & ~whole_x
    total = select(undefined, math.nan, total)
    pole = (q <= 0.0) & whole_q
    even = (x % 2.0).equal(0.0)
    total = select(pole, select(even, x.like(math.inf), math.nan), total)
    return select(x.equal(1.0), math.inf, select(x < 1.0, math.nan, total))


def _factorial(n: Expression) -> Expression:
    """A product up to 12, where it is exact; exp(lgamma(n + 1)) beyond."""
    product = n.like(1.0)
    for k in range(2, 13):
        product = product * select(n >= float(k), n.like(float(k)), 1.0)
    return select(n > 12.0, lgamma(n + 1.0).exp(), product)


def polygamma(n: Expression, x: Expression) -> Expression:
    """The n-th derivative of digamma; NaN for an n that is negative or not whole."""
    sign = select((n % 2.0).equal(0.0), n.like(-1.0), 1.0)
    value = sign * _factorial(n) * zeta(n + 1.0, x)
    value = select(n.equal(0.0), digamma(x), value)
    return select((n < 0.0) | n.differs(n.floor()), math.nan, value)
