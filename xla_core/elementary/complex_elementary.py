"""exp, log and roots of complex numbers, as formulas on their parts.

Near the unit circle, formulas avoid cancellation. Infinities, NaN and the signs of zeros are those of Annex G of C99.
"""

from __future__ import annotations

from xla_core.elementary import double_double
from xla_core.elementary.arithmetic import Arithmetic, V
from xla_core.elementary.complex_arithmetic import (
    Pair,
    by_magnitude,
    complex_function,
    is_infinite,
    modulus,
    rescaled,
    widened,
)
from xla_core.elementary.double_double import DoubleDouble
from xla_core.elementary.exponential import exp_of_f32
from xla_core.elementary.trigonometric import sine_and_cosine_of_f32

_INFINITY = float("inf")
FAR = {"f32": 80.0, "f64": 700.0}  # below, e^x is finite; so is e^(x/2) up to twice as far


def is_unbounded(m: Arithmetic[V], x: V) -> V:
    """Whether a number is infinite or NaN."""
    return m.fcmp("ueq", m.abs(x), m.constant(_INFINITY, x))


# -- exp ---------------------------------------------------------------------------------------------------------------


@complex_function("exponential")
def exp(m: Arithmetic[V], x: Pair[V], low: Pair[V] | None = None) -> Pair[V]:
    """Computes e^(x + low) = e^x (cos y + i sin y).

    A large factor is applied in two halves, because it may overflow where the product doesn't. The real part of `low`
    is far below that of x; its imaginary part may be large.
    """
    y = x.imag
    far = m.greater(x.real, FAR[m.kind(y)])
    power = m.emit("exponential", m.select(far, m.mul(x.real, 0.5), x.real))
    again = m.choose(far, power, 1.0)
    cosine, sine = m.emit("cosine", y), m.emit("sine", y)
    if low is not None:
        power = m.select(m.equal(power, _INFINITY), power, m.fma(power, low.real, power))
        cosine, sine = _turned(m, cosine, sine, low.imag)
    real, imag = m.mul(m.mul(cosine, power), again), m.mul(m.mul(sine, power), again)
    real, imag = _with_limits(m, x, Pair(real, imag))
    flat = m.equal(y, 0.0)
    return Pair(m.select(flat, m.mul(power, again), real), m.select(flat, y, imag))


@widened("exponential")
def _exp_widened(m: Arithmetic[V], x: Pair[V]) -> Pair[V]:
    """`exp` in f64 of numbers that are f32, whose exponentials f64 holds."""
    sine, cosine = sine_and_cosine_of_f32(m, m.narrow(x.imag))
    power, _ = exp_of_f32(m, x.real)
    real, imag = _with_limits(m, x, Pair(m.mul(cosine, power), m.mul(sine, power)))
    return Pair(real, m.select(m.equal(x.imag, 0.0), x.imag, imag))


def _with_limits(m: Arithmetic[V], x: Pair[V], power: Pair[V]) -> Pair[V]:
    """Replaces e^x of an infinite real part where the imaginary part is infinite or NaN. (C99, Annex G.6.3.1.)"""
    unbounded = is_unbounded(m, x.imag)
    vanishes = m.and_(m.equal(x.real, -_INFINITY), unbounded)
    real, imag = m.choose(vanishes, 0.0, power.real), m.choose(vanishes, 0.0, power.imag)
    return Pair(m.choose(m.and_(m.equal(x.real, _INFINITY), unbounded), _INFINITY, real), imag)


def _turned(m: Arithmetic[V], cosine: V, sine: V, angle: V) -> tuple[V, V]:
    """Returns cosine and sine of the sum of two angles."""
    c, s = m.emit("cosine", angle), m.emit("sine", angle)
    return m.fma(cosine, c, m.neg(m.mul(sine, s))), m.fma(sine, c, m.mul(cosine, s))


@complex_function("exponential-minus-one")
def _expm1(m: Arithmetic[V], x: Pair[V]) -> Pair[V]:
    """Computes expm1(x) cos(y) - 2 sin(y / 2)^2 and e^x sin(y)."""
    whole = exp(m, x)
    less_one = m.emit("exponential-minus-one", x.real)
    sine = m.emit("sine", m.mul(x.imag, 0.5))
    real = m.sub(m.mul(less_one, m.emit("cosine", x.imag)), m.mul(m.mul(sine, sine), 2.0))
    real = m.select(m.greater(m.abs(x.real), 40.0), m.sub(whole.real, 1.0), real)
    return Pair(m.select(m.equal(x.imag, 0.0), less_one, real), whole.imag)


