"""exp and what is made of it: expm1, logistic, tanh, sinh, cosh."""

from __future__ import annotations

from xla_core.codegen.llvm.builder import Value
from xla_core.codegen.llvm.math.coefficients import EXPONENTIAL, LN2_HIGH, LN2_LOW
from xla_core.codegen.llvm.math.emitter import MathEmitter, math_function

__all__ = ["exp", "exp_with_low", "expm1"]

_LOWEST = {"float": -104.0, "double": -746.0}  # e^x rounds to zero below
_HIGHEST = {"float": 89.0, "double": 710.0}  # and to infinity above


def _reduced(m: MathEmitter, x: Value, low: Value | None = None) -> tuple[Value, Value, Value]:
    """(r, e^r - 1, n) with x + low = n ln(2) + r, |r| <= ln(2) / 2."""
    n, number = m.nearest(m.mul(x, 1.4426950408889634))
    r = m.fma(n, m.constant(-LN2_HIGH[x.type], x), x)
    r = m.fma(n, m.constant(-LN2_LOW[x.type], x), r)
    if low is not None:
        r = m.b.fadd(r, low)
    tail = m.polynomial(r, EXPONENTIAL[x.type])
    return r, m.fma(m.b.fmul(r, r), tail, r), number


def exp_with_low(m: MathEmitter, x: Value, low: Value | None) -> Value:
    """e^(x + low), |low| far below |x|. The scale is applied in two halves, so that denormal results round once."""
    x = m.limit(x, _LOWEST[x.type], _HIGHEST[x.type])
    _, less_one, n = _reduced(m, x, low)
    half = m.b.ashr(n, 1)
    result = m.b.fmul(m.add(less_one, 1.0), m.power_of_two(half))
    return m.b.fmul(result, m.power_of_two(m.b.sub(n, half)))


@math_function("exponential")
def exp(m: MathEmitter, x: Value) -> Value:
    """e^x."""
    return exp_with_low(m, x, None)


@math_function("exponential-minus-one")
def expm1(m: MathEmitter, x: Value) -> Value:
    """e^x - 1 = 2 (2^(n-1) (e^r - 1) + (2^(n-1) - 1/2)): half of it never overflows early."""
    small = {"float": -18.0, "double": -38.0}[x.type]
    _, less_one, n = _reduced(m, m.limit(x, small, _HIGHEST[x.type]))
    scale = m.power_of_two(m.b.sub(n, m.integer(1, n)))
    half = m.fma(less_one, scale, m.sub(scale, 0.5))
    result = m.b.fadd(half, half)
    tiny = m.less(m.abs(x), {"float": 2.0**-26, "double": 2.0**-55}[x.type])
    return m.b.select(tiny, x, result)  # keeps -0, and all bits of denormal numbers


@math_function("logistic")
def logistic(m: MathEmitter, x: Value) -> Value:
    """1 / (1 + e^-x), by e^-|x|, which is exact down to denormal results."""
    z = exp(m, m.b.fneg(m.abs(x)))
    return m.b.fdiv(m.choose(m.less(x, 0.0), z, 1.0), m.add(z, 1.0))


@math_function("tanh")
def tanh(m: MathEmitter, x: Value) -> Value:
    """By t = e^2|x| - 1: t / (t + 2)."""
    y = m.abs(x)
    y = m.choose(m.greater(y, {"float": 10.0, "double": 22.0}[x.type]), {"float": 10.0, "double": 22.0}[x.type], y)
    t = expm1(m, m.b.fadd(y, y))
    return m.with_sign(m.b.fdiv(t, m.add(t, 2.0)), x)


@math_function("sinh")
def sinh(m: MathEmitter, x: Value) -> Value:
    """(t + t / (t + 1)) / 2, t = e^|x| - 1; far out e^(|x|/2) squared, which overflows later than e^|x|."""
    if x.type == "float":
        return m.in_f64("sinh", x)
    y = m.abs(x)
    t = expm1(m, y)
    near = m.mul(m.b.fadd(t, m.b.fdiv(t, m.add(t, 1.0))), 0.5)
    return m.with_sign(m.choose(m.greater(y, 40.0), _half_exp(m, y), near), x)


@math_function("cosh")
def cosh(m: MathEmitter, x: Value) -> Value:
    """(e^|x| + e^-|x|) / 2."""
    if x.type == "float":
        return m.in_f64("cosh", x)
    y = m.abs(x)
    e = exp(m, y)
    near = m.b.fadd(m.mul(e, 0.5), m.b.fdiv(m.constant(0.5, x), e))
    return m.choose(m.greater(y, 40.0), _half_exp(m, y), near)


def _half_exp(m: MathEmitter, x: Value) -> Value:
    """e^x / 2 without early overflow."""
    x = m.limit(x, 0.0, 712.0)
    # x - ln(2) in two parts: e^(high + low), where the difference's own rounding error would cost 500 ULP
    high, low = m.two_sum(x, m.constant(-0.6931471805599453, x))
    return exp_with_low(m, high, m.add(low, -2.3190468138462996e-17))
