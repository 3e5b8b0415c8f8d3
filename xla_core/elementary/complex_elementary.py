"""exp, log, roots, and trigonometric functions of complex numbers, by formulas on their parts.

What would cancel (near the unit circle, near poles) is written so that it doesn't; infinities, NaN and the signs of
zeros are those of C's Annex G.
"""

from __future__ import annotations

from xla_core.elementary.arithmetic import Arithmetic, V
from xla_core.elementary.complex_arithmetic import Pair, complex_function, divide, is_infinite, modulus, rescaled

__all__ = ["exp", "log_modulus", "sqrt"]

_INFINITY = float("inf")
_FAR = {"f32": 80.0, "f64": 700.0}  # e^x is finite below, and up to twice as far its root


def _is_unbounded(m: Arithmetic[V], x: V) -> V:
    """Whether a number is infinite or NaN."""
    return m.fcmp("ueq", m.abs(x), m.constant(_INFINITY, x))


# -- exp ---------------------------------------------------------------------------------------------------------------


@complex_function("exponential")
def exp(m: Arithmetic[V], x: Pair[V], low: Pair[V] | None = None) -> Pair[V]:
    """e^(x + low): e^x (cos y + i sin y), a large factor applied in two halves: it may overflow where the product
    doesn't. The real part of `low` is far below that of x; the imaginary one may be large.
    """
    y = x.imag
    far = m.greater(x.real, _FAR[m.kind(y)])
    power = m.emit("exponential", m.select(far, m.mul(x.real, 0.5), x.real))
    again = m.choose(far, power, 1.0)
    cosine, sine = m.emit("cosine", y), m.emit("sine", y)
    if low is not None:
        power = m.select(m.equal(power, _INFINITY), power, m.fma(power, low.real, power))
        cosine, sine = _turned(m, cosine, sine, low.imag)
    real, imag = m.mul(m.mul(cosine, power), again), m.mul(m.mul(sine, power), again)
    unbounded = _is_unbounded(m, y)
    vanishes = m.and_(m.equal(power, 0.0), unbounded)
    real, imag = m.choose(vanishes, 0.0, real), m.choose(vanishes, 0.0, imag)
    real = m.choose(m.and_(m.equal(x.real, _INFINITY), unbounded), _INFINITY, real)
    flat = m.equal(y, 0.0)
    return Pair(m.select(flat, m.mul(power, again), real), m.select(flat, y, imag))


def _turned(m: Arithmetic[V], cosine: V, sine: V, angle: V) -> tuple[V, V]:
    """The cosine and sine of an angle that is larger by another."""
    c, s = m.emit("cosine", angle), m.emit("sine", angle)
    return m.fma(cosine, c, m.neg(m.mul(sine, s))), m.fma(sine, c, m.mul(cosine, s))


@complex_function("exponential-minus-one")
def _expm1(m: Arithmetic[V], x: Pair[V]) -> Pair[V]:
    """expm1(x) cos(y) - 2 sin(y / 2)^2 and e^x sin(y)."""
    whole = exp(m, x)
    less_one = m.emit("exponential-minus-one", x.real)
    sine = m.emit("sine", m.mul(x.imag, 0.5))
    real = m.sub(m.mul(less_one, m.emit("cosine", x.imag)), m.mul(m.mul(sine, sine), 2.0))
    real = m.select(m.greater(m.abs(x.real), 40.0), m.sub(whole.real, 1.0), real)
    return Pair(m.select(m.equal(x.imag, 0.0), less_one, real), whole.imag)


