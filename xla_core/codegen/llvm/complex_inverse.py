"""Inverse trigonometric and hyperbolic functions of complex numbers.

By sums of roots that share their branch cuts, so that nothing cancels beside those. (Kahan, Branch cuts for complex
elementary functions, 1987.)
"""

from __future__ import annotations

import math

from xla_core.codegen.llvm.builder import Value
from xla_core.codegen.llvm.complex_arithmetic import complex_function, divide
from xla_core.codegen.llvm.complex_elementary import log_modulus, sqrt
from xla_core.codegen.llvm.ir_array import Complex
from xla_core.codegen.llvm.math import MathEmitter

__all__: list[str] = []


@complex_function("atan2")
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
    ratio = divide(m, plus, sqrt(m, Complex(real, b.fadd(imag, imag))))
    apart = b.fsub(b.fmul(x.real, y.imag), b.fmul(x.imag, y.real))
    less = m.less(apart, 0.0)
    small = Complex(b.select(less, minus.real, plus.real), b.select(less, minus.imag, plus.imag))
    excess = b.fdiv(m.mul(m.abs(apart), 4.0), m.fma(small.real, small.real, b.fmul(small.imag, small.imag)))
    logarithm = m.with_sign(m.mul(m.emit("log-plus-one", excess), 0.25), apart)
    # The quotient's angle is half of what the angles of x + i y and x - i y differ by, but for multiples of pi.
    across = b.fadd(b.fmul(plus.real, minus.real), b.fmul(plus.imag, minus.imag))
    apart_small = b.fsub(b.fmul(plus.imag, minus.real), b.fmul(plus.real, minus.imag))
    along = m.mul(b.fadd(b.fmul(x.real, y.real), b.fmul(x.imag, y.imag)), 2.0)
    half = m.mul(m.emit("atan2", b.select(m.greater(excess, 1.0), apart_small, along), across), 0.5)
    rough = m.emit("atan2", ratio.imag, ratio.real)
    turns, _ = m.nearest(m.mul(b.fsub(rough, half), 1 / math.pi))
    result = Complex(b.fadd(half, m.mul(turns, math.pi)), logarithm)
    finite = b.and_(m.less(size, float("inf")), m.less(m.abs(b.fadd(ratio.real, ratio.imag)), float("inf")))
    nan = float("nan")
    return Complex(m.choose(finite, result.real, nan), m.choose(finite, result.imag, nan))


def _roots(m: MathEmitter, x: Complex) -> tuple[Complex, Complex]:
    """(sqrt(1 - x), sqrt(1 + x))."""
    minus = Complex(m.b.fsub(m.constant(1.0, x.real), x.real), m.b.fneg(x.imag))
    return sqrt(m, minus), sqrt(m, Complex(m.add(x.real, 1.0), x.imag))


def _is_huge(m: MathEmitter, x: Complex) -> Value:
    """Whether x is so large that 1 is nothing to x^2, which may overflow."""
    limit = 2.0**500 if x.real.type == "double" else 2.0**60
    return m.b.or_(m.greater(m.abs(x.real), limit), m.greater(m.abs(x.imag), limit))


def _log_double(m: MathEmitter, x: Complex) -> Value:
    """log|2 x|: what the inverse functions of huge numbers grow like."""
    return m.add(log_modulus(m, x), math.log(2.0))


def _select(m: MathEmitter, condition: Value, x: Complex, y: Complex) -> Complex:
    return Complex(m.b.select(condition, x.real, y.real), m.b.select(condition, x.imag, y.imag))


@complex_function("asin")
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
    angle = m.b.select(m.equal(x.real, 0.0), x.real, m.emit("atan2", x.real, product))
    return Complex(angle, m.emit("asinh", cross))


