"""The Hurwitz zeta function, and polygamma computed from it."""

from __future__ import annotations

import math

from xla_core.elementary.arithmetic import V
from xla_core.elementary.expression import Expression, with_mantissa_bits
from xla_core.elementary.special_functions.coefficients import BERNOULLI
from xla_core.elementary.special_functions.gamma import digamma, lgamma

# How many terms of the series are summed, and how many terms of the expansion of the rest.
_TERMS = {"f32": (6, 10), "f64": (10, 12)}
_LARGEST_EXPONENT = 1e30  # powers with much smaller exponents are already 0, 1 or infinite


def zeta(x: Expression[V], q: Expression[V]) -> Expression[V]:
    """The sum of (k + q)^-x over k >= 0: +inf at its poles, NaN where it isn't real.

    For q < 0 let q = f - m with 0 < f < 1. The terms with a negative base are (-1)^x (j - f)^-x for j from 1 to m.
    """
    return _scaled_zeta(x, q, q.like(1.0))


def _scaled_zeta(x: Expression[V], q: Expression[V], unit: Expression[V]) -> Expression[V]:
    """Computes zeta(x, q) unit^-x."""
    below = q < 0.0
    right, error = _plus(q, -below.where(q.floor(), 0.0))
    left = below.where(q.op("ceil") - q, 1.0)  # exact
    zero = q.like(0.0)
    total = _of_positive(x, right, error, unit)
    reflected = _of_positive(x, left, zero, unit) - _of_positive(x, below.where(1.0 - q, 1.0), zero, unit)
    even = (x % 2.0).equals(0.0)
    both = total + even.where(reflected, -reflected)
    both = both.is_nan().where((right < left).where(x.like(math.inf), -math.inf), both)
    total = below.where(both, total)
    total = q.equals(math.inf).where(0.0, total)
    total = (x.is_nan() | q.is_nan()).where(math.nan, total)
    whole_q, whole_x = q.equals(q.floor()), x.equals(x.floor()) & x.op("is-finite")
    total = (below & ~whole_x).where(math.nan, total)
    pole = (q <= 0.0) & whole_q
    total = pole.where(even.where(x.like(math.inf), math.nan), total)
    return x.equals(1.0).where(math.inf, (x < 1.0).where(math.nan, total))


def _of_positive(x: Expression[V], q: Expression[V], low: Expression[V], unit: Expression[V]) -> Expression[V]:
    """Computes zeta(x, q + low) unit^-x for x > 1, q > 0: the first terms, then the Euler-Maclaurin formula.

    The smallest terms are added first. A relative rounding error of q + k grows x times in its power; a first-order
    correction of the power removes it.
    """
    terms, expansion = _TERMS[x.kind]
    x = x.minimum(_LARGEST_EXPONENT)
    a, error = _plus(q, q.like(float(terms)), low)
    power = (a * unit).power(1.0 - x)  # 1 - x is exact where it matters: 1 is a multiple of x's last place
    vanishes = power.equals(0.0)
    integral = power / ((x - 1.0) * unit)
    integral = vanishes.where(0.0, integral - integral * ((x - 1.0) * error / a))
    # `rest` is 1/2 plus the sum of x (x + 1) ... (x + 2k - 2) B_2k / (2k)! a^(-2k + 1); it is multiplied by a^-x below.
    inverse = 1.0 / a
    factor, scale = x, inverse
    rest = x.like(0.5)
    for k, coefficient in enumerate(BERNOULLI[:expansion]):
        rest = rest + factor * scale * coefficient
        factor = factor * (x + float(2 * k + 1)) * (x + float(2 * k + 2))
        scale = scale * inverse * inverse
    power = power / (a * unit)
    total = vanishes.where(0.0, (power - power * (x * error / a)) * rest)
    for k in reversed(range(terms)):
        a, error = _plus(q, q.like(float(k)), low)
        power = (a * unit).power(-x)
        change = x * error / a  # large only if the term is negligible
        some = change.differs(0.0) & (abs(change) < 0.5) & (power < math.inf)
        total = total + some.where(power - power * change, power)
    return total + integral


def _plus(q: Expression[V], k: Expression[V], low: Expression[V] | None = None) -> tuple[Expression[V], Expression[V]]:
    """Returns the rounded sum q + k, and its rounding error plus `low`."""
    total = q + k
    part = total - q
    error = (q - (total - part)) + (k - part)
    return total, error if low is None else error + low


def _factorial(n: Expression[V]) -> Expression[V]:
    """Computes n!.

    It multiplies a tabulated factorial of a multiple of 8 (f32: 4) by the factors up to n. From the `limit` on, where
    n! overflows, it computes exp(lgamma(n + 1)).
    """
    step, limit = (4, 35) if n.kind == "f32" else (8, 171)
    product = base = n.like(1.0)
    start = n.like(0.0)
    for k in range(step, limit, step):
        reached = n >= float(k)
        base = reached.where(float(math.factorial(k)), base)
        start = reached.where(float(k), start)
    for k in range(1, step):
        factor = start + float(k)
        product = product * (factor <= n).where(factor, 1.0)
    return (n >= float(limit)).where(lgamma(n + 1.0).exp(), base * product)


def polygamma(n: Expression[V], x: Expression[V]) -> Expression[V]:
    """The n-th derivative of digamma: NaN for an n that is negative or not an integer.

    The value is (-1)^(n + 1) n! zeta(n + 1, x). The zeta function is scaled by a power of two near its largest term,
    because n! may be huge while the zeta function is tiny.
    """
    order = n + 1.0
    nearest = (x < 0.0).where((x - x.floor()).minimum(x.op("ceil") - x), x)
    limit = 2.0**120 if x.kind == "f32" else 2.0**1000
    unit = 1.0 / with_mantissa_bits(nearest, 0).maximum(1 / limit).minimum(limit)
    half = (order * 0.5).floor()
    value = _factorial(n) * unit.power(half) * _scaled_zeta(order, x, unit) * unit.power(order - half)
    value = (n % 2.0).equals(0.0).where(-value, value)
    value = n.equals(0.0).where(digamma(x), value)
    return ((n < 0.0) | n.differs(n.floor())).where(math.nan, value)
