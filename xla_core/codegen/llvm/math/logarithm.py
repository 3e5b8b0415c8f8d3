"""log and what is made of it: log1p, asinh, acosh, atanh, and pow."""

from __future__ import annotations

from xla_core.codegen.llvm.builder import Value
from xla_core.codegen.llvm.math.coefficients import LN2_HIGH, LN2_LOW, LOG, TWO_THIRDS_LOW
from xla_core.codegen.llvm.math.emitter import MathEmitter, math_function
from xla_core.codegen.llvm.math.exponential import exp_with_low

__all__ = ["log", "log1p", "power"]

_LEAST_NORMAL = {"float": 2.0**-126, "double": 2.0**-1022}
_SQRT_HALF_BITS = {"float": 0x3F3504F3, "double": 0x3FE6A09E667F3BCD}


def _split(m: MathEmitter, x: Value, *, denormals: bool = True) -> tuple[Value, Value]:
    """(mantissa in [sqrt(1/2), sqrt(2)), exponent as an integer) of a positive finite number."""
    mantissa_bits = 52 if x.type == "double" else 23
    extra = m.integer(0, x)
    if denormals:
        tiny = m.less(x, _LEAST_NORMAL[x.type])
        x = m.choose(tiny, m.mul(x, 2.0**mantissa_bits), x)
        extra = m.b.select(tiny, m.integer(-mantissa_bits, x), extra)
    bits = m.bits(x)
    exponent = m.b.ashr(m.b.sub(bits, m.integer(_SQRT_HALF_BITS[x.type], x)), mantissa_bits)
    mantissa = m.b.bitcast(m.b.sub(bits, m.b.shl(exponent, mantissa_bits)), x.type)
    return mantissa, m.b.add(exponent, extra)


def _log_of(m: MathEmitter, f: Value, exponent: Value) -> Value:
    """log((1 + f) 2^exponent)."""
    b = m.b
    e = b.cast("sitofp", exponent, f.type)
    if exponent.type == "i64":
        e = b.cast("sitofp", b.cast("trunc", exponent, "i32"), f.type)
    square = b.fmul(f, f)
    half = m.mul(square, 0.5)
    high, low = m.constant(LN2_HIGH[f.type], f), m.constant(LN2_LOW[f.type], f)
    if f.type == "float":
        tail = b.fmul(b.fmul(f, square), m.polynomial(f, LOG["float"]))
        tail = b.fsub(m.fma(e, low, tail), half)
        return m.fma(e, high, b.fadd(f, tail))
    s = b.fdiv(f, m.add(f, 2.0))
    z = b.fmul(s, s)
    series = b.fmul(z, m.polynomial(z, LOG["double"]))
    tail = m.fma(s, b.fadd(half, series), b.fmul(e, low))
    return b.fsub(b.fmul(e, high), b.fsub(b.fsub(half, tail), f))


def _at_edges(m: MathEmitter, x: Value, result: Value, pole: float) -> Value:
    """-inf at the pole, NaN below it, infinity and NaN as they are."""
    result = m.choose(m.equal(x, pole), float("-inf"), result)
    result = m.choose(m.less(x, pole), float("nan"), result)
    return m.choose(m.b.fcmp("ult", x, m.constant(float("inf"), x)), m.choose(m.b.fcmp("uno", x, x), x, result), x)


@math_function("log")
def log(m: MathEmitter, x: Value) -> Value:
    """The natural logarithm."""
    mantissa, exponent = _split(m, x)
    return _at_edges(m, x, _log_of(m, m.sub(mantissa, 1.0), exponent), 0.0)


@math_function("log-plus-one")
def log1p(m: MathEmitter, x: Value) -> Value:
    """log(1 + x): of the rounded sum, with its rounding error put back into the mantissa."""
    total, error = m.two_sum(m.constant(1.0, x), x)
    mantissa, exponent = _split(m, total, denormals=False)
    large = m.greater(x, 2.0**60)
    bounded = m.b.select(large, m.integer(0, x), exponent)
    error = m.b.fmul(m.choose(large, 0.0, error), m.power_of_two(m.b.sub(m.integer(0, x), bounded)))
    result = _log_of(m, m.b.fadd(m.sub(mantissa, 1.0), error), exponent)
    result = m.choose(m.equal(x, 0.0), x, result)  # keeps -0
    return _at_edges(m, x, result, -1.0)


@math_function("asinh")
def asinh(m: MathEmitter, x: Value) -> Value:
    """log1p(|x| + x^2 / (1 + sqrt(1 + x^2))); far out log(|x|) + log(2)."""
    if x.type == "float":
        return m.in_f64("asinh", x)
    y = m.abs(x)
    square = m.b.fmul(y, y)
    near = log1p(m, m.b.fadd(y, m.b.fdiv(square, m.add(m.sqrt(m.add(square, 1.0)), 1.0))))
    far = m.add(log(m, y), 0.6931471805599453)
    return m.with_sign(m.choose(m.greater(y, 2.0**28), far, near), x)


