"""log and the functions that are computed from it: log1p, asinh, acosh, atanh and pow."""

from __future__ import annotations

import math

from xla_core.elementary.arithmetic import Arithmetic, V
from xla_core.elementary.coefficients import EXP2, LN2_HIGH, LN2_LOW, LOG, LOG2, TWO_THIRDS_LOW
from xla_core.elementary.exponential import exp_with_low
from xla_core.elementary.functions import function

_LEAST_NORMAL = {"f32": 2.0**-126, "f64": 2.0**-1022}
_SQRT_HALF_BITS = {"f32": 0x3F3504F3, "f64": 0x3FE6A09E667F3BCD}


def split(m: Arithmetic[V], x: V, *, denormals: bool = True) -> tuple[V, V]:
    """Splits a positive finite number into (mantissa in [sqrt(1/2), sqrt(2)), exponent as an integer)."""
    mantissa_bits = 52 if m.kind(x) == "f64" else 23
    extra = m.integer(0, x)
    if denormals:
        tiny = m.less(x, _LEAST_NORMAL[m.kind(x)])
        x = m.choose(tiny, m.mul(x, 2.0**mantissa_bits), x)
        extra = m.select(tiny, m.integer(-mantissa_bits, x), extra)
    bits = m.bits(x)
    exponent = m.ashr(m.isub(bits, m.integer(_SQRT_HALF_BITS[m.kind(x)], x)), mantissa_bits)
    mantissa = m.from_bits(m.isub(bits, m.shl(exponent, mantissa_bits)))
    return mantissa, m.iadd(exponent, extra)


def log_of(m: Arithmetic[V], f: V, exponent: V) -> V:
    """Returns log((1 + f) 2^exponent)."""
    e = m.to_float(m.truncate(exponent), m.kind(f))
    square = m.mul(f, f)
    half = m.mul(square, 0.5)
    high, low = m.constant(LN2_HIGH[m.kind(f)], f), m.constant(LN2_LOW[m.kind(f)], f)
    if m.kind(f) == "f32":
        tail = m.mul(m.mul(f, square), m.polynomial(f, LOG["f32"]))
        tail = m.sub(m.fma(e, low, tail), half)
        return m.fma(e, high, m.add(f, tail))
    s = m.div(f, m.add(f, 2.0))
    z = m.mul(s, s)
    series = m.mul(z, m.polynomial(z, LOG["f64"]))
    tail = m.fma(s, m.add(half, series), m.mul(e, low))
    return m.sub(m.mul(e, high), m.sub(m.sub(half, tail), f))


def _at_edges(m: Arithmetic[V], x: V, result: V, pole: float) -> V:
    """Sets special results: -inf at the pole, NaN below it; infinity and NaN stay as they are."""
    result = m.choose(m.equal(x, pole), float("-inf"), result)
    result = m.choose(m.less(x, pole), float("nan"), result)
    return m.choose(m.fcmp("ult", x, m.constant(float("inf"), x)), m.choose(m.fcmp("uno", x, x), x, result), x)


@function("log")
def log(m: Arithmetic[V], x: V) -> V:
    """The natural logarithm."""
    mantissa, exponent = split(m, x)
    return _at_edges(m, x, log_of(m, m.sub(mantissa, 1.0), exponent), 0.0)


@function("log-plus-one")
def log1p(m: Arithmetic[V], x: V) -> V:
    """Computes log(1 + x) as the logarithm of the rounded sum, whose rounding error corrects the mantissa."""
    total, error = m.two_sum(m.constant(1.0, x), x)
    mantissa, exponent = split(m, total, denormals=False)
    large = m.greater(x, 2.0**60)
    bounded = m.select(large, m.integer(0, x), exponent)
    error = m.mul(m.choose(large, 0.0, error), m.power_of_two(m.isub(m.integer(0, x), bounded)))
    result = log_of(m, m.add(m.sub(mantissa, 1.0), error), exponent)
    result = m.choose(m.equal(x, 0.0), x, result)  # keeps -0
    return _at_edges(m, x, result, -1.0)


def _log_of_quotient_in_f64(m: Arithmetic[V], difference: V, total: V, twos: V) -> V:
    """Returns log(2^twos (1 + s) / (1 - s)), with s = difference / total, to the digits of f32."""
    s = m.div(difference, total)
    return m.mul(m.fma(s, m.polynomial(m.mul(s, s), LOG2), twos), math.log(2.0))


