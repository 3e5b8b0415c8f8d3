"""sin, cos, tan and their inverses."""

from __future__ import annotations

from xla_core.codegen.llvm.builder import Value
from xla_core.codegen.llvm.math.coefficients import ATAN, COSINE, PI_OVER_2, SINE
from xla_core.codegen.llvm.math.emitter import MATH, MathEmitter, math_function
from xla_core.codegen.llvm.math.range_reduction import reduce_by_half_pi

__all__ = ["atan2"]


def _sine(m: MathEmitter, r: Value, low: Value | None) -> Value:
    z = m.b.fmul(r, r)
    cubic = m.b.fmul(r, z)
    if low is None:
        return m.fma(cubic, m.polynomial(z, SINE[r.type]), r)
    # sin(r + low) = sin(r) + low cos(r), cos(r) = 1 - z / 2 closely enough
    tail = m.fma(cubic, m.polynomial(z, SINE[r.type]), m.b.fmul(low, m.fma(z, m.constant(-0.5, r), m.constant(1.0, r))))
    return m.b.fadd(r, tail)


def _cosine(m: MathEmitter, r: Value, low: Value | None) -> Value:
    z = m.b.fmul(r, r)
    tail = m.b.fmul(m.b.fmul(z, z), m.polynomial(z, COSINE[r.type]))
    if low is not None:
        tail = m.b.fsub(tail, m.b.fmul(r, low))
    half = m.mul(z, 0.5)
    one = m.b.fsub(m.constant(1.0, r), half)
    error = m.b.fsub(m.b.fsub(m.constant(1.0, r), one), half)
    return m.b.fadd(one, m.b.fadd(error, tail))


def _quarter(m: MathEmitter, x: Value, shift: int) -> Value:
    """sin(x + shift pi / 2): by the quadrant, the sine or the cosine of the rest, with its sign."""
    r, low, quadrant = reduce_by_half_pi(m, x)
    quadrant = m.b.add(quadrant, m.integer(shift, quadrant))
    one = m.integer(1, quadrant)
    odd = m.b.icmp("ne", m.b.binary("and", quadrant, one), m.integer(0, quadrant))
    value = m.b.select(odd, _cosine(m, r, low), _sine(m, r, low))
    width = 64 if value.type == "double" else 32
    sign = m.b.resize(m.b.lshr(quadrant, 1), f"i{width}", signed=False)
    sign = m.b.shl(sign, width - 1)
    return m.b.bitcast(m.b.xor(m.bits(value), sign), value.type)


@math_function("sine")
def sine(m: MathEmitter, x: Value) -> Value:
    """The sine."""
    return m.choose(m.equal(x, 0.0), x, _quarter(m, x, 0))  # keeps -0


@math_function("cosine")
def cosine(m: MathEmitter, x: Value) -> Value:
    """The cosine."""
    return _quarter(m, x, 1)


@math_function("tan")
def tan(m: MathEmitter, x: Value) -> Value:
    """The quotient sin / cos; f32 by f64, whose quotient rounds once."""
    wide = m.b.cast("fpext", x, "double") if x.type == "float" else x
    r, low, quadrant = reduce_by_half_pi(m, x, wide=True)
    odd = m.b.icmp("ne", m.b.binary("and", quadrant, m.integer(1, quadrant)), m.integer(0, quadrant))
    s, c = _sine(m, r, low), _cosine(m, r, low)
    value = m.b.fdiv(m.b.select(odd, m.b.fneg(c), s), m.b.select(odd, s, c))
    value = m.choose(m.equal(wide, 0.0), wide, value)
    return m.b.cast("fptrunc", value, "float") if x.type == "float" else value


def _atan_of_ratio(m: MathEmitter, small: Value, large: Value) -> Value:
    """atan(small / large), 0 <= small <= large."""
    b = m.b
    if small.type == "float":
        t = b.fdiv(small, large)
        z = b.fmul(t, t)
        return m.fma(b.fmul(t, z), m.polynomial(z, ATAN["float"]), t)
    # Above tan(pi / 8): atan(t) = pi / 4 + atan((t - 1) / (t + 1)).
    steep = b.fcmp("ogt", small, m.mul(large, 0.4142135623730951))
    above = b.select(steep, b.fsub(small, large), small)
    below = b.select(steep, b.fadd(small, large), large)
    t = b.fdiv(above, below)
    z = b.fmul(t, t)
    series = b.fmul(b.fmul(t, z), m.polynomial(z, ATAN["double"]))
    high = m.choose(steep, 0.7853981633974483, m.constant(0.0, t))
    low = m.choose(steep, 3.061616997868383e-17, m.constant(0.0, t))
    return b.fadd(high, b.fadd(t, b.fadd(series, low)))


@math_function("atan2")
def atan2(m: MathEmitter, y: Value, x: Value) -> Value:
    """The angle of (x, y), from the octant's."""
    b = m.b
    ax, ay = m.abs(x), m.abs(y)
    swap = b.fcmp("ogt", ay, ax)
    small, large = b.select(swap, ax, ay), b.select(swap, ay, ax)
    # Equal infinities have the angle of equal numbers, two zeros that of zero.
    both = b.and_(m.equal(small, float("inf")), m.equal(large, float("inf")))
    small, large = m.choose(both, 1.0, small), m.choose(both, 1.0, large)
    large = m.choose(m.equal(large, 0.0), 1.0, large)
    if x.type == "double":  # down from where their sum could overflow, up from where their products lose bits
        huge, tiny = m.greater(large, 2.0**1020), m.less(large, 2.0**-960)
        scale = m.choose(huge, 0.125, m.choose(tiny, 2.0**120, m.constant(1.0, x)))
        small, large = b.fmul(small, scale), b.fmul(large, scale)
    angle = _atan_of_ratio(m, small, large)
    high, low = PI_OVER_2[0], PI_OVER_2[1]
    if x.type == "float":
        high, low = 1.57079637050628662109375, -4.37113900018624283e-8
    angle = b.select(swap, b.fadd(b.fsub(m.constant(high, x), angle), m.constant(low, x)), angle)
    left = b.icmp("slt", m.bits(x), m.integer(0, x))
    angle = b.select(left, b.fadd(b.fsub(m.constant(2 * high, x), angle), m.constant(2 * low, x)), angle)
    angle = m.with_sign(angle, y)
    return m.choose(b.fcmp("uno", x, y), float("nan"), angle)


@math_function("atan")
def atan(m: MathEmitter, x: Value) -> Value:
    """The inverse tangent."""
    return MATH["atan2"](m, x, m.constant(1.0, x))


@math_function("asin")
def asin(m: MathEmitter, x: Value) -> Value:
    """The angle of (sqrt((1 - x) (1 + x)), x)."""
    if x.type == "float":
        return m.in_f64("asin", x)
    return atan2(m, x, _other_leg(m, x))


@math_function("acos")
def acos(m: MathEmitter, x: Value) -> Value:
    """The angle of (x, sqrt((1 - x) (1 + x)))."""
    if x.type == "float":
        return m.in_f64("acos", x)
    return atan2(m, _other_leg(m, x), x)


def _other_leg(m: MathEmitter, x: Value) -> Value:
    one = m.constant(1.0, x)
    return m.sqrt(m.b.fmul(m.b.fsub(one, x), m.b.fadd(one, x)))
