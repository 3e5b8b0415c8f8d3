"""Sums of two: numbers of about twice the bits, for intermediate results whose rounding errors would add up."""

from __future__ import annotations

from typing import Generic, NamedTuple

from xla_core.elementary.arithmetic import Arithmetic, V

__all__ = ["Two", "minus", "over", "plus", "scaled", "sqrt", "times"]


class Two(NamedTuple, Generic[V]):
    """The sum of a number and of one that is about as small as its rounding error."""

    high: V
    low: V


def plus(m: Arithmetic[V], x: Two[V], y: Two[V]) -> Two[V]:
    """The sum."""
    total, error = m.two_sum(x.high, y.high)
    return Two(*m.fast_two_sum(total, m.add(error, m.add(x.low, y.low))))


def minus(m: Arithmetic[V], x: Two[V], y: Two[V]) -> Two[V]:
    """The difference."""
    return plus(m, x, Two(m.neg(y.high), m.neg(y.low)))


def scaled(m: Arithmetic[V], x: Two[V], power_of_two: float) -> Two[V]:
    """The product with a power of two, exactly."""
    return Two(m.mul(x.high, power_of_two), m.mul(x.low, power_of_two))


def times(m: Arithmetic[V], x: Two[V], y: Two[V]) -> Two[V]:
    """The product."""
    product, error = m.two_product(x.high, y.high)
    return Two(product, m.add(error, m.fma(x.high, y.low, m.mul(x.low, y.high))))


def over(m: Arithmetic[V], x: Two[V], y: Two[V], inverse: V) -> V:
    """The quotient, rounded; zeros have the sign of the first numbers'. The inverse is that of y's first number."""
    quotient = m.mul(x.high, inverse)
    product, error = m.two_product(quotient, y.high)
    rest = m.add(m.sub(m.sub(x.high, product), error), m.sub(x.low, m.mul(quotient, y.low)))
    return m.with_sign(m.fma(rest, inverse, quotient), quotient)


def sqrt(m: Arithmetic[V], x: Two[V]) -> Two[V]:
    """The root."""
    root = m.sqrt(x.high)
    product, error = m.two_product(root, root)
    rest = m.add(m.sub(m.sub(x.high, product), error), x.low)
    return Two(root, m.div(rest, m.add(root, root)))
