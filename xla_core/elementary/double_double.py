"""Double-double arithmetic: numbers of about twice the precision, for intermediate results that accumulate rounding
errors.
"""

from __future__ import annotations

from typing import Generic, NamedTuple

from xla_core.elementary.arithmetic import Arithmetic, V


class DoubleDouble(NamedTuple, Generic[V]):
    """The unevaluated sum of two numbers; `low` is at most about the rounding error of `high`."""

    high: V
    low: V


def add(m: Arithmetic[V], x: DoubleDouble[V], y: DoubleDouble[V]) -> DoubleDouble[V]:
    total, error = m.two_sum(x.high, y.high)
    return DoubleDouble(*m.fast_two_sum(total, m.add(error, m.add(x.low, y.low))))


def sub(m: Arithmetic[V], x: DoubleDouble[V], y: DoubleDouble[V]) -> DoubleDouble[V]:
    return add(m, x, DoubleDouble(m.neg(y.high), m.neg(y.low)))


def scaled(m: Arithmetic[V], x: DoubleDouble[V], power_of_two: float) -> DoubleDouble[V]:
    """Multiplies by a power of two, which is exact."""
    return DoubleDouble(m.mul(x.high, power_of_two), m.mul(x.low, power_of_two))


def mul(m: Arithmetic[V], x: DoubleDouble[V], y: DoubleDouble[V]) -> DoubleDouble[V]:
    product, error = m.two_product(x.high, y.high)
    return DoubleDouble(product, m.add(error, m.fma(x.high, y.low, m.mul(x.low, y.high))))


def div(m: Arithmetic[V], x: DoubleDouble[V], y: DoubleDouble[V], inverse: V) -> V:
    """Returns the quotient, rounded to one number.

    `inverse` is 1 / y.high. Without `has_fma`, a tiny x.high is divided by y.high alone. A zero quotient has the
    sign of x.high / y.high.
    """
    quotient = m.mul(x.high, inverse)
    product, error = m.two_product(quotient, y.high)
    rest = m.add(m.sub(m.sub(x.high, product), error), m.sub(x.low, m.mul(quotient, y.low)))
    if not m.has_fma:  # the halves of tiny numbers are rounded, and a large inverse would magnify that
        rest = m.choose(m.less(m.abs(x.high), 2.0**-968 if m.is_wide(x.high) else 2.0**-100), 0.0, rest)
    return m.with_sign(m.fma(rest, inverse, quotient), quotient)


def sqrt(m: Arithmetic[V], x: DoubleDouble[V]) -> DoubleDouble[V]:
    root = m.sqrt(x.high)
    product, error = m.two_product(root, root)
    rest = m.add(m.sub(m.sub(x.high, product), error), x.low)
    return DoubleDouble(root, m.div(rest, m.add(root, root)))
