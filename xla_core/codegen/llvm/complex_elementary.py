"""exp, log, roots, powers, and trigonometric functions of complex numbers, by formulas on their parts.

What would cancel (near the unit circle, near poles) is written so that it doesn't; infinities, NaN and the signs of
zeros are those of C's Annex G.
"""

from __future__ import annotations

from xla_core.codegen.llvm.builder import Value
from xla_core.codegen.llvm.complex_arithmetic import complex_function, divide, is_infinite, modulus, rescaled
from xla_core.codegen.llvm.ir_array import Complex
from xla_core.codegen.llvm.math import MathEmitter

__all__ = ["log_modulus", "sqrt"]

_INFINITY = float("inf")
_FAR = 700.0  # e^x squared is finite below half of it


def _is_unbounded(m: MathEmitter, x: Value) -> Value:
    """Whether a number is infinite or NaN."""
    return m.b.fcmp("ueq", m.abs(x), m.constant(_INFINITY, x))


# -- exp ---------------------------------------------------------------------------------------------------------------


@complex_function("exponential")
def _exp(m: MathEmitter, x: Complex) -> Complex:
    """e^x (cos y + i sin y), a large factor applied in two halves: it may overflow where the product doesn't."""
    b, y = m.b, x.imag
    far = m.greater(x.real, _FAR)
    power = m.emit("exponential", b.select(far, m.mul(x.real, 0.5), x.real))
    again = m.choose(far, power, 1.0)
    real = b.fmul(b.fmul(m.emit("cosine", y), power), again)
    imag = b.fmul(b.fmul(m.emit("sine", y), power), again)
    unbounded = _is_unbounded(m, y)
    vanishes = b.and_(m.equal(power, 0.0), unbounded)
    real, imag = m.choose(vanishes, 0.0, real), m.choose(vanishes, 0.0, imag)
    real = m.choose(b.and_(m.equal(x.real, _INFINITY), unbounded), _INFINITY, real)
    flat = m.equal(y, 0.0)
    return Complex(b.select(flat, b.fmul(power, again), real), b.select(flat, y, imag))


@complex_function("exponential-minus-one")
def _expm1(m: MathEmitter, x: Complex) -> Complex:
    """expm1(x) cos(y) - 2 sin(y / 2)^2 and e^x sin(y)."""
    b = m.b
    whole = _exp(m, x)
    less_one = m.emit("exponential-minus-one", x.real)
    sine = m.emit("sine", m.mul(x.imag, 0.5))
    real = b.fsub(b.fmul(less_one, m.emit("cosine", x.imag)), m.mul(b.fmul(sine, sine), 2.0))
    real = b.select(m.greater(m.abs(x.real), 40.0), m.sub(whole.real, 1.0), real)
    return Complex(b.select(m.equal(x.imag, 0.0), less_one, real), whole.imag)


@complex_function("logistic")
def _logistic(m: MathEmitter, x: Complex) -> Complex:
    """By e = e^-|x|: 1 / (1 + e z) on the right, e / (e + 1 / z) on the left, z = cos(y) - i sin(|y|).

    Their |denominator|^2 is (1 - e)^2 + 4 e cos(y / 2)^2, where nothing cancels beside the poles.
    """
    b, y = m.b, x.imag
    one = m.constant(1.0, x.real)
    left = m.less(x.real, 0.0)
    size = b.fneg(m.abs(x.real))
    e, less = m.emit("exponential", size), b.fneg(m.emit("exponential-minus-one", size))
    cosine, half = m.emit("cosine", y), m.emit("cosine", m.mul(y, 0.5))
    twice = m.mul(b.fmul(half, half), 2.0)  # 1 + cos(y)
    below = m.fma(less, less, m.mul(b.fmul(e, twice), 2.0))
    right = m.fma(e, twice, less)
    other = b.fmul(e, b.select(m.less(e, 0.5), b.fadd(cosine, e), b.fsub(twice, less)))
    real = b.fdiv(b.select(left, other, right), below)
    imag = b.fdiv(b.fmul(e, m.emit("sine", y)), below)
    settled = b.and_(m.equal(e, 0.0), _is_unbounded(m, y))
    real = b.select(settled, m.choose(left, 0.0, one), real)
    return Complex(real, m.choose(settled, 0.0, imag))


