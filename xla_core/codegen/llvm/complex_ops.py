"""What elementwise ops mean for complex numbers, by formulas on their parts.

complex64 is computed in f64, where its intermediate results neither overflow nor cancel, and rounded once; what has a
cancellation of its own (near branch points and unit modulus) has a formula that avoids it. Branch cuts and the signs of
zeros are C99's. (Kahan, Branch cuts for complex elementary functions, 1987.)
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeVar

from xla_core.codegen.llvm.builder import Value
from xla_core.codegen.llvm.ir_array import Complex, ElementValue
from xla_core.codegen.llvm.math import MathEmitter

__all__ = ["COMPLEX_OPS"]

ComplexOp = Callable[..., ElementValue]
"""(math emitter, complex operands) -> complex or real value."""

COMPLEX_OPS: dict[str, ComplexOp] = {}


def _op(*opcodes: str) -> Callable[[ComplexOp], ComplexOp]:
    """Registers an op that is computed in its own precision."""

    def register(function: ComplexOp) -> ComplexOp:
        for opcode in opcodes:
            COMPLEX_OPS[opcode] = function
        return function

    return register


_Function = TypeVar("_Function", bound=ComplexOp)


def _function(opcode: str) -> Callable[[_Function], _Function]:
    """Registers a function that is computed in f64."""

    def register(function: _Function) -> _Function:
        def emit(m: MathEmitter, *operands: Complex) -> ElementValue:
            narrow = operands[0].real.type == "float"
            saved, m.b.fast_math = m.b.fast_math, ""
            wide = [Complex(*(m.b.cast("fpext", part, "double") for part in x)) for x in operands]
            result = function(m, *wide)
            m.b.fast_math = saved
            if not narrow:
                return result
            if isinstance(result, Complex):
                return Complex(*(m.b.cast("fptrunc", part, "float") for part in result))
            return m.b.cast("fptrunc", result, "float")

        COMPLEX_OPS[opcode] = emit
        return function  # of f64 operands: what the other formulas call

    return register


@_op("add")
def _add(m: MathEmitter, x: Complex, y: Complex) -> Complex:
    return Complex(m.b.fadd(x.real, y.real), m.b.fadd(x.imag, y.imag))


@_op("subtract")
def _subtract(m: MathEmitter, x: Complex, y: Complex) -> Complex:
    return Complex(m.b.fsub(x.real, y.real), m.b.fsub(x.imag, y.imag))


@_op("multiply")
def _multiply(m: MathEmitter, x: Complex, y: Complex) -> Complex:
    """The second product of each part is rounded, the first is not (as XLA's CPU backend does)."""
    b = m.b
    real = m.fma(x.real, y.real, b.fneg(b.fmul(x.imag, y.imag)))
    imag = m.fma(x.imag, y.real, b.fmul(x.real, y.imag))
    return Complex(real, imag)


@_op("negate")
def _negate(m: MathEmitter, x: Complex) -> Complex:
    return Complex(m.b.fneg(x.real), m.b.fneg(x.imag))


def _either(m: MathEmitter, first: Value, x: Complex, y: Complex) -> Complex:
    """X where `first` holds or x has a NaN, else y."""
    first = m.b.or_(first, m.b.fcmp("uno", x.real, x.imag))
    return Complex(m.b.select(first, x.real, y.real), m.b.select(first, x.imag, y.imag))


def _precedes(m: MathEmitter, x: Complex, y: Complex) -> Value:
    """Whether x is not after y in the order of real, then imaginary parts; false beside a NaN."""
    b = m.b
    ordered = b.and_(b.fcmp("ord", x.imag, y.imag), b.fcmp("olt", x.real, y.real))
    return b.or_(ordered, b.and_(b.fcmp("oeq", x.real, y.real), b.fcmp("ole", x.imag, y.imag)))


@_op("maximum")
def _maximum(m: MathEmitter, x: Complex, y: Complex) -> Complex:
    return _either(m, _precedes(m, y, x), x, y)


@_op("minimum")
def _minimum(m: MathEmitter, x: Complex, y: Complex) -> Complex:
    return _either(m, _precedes(m, x, y), x, y)


@_function("divide")
def _divide(m: MathEmitter, x: Complex, y: Complex) -> Complex:
    """Smith's quotient, by the larger part of the divisor; zero and infinite divisors apart."""
    b = m.b
    swap = b.fcmp("olt", m.abs(y.real), m.abs(y.imag))
    large, small = b.select(swap, y.imag, y.real), b.select(swap, y.real, y.imag)
    ratio = b.fdiv(small, large)
    below = b.fadd(large, b.fmul(small, ratio))
    first, second = b.select(swap, x.imag, x.real), b.select(swap, x.real, x.imag)
    real = b.fdiv(b.fadd(first, b.fmul(second, ratio)), below)
    imag = b.fdiv(
        b.fsub(b.select(swap, b.fmul(x.imag, ratio), x.imag), b.select(swap, x.real, b.fmul(x.real, ratio))), below
    )
    zero = m.equal(large, 0.0)
    size = m.abs(y.real)
    real = b.select(zero, b.fdiv(x.real, size), real)
    imag = b.select(zero, b.fdiv(x.imag, size), imag)
    infinite = b.or_(m.equal(m.abs(y.real), float("inf")), m.equal(m.abs(y.imag), float("inf")))
    finite = b.and_(m.less(m.abs(x.real), float("inf")), m.less(m.abs(x.imag), float("inf")))
    vanishes = b.and_(infinite, finite)
    return Complex(m.choose(vanishes, 0.0, real), m.choose(vanishes, 0.0, imag))


@_function("abs")
def _abs(m: MathEmitter, x: Complex) -> Value:
    """The modulus: the larger part times sqrt(1 + ratio^2); infinite beside a NaN too."""
    b = m.b
    real, imag = m.abs(x.real), m.abs(x.imag)
    swap = b.fcmp("olt", real, imag)
    large, small = b.select(swap, imag, real), b.select(swap, real, imag)
    ratio = b.fdiv(small, m.choose(m.equal(large, 0.0), 1.0, large))
    result = b.fmul(large, m.sqrt(m.fma(ratio, ratio, m.constant(1.0, real))))
    infinite = b.or_(m.equal(real, float("inf")), m.equal(imag, float("inf")))
    return m.choose(infinite, float("inf"), result)


@_function("sign")
def _sign(m: MathEmitter, x: Complex) -> Complex:
    size = _abs(m, x)
    zero = m.equal(size, 0.0)
    return Complex(m.choose(zero, 0.0, m.b.fdiv(x.real, size)), m.choose(zero, 0.0, m.b.fdiv(x.imag, size)))


def _polar(m: MathEmitter, exponent: Value, angle: Value) -> Complex:
    """e^exponent (cos, sin)(angle), the factor applied in two halves: it may overflow where the product doesn't."""
    half = m.emit("exponential", m.mul(exponent, 0.5))
    cosine, sine = m.emit("cosine", angle), m.emit("sine", angle)
    real = m.b.fmul(m.b.fmul(half, cosine), half)
    imag = m.b.fmul(m.b.fmul(half, sine), half)
    vanishes = m.equal(half, 0.0)  # also beside an infinite angle
    real, imag = m.choose(vanishes, 0.0, real), m.choose(vanishes, 0.0, imag)
    unbounded = m.b.and_(m.equal(half, float("inf")), m.b.fcmp("ueq", m.abs(angle), m.constant(float("inf"), angle)))
    real = m.choose(unbounded, float("inf"), real)
    flat = m.equal(angle, 0.0)
    return Complex(m.b.select(flat, m.b.fmul(half, half), real), m.b.select(flat, angle, imag))


@_function("exponential")
def _exp(m: MathEmitter, x: Complex) -> Complex:
    return _polar(m, x.real, x.imag)


@_function("exponential-minus-one")
def _expm1(m: MathEmitter, x: Complex) -> Complex:
    """expm1(x) cos(y) - 2 sin(y / 2)^2 and e^x sin(y)."""
    less_one = m.emit("exponential-minus-one", x.real)
    sine = m.emit("sine", m.mul(x.imag, 0.5))
    real = m.b.fsub(m.b.fmul(less_one, m.emit("cosine", x.imag)), m.mul(m.b.fmul(sine, sine), 2.0))
    real = m.b.select(m.equal(x.imag, 0.0), less_one, real)
    return Complex(real, _polar(m, x.real, x.imag).imag)


def _log_modulus(m: MathEmitter, x: Complex) -> Value:
    """log|x|; near the unit circle by log1p of |x|^2 - 1, which has no cancellation but its own."""
    b = m.b
    real, imag = m.abs(x.real), m.abs(x.imag)
    swap = b.fcmp("olt", real, imag)
    large, small = b.select(swap, imag, real), b.select(swap, real, imag)
    difference = b.fmul(m.sub(large, 1.0), m.add(large, 1.0))
    near = m.mul(m.emit("log-plus-one", m.fma(small, small, difference)), 0.5)
    ratio = b.fdiv(small, m.choose(m.equal(large, 0.0), 1.0, large))
    far = b.fadd(m.emit("log", large), m.mul(m.emit("log-plus-one", b.fmul(ratio, ratio)), 0.5))
    around = b.and_(m.greater(large, 0.5), m.less(large, 2.0))
    result = b.select(around, near, far)
    infinite = b.or_(m.equal(real, float("inf")), m.equal(imag, float("inf")))
    return m.choose(infinite, float("inf"), result)


@_function("log")
def _log(m: MathEmitter, x: Complex) -> Complex:
    return Complex(_log_modulus(m, x), m.emit("atan2", x.imag, x.real))


@_function("log-plus-one")
def _log1p(m: MathEmitter, x: Complex) -> Complex:
    b = m.b
    one_more = m.add(x.real, 1.0)
    small = b.and_(m.less(m.abs(x.real), 0.5), m.less(m.abs(x.imag), 0.5))
    inner = m.fma(x.imag, x.imag, b.fmul(x.real, m.add(x.real, 2.0)))
    near = m.mul(m.emit("log-plus-one", inner), 0.5)
    real = b.select(small, near, _log_modulus(m, Complex(one_more, x.imag)))
    return Complex(real, m.emit("atan2", x.imag, one_more))


@_function("sqrt")
def _sqrt(m: MathEmitter, x: Complex) -> Complex:
    """The root in the right half plane."""
    b = m.b
    size = b.intrinsic("maximum", m.abs(x.real), m.abs(x.imag))
    huge, tiny = m.greater(size, 2.0**1000), m.less(size, 2.0**-960)
    scale = m.choose(huge, 2.0**-4, m.choose(tiny, 2.0**100, m.constant(1.0, size)))
    back = m.choose(huge, 2.0**2, m.choose(tiny, 2.0**-50, m.constant(1.0, size)))
    real, imag = b.fmul(x.real, scale), b.fmul(x.imag, scale)
    t = m.sqrt(m.mul(b.fadd(m.abs(real), _abs(m, Complex(real, imag))), 0.5))
    other = b.fdiv(m.abs(imag), m.choose(m.equal(t, 0.0), 1.0, b.fadd(t, t)))
    right = m.b.icmp("sge", m.bits(x.real), m.integer(0, x.real))
    first, second = b.select(right, t, other), b.select(right, other, t)
    first, second = b.fmul(first, back), b.fmul(second, back)
    infinite = m.equal(m.abs(x.imag), float("inf"))
    first, second = m.choose(infinite, float("inf"), first), m.choose(infinite, float("inf"), second)
    flat = b.and_(m.equal(m.abs(x.real), float("inf")), m.less(m.abs(x.imag), float("inf")))
    first = m.choose(b.and_(flat, b.not_(right)), 0.0, first)
    second = m.choose(b.and_(flat, right), 0.0, second)
    return Complex(first, m.with_sign(second, x.imag))


@_function("rsqrt")
def _rsqrt(m: MathEmitter, x: Complex) -> Complex:
    one = Complex(m.constant(1.0, x.real), m.constant(0.0, x.real))
    return _divide(m, one, _sqrt(m, x))


@_function("cbrt")
def _cbrt(m: MathEmitter, x: Complex) -> Complex:
    log = _log(m, x)
    result = _polar(m, m.div(log.real, 3.0), m.div(log.imag, 3.0))
    zero = m.b.and_(m.equal(x.real, 0.0), m.equal(x.imag, 0.0))
    return Complex(m.b.select(zero, x.real, result.real), m.b.select(zero, x.imag, result.imag))


@_function("power")
def _power(m: MathEmitter, x: Complex, y: Complex) -> Complex:
    """e^(y log x); 0^0 is 1, and 0 to a power of positive real part 0."""
    log = _log(m, x)
    result = _polar(
        m,
        m.b.fsub(m.b.fmul(y.real, log.real), m.b.fmul(y.imag, log.imag)),
        m.b.fadd(m.b.fmul(y.real, log.imag), m.b.fmul(y.imag, log.real)),
    )
    base = m.b.and_(m.equal(x.real, 0.0), m.equal(x.imag, 0.0))
    none = m.b.and_(m.equal(y.real, 0.0), m.equal(y.imag, 0.0))
    vanishes = m.b.and_(base, m.greater(y.real, 0.0))
    real, imag = m.choose(vanishes, 0.0, result.real), m.choose(vanishes, 0.0, result.imag)
    return Complex(m.choose(none, 1.0, real), m.choose(none, 0.0, imag))


def _hyperbolic_pair(m: MathEmitter, x: Value) -> tuple[Value, Value]:
    return m.emit("sinh", x), m.emit("cosh", x)


@_function("sine")
def _sine(m: MathEmitter, x: Complex) -> Complex:
    sinh, cosh = _hyperbolic_pair(m, x.imag)
    real = m.b.fmul(m.emit("sine", x.real), cosh)
    imag = m.b.fmul(m.emit("cosine", x.real), sinh)
    return Complex(m.b.select(m.equal(x.real, 0.0), x.real, real), m.b.select(m.equal(x.imag, 0.0), x.imag, imag))


@_function("cosine")
def _cosine(m: MathEmitter, x: Complex) -> Complex:
    sinh, cosh = _hyperbolic_pair(m, x.imag)
    real = m.b.fmul(m.emit("cosine", x.real), cosh)
    imag = m.b.fneg(m.b.fmul(m.emit("sine", x.real), sinh))
    zero = m.b.fneg(m.b.fmul(x.real, m.with_sign(m.constant(1.0, sinh), sinh)))
    return Complex(real, m.b.select(m.equal(x.real, 0.0), zero, imag))


@_function("sinh")
def _sinh(m: MathEmitter, x: Complex) -> Complex:
    """-i sin(i x)."""
    turned = _sine(m, Complex(m.b.fneg(x.imag), x.real))
    return Complex(turned.imag, m.b.fneg(turned.real))


@_function("cosh")
def _cosh(m: MathEmitter, x: Complex) -> Complex:
    """cos(i x)."""
    return _cosine(m, Complex(m.b.fneg(x.imag), x.real))


@_function("tanh")
def _tanh(m: MathEmitter, x: Complex) -> Complex:
    """By t = tan(y), s = sinh(x): (1 + t^2) s sqrt(1 + s^2) and t over 1 + (1 + t^2) s^2. (Kahan.)"""
    b = m.b
    t = m.emit("tan", x.imag)
    s = m.emit("sinh", m.limit(x.real, -300.0, 300.0))
    beta = m.fma(t, t, m.constant(1.0, t))
    rho = m.sqrt(m.fma(s, s, m.constant(1.0, s)))
    below = m.fma(b.fmul(beta, s), s, m.constant(1.0, s))
    steep = m.greater(beta, 2.0**1000)
    real = b.select(steep, b.fdiv(rho, s), b.fdiv(b.fmul(b.fmul(beta, rho), s), below))
    imag = b.select(steep, b.fdiv(m.constant(0.0, t), t), b.fdiv(t, below))
    far = m.greater(m.abs(x.real), 300.0)
    real = b.select(far, m.with_sign(m.constant(1.0, t), x.real), real)
    return Complex(real, b.select(far, m.with_sign(m.constant(0.0, t), t), imag))


@_function("tan")
def _tan(m: MathEmitter, x: Complex) -> Complex:
    """-i tanh(i x)."""
    turned = _tanh(m, Complex(m.b.fneg(x.imag), x.real))
    return Complex(turned.imag, m.b.fneg(turned.real))


@_function("logistic")
def _logistic(m: MathEmitter, x: Complex) -> Complex:
    """By e = e^(+-x), whichever is not above 1: e / (1 + e) or 1 / (1 + e)."""
    b = m.b
    left = m.less(x.real, 0.0)
    e = _polar(m, m.b.fneg(m.abs(x.real)), b.select(left, x.imag, b.fneg(x.imag)))
    above = Complex(m.choose(left, e.real, m.constant(1.0, e.real)), m.choose(left, e.imag, m.constant(0.0, e.real)))
    return _divide(m, above, Complex(m.add(e.real, 1.0), e.imag))


@_function("atan2")
def _atan2(m: MathEmitter, y: Complex, x: Complex) -> Complex:
    """-i log((x + i y) / sqrt(x^2 + y^2)): the quotient's angle, and the logarithm of |x - i y| / |x + i y| halved, by
    log1p of what their squares differ by. NaN where the quotient is not finite.
    """
    b = m.b
    size = m.constant(0.0, x.real)
    for part in (*x, *y):
        size = b.intrinsic("maximum", size, m.abs(part))
    scale = m.choose(
        m.greater(size, 2.0**400), 2.0**-700, m.choose(m.less(size, 2.0**-400), 2.0**600, m.constant(1.0, size))
    )
    x, y = (Complex(b.fmul(v.real, scale), b.fmul(v.imag, scale)) for v in (x, y))
    plus = Complex(b.fsub(x.real, y.imag), b.fadd(x.imag, y.real))
    minus = Complex(b.fadd(x.real, y.imag), b.fsub(x.imag, y.real))
    real = b.fsub(b.fmul(plus.real, minus.real), b.fmul(plus.imag, minus.imag))
    imag = b.fadd(b.fmul(x.real, x.imag), b.fmul(y.real, y.imag))
    ratio = _divide(m, plus, _sqrt(m, Complex(real, b.fadd(imag, imag))))
    apart = b.fsub(b.fmul(x.real, y.imag), b.fmul(x.imag, y.real))
    less = m.less(apart, 0.0)
    small = Complex(b.select(less, minus.real, plus.real), b.select(less, minus.imag, plus.imag))
    excess = b.fdiv(m.mul(m.abs(apart), 4.0), m.fma(small.real, small.real, b.fmul(small.imag, small.imag)))
    logarithm = m.with_sign(m.mul(m.emit("log-plus-one", excess), 0.25), apart)
    result = Complex(m.emit("atan2", ratio.imag, ratio.real), logarithm)
    finite = b.and_(m.less(size, float("inf")), m.less(m.abs(b.fadd(ratio.real, ratio.imag)), float("inf")))
    nan = float("nan")
    return Complex(m.choose(finite, result.real, nan), m.choose(finite, result.imag, nan))


def _roots(m: MathEmitter, x: Complex) -> tuple[Complex, Complex]:
    """(sqrt(1 - x), sqrt(1 + x))."""
    minus = Complex(m.b.fsub(m.constant(1.0, x.real), x.real), m.b.fneg(x.imag))
    return _sqrt(m, minus), _sqrt(m, Complex(m.add(x.real, 1.0), x.imag))


def _is_huge(m: MathEmitter, x: Complex) -> Value:
    """Whether x is so large that 1 is nothing to x^2, which may overflow."""
    limit = 2.0**500 if x.real.type == "double" else 2.0**60
    return m.b.or_(m.greater(m.abs(x.real), limit), m.greater(m.abs(x.imag), limit))


def _log_double(m: MathEmitter, x: Complex) -> Value:
    """log|2 x|: what the inverse functions of huge numbers grow like."""
    return m.add(_log_modulus(m, x), math.log(2.0))


def _select(m: MathEmitter, condition: Value, x: Complex, y: Complex) -> Complex:
    return Complex(m.b.select(condition, x.real, y.real), m.b.select(condition, x.imag, y.imag))


@_function("asin")
def _asin(m: MathEmitter, x: Complex) -> Complex:
    b = m.b
    limit = 2.0**-27 if x.real.type == "double" else 2.0**-13
    tiny = b.and_(m.less(m.abs(x.real), limit), m.less(m.abs(x.imag), limit))
    angle = m.emit("atan2", x.real, m.abs(x.imag))
    return _select(
        m,
        tiny,
        x,
        _select(m, _is_huge(m, x), Complex(angle, m.with_sign(_log_double(m, x), x.imag)), _asin_between(m, x)),
    )


def _asin_between(m: MathEmitter, x: Complex) -> Complex:
    b = m.b
    minus, plus = _roots(m, x)
    product = b.fsub(b.fmul(minus.real, plus.real), b.fmul(minus.imag, plus.imag))
    cross = b.fsub(b.fmul(minus.real, plus.imag), b.fmul(minus.imag, plus.real))
    return Complex(m.emit("atan2", x.real, product), m.emit("asinh", cross))


@_function("acos")
def _acos(m: MathEmitter, x: Complex) -> Complex:
    b = m.b
    minus, plus = _roots(m, x)
    cross = b.fsub(b.fmul(plus.real, minus.imag), b.fmul(plus.imag, minus.real))
    result = Complex(m.mul(m.emit("atan2", minus.real, plus.real), 2.0), m.emit("asinh", cross))
    angle = m.emit("atan2", m.abs(x.imag), x.real)
    far = Complex(angle, b.fneg(m.with_sign(_log_double(m, x), x.imag)))
    return _select(m, _is_huge(m, x), far, result)


@_function("asinh")
def _asinh(m: MathEmitter, x: Complex) -> Complex:
    """-i asin(i x)."""
    turned = _asin(m, Complex(m.b.fneg(x.imag), x.real))
    return Complex(turned.imag, m.b.fneg(turned.real))


@_function("acosh")
def _acosh(m: MathEmitter, x: Complex) -> Complex:
    b = m.b
    below = _sqrt(m, Complex(m.sub(x.real, 1.0), x.imag))
    above = _sqrt(m, Complex(m.add(x.real, 1.0), x.imag))
    product = b.fadd(b.fmul(below.real, above.real), b.fmul(below.imag, above.imag))
    result = Complex(m.emit("asinh", product), m.mul(m.emit("atan2", below.imag, above.real), 2.0))
    return _select(m, _is_huge(m, x), Complex(_log_double(m, x), m.emit("atan2", x.imag, x.real)), result)


@_function("atanh")
def _atanh(m: MathEmitter, x: Complex) -> Complex:
    """log1p(4 x / ((1 - x)^2 + y^2)) / 4 and atan2(2 y, (1 - x) (1 + x) - y^2) / 2."""
    b = m.b
    less = b.fsub(m.constant(1.0, x.real), x.real)
    square = b.fmul(x.imag, x.imag)
    size = m.abs(x.real)
    near = b.fsub(m.constant(1.0, size), size)
    ratio = b.fdiv(m.mul(size, 4.0), m.fma(near, near, square))
    real = m.with_sign(m.mul(m.emit("log-plus-one", ratio), 0.25), x.real)
    angle = m.emit("atan2", b.fadd(x.imag, x.imag), b.fsub(b.fmul(less, m.add(x.real, 1.0)), square))
    half = m.with_sign(m.constant(math.pi / 2, x.real), x.imag)
    far = Complex(m.with_sign(_reciprocal_real(m, size, m.abs(x.imag)), x.real), half)
    return _select(m, _is_huge(m, x), far, Complex(real, m.mul(angle, 0.5)))


def _reciprocal_real(m: MathEmitter, x: Value, y: Value) -> Value:
    """The real part of 1 / (x + i y) for x, y >= 0, of which one is large: x / (x^2 + y^2) without overflow."""
    b = m.b
    swap = b.fcmp("olt", x, y)
    large, small = b.select(swap, y, x), b.select(swap, x, y)
    ratio, inverse = b.fdiv(small, large), b.fdiv(m.constant(1.0, x), large)
    result = b.fdiv(b.select(swap, b.fmul(ratio, inverse), inverse), m.fma(ratio, ratio, m.constant(1.0, x)))
    return m.choose(m.equal(large, float("inf")), 0.0, result)


@_function("atan")
def _atan(m: MathEmitter, x: Complex) -> Complex:
    """-i atanh(i x)."""
    turned = _atanh(m, Complex(m.b.fneg(x.imag), x.real))
    return Complex(turned.imag, m.b.fneg(turned.real))