@complex_function("logistic")
def _logistic(m: Arithmetic[V], x: Pair[V]) -> Pair[V]:
    """By e = e^-|x|: 1 / (1 + e z) on the right, e / (e + 1 / z) on the left, z = cos(y) - i sin(|y|).

    Their |denominator|^2 is (1 - e)^2 + 4 e cos(y / 2)^2, where nothing cancels beside the poles.
    """
    y = x.imag
    one = m.constant(1.0, x.real)
    left = m.less(x.real, 0.0)
    size = m.neg(m.abs(x.real))
    e, less = m.emit("exponential", size), m.neg(m.emit("exponential-minus-one", size))
    cosine, half = m.emit("cosine", y), m.emit("cosine", m.mul(y, 0.5))
    twice = m.mul(m.mul(half, half), 2.0)  # 1 + cos(y)
    below = m.fma(less, less, m.mul(m.mul(e, twice), 2.0))
    right = m.fma(e, twice, less)
    other = m.mul(e, m.select(m.less(e, 0.5), m.add(cosine, e), m.sub(twice, less)))
    real = m.div(m.select(left, other, right), below)
    imag = m.div(m.mul(e, m.emit("sine", y)), below)
    settled = m.and_(m.equal(e, 0.0), _is_unbounded(m, y))
    real = m.select(settled, m.choose(left, 0.0, one), real)
    return Pair(real, m.choose(settled, 0.0, imag))


# -- log ---------------------------------------------------------------------------------------------------------------


def _excess(m: Arithmetic[V], first: V, x: V, y: V) -> V:
    """The sum first + x^2 + y^2, of which at most one term is negative, to the last bit or so."""
    square, square_low = m.two_product(x, x)
    other, other_low = m.two_product(y, y)
    total, low = m.two_sum(first, square)
    total, lower = m.two_sum(total, other)
    return m.add(total, m.add(m.add(low, lower), m.add(square_low, other_low)))


def log_modulus(m: Arithmetic[V], x: Pair[V]) -> V:
    """log|x|; near the unit circle by log1p of |x|^2 - 1."""
    real, imag = m.abs(x.real), m.abs(x.imag)
    swap = m.fcmp("olt", real, imag)
    large, small = m.select(swap, imag, real), m.select(swap, real, imag)
    inside = m.and_(m.greater(large, 0.5), m.less(large, 2.0))
    close = m.choose(inside, large, 1.0)  # elsewhere squares could overflow
    excess = _excess(m, m.constant(-1.0, large), close, m.choose(inside, small, 0.0))
    near = m.mul(m.emit("log-plus-one", excess), 0.5)
    ratio = m.div(small, m.choose(m.equal(large, 0.0), 1.0, large))
    far = m.add(m.emit("log", large), m.mul(m.emit("log-plus-one", m.mul(ratio, ratio)), 0.5))
    return m.choose(is_infinite(m, x), _INFINITY, m.select(inside, near, far))


@complex_function("log")
def _log(m: Arithmetic[V], x: Pair[V]) -> Pair[V]:
    return Pair(log_modulus(m, x), m.emit("atan2", x.imag, x.real))


@complex_function("log-plus-one")
def _log1p(m: Arithmetic[V], x: Pair[V]) -> Pair[V]:
    """Where 1 + x is neither large nor small, by |1 + x|^2 - 1 = 2 x + x^2 + y^2."""
    one_more = m.add(x.real, 1.0)
    size = m.maximum(m.abs(one_more), m.abs(x.imag))
    inside = m.and_(m.greater(size, 0.5), m.less(size, 4.0))
    real, imag = m.choose(inside, x.real, 0.0), m.choose(inside, x.imag, 0.0)
    near = m.mul(m.emit("log-plus-one", _excess(m, m.add(real, real), real, imag)), 0.5)
    far = log_modulus(m, Pair(one_more, x.imag))
    return Pair(m.select(inside, near, far), m.emit("atan2", x.imag, one_more))


# -- roots -------------------------------------------------------------------------------------------------------------