# -- log ---------------------------------------------------------------------------------------------------------------


def _excess(m: MathEmitter, first: Value, x: Value, y: Value) -> Value:
    """The sum first + x^2 + y^2, of which at most one term is negative, to the last bit or so."""
    b = m.b
    square, square_low = m.two_product(x, x)
    other, other_low = m.two_product(y, y)
    total, low = m.two_sum(first, square)
    total, lower = m.two_sum(total, other)
    return b.fadd(total, b.fadd(b.fadd(low, lower), b.fadd(square_low, other_low)))


def log_modulus(m: MathEmitter, x: Complex) -> Value:
    """log|x|; near the unit circle by log1p of |x|^2 - 1."""
    b = m.b
    real, imag = m.abs(x.real), m.abs(x.imag)
    swap = b.fcmp("olt", real, imag)
    large, small = b.select(swap, imag, real), b.select(swap, real, imag)
    inside = b.and_(m.greater(large, 0.5), m.less(large, 2.0))
    close = m.choose(inside, large, 1.0)  # elsewhere squares could overflow
    excess = _excess(m, m.constant(-1.0, large), close, m.choose(inside, small, 0.0))
    near = m.mul(m.emit("log-plus-one", excess), 0.5)
    ratio = b.fdiv(small, m.choose(m.equal(large, 0.0), 1.0, large))
    far = b.fadd(m.emit("log", large), m.mul(m.emit("log-plus-one", b.fmul(ratio, ratio)), 0.5))
    return m.choose(is_infinite(m, x), _INFINITY, b.select(inside, near, far))


@complex_function("log")
def _log(m: MathEmitter, x: Complex) -> Complex:
    return Complex(log_modulus(m, x), m.emit("atan2", x.imag, x.real))


@complex_function("log-plus-one")
def _log1p(m: MathEmitter, x: Complex) -> Complex:
    """Where 1 + x is neither large nor small, by |1 + x|^2 - 1 = 2 x + x^2 + y^2."""
    b = m.b
    one_more = m.add(x.real, 1.0)
    size = b.intrinsic("maximum", m.abs(one_more), m.abs(x.imag))
    inside = b.and_(m.greater(size, 0.5), m.less(size, 4.0))
    real, imag = m.choose(inside, x.real, 0.0), m.choose(inside, x.imag, 0.0)
    near = m.mul(m.emit("log-plus-one", _excess(m, b.fadd(real, real), real, imag)), 0.5)
    far = log_modulus(m, Complex(one_more, x.imag))
    return Complex(b.select(inside, near, far), m.emit("atan2", x.imag, one_more))


# -- roots and powers --------------------------------------------------------------------------------------------------


@complex_function("sqrt")
def sqrt(m: MathEmitter, x: Complex) -> Complex:
    """The root in the right half plane."""
    b = m.b
    scaled, back = rescaled(m, x, 2)
    t = m.sqrt(m.mul(b.fadd(m.abs(scaled.real), modulus(m, scaled)), 0.5))
    other = b.fdiv(m.abs(scaled.imag), m.choose(m.equal(t, 0.0), 1.0, b.fadd(t, t)))
    right = b.icmp("sge", m.bits(x.real), m.integer(0, x.real))
    first, second = b.select(right, t, other), b.select(right, other, t)
    first, second = b.fmul(first, back), b.fmul(second, back)
    infinite = m.equal(m.abs(x.imag), _INFINITY)
    first, second = m.choose(infinite, _INFINITY, first), m.choose(infinite, _INFINITY, second)
    flat = b.and_(m.equal(m.abs(x.real), _INFINITY), m.less(m.abs(x.imag), _INFINITY))
    first = m.choose(b.and_(flat, b.not_(right)), 0.0, first)
    second = m.choose(b.and_(flat, right), 0.0, second)
    return Complex(first, m.with_sign(second, x.imag))