def _log_of_sum_in_f64(m: Arithmetic[V], u: V, difference: V, total: V) -> V:
    """Returns log(u) to the digits of f32, for u >= 1. Near 1 it takes (u - 1) / (u + 1) = difference / total."""
    _, exponent = split(m, u, denormals=False)
    near, power = m.icmp("eq", exponent, m.integer(0, u)), m.power_of_two(exponent)
    difference = m.select(near, difference, m.sub(u, power))
    total = m.select(near, total, m.add(u, power))
    result = _log_of_quotient_in_f64(m, difference, total, m.to_float(m.truncate(exponent), "f64"))
    return m.choose(m.fcmp("ult", u, m.constant(math.inf, u)), result, u)


@function("asinh")
def asinh(m: Arithmetic[V], x: V) -> V:
    """Computes log1p(|x| + x^2 / (1 + sqrt(1 + x^2))), or log(|x|) + log(2) for large |x|.

    f32 is computed in f64 as log(|x| + sqrt(1 + x^2)).
    """
    y = m.abs(x)
    if m.prefers_f64(x):
        y = m.widen(y)
        root = m.sqrt(m.fma(y, y, m.constant(1.0, y)))
        return m.with_sign(m.narrow(_log_of_sum_in_f64(m, m.add(y, root), y, m.add(root, 1.0))), x)
    square = m.mul(y, y)
    near = m.emit("log-plus-one", m.add(y, m.div(square, m.add(m.sqrt(m.add(square, 1.0)), 1.0))))
    far = m.add(m.emit("log", y), 0.6931471805599453)
    return m.with_sign(m.choose(m.greater(y, 2.0**28), far, near), x)


@function("acosh")
def acosh(m: Arithmetic[V], x: V) -> V:
    """Computes log1p(t + sqrt(2 t + t^2)) with t = x - 1, or log(x) + log(2) for large x.

    f32 is computed in f64 as log(x + sqrt(x^2 - 1)).
    """
    if m.prefers_f64(x):
        y = m.widen(x)
        above = m.add(y, 1.0)
        root = m.sqrt(m.mul(m.sub(y, 1.0), above))
        return m.choose(m.less(x, 1.0), math.nan, m.narrow(_log_of_sum_in_f64(m, m.add(y, root), root, above)))
    t = m.sub(x, 1.0)
    near = m.emit("log-plus-one", m.add(t, m.sqrt(m.fma(t, t, m.add(t, t)))))
    far = m.add(m.emit("log", x), 0.6931471805599453)
    result = m.choose(m.greater(x, 2.0**28), far, near)
    return m.choose(m.less(x, 1.0), float("nan"), result)


@function("atanh")
def atanh(m: Arithmetic[V], x: V) -> V:
    """Computes log1p(2 |x| / (1 - |x|)) / 2.

    f32 is computed in f64, where the quotient of 1 + |x| and 1 - |x| needs no rounding before it is divided.
    """
    y = m.abs(x)
    if m.prefers_f64(x):
        _, exponent = split(m, m.div(m.add(y, 1.0), m.sub(m.constant(1.0, y), y)), denormals=False)
        wide, power = m.widen(y), m.widen(m.power_of_two(exponent))
        more, less = m.add(power, 1.0), m.sub(m.constant(1.0, power), power)
        twos = m.widen(m.to_float(exponent, "f32"))
        log = _log_of_quotient_in_f64(m, m.fma(wide, more, less), m.fma(wide, less, more), twos)
        inside = m.with_sign(m.narrow(m.mul(log, 0.5)), x)
        return m.select(m.less(y, 1.0), inside, m.choose(m.equal(y, 1.0), m.mul(x, math.inf), math.nan))
    inside = m.div(m.add(y, y), m.sub(m.constant(1.0, x), y))
    result = m.with_sign(m.mul(m.emit("log-plus-one", inside), 0.5), x)
    return m.choose(m.greater(y, 1.0), float("nan"), result)


@function("power")
def power(m: Arithmetic[V], x: V, y: V) -> V:
    """Returns |x|^y with the sign and the special cases of C's pow."""
    size = m.abs(x)
    result = (_power_in_f64 if m.prefers_f64(x) else _power_by_double_double)(m, size, y)
    whole = m.fcmp("oeq", m.floor(y), y)
    half = m.mul(y, 0.5)
    odd = m.and_(whole, m.fcmp("one", m.floor(half), half))
    negative = m.icmp("slt", m.bits(x), m.integer(0, x))
    result = m.select(m.and_(negative, odd), m.neg(result), result)
    finite = m.less(size, float("inf"))
    undefined = m.and_(m.and_(m.less(x, 0.0), finite), m.and_(m.not_(whole), m.less(m.abs(y), float("inf"))))
    result = m.choose(undefined, float("nan"), result)
    one = m.and_(m.equal(x, -1.0), m.equal(m.abs(y), float("inf")))
    return m.choose(m.or_(one, m.or_(m.equal(x, 1.0), m.equal(y, 0.0))), 1.0, result)


