"""Complex powers: e^(y log x), with the logarithm in about twice the precision.

The power multiplies the logarithm's error by |y|, so the logarithm needs more bits than its type has.
"""

from __future__ import annotations

from xla_core.elementary.arithmetic import Arithmetic, V
from xla_core.elementary.coefficients import ATAN_OF_HALF, PI_OVER_2, TWO_THIRDS_LOW
from xla_core.elementary.complex_arithmetic import Pair, by_magnitude, complex_function, is_infinite
from xla_core.elementary.complex_elementary import exp
from xla_core.elementary.logarithm import log_double_double, split

_INFINITY = float("inf")
_SERIES = {  # of atan(t), |t| <= 1/4, from t^5 on
    kind: tuple((-1) ** n / (2 * n + 1) for n in range(2, count)) for kind, count in (("f32", 9), ("f64", 16))
}


@complex_function("power")
def _power(m: Arithmetic[V], x: Pair[V], y: Pair[V]) -> Pair[V]:
    """Computes e^(y log x); 0^0 is 1, and 0 to a power with a positive real part is 0."""
    high, low = _log_double_double(m, x)
    real, real_low = _sum_of_products(m, (y.real, high.real, low.real), (m.neg(y.imag), high.imag, low.imag))
    imag, imag_low = _sum_of_products(m, (y.real, high.imag, low.imag), (y.imag, high.real, low.real))
    real_low = m.choose(m.less(m.abs(real), 2000.0), real_low, 0.0)  # beyond, e^real is zero or infinite
    result = exp(m, Pair(real, imag), Pair(real_low, imag_low))
    base = m.and_(m.equal(x.real, 0.0), m.equal(x.imag, 0.0))
    none = m.and_(m.equal(y.real, 0.0), m.equal(y.imag, 0.0))
    vanishes = m.and_(base, m.greater(y.real, 0.0))
    real, imag = m.choose(vanishes, 0.0, result.real), m.choose(vanishes, 0.0, result.imag)
    return Pair(m.choose(none, 1.0, real), m.choose(none, 0.0, imag))


def _sum_of_products(m: Arithmetic[V], *products: tuple[V, V, V]) -> tuple[V, V]:
    """Returns the sum of two products x (y + low) as (total, rest). The rest is 0 where a value isn't finite."""
    (first, first_low), (second, second_low) = (m.two_product(x, y) for x, y, _ in products)
    (x, _, x_low), (y, _, y_low) = products
    total, low = m.two_sum(first, second)
    low = m.add(low, m.add(m.fma(x, x_low, first_low), m.fma(y, y_low, second_low)))
    total, low = m.fast_two_sum(total, _finite_or_zero(m, low))
    return total, _finite_or_zero(m, low)


def _finite_or_zero(m: Arithmetic[V], x: V) -> V:
    return m.choose(m.less(m.abs(x), _INFINITY), x, 0.0)


def _log_double_double(m: Arithmetic[V], x: Pair[V]) -> tuple[Pair[V], Pair[V]]:
    """Returns log(x) as (high, low), with about 10 bits beyond the type's precision."""
    real, imag = m.abs(x.real), m.abs(x.imag)
    swap, large, small = by_magnitude(m, real, imag)
    zero, infinite = m.equal(large, 0.0), m.equal(large, _INFINITY)
    # The angle of an infinite number counts infinite parts as 1 and finite ones as 0.
    small = m.select(infinite, m.choose(m.equal(small, _INFINITY), 1.0, m.mul(small, 0.0)), small)
    large = m.choose(m.or_(zero, infinite), 1.0, large)
    large, small, twos = _near_one(m, large, small)
    size, size_low = _log_of_modulus(m, large, small, twos)
    size = m.choose(is_infinite(m, x), _INFINITY, m.choose(zero, float("-inf"), size))
    angle, angle_low = _angle(m, large, small, swap, x)
    return Pair(size, angle), Pair(_finite_or_zero(m, size_low), _finite_or_zero(m, angle_low))


def _near_one(m: Arithmetic[V], large: V, small: V) -> tuple[V, V, V]:
    """Returns (large / 2^n, small / 2^n, n), where the first is between sqrt(1/2) and sqrt(2)."""
    end, step = {"f32": (60, 70), "f64": (500, 600)}[m.kind(large)]
    huge, tiny = m.greater(large, 2.0**end), m.less(large, 2.0**-end)
    scale = m.choose(huge, 2.0**-step, m.choose(tiny, 2.0**step, m.constant(1.0, large)))
    moved = m.choose(huge, float(step), m.choose(tiny, float(-step), m.constant(0.0, large)))
    large, small = m.mul(large, scale), m.mul(small, scale)
    large, exponent = split(m, large, denormals=False)
    small = m.mul(small, m.power_of_two(m.isub(m.integer(0, large), exponent)))
    return large, small, m.add(m.to_float(m.truncate(exponent), m.kind(large)), moved)


