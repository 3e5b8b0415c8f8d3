"""Inverse trigonometric and hyperbolic functions of complex numbers.

By sums of roots that share their branch cuts, so that nothing cancels beside those. (Kahan, Branch cuts for complex
elementary functions, 1987.)
"""

from __future__ import annotations

import math

from xla_core.elementary.arithmetic import Arithmetic, V
from xla_core.elementary.complex_arithmetic import Pair, complex_function, divide
from xla_core.elementary.complex_elementary import log_modulus, sqrt

__all__: list[str] = []


@complex_function("atan2")
def _atan2(m: Arithmetic[V], y: Pair[V], x: Pair[V]) -> Pair[V]:
    """-i log((x + i y) / sqrt(x^2 + y^2)): the quotient's angle, and the logarithm of |x - i y| / |x + i y| halved, by
    log1p of what their squares differ by. NaN where the quotient is not finite.
    """
    size = m.constant(0.0, x.real)
    for part in (*x, *y):
        size = m.maximum(size, m.abs(part))
    most, down, least, up = {"f32": (50, -80, -50, 90), "f64": (400, -700, -400, 600)}[m.kind(size)]
    tiny = m.less(size, 2.0**least)
    scale = m.choose(m.greater(size, 2.0**most), 2.0**down, m.choose(tiny, 2.0**up, m.constant(1.0, size)))
    x, y = (Pair(m.mul(v.real, scale), m.mul(v.imag, scale)) for v in (x, y))
    plus = Pair(m.sub(x.real, y.imag), m.add(x.imag, y.real))
    minus = Pair(m.add(x.real, y.imag), m.sub(x.imag, y.real))
    real = m.sub(m.mul(plus.real, minus.real), m.mul(plus.imag, minus.imag))
    imag = m.add(m.mul(x.real, x.imag), m.mul(y.real, y.imag))
    ratio = divide(m, plus, sqrt(m, Pair(real, m.add(imag, imag))))
    apart = m.sub(m.mul(x.real, y.imag), m.mul(x.imag, y.real))
    less = m.less(apart, 0.0)
    small = Pair(m.select(less, minus.real, plus.real), m.select(less, minus.imag, plus.imag))
    excess = m.div(m.mul(m.abs(apart), 4.0), m.fma(small.real, small.real, m.mul(small.imag, small.imag)))
    logarithm = m.with_sign(m.mul(m.emit("log-plus-one", excess), 0.25), apart)
    # The quotient's angle is half of what the angles of x + i y and x - i y differ by, but for multiples of pi.
    across = m.add(m.mul(plus.real, minus.real), m.mul(plus.imag, minus.imag))
    apart_small = m.sub(m.mul(plus.imag, minus.real), m.mul(plus.real, minus.imag))
    along = m.mul(m.add(m.mul(x.real, y.real), m.mul(x.imag, y.imag)), 2.0)
    half = m.mul(m.emit("atan2", m.select(m.greater(excess, 1.0), apart_small, along), across), 0.5)
    rough = m.emit("atan2", ratio.imag, ratio.real)
    turns, _ = m.nearest(m.mul(m.sub(rough, half), 1 / math.pi))
    result = Pair(m.add(half, m.mul(turns, math.pi)), logarithm)
    finite = m.and_(m.less(size, float("inf")), m.less(m.abs(m.add(ratio.real, ratio.imag)), float("inf")))
    nan = float("nan")
    return Pair(m.choose(finite, result.real, nan), m.choose(finite, result.imag, nan))


def _roots(m: Arithmetic[V], x: Pair[V]) -> tuple[Pair[V], Pair[V]]:
    """(sqrt(1 - x), sqrt(1 + x))."""
    minus = Pair(m.sub(m.constant(1.0, x.real), x.real), m.neg(x.imag))
    return sqrt(m, minus), sqrt(m, Pair(m.add(x.real, 1.0), x.imag))


def _is_huge(m: Arithmetic[V], x: Pair[V]) -> V:
    """Whether x is so large that 1 is nothing to x^2, which may overflow."""
    limit = 2.0**500 if m.kind(x.real) == "f64" else 2.0**60
    return m.or_(m.greater(m.abs(x.real), limit), m.greater(m.abs(x.imag), limit))


def _log_double(m: Arithmetic[V], x: Pair[V]) -> V:
    """log|2 x|: what the inverse functions of huge numbers grow like."""
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
    product = m.sub(m.mul(minus.real, plus.real), m.mul(minus.imag, plus.imag))
    cross = m.sub(m.mul(minus.real, plus.imag), m.mul(minus.imag, plus.real))
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


@complex_function("asinh")
def _asinh(m: Arithmetic[V], x: Pair[V]) -> Pair[V]:
    """-i asin(i x)."""
    turned = _asin(m, Pair(m.neg(x.imag), x.real))
    return Pair(turned.imag, m.neg(turned.real))


@complex_function("acosh")
def _acosh(m: Arithmetic[V], x: Pair[V]) -> Pair[V]:
    below = sqrt(m, Pair(m.sub(x.real, 1.0), x.imag))
    above = sqrt(m, Pair(m.add(x.real, 1.0), x.imag))
    product = m.add(m.mul(below.real, above.real), m.mul(below.imag, above.imag))
    result = Pair(m.emit("asinh", product), m.mul(m.emit("atan2", below.imag, above.real), 2.0))
    return _select(m, _is_huge(m, x), Pair(_log_double(m, x), m.emit("atan2", x.imag, x.real)), result)


@complex_function("atanh")
def _atanh(m: Arithmetic[V], x: Pair[V]) -> Pair[V]:
    """log1p(4 x / ((1 - x)^2 + y^2)) / 4 and atan2(2 y, (1 - x) (1 + x) - y^2) / 2.

    At x = 1 beside a y whose square vanishes, log(2 / y) / 2.
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
    """The real part of 1 / (x + i y) for x, y >= 0, of which one is large: x / (x^2 + y^2) without overflow."""
    swap = m.fcmp("olt", x, y)
    large, small = m.select(swap, y, x), m.select(swap, x, y)
    ratio, inverse = m.div(small, large), m.div(m.constant(1.0, x), large)
    result = m.div(m.select(swap, m.mul(ratio, inverse), inverse), m.fma(ratio, ratio, m.constant(1.0, x)))
    infinite = m.or_(m.equal(x, float("inf")), m.equal(y, float("inf")))
    return m.choose(infinite, 0.0, result)


@complex_function("atan")
def _atan(m: Arithmetic[V], x: Pair[V]) -> Pair[V]:
    """-i atanh(i x)."""
    turned = _atanh(m, Pair(m.neg(x.imag), x.real))
    return Pair(turned.imag, m.neg(turned.real))