def _power_in_f64(m: Arithmetic[V], x: V, y: V) -> V:
    """Computes 2^(y log2(x)) of f32 values in f64, for x >= 0 and y other than 0.

    f64 has 29 bits more than the result, and y log2(x) matters up to 150, which takes 8 of them.
    """
    mantissa, exponent = split(m, x)
    whole = m.to_float(exponent, "f32")
    whole = m.choose(m.equal(x, 0.0), float("-inf"), m.select(m.fcmp("ueq", x, m.constant(float("inf"), x)), x, whole))
    f = m.widen(m.sub(mantissa, 1.0))
    s = m.div(f, m.add(f, 2.0))
    log2 = m.fma(s, m.polynomial(m.mul(s, s), LOG2), m.widen(whole))
    product = m.limit(m.mul(m.widen(y), log2), -1000.0, 1000.0)  # f32 overflows, or vanishes, long before
    integer, low_bits = m.nearest(product, 1.0)
    return m.narrow(m.mul(m.polynomial(m.sub(product, integer), EXP2), m.power_of_two(low_bits)))


def _power_by_double_double(m: Arithmetic[V], x: V, y: V) -> V:
    """Computes e^(y log(x)) for x >= 0, with the logarithm in twice the precision."""
    high, low = log_double_double(m, x)
    product, error = m.two_product(y, high)
    error = m.fma(y, low, error)
    if not m.has_fma:  # splitting a huge y gives NaN
        error = m.choose(m.fcmp("uno", error, error), 0.0, error)
    plain = m.fcmp("one", m.abs(product), m.constant(float("inf"), x))
    plain = m.and_(plain, m.less(m.abs(product), 800.0))
    return exp_with_low(m, product, m.choose(plain, error, 0.0))


def log_double_double(m: Arithmetic[V], x: V, twos: V | None = None, beside: V | None = None) -> tuple[V, V]:
    """Returns log(x 2^twos) + beside as (high, low), for x >= 0, with about 10 bits beyond the type's precision.

    `twos` is a small whole number, as a float. `beside` is at most a unit in the last place of x.
    """
    mantissa, exponent = split(m, x)
    f, e = m.sub(mantissa, 1.0), m.to_float(m.truncate(exponent), m.kind(x))
    if twos is not None:
        e = m.add(e, twos)
    below = m.add(f, 2.0)
    below_low = m.sub(f, m.sub(below, 2.0))
    s = m.div(f, below)
    product, error = m.two_product(s, below)
    s_low = m.div(m.sub(m.sub(m.sub(f, product), error), m.mul(s, below_low)), below)
    z, z_low = m.two_product(s, s)
    z_low = m.fma(m.add(s, 0.0), m.add(s_low, s_low), z_low)
    tail = m.mul(z, m.polynomial(z, LOG["f64"][1 : 8 if m.is_wide(x) else 6]))
    third, third_low = m.fast_two_sum(m.constant(2.0 / 3.0, x), tail)
    third_low = m.add(third_low, TWO_THIRDS_LOW[m.kind(x)])
    u, u_low = m.two_product(z, third)
    u_low = m.add(u_low, m.add(m.mul(z, third_low), m.mul(z_low, third)))
    v, v_low = m.two_product(s, u)
    v_low = m.add(v_low, m.add(m.mul(s, u_low), m.mul(s_low, u)))
    start = m.mul(e, m.constant(LN2_HIGH[m.kind(x)], x))
    total, rest = m.two_sum(start, m.add(s, s))
    total, rest_v = m.two_sum(total, v)
    low = m.add(m.add(rest, rest_v), m.add(v_low, m.add(s_low, s_low)))
    low = m.fma(e, m.constant(LN2_LOW[m.kind(x)], x), low)
    if beside is not None:
        low = m.add(low, beside)
    high, low = m.fast_two_sum(total, low)
    special = m.or_(m.equal(x, 0.0), m.fcmp("ueq", x, m.constant(float("inf"), x)))
    value = m.choose(m.equal(x, 0.0), float("-inf"), x)
    return m.choose(special, value, high), m.choose(special, 0.0, low)