@complex_function("sqrt")
def sqrt(m: Arithmetic[V], x: Pair[V]) -> Pair[V]:
    """The root in the right half plane."""
    scaled, back = rescaled(m, x, 2)
    t = m.sqrt(m.mul(m.add(m.abs(scaled.real), modulus(m, scaled)), 0.5))
    other = m.div(m.abs(scaled.imag), m.choose(m.equal(t, 0.0), 1.0, m.add(t, t)))
    right = m.icmp("sge", m.bits(x.real), m.integer(0, x.real))
    first, second = m.select(right, t, other), m.select(right, other, t)
    first, second = m.mul(first, back), m.mul(second, back)
    infinite = m.equal(m.abs(x.imag), _INFINITY)
    first, second = m.choose(infinite, _INFINITY, first), m.choose(infinite, _INFINITY, second)
    flat = m.and_(m.equal(m.abs(x.real), _INFINITY), m.less(m.abs(x.imag), _INFINITY))
    first = m.choose(m.and_(flat, m.not_(right)), 0.0, first)
    second = m.choose(m.and_(flat, right), 0.0, second)
    return Pair(first, m.with_sign(second, x.imag))


@complex_function("rsqrt")
def _rsqrt(m: Arithmetic[V], x: Pair[V]) -> Pair[V]:
    one = Pair(m.constant(1.0, x.real), m.constant(0.0, x.real))
    result = divide(m, one, sqrt(m, x))
    infinite = is_infinite(m, x)
    imag = m.select(infinite, m.with_sign(m.constant(0.0, x.imag), m.neg(x.imag)), result.imag)
    return Pair(m.choose(infinite, 0.0, result.real), imag)


@complex_function("cbrt")
def _cbrt(m: Arithmetic[V], x: Pair[V]) -> Pair[V]:
    """The modulus' root, turned by a third of the angle."""
    scaled, back = rescaled(m, x, 3)
    root = m.emit("cbrt", modulus(m, scaled))
    angle = m.div(m.emit("atan2", scaled.imag, scaled.real), 3.0)
    real, imag = m.mul(root, m.emit("cosine", angle)), m.mul(root, m.emit("sine", angle))
    # An angle that underflows, times a root that doesn't.
    slope = m.choose(m.equal(x.real, _INFINITY), 0.0, m.div(m.div(root, scaled.real), 3.0))
    least = {"f32": 2.0**-100, "f64": 2.0**-900}[m.kind(angle)]
    imag = m.select(m.less(m.abs(angle), least), m.mul(scaled.imag, slope), imag)
    zero = m.and_(m.equal(x.real, 0.0), m.equal(x.imag, 0.0))
    return Pair(m.select(zero, x.real, m.mul(real, back)), m.select(zero, x.imag, m.mul(imag, back)))


# -- trigonometric and hyperbolic functions ----------------------------------------------------------------------------


def _hyperbolic(m: Arithmetic[V], x: V) -> tuple[V, V, V]:
    """(s, c, f) with sinh(x) = s f, cosh(x) = c f: a large one in two factors, as its product may be finite."""
    size = m.abs(x)
    far = m.greater(size, _FAR[m.kind(x)])
    t = m.emit("exponential-minus-one", m.select(far, m.mul(size, 0.5), size))
    e = m.add(t, 1.0)
    half = m.mul(e, 0.5)
    sinh = m.mul(m.add(t, m.div(t, e)), 0.5)
    cosh = m.fma(m.div(t, e), m.mul(t, 0.5), m.constant(1.0, t))
    infinite = m.equal(size, _INFINITY)
    sinh, cosh = m.select(far, half, sinh), m.select(far, half, cosh)
    sinh, cosh = m.choose(infinite, _INFINITY, sinh), m.choose(infinite, _INFINITY, cosh)
    return m.with_sign(sinh, x), cosh, m.choose(far, e, 1.0)


@complex_function("sinh")
def _sinh(m: Arithmetic[V], x: Pair[V]) -> Pair[V]:
    """sinh(x) cos(y) and cosh(x) sin(y)."""
    y = x.imag
    sinh, cosh, factor = _hyperbolic(m, x.real)
    real = m.mul(m.mul(m.emit("cosine", y), sinh), factor)
    imag = m.mul(m.mul(m.emit("sine", y), cosh), factor)
    real = m.select(m.and_(m.equal(m.abs(x.real), _INFINITY), _is_unbounded(m, y)), x.real, real)
    real = m.select(m.equal(x.real, 0.0), x.real, real)
    flat = m.equal(y, 0.0)
    return Pair(m.select(flat, m.mul(sinh, factor), real), m.select(flat, y, imag))


