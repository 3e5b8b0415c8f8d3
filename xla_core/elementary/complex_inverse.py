"""Inverse trigonometric and hyperbolic functions of complex numbers.

The formulas are sums of roots that share the function's branch cuts, so that nothing cancels near them. (Kahan, Branch
cuts for complex elementary functions, 1987.)
"""

from __future__ import annotations

import math

from xla_core.elementary import double_double
from xla_core.elementary.arithmetic import Arithmetic, V
from xla_core.elementary.complex_arithmetic import Pair, by_magnitude, complex_function, divide, rotated
from xla_core.elementary.complex_elementary import log_modulus, sqrt
from xla_core.elementary.double_double import DoubleDouble
from xla_core.elementary.logarithm import split


@complex_function("atan2")
def _atan2(m: Arithmetic[V], y: Pair[V], x: Pair[V]) -> Pair[V]:
    """Computes -i log((x + i y) / sqrt(x^2 + y^2)).

    The real part is half of the difference between the angles of x + i y and x - i y. The imaginary part is half of the
    logarithm of |x - i y| / |x + i y|, by log1p of the difference of the squares. The result is NaN where either number
    is zero.
    """
    far, near = (m.maximum(m.abs(z.real), m.abs(z.imag)) for z in (x, y))
    size = m.maximum(far, near)
    most, down, least, up = {"f32": (50, -80, -50, 90), "f64": (400, -700, -400, 600)}[m.kind(size)]
    tiny = m.less(size, 2.0**least)
    scale = m.choose(m.greater(size, 2.0**most), 2.0**down, m.choose(tiny, 2.0**up, m.constant(1.0, size)))
    # Where y is far below x, the result is y / x, or half a turn from it.
    below = m.fcmp("olt", near, m.mul(far, 2.0**-60))
    quotient = divide(m, y, x)
    ends, crossing, side = _plus_and_minus(m, y, x), _crossing(m, y, x), _along(m, y, x)
    x, y = (Pair(m.mul(v.real, scale), m.mul(v.imag, scale)) for v in (x, y))
    plus, minus = _plus_and_minus(m, y, x)
    apart = _double_double_dot(m, (x.real, y.imag), (m.neg(x.imag), y.real))
    less = m.less(apart, 0.0)
    turned = m.select(less, y.imag, m.neg(y.imag)), m.select(less, m.neg(y.real), y.real)
    small = [DoubleDouble(*m.two_sum(a, b)) for a, b in zip(x, turned, strict=True)]  # x + i y or x - i y
    excess = m.div(
        m.mul(m.abs(apart), 4.0), double_double.add(m, *(double_double.mul(m, part, part) for part in small)).high
    )
    across = _double_double_dot(m, *((v, v) for v in x), *((m.neg(v), v) for v in y))
    beside_pole = m.sub(m.mul(plus.imag, minus.real), m.mul(plus.real, minus.imag))
    along = _double_double_dot(m, *zip(x, y, strict=True))
    along = m.mul(m.select(m.equal(along, 0.0), _along(m, y, x), along), 2.0)
    half = m.mul(m.emit("atan2", m.select(m.greater(excess, 1.0), beside_pole, along), across), 0.5)
    # Signs are those of the unscaled sums, except where these are infinity minus infinity.
    side = m.select(m.fcmp("uno", side, side), along, side)
    crossing = m.select(m.fcmp("uno", crossing, crossing), _crossing(m, y, x), crossing)
    half = m.select(below, quotient.real, half)
    half = m.with_sign(m.abs(half), m.select(m.equal(half, 0.0), side, half))
    rough = _angle_by_root(m, x, y, ends, crossing)
    same = m.less(m.abs(m.sub(rough, half)), math.pi / 2)
    angle = m.select(same, half, m.sub(half, m.with_sign(m.constant(math.pi, half), half)))
    # At a pole the squares underflow, and scaled values may underflow too.
    closest = Pair(*(m.select(less, b, a) for a, b in zip(*ends, strict=True)))
    deep = m.greater(excess, 2.0**most)
    logs = m.add(
        m.emit("log", m.mul(m.abs(apart), 4.0)), m.mul(m.add(log_modulus(m, closest), m.emit("log", scale)), -2.0)
    )
    logarithm = m.mul(m.select(deep, logs, m.emit("log-plus-one", excess)), 0.25)
    pole = m.and_(m.equal(closest.real, 0.0), m.equal(closest.imag, 0.0))
    finite = m.and_(m.less(size, float("inf")), m.not_(pole))
    nan = float("nan")
    logarithm = m.select(below, quotient.imag, m.with_sign(logarithm, apart))
    result = Pair(m.select(deep, rough, angle), logarithm)
    return Pair(m.choose(finite, result.real, nan), m.choose(finite, result.imag, nan))


def _plus_and_minus(m: Arithmetic[V], y: Pair[V], x: Pair[V]) -> tuple[Pair[V], Pair[V]]:
    """Returns (x + i y, x - i y)."""
    return Pair(m.sub(x.real, y.imag), m.add(x.imag, y.real)), Pair(m.add(x.real, y.imag), m.sub(x.imag, y.real))