@complex_function("rsqrt")
def _rsqrt(m: MathEmitter, x: Complex) -> Complex:
    one = Complex(m.constant(1.0, x.real), m.constant(0.0, x.real))
    result = divide(m, one, sqrt(m, x))
    infinite = is_infinite(m, x)
    imag = m.b.select(infinite, m.with_sign(m.constant(0.0, x.imag), m.b.fneg(x.imag)), result.imag)
    return Complex(m.choose(infinite, 0.0, result.real), imag)


@complex_function("cbrt")
def _cbrt(m: MathEmitter, x: Complex) -> Complex:
    """The modulus' root, turned by a third of the angle."""
    b = m.b
    scaled, back = rescaled(m, x, 3)
    root = m.emit("cbrt", modulus(m, scaled))
    angle = m.div(m.emit("atan2", scaled.imag, scaled.real), 3.0)
    real, imag = b.fmul(root, m.emit("cosine", angle)), b.fmul(root, m.emit("sine", angle))
    # An angle that underflows, times a root that doesn't.
    slope = m.choose(m.equal(x.real, _INFINITY), 0.0, m.div(b.fdiv(root, scaled.real), 3.0))
    imag = b.select(m.less(m.abs(angle), 2.0**-900), b.fmul(scaled.imag, slope), imag)
    zero = b.and_(m.equal(x.real, 0.0), m.equal(x.imag, 0.0))
    return Complex(b.select(zero, x.real, b.fmul(real, back)), b.select(zero, x.imag, b.fmul(imag, back)))


@complex_function("power")
def _power(m: MathEmitter, x: Complex, y: Complex) -> Complex:
    """e^(y log x); 0^0 is 1, and 0 to a power of positive real part 0."""
    b, log = m.b, _log(m, x)
    result = _exp(
        m,
        Complex(
            b.fsub(b.fmul(y.real, log.real), b.fmul(y.imag, log.imag)),
            b.fadd(b.fmul(y.real, log.imag), b.fmul(y.imag, log.real)),
        ),
    )
    base = b.and_(m.equal(x.real, 0.0), m.equal(x.imag, 0.0))
    none = b.and_(m.equal(y.real, 0.0), m.equal(y.imag, 0.0))
    vanishes = b.and_(base, m.greater(y.real, 0.0))
    real, imag = m.choose(vanishes, 0.0, result.real), m.choose(vanishes, 0.0, result.imag)
    return Complex(m.choose(none, 1.0, real), m.choose(none, 0.0, imag))


# -- trigonometric and hyperbolic functions ----------------------------------------------------------------------------


def _hyperbolic(m: MathEmitter, x: Value) -> tuple[Value, Value, Value]:
    """(s, c, f) with sinh(x) = s f, cosh(x) = c f: a large one in two factors, as its product may be finite."""
    b = m.b
    size = m.abs(x)
    far = m.greater(size, _FAR)
    t = m.emit("exponential-minus-one", b.select(far, m.mul(size, 0.5), size))
    e = m.add(t, 1.0)
    half = m.mul(e, 0.5)
    sinh = m.mul(b.fadd(t, b.fdiv(t, e)), 0.5)
    cosh = m.fma(b.fdiv(t, e), m.mul(t, 0.5), m.constant(1.0, t))
    infinite = m.equal(size, _INFINITY)
    sinh, cosh = b.select(far, half, sinh), b.select(far, half, cosh)
    sinh, cosh = m.choose(infinite, _INFINITY, sinh), m.choose(infinite, _INFINITY, cosh)
    return m.with_sign(sinh, x), cosh, m.choose(far, e, 1.0)