@complex_function("cosh")
def _cosh(m: Arithmetic[V], x: Pair[V]) -> Pair[V]:
    """cosh(x) cos(y) and sinh(x) sin(y)."""
    y = x.imag
    sinh, cosh, factor = _hyperbolic(m, x.real)
    sine = m.emit("sine", y)
    real = m.mul(m.mul(m.emit("cosine", y), cosh), factor)
    imag = m.mul(m.mul(sine, sinh), factor)
    real = m.choose(m.and_(m.equal(m.abs(x.real), _INFINITY), _is_unbounded(m, y)), _INFINITY, real)
    flat = m.equal(y, 0.0)
    zero = m.or_(flat, m.equal(x.real, 0.0))  # of the sign of the product, whatever the other part is
    sign = m.mul(m.with_sign(m.constant(1.0, y), x.real), m.with_sign(m.constant(1.0, y), m.select(flat, y, sine)))
    imag = m.select(zero, m.with_sign(m.constant(0.0, y), sign), imag)
    return Pair(m.select(flat, m.mul(cosh, factor), real), imag)


@complex_function("sine")
def _sine(m: Arithmetic[V], x: Pair[V]) -> Pair[V]:
    """-i sinh(i x)."""
    turned = _sinh(m, Pair(m.neg(x.imag), x.real))
    return Pair(turned.imag, m.neg(turned.real))


@complex_function("cosine")
def _cosine(m: Arithmetic[V], x: Pair[V]) -> Pair[V]:
    """cosh(i x)."""
    return _cosh(m, Pair(m.neg(x.imag), x.real))


@complex_function("tanh")
def _tanh(m: Arithmetic[V], x: Pair[V]) -> Pair[V]:
    """By t = tan(y), s = sinh(x): (1 + t^2) s sqrt(1 + s^2) and t over 1 + (1 + t^2) s^2. (Kahan.)

    Far out 1 and 4 sin(y) cos(y) e^-2|x|.
    """
    y = x.imag
    one = m.constant(1.0, y)
    flat = {"f32": 10.0, "f64": 30.0}[m.kind(y)]  # tanh is 1 further out
    t = m.emit("tan", y)
    s = m.emit("sinh", m.limit(x.real, -flat, flat))
    beta = m.fma(t, t, one)
    rho = m.sqrt(m.fma(s, s, one))
    below = m.fma(m.mul(beta, s), s, one)
    steep = m.greater(beta, {"f32": 2.0**100, "f64": 2.0**900}[m.kind(y)])
    real = m.select(steep, m.div(rho, s), m.div(m.mul(m.mul(beta, rho), s), below))
    imag = m.select(steep, m.div(m.constant(0.0, t), t), m.div(t, below))
    far = m.greater(m.abs(x.real), flat)
    e = m.emit("exponential", m.neg(m.abs(x.real)))
    fading = m.mul(m.mul(m.mul(m.emit("sine", y), e), m.mul(m.emit("cosine", y), e)), 4.0)
    fading = m.choose(m.and_(m.equal(e, 0.0), _is_unbounded(m, y)), 0.0, fading)
    real, imag = m.select(far, m.with_sign(one, x.real), real), m.select(far, fading, imag)
    return Pair(m.select(m.equal(x.real, 0.0), x.real, real), m.select(m.equal(y, 0.0), y, imag))


@complex_function("tan")
def _tan(m: Arithmetic[V], x: Pair[V]) -> Pair[V]:
    """-i tanh(i x)."""
    turned = _tanh(m, Pair(m.neg(x.imag), x.real))
    return Pair(turned.imag, m.neg(turned.real))
