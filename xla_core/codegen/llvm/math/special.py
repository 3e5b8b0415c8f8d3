"""Roots and the error function."""

from __future__ import annotations

from xla_core.codegen.llvm.builder import Value
from xla_core.codegen.llvm.math.coefficients import ERF, LOG_ERFC
from xla_core.codegen.llvm.math.emitter import MathEmitter, math_function
from xla_core.codegen.llvm.math.exponential import exp, exp_with_low

__all__ = ["cbrt", "erf", "rsqrt"]


@math_function("rsqrt")
def rsqrt(m: MathEmitter, x: Value) -> Value:
    """1 / sqrt(x)."""
    return m.b.fdiv(m.constant(1.0, x), m.sqrt(x))


@math_function("cbrt")
def cbrt(m: MathEmitter, x: Value) -> Value:
    """A third of the exponent as a first guess, then Halley's iteration, which triples the digits."""
    if x.type == "float":
        return m.in_f64("cbrt", x)
    b = m.b
    size = m.abs(x)
    tiny, huge = m.less(size, 2.0**-1022), m.greater(size, 2.0**1000)
    y = b.fmul(size, m.choose(tiny, 2.0**54, m.choose(huge, 2.0**-54, m.constant(1.0, x))))
    # The high word by 3, plus the constant that centres the error (Kahan), is right to 5 %.
    high = b.cast("trunc", b.lshr(m.bits(y), 32), "i32")
    guess = b.add(b.udiv(high, b.int_(3, "i32")), b.int_(715094163, "i32"))
    t = b.bitcast(b.shl(b.cast("zext", guess, "i64"), 32), "double")
    for _ in range(2):
        cube = b.fmul(b.fmul(t, t), t)
        t = b.fmul(t, b.fdiv(m.fma(y, m.constant(2.0, x), cube), m.fma(cube, m.constant(2.0, x), y)))
    # A last step in which only the correction is rounded: t - t (t^3 - y) / (2 t^3 + y).
    square, square_low = m.two_product(t, t)
    cube, cube_low = m.two_product(square, t)
    excess = b.fadd(b.fsub(cube, y), m.fma(square_low, t, cube_low))
    t = b.fsub(t, b.fmul(t, b.fdiv(excess, m.fma(cube, m.constant(2.0, x), y))))
    t = b.fmul(t, m.choose(tiny, 2.0**-18, m.choose(huge, 2.0**18, m.constant(1.0, x))))
    plain = b.and_(m.greater(size, 0.0), m.less(size, float("inf")))
    return b.select(plain, m.with_sign(t, x), b.fadd(x, x))


@math_function("erf")
def erf(m: MathEmitter, x: Value) -> Value:
    """Within 1 a polynomial; outside 1 - e^(log erfc)."""
    b = m.b
    y = m.abs(x)
    z = b.fmul(y, y)
    near = m.fma(y, m.polynomial(z, ERF[x.type]), y)
    if x.type == "float":
        bounded = m.choose(m.greater(y, 4.0), 4.0, y)
        complement = exp(m, m.polynomial(bounded, LOG_ERFC["float"]))
    else:
        bounded = m.choose(m.greater(y, 6.0), 6.0, y)
        first = m.polynomial(m.sub(bounded, 1.75), LOG_ERFC["near"])
        second = m.polynomial(m.sub(bounded, 4.25), LOG_ERFC["far"])
        exponent = b.select(m.less(bounded, 2.5), first, second)
        square, low = m.two_product(bounded, bounded)
        high, rest = m.two_sum(b.fneg(square), exponent)
        complement = exp_with_low(m, high, b.fsub(rest, low))
    far = b.fsub(m.constant(1.0, x), complement)
    result = b.select(m.less(y, 1.0), near, far)
    return m.choose(b.fcmp("uno", x, x), x, m.with_sign(result, x))