@math_function("acosh")
def acosh(m: MathEmitter, x: Value) -> Value:
    """log1p(t + sqrt(2 t + t^2)), t = x - 1; far out log(x) + log(2)."""
    if x.type == "float":
        return m.in_f64("acosh", x)
    t = m.sub(x, 1.0)
    near = log1p(m, m.b.fadd(t, m.sqrt(m.fma(t, t, m.b.fadd(t, t)))))
    far = m.add(log(m, x), 0.6931471805599453)
    result = m.choose(m.greater(x, 2.0**28), far, near)
    return m.choose(m.less(x, 1.0), float("nan"), result)


@math_function("atanh")
def atanh(m: MathEmitter, x: Value) -> Value:
    """log1p(2 |x| / (1 - |x|)) / 2."""
    if x.type == "float":
        return m.in_f64("atanh", x)
    y = m.abs(x)
    inside = m.b.fdiv(m.b.fadd(y, y), m.b.fsub(m.constant(1.0, x), y))
    result = m.with_sign(m.mul(log1p(m, inside), 0.5), x)
    return m.choose(m.greater(y, 1.0), float("nan"), result)


@math_function("power")
def power(m: MathEmitter, x: Value, y: Value) -> Value:
    """e^(y log|x|), the logarithm to twice the precision; signs and special cases are those of C's pow."""
    if x.type == "float":
        return m.in_f64("power", x, y)
    b = m.b
    size = m.abs(x)
    high, low = _log_in_two(m, size)
    product, error = m.two_product(y, high)
    error = m.fma(y, low, error)
    plain = b.fcmp("one", m.abs(product), m.constant(float("inf"), x))
    plain = b.and_(plain, m.less(m.abs(product), 800.0))
    result = exp_with_low(m, product, m.choose(plain, error, 0.0))
    whole = b.fcmp("oeq", b.intrinsic("floor", y), y)
    half = m.mul(y, 0.5)
    odd = b.and_(whole, b.fcmp("one", b.intrinsic("floor", half), half))
    negative = b.icmp("slt", m.bits(x), m.integer(0, x))
    result = b.select(b.and_(negative, odd), b.fneg(result), result)
    finite = m.less(size, float("inf"))
    undefined = b.and_(b.and_(m.less(x, 0.0), finite), b.and_(b.not_(whole), m.less(m.abs(y), float("inf"))))
    result = m.choose(undefined, float("nan"), result)
    one = b.and_(m.equal(x, -1.0), m.equal(m.abs(y), float("inf")))
    return m.choose(b.or_(one, b.or_(m.equal(x, 1.0), m.equal(y, 0.0))), 1.0, result)


def _log_in_two(m: MathEmitter, x: Value) -> tuple[Value, Value]:
    """log(x) of a non-negative f64 as a sum of two, some 10 bits more exact than one."""
    b = m.b
    mantissa, exponent = _split(m, x)
    f, e = m.sub(mantissa, 1.0), b.cast("sitofp", b.cast("trunc", exponent, "i32"), "double")
    below = m.add(f, 2.0)
    below_low = b.fsub(f, m.sub(below, 2.0))
    s = b.fdiv(f, below)
    product, error = m.two_product(s, below)
    s_low = b.fdiv(b.fsub(b.fsub(b.fsub(f, product), error), b.fmul(s, below_low)), below)
    z, z_low = m.two_product(s, s)
    z_low = m.fma(m.add(s, 0.0), b.fadd(s_low, s_low), z_low)
    tail = b.fmul(z, m.polynomial(z, LOG["double"][1:]))
    third, third_low = m.fast_two_sum(m.constant(2.0 / 3.0, x), tail)
    third_low = m.add(third_low, TWO_THIRDS_LOW)
    u, u_low = m.two_product(z, third)
    u_low = b.fadd(u_low, b.fadd(b.fmul(z, third_low), b.fmul(z_low, third)))
    v, v_low = m.two_product(s, u)
    v_low = b.fadd(v_low, b.fadd(b.fmul(s, u_low), b.fmul(s_low, u)))
    start = b.fmul(e, m.constant(LN2_HIGH["double"], x))
    total, rest = m.two_sum(start, b.fadd(s, s))
    total, rest_v = m.two_sum(total, v)
    low = b.fadd(b.fadd(rest, rest_v), b.fadd(v_low, b.fadd(s_low, s_low)))
    low = m.fma(e, m.constant(LN2_LOW["double"], x), low)
    high, low = m.fast_two_sum(total, low)
    special = b.or_(m.equal(x, 0.0), b.fcmp("ueq", x, m.constant(float("inf"), x)))
    value = m.choose(m.equal(x, 0.0), float("-inf"), x)
    return m.choose(special, value, high), m.choose(special, 0.0, low)