def _log_of_modulus(m: Arithmetic[V], large: V, small: V, twos: V) -> tuple[V, V]:
    """Returns half of log(large^2 + small^2), plus twos log(2)."""
    square, square_low = m.two_product(large, large)
    other, other_low = m.two_product(small, small)
    total, low = m.fast_two_sum(square, other)
    total, low = m.fast_two_sum(total, m.add(low, m.add(square_low, other_low)))
    size, size_low = log_double_double(m, total, m.add(twos, twos), m.div(low, total))
    return m.mul(size, 0.5), m.mul(size_low, 0.5)


def _angle(m: Arithmetic[V], large: V, small: V, swap: V, x: Pair[V]) -> tuple[V, V]:
    """Returns the angle of x. Up to a scale, `large` and `small` are the magnitudes of its parts; `swap` says their
    order.
    """
    kind = m.kind(large)
    one, none = m.constant(1.0, large), m.constant(0.0, large)
    base, base_low, t, t_low, cubic, cubic_low = _octant(m, large, small)
    left = m.icmp("slt", m.bits(x.real), m.integer(0, x.real))
    half_turn = m.choose(left, 2.0, none)
    quarters = m.choose(swap, 1.0, half_turn)
    sign = m.choose(m.xor(swap, left), -1.0, one)
    start, start_low = (m.mul(quarters, part) for part in PI_OVER_2[kind][:2])
    total, low = m.two_sum(start, m.mul(sign, base))
    total, low_t = m.two_sum(total, m.mul(sign, t))
    total, low_cubic = m.two_sum(total, m.mul(sign, cubic))
    rests = m.add(m.add(low, low_t), m.add(low_cubic, m.fma(sign, m.add(base_low, m.add(t_low, cubic_low)), start_low)))
    angle, rest = m.fast_two_sum(total, rests)
    below = m.with_sign(one, x.imag)
    angle = m.with_sign(angle, x.imag)
    return m.choose(m.fcmp("uno", x.real, x.imag), float("nan"), angle), m.mul(below, rest)


def _octant(m: Arithmetic[V], large: V, small: V) -> tuple[V, V, V, V, V, V]:
    """Returns three double-double numbers whose sum is atan(small / large), for 0 <= small <= large.

    They are atan(c) with c = 0, 1/2 or 1, and atan(t) with t = (small - c large) / (large + c small), as t and the rest
    of its series.
    """
    kind, none = m.kind(large), m.constant(0.0, large)
    middle, steep = m.fcmp("ogt", small, m.mul(large, 0.25)), m.fcmp("ogt", small, m.mul(large, 0.75))
    c = m.choose(steep, 1.0, m.choose(middle, 0.5, none))
    half, quarter_pi = ATAN_OF_HALF[kind], [part / 2 for part in PI_OVER_2[kind]]
    base, base_low = (m.choose(steep, quarter_pi[i], m.choose(middle, half[i], none)) for i in range(2))
    above, above_low = m.two_sum(small, m.neg(m.mul(c, large)))
    below, below_low = m.fast_two_sum(large, m.mul(c, small))
    t = m.div(above, below)
    product, error = m.two_product(t, below)
    rest = m.add(m.sub(m.sub(above, product), error), m.sub(above_low, m.mul(t, below_low)))
    t_low = m.div(rest, below)
    z, z_low = m.two_product(t, t)
    z_low = m.fma(t, m.add(t_low, t_low), z_low)
    third, third_low = m.fast_two_sum(m.constant(-1.0 / 3.0, t), m.mul(z, m.polynomial(z, _SERIES[kind])))
    third_low = m.sub(third_low, TWO_THIRDS_LOW[kind] / 2)
    u, u_low = m.two_product(z, third)
    u_low = m.add(u_low, m.fma(z, third_low, m.mul(z_low, third)))
    cubic, cubic_low = m.two_product(t, u)
    cubic_low = m.add(cubic_low, m.fma(t, u_low, m.mul(t_low, u)))
    return base, base_low, t, t_low, cubic, cubic_low