@complex_function("sinh")
def _sinh(m: MathEmitter, x: Complex) -> Complex:
    """sinh(x) cos(y) and cosh(x) sin(y)."""
    b, y = m.b, x.imag
    sinh, cosh, factor = _hyperbolic(m, x.real)
    real = b.fmul(b.fmul(m.emit("cosine", y), sinh), factor)
    imag = b.fmul(b.fmul(m.emit("sine", y), cosh), factor)
    real = b.select(b.and_(m.equal(m.abs(x.real), _INFINITY), _is_unbounded(m, y)), x.real, real)
    real = b.select(m.equal(x.real, 0.0), x.real, real)
    flat = m.equal(y, 0.0)
    return Complex(b.select(flat, b.fmul(sinh, factor), real), b.select(flat, y, imag))


@complex_function("cosh")
def _cosh(m: MathEmitter, x: Complex) -> Complex:
    """cosh(x) cos(y) and sinh(x) sin(y)."""
    b, y = m.b, x.imag
    sinh, cosh, factor = _hyperbolic(m, x.real)
    sine = m.emit("sine", y)
    real = b.fmul(b.fmul(m.emit("cosine", y), cosh), factor)
    imag = b.fmul(b.fmul(sine, sinh), factor)
    real = m.choose(b.and_(m.equal(m.abs(x.real), _INFINITY), _is_unbounded(m, y)), _INFINITY, real)
    flat = m.equal(y, 0.0)
    zero = b.or_(flat, m.equal(x.real, 0.0))  # of the sign of the product, whatever the other part is
    sign = b.fmul(m.with_sign(m.constant(1.0, y), x.real), m.with_sign(m.constant(1.0, y), b.select(flat, y, sine)))
    imag = b.select(zero, m.with_sign(m.constant(0.0, y), sign), imag)
    return Complex(b.select(flat, b.fmul(cosh, factor), real), imag)


@complex_function("sine")
def _sine(m: MathEmitter, x: Complex) -> Complex:
    """-i sinh(i x)."""
    turned = _sinh(m, Complex(m.b.fneg(x.imag), x.real))
    return Complex(turned.imag, m.b.fneg(turned.real))


@complex_function("cosine")
def _cosine(m: MathEmitter, x: Complex) -> Complex:
    """cosh(i x)."""
    return _cosh(m, Complex(m.b.fneg(x.imag), x.real))


@complex_function("tanh")
def _tanh(m: MathEmitter, x: Complex) -> Complex:
    """By t = tan(y), s = sinh(x): (1 + t^2) s sqrt(1 + s^2) and t over 1 + (1 + t^2) s^2. (Kahan.)

    Far out 1 and 4 sin(y) cos(y) e^-2|x|.
    """
    b, y = m.b, x.imag
    one = m.constant(1.0, y)
    t = m.emit("tan", y)
    s = m.emit("sinh", m.limit(x.real, -30.0, 30.0))
    beta = m.fma(t, t, one)
    rho = m.sqrt(m.fma(s, s, one))
    below = m.fma(b.fmul(beta, s), s, one)
    steep = m.greater(beta, 2.0**900)
    real = b.select(steep, b.fdiv(rho, s), b.fdiv(b.fmul(b.fmul(beta, rho), s), below))
    imag = b.select(steep, b.fdiv(m.constant(0.0, t), t), b.fdiv(t, below))
    far = m.greater(m.abs(x.real), 30.0)
    e = m.emit("exponential", b.fneg(m.abs(x.real)))
    fading = m.mul(b.fmul(b.fmul(m.emit("sine", y), e), b.fmul(m.emit("cosine", y), e)), 4.0)
    fading = m.choose(b.and_(m.equal(e, 0.0), _is_unbounded(m, y)), 0.0, fading)
    real, imag = b.select(far, m.with_sign(one, x.real), real), b.select(far, fading, imag)
    return Complex(b.select(m.equal(x.real, 0.0), x.real, real), b.select(m.equal(y, 0.0), y, imag))


@complex_function("tan")
def _tan(m: MathEmitter, x: Complex) -> Complex:
    """-i tanh(i x)."""
    turned = _tanh(m, Complex(m.b.fneg(x.imag), x.real))
    return Complex(turned.imag, m.b.fneg(turned.real))