@complex_function("acos")
def _acos(m: MathEmitter, x: Complex) -> Complex:
    b = m.b
    minus, plus = _roots(m, x)
    cross = b.fsub(b.fmul(plus.real, minus.imag), b.fmul(plus.imag, minus.real))
    angle = m.mul(m.emit("atan2", minus.real, plus.real), 2.0)
    angle = m.choose(m.equal(x.real, 0.0), math.pi / 2, angle)
    result = Complex(angle, m.emit("asinh", cross))
    angle = m.emit("atan2", m.abs(x.imag), x.real)
    far = Complex(angle, b.fneg(m.with_sign(_log_double(m, x), x.imag)))
    return _select(m, _is_huge(m, x), far, result)


@complex_function("asinh")
def _asinh(m: MathEmitter, x: Complex) -> Complex:
    """-i asin(i x)."""
    turned = _asin(m, Complex(m.b.fneg(x.imag), x.real))
    return Complex(turned.imag, m.b.fneg(turned.real))


@complex_function("acosh")
def _acosh(m: MathEmitter, x: Complex) -> Complex:
    b = m.b
    below = sqrt(m, Complex(m.sub(x.real, 1.0), x.imag))
    above = sqrt(m, Complex(m.add(x.real, 1.0), x.imag))
    product = b.fadd(b.fmul(below.real, above.real), b.fmul(below.imag, above.imag))
    result = Complex(m.emit("asinh", product), m.mul(m.emit("atan2", below.imag, above.real), 2.0))
    return _select(m, _is_huge(m, x), Complex(_log_double(m, x), m.emit("atan2", x.imag, x.real)), result)


@complex_function("atanh")
def _atanh(m: MathEmitter, x: Complex) -> Complex:
    """log1p(4 x / ((1 - x)^2 + y^2)) / 4 and atan2(2 y, (1 - x) (1 + x) - y^2) / 2.

    At x = 1 beside a y whose square vanishes, log(2 / y) / 2.
    """
    b = m.b
    less = b.fsub(m.constant(1.0, x.real), x.real)
    square = b.fmul(x.imag, x.imag)
    size, height = m.abs(x.real), m.abs(x.imag)
    near = b.fsub(m.constant(1.0, size), size)
    steep = b.and_(m.equal(near, 0.0), m.less(height, 2.0**-400))
    above = m.choose(steep, 2.0**-99, m.mul(size, 4.0))
    logarithm = m.emit("log-plus-one", b.fdiv(above, b.select(steep, height, m.fma(near, near, square))))
    whole = b.select(steep, m.add(m.mul(logarithm, 0.5), 50 * math.log(2.0)), m.mul(logarithm, 0.25))
    real = b.select(m.equal(size, 0.0), x.real, m.with_sign(whole, x.real))
    angle = m.emit("atan2", b.fadd(x.imag, x.imag), b.fsub(b.fmul(less, m.add(x.real, 1.0)), square))
    half = m.with_sign(m.constant(math.pi / 2, x.real), x.imag)
    half = b.select(b.fcmp("uno", x.imag, x.imag), x.imag, half)
    far = Complex(m.with_sign(_reciprocal_real(m, size, height), x.real), half)
    return _select(m, _is_huge(m, x), far, Complex(real, m.mul(angle, 0.5)))


def _reciprocal_real(m: MathEmitter, x: Value, y: Value) -> Value:
    """The real part of 1 / (x + i y) for x, y >= 0, of which one is large: x / (x^2 + y^2) without overflow."""
    b = m.b
    swap = b.fcmp("olt", x, y)
    large, small = b.select(swap, y, x), b.select(swap, x, y)
    ratio, inverse = b.fdiv(small, large), b.fdiv(m.constant(1.0, x), large)
    result = b.fdiv(b.select(swap, b.fmul(ratio, inverse), inverse), m.fma(ratio, ratio, m.constant(1.0, x)))
    infinite = b.or_(m.equal(x, float("inf")), m.equal(y, float("inf")))
    return m.choose(infinite, 0.0, result)


@complex_function("atan")
def _atan(m: MathEmitter, x: Complex) -> Complex:
    """-i atanh(i x)."""
    turned = _atanh(m, Complex(m.b.fneg(x.imag), x.real))
    return Complex(turned.imag, m.b.fneg(turned.real))