def _angle_by_root(m: Arithmetic[V], x: Pair[V], y: Pair[V], ends: tuple[Pair[V], Pair[V]], side: V) -> V:
    """Approximates the angle of (x + i y) / sqrt((x + i y) (x - i y)).

    It is half of the difference between the angles of the two factors, plus half a turn where their sum exceeds half a
    turn. Near that limit, the sign of the imaginary part of the product decides, which is the sign of `side`.
    """
    first, second = (m.emit("atan2", z.imag, z.real) for z in ends)
    total = m.add(first, second)
    plus, minus = _plus_and_minus(m, y, x)
    left = m.less(m.sub(m.mul(plus.real, minus.real), m.mul(plus.imag, minus.imag)), 0.0)
    across = m.less(m.mul(m.with_sign(m.constant(1.0, side), side), total), 0.0)
    far = m.greater(m.abs(total), math.pi)
    beyond = m.or_(m.and_(left, across), m.and_(m.not_(left), far))
    angle = m.mul(m.sub(first, second), 0.5)
    return m.select(beyond, m.sub(angle, m.with_sign(m.constant(math.pi, angle), angle)), angle)


def _crossing(m: Arithmetic[V], y: Pair[V], x: Pair[V]) -> V:
    """Returns half of the imaginary part of x^2 + y^2."""
    return _sum_of_products(m, Pair(x.real, y.real), Pair(x.imag, y.imag))


def _along(m: Arithmetic[V], y: Pair[V], x: Pair[V]) -> V:
    """Returns the real part of conj(x) y. Where the products cancel, it is a zero whose sign makes the angle half a
    turn.
    """
    return m.neg(_sum_of_products(m, Pair(m.neg(x.real), m.neg(x.imag)), y))


def _double_double_dot(m: Arithmetic[V], *products: tuple[V, V]) -> V:
    """Adds the products in double-double arithmetic and rounds once."""
    first, *others = (DoubleDouble(*m.two_product(*product)) for product in products)
    for other in others:
        first = double_double.add(m, first, other)
    return first.high


def _sum_of_products(m: Arithmetic[V], x: Pair[V], y: Pair[V]) -> V:
    """Returns Re x Re y + Im x Im y.

    A sum that rounds to zero keeps the sign of the exact sum. Where that is zero too, the sign is that of the sum with
    each zero operand replaced by a tiny number of its sign.
    """
    products = (x.real, y.real), (x.imag, y.imag)
    total = m.add(*(m.mul(a, b) for a, b in products))
    zero, one = m.constant(0.0, total), m.constant(1.0, total)
    tiny, signs = zero, []
    for a, b in products:
        none = m.equal(a, 0.0), m.equal(b, 0.0)
        u, v = (m.with_sign(m.choose(n, 1.0, zero), z) for n, z in zip(none, (a, b), strict=True))
        tiny = m.add(tiny, m.add(m.mul(u, b), m.mul(v, a)))
        signs.append(m.select(m.or_(*none), zero, m.mul(m.with_sign(one, a), m.with_sign(one, b))))
    lost = m.add(*signs)
    opposite = m.and_(m.equal(lost, 0.0), m.equal(tiny, 0.0))
    lost = m.select(opposite, m.mul(signs[0], _larger_product(m, *products)), lost)
    side = m.select(m.equal(lost, 0.0), m.select(m.equal(tiny, 0.0), total, tiny), lost)
    return m.select(m.equal(total, 0.0), m.with_sign(zero, side), total)


def _larger_product(m: Arithmetic[V], first: tuple[V, V], second: tuple[V, V]) -> V:
    """Returns a number with the sign of |a b| - |c d|; neither product overflows or underflows."""
    (a, i), (b, j), (c, k), (d, n) = (split(m, m.abs(factor)) for factor in (*first, *second))
    ahead = m.isub(m.iadd(i, j), m.iadd(k, n))
    scale = m.power_of_two(m.clamp(m.integer(-2, ahead), ahead, m.integer(2, ahead)))
    (product, error), (other, other_error) = m.two_product(a, b), m.two_product(c, d)
    return m.add(m.sub(m.mul(product, scale), other), m.sub(m.mul(error, scale), other_error))


def _roots(m: Arithmetic[V], x: Pair[V]) -> tuple[Pair[V], Pair[V]]:
    """Returns (sqrt(1 - x), sqrt(1 + x))."""
    minus = Pair(m.sub(m.constant(1.0, x.real), x.real), m.neg(x.imag))
    return sqrt(m, minus), sqrt(m, Pair(m.add(x.real, 1.0), x.imag))


def _is_huge(m: Arithmetic[V], x: Pair[V]) -> V:
    """Whether |x|^2 is so large that adding 1 doesn't change it (it may overflow)."""
    limit = 2.0**500 if m.kind(x.real) == "f64" else 2.0**60
    return m.or_(m.greater(m.abs(x.real), limit), m.greater(m.abs(x.imag), limit))


def _log_double(m: Arithmetic[V], x: Pair[V]) -> V:
    """Returns log|2 x|, which the inverse functions approach for huge |x|."""
    return m.add(log_modulus(m, x), math.log(2.0))