@widened("exponential-minus-one")
def _expm1_widened(m: Arithmetic[V], x: Pair[V]) -> Pair[V]:
    """Computes expm1(x) cos(y) - (1 - cos(y)) and e^x sin(y), in f64 of numbers that are f32.

    Where cos(y) is positive, 1 - cos(y) = sin(y)^2 / (1 + cos(y)) doesn't cancel.
    """
    sine, cosine = sine_and_cosine_of_f32(m, m.narrow(x.imag))
    power, less_one = exp_of_f32(m, x.real)
    near = m.div(m.mul(sine, sine), m.add(cosine, 1.0))
    rest = m.select(m.greater(cosine, 0.0), near, m.sub(m.constant(1.0, cosine), cosine))
    real = m.sub(m.mul(less_one, cosine), rest)
    real, imag = _with_limits(m, x, Pair(real, m.mul(sine, power)))
    real = m.choose(m.and_(m.equal(x.real, -_INFINITY), is_unbounded(m, x.imag)), -1.0, real)
    flat = m.equal(x.imag, 0.0)
    return Pair(m.select(flat, less_one, real), m.select(flat, x.imag, imag))


# -- log ---------------------------------------------------------------------------------------------------------------


def _excess(m: Arithmetic[V], first: V, x: V, y: V) -> V:
    """Returns first + x^2 + y^2 accurately to about the last bit. At most one term is negative."""
    square, square_low = m.two_product(x, x)
    other, other_low = m.two_product(y, y)
    total, low = m.two_sum(first, square)
    total, lower = m.two_sum(total, other)
    return m.add(total, m.add(m.add(low, lower), m.add(square_low, other_low)))


def log_modulus(m: Arithmetic[V], x: Pair[V]) -> V:
    """Returns log|x|, computed near the unit circle by log1p of |x|^2 - 1."""
    real, imag = m.abs(x.real), m.abs(x.imag)
    _, large, small = by_magnitude(m, real, imag)
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
    """Uses |1 + x|^2 - 1 = 2 x + x^2 + y^2 where 1 + x is neither large nor small."""
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
    """Computes the root in the right half plane."""
    scaled, back = rescaled(m, x, 2)
    t = m.mul(m.sqrt(m.mul(m.add(m.abs(scaled.real), modulus(m, scaled)), 0.5)), back)
    other = m.div(m.abs(x.imag), m.choose(m.equal(t, 0.0), 1.0, m.add(t, t)))  # may be denormal, so it is rounded once
    right = m.icmp("sge", m.bits(x.real), m.integer(0, x.real))
    first, second = m.select(right, t, other), m.select(right, other, t)
    infinite = m.equal(m.abs(x.imag), _INFINITY)
    first, second = m.choose(infinite, _INFINITY, first), m.choose(infinite, _INFINITY, second)
    flat = m.and_(m.equal(m.abs(x.real), _INFINITY), m.less(m.abs(x.imag), _INFINITY))
    first = m.choose(m.and_(flat, m.not_(right)), 0.0, first)
    second = m.choose(m.and_(flat, right), 0.0, second)
    return Pair(first, m.with_sign(second, x.imag))


@complex_function("rsqrt")
def _rsqrt(m: Arithmetic[V], x: Pair[V]) -> Pair[V]:
    """Computes the conjugate of the root over the modulus: t / |x| and |y| / (2 t |x|).

    t is the larger part of the root. x is scaled by a power of two, s^2, to near 1. Before the last product, by s, a
    part is denormal only if it is also denormal after the product.
    """
    none = m.constant(0.0, x.real)
    scale = _inverse_root_of_power(m, m.maximum(m.abs(x.real), m.abs(x.imag)))
    real, imag = (m.mul(m.mul(m.abs(part), scale), scale) for part in x)
    squares = (DoubleDouble(*m.two_product(part, part)) for part in (real, imag))
    size = double_double.sqrt(m, double_double.add(m, *squares))
    t = double_double.sqrt(m, double_double.scaled(m, double_double.add(m, DoubleDouble(real, none), size), 0.5))
    below = double_double.mul(m, double_double.scaled(m, t, 2.0), size)
    one = m.constant(1.0, none)
    long = m.mul(double_double.div(m, t, size, m.div(one, size.high)), scale)
    short = double_double.div(m, DoubleDouble(m.mul(imag, scale), none), below, m.div(one, below.high))
    right = m.icmp("sge", m.bits(x.real), m.integer(0, x.real))
    first, second = m.select(right, long, short), m.select(right, short, long)
    infinite, zero = is_infinite(m, x), m.equal(size.high, 0.0)
    first, second = m.choose(infinite, 0.0, first), m.choose(infinite, 0.0, second)
    return Pair(m.choose(zero, _INFINITY, first), m.with_sign(second, m.neg(x.imag)))


def _inverse_root_of_power(m: Arithmetic[V], x: V) -> V:
    """Returns 2^-n, where x / 4^n is between 1 and 4, or less for a denormal x."""
    mantissa_bits, middle = {"f32": (23, 191), "f64": (52, 1535)}[m.kind(x)]
    half = m.lshr(m.iadd(m.lshr(m.bits(x), mantissa_bits), m.integer(1, x)), 1)
    return m.from_bits(m.shl(m.isub(m.integer(middle, x), half), mantissa_bits))


@complex_function("cbrt")
def _cbrt(m: Arithmetic[V], x: Pair[V]) -> Pair[V]:
    """Rotates the cube root of the modulus by a third of the angle, and makes one step of Newton's iteration.

    Where the angle is small and may underflow, it is computed as y / x.
    """
    scaled, back = rescaled(m, x, 3)
    root = m.emit("cbrt", modulus(m, scaled))
    angle = m.div(m.emit("atan2", scaled.imag, scaled.real), 3.0)
    near = Pair(m.mul(root, m.emit("cosine", angle)), m.mul(root, m.emit("sine", angle)))
    infinite, step = is_infinite(m, x), _newton_step(m, scaled, near)
    real, imag = (m.add(v, m.choose(infinite, 0.0, u)) for v, u in zip(near, step, strict=True))
    flat = m.less(m.abs(angle), {"f32": 2.0**-14, "f64": 2.0**-30}[m.kind(angle)])
    slope = m.choose(m.equal(x.real, _INFINITY), 0.0, m.div(m.div(root, scaled.real), 3.0))
    height = m.mul(scaled.imag, back)  # scaled back before the product, so that it is rounded once
    real, imag = m.mul(real, back), m.select(flat, m.mul(height, slope), m.mul(imag, back))
    zero = m.and_(m.equal(x.real, 0.0), m.equal(x.imag, 0.0))
    return Pair(m.select(zero, x.real, real), m.select(zero, x.imag, imag))


def _newton_step(m: Arithmetic[V], x: Pair[V], root: Pair[V]) -> Pair[V]:
    """Returns (x - r^3) / (3 r^2), with r^3 = a (a^2 - 3 b^2) + i b (3 a^2 - b^2).

    The difference is computed to twice the precision.
    """
    a, b = root
    square, other = (DoubleDouble(*m.two_product(part, part)) for part in root)
    both = double_double.sub(m, square, other)
    cube = []
    for part, rest in (
        (a, double_double.sub(m, both, double_double.scaled(m, other, 2.0))),
        (b, double_double.add(m, both, double_double.scaled(m, square, 2.0))),
    ):
        product, error = m.two_product(part, rest.high)
        cube.append(DoubleDouble(product, m.fma(part, rest.low, error)))
    real_rest, imag_rest = (m.sub(m.sub(v, part.high), part.low) for v, part in zip(x, cube, strict=True))
    inverse = m.div(m.constant(1.0, x.real), m.add(square.high, other.high))
    c, s = m.mul(m.sub(square.high, other.high), inverse), m.mul(m.mul(m.add(a, a), b), inverse)
    scale = m.div(inverse, 3.0)
    return Pair(
        m.mul(m.fma(real_rest, c, m.mul(imag_rest, s)), scale),
        m.mul(m.fma(imag_rest, c, m.neg(m.mul(real_rest, s))), scale),
    )