def _select(m: Arithmetic[V], condition: V, x: Pair[V], y: Pair[V]) -> Pair[V]:
    return Pair(m.select(condition, x.real, y.real), m.select(condition, x.imag, y.imag))


@complex_function("asin")
def _asin(m: Arithmetic[V], x: Pair[V]) -> Pair[V]:
    limit = 2.0**-27 if m.kind(x.real) == "f64" else 2.0**-13
    tiny = m.and_(m.less(m.abs(x.real), limit), m.less(m.abs(x.imag), limit))
    angle = m.emit("atan2", x.real, m.abs(x.imag))
    return _select(
        m,
        tiny,
        x,
        _select(m, _is_huge(m, x), Pair(angle, m.with_sign(_log_double(m, x), x.imag)), _asin_between(m, x)),
    )


def _asin_between(m: Arithmetic[V], x: Pair[V]) -> Pair[V]:
    minus, plus = _roots(m, x)
    product = m.fma(minus.real, plus.real, m.neg(m.mul(minus.imag, plus.imag)))
    cross = m.fma(minus.real, plus.imag, m.neg(m.mul(minus.imag, plus.real)))
    angle = m.select(m.equal(x.real, 0.0), x.real, m.emit("atan2", x.real, product))
    return Pair(angle, m.emit("asinh", cross))


@complex_function("acos")
def _acos(m: Arithmetic[V], x: Pair[V]) -> Pair[V]:
    minus, plus = _roots(m, x)
    cross = m.sub(m.mul(plus.real, minus.imag), m.mul(plus.imag, minus.real))
    angle = m.mul(m.emit("atan2", minus.real, plus.real), 2.0)
    angle = m.choose(m.equal(x.real, 0.0), math.pi / 2, angle)
    result = Pair(angle, m.emit("asinh", cross))
    angle = m.emit("atan2", m.abs(x.imag), x.real)
    far = Pair(angle, m.neg(m.with_sign(_log_double(m, x), x.imag)))
    return _select(m, _is_huge(m, x), far, result)


complex_function("asinh")(rotated(_asin))


@complex_function("acosh")
def _acosh(m: Arithmetic[V], x: Pair[V]) -> Pair[V]:
    below = sqrt(m, Pair(m.sub(x.real, 1.0), x.imag))
    above = sqrt(m, Pair(m.add(x.real, 1.0), x.imag))
    product = m.add(m.mul(below.real, above.real), m.mul(below.imag, above.imag))
    result = Pair(m.emit("asinh", product), m.mul(m.emit("atan2", below.imag, above.real), 2.0))
    return _select(m, _is_huge(m, x), Pair(_log_double(m, x), m.emit("atan2", x.imag, x.real)), result)


@complex_function("atanh")
def _atanh(m: Arithmetic[V], x: Pair[V]) -> Pair[V]:
    """Computes log1p(4 x / ((1 - x)^2 + y^2)) / 4 and atan2(2 y, (1 - x) (1 + x) - y^2) / 2.

    Where x = 1 and the square of y underflows, the real part is log(2 / y) / 2.
    """
    less = m.sub(m.constant(1.0, x.real), x.real)
    square = m.mul(x.imag, x.imag)
    size, height = m.abs(x.real), m.abs(x.imag)
    near = m.sub(m.constant(1.0, size), size)
    least, up = {"f32": (-50, 13), "f64": (-400, 50)}[m.kind(size)]
    steep = m.and_(m.equal(near, 0.0), m.less(height, 2.0**least))
    above = m.choose(steep, 2.0 ** (1 - 2 * up), m.mul(size, 4.0))
    logarithm = m.emit("log-plus-one", m.div(above, m.select(steep, height, m.fma(near, near, square))))
    whole = m.select(steep, m.add(m.mul(logarithm, 0.5), up * math.log(2.0)), m.mul(logarithm, 0.25))
    real = m.select(m.equal(size, 0.0), x.real, m.with_sign(whole, x.real))
    angle = m.emit("atan2", m.add(x.imag, x.imag), m.sub(m.mul(less, m.add(x.real, 1.0)), square))
    half = m.with_sign(m.constant(math.pi / 2, x.real), x.imag)
    half = m.select(m.fcmp("uno", x.imag, x.imag), x.imag, half)
    far = Pair(m.with_sign(_reciprocal_real(m, size, height), x.real), half)
    return _select(m, _is_huge(m, x), far, Pair(real, m.mul(angle, 0.5)))


def _reciprocal_real(m: Arithmetic[V], x: V, y: V) -> V:
    """Returns the real part of 1 / (x + i y), x / (x^2 + y^2), without overflow for x, y >= 0 of which one is large."""
    swap, large, small = by_magnitude(m, x, y)
    ratio, inverse = m.div(small, large), m.div(m.constant(1.0, x), large)
    result = m.div(m.select(swap, m.mul(ratio, inverse), inverse), m.fma(ratio, ratio, m.constant(1.0, x)))
    infinite = m.or_(m.equal(x, float("inf")), m.equal(y, float("inf")))
    return m.choose(infinite, 0.0, result)


complex_function("atan")(rotated(_atanh))
