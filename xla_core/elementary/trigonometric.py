"""sin, cos, tan and their inverses."""

from __future__ import annotations

from xla_core.elementary.arithmetic import Arithmetic, V
from xla_core.elementary.coefficients import ATAN, COSINE, COSINE_OF_F32, PI_OVER_2, SINE
from xla_core.elementary.double_double import DoubleDouble
from xla_core.elementary.functions import function
from xla_core.elementary.range_reduction import reduce_by_half_pi, reduce_f32_by_half_pi


def _sine(m: Arithmetic[V], r: V, low: V | None) -> V:
    z = m.mul(r, r)
    cubic = m.mul(r, z)
    if low is None:
        return m.fma(cubic, m.polynomial(z, SINE[m.kind(r)]), r)
    # sin(r + low) = sin(r) + low cos(r), cos(r) = 1 - z / 2 closely enough
    tail = m.fma(cubic, m.polynomial(z, SINE[m.kind(r)]), m.mul(low, m.fma(z, m.constant(-0.5, r), m.constant(1.0, r))))
    return m.add(r, tail)


def _cosine(m: Arithmetic[V], r: V, low: V | None) -> V:
    z = m.mul(r, r)
    tail = m.mul(m.mul(z, z), m.polynomial(z, COSINE[m.kind(r)]))
    if low is not None:
        tail = m.sub(tail, m.mul(r, low))
    half = m.mul(z, 0.5)
    one = m.sub(m.constant(1.0, r), half)
    error = m.sub(m.sub(m.constant(1.0, r), one), half)
    return m.add(one, m.add(error, tail))


def _quarter(m: Arithmetic[V], x: V, shift: int) -> V:
    """Returns sin(x + shift pi / 2): the sine or cosine of the reduced x, with the sign of the quadrant."""
    sine, cosine, quadrant = _reduced(m, x)
    quadrant = m.iadd(quadrant, m.integer(shift, quadrant))
    value = m.select(_is_odd(m, quadrant), cosine, sine)
    return _turned(m, m.narrow(value) if m.prefers_f64(x) else value, quadrant)


def _reduced(m: Arithmetic[V], x: V) -> tuple[V, V, V]:
    """Returns the sine and the cosine of x - n pi / 2, and n. Of an f32 that may be computed in f64, both are f64."""
    if m.prefers_f64(x):
        r, quadrant = reduce_f32_by_half_pi(m, x)
        return *_sine_and_cosine_of_f32(m, r), quadrant
    r, low, quadrant = reduce_by_half_pi(m, x)
    return _sine(m, r, low), _cosine(m, r, low), quadrant


def _is_odd(m: Arithmetic[V], quadrant: V) -> V:
    one = m.integer(1, quadrant)
    return m.icmp("ne", m.and_(quadrant, one), m.integer(0, quadrant))


def _turned(m: Arithmetic[V], value: V, quadrant: V) -> V:
    """Returns the value, negated in the third and the fourth quadrant."""
    sign = m.lshr(quadrant, 1)
    sign = m.shl(m.extend(sign), 63) if m.is_wide(value) else m.shl(sign, 31)
    return m.from_bits(m.xor(m.bits(value), sign))


@function("sine")
def sine(m: Arithmetic[V], x: V) -> V:
    """The sine."""
    return m.choose(m.equal(x, 0.0), x, _quarter(m, x, 0))  # keeps -0


@function("cosine")
def cosine(m: Arithmetic[V], x: V) -> V:
    """The cosine."""
    return _quarter(m, x, 1)


def sine_and_cosine_double_double(m: Arithmetic[V], x: V) -> tuple[DoubleDouble[V], DoubleDouble[V]]:
    """Returns (sine, cosine) as double-doubles with about 7 bits beyond the type's precision.

    Without fma, their low parts are zero.
    """
    if not m.has_fma:
        none = m.constant(0.0, x)
        return DoubleDouble(m.emit("sine", x), none), DoubleDouble(m.emit("cosine", x), none)
    r, low, quadrant = reduce_by_half_pi(m, x)
    low = m.constant(0.0, r) if low is None else low
    one = m.constant(1.0, r)
    z, z_low = m.two_product(r, r)
    start, rest = m.fast_two_sum(one, m.mul(z, -0.5))
    sine = r, m.fma(m.mul(r, z), m.polynomial(z, SINE[m.kind(r)]), m.mul(low, start))
    rest = m.sub(rest, m.fma(r, low, m.mul(z_low, 0.5)))
    cosine = start, m.fma(m.mul(z, z), m.polynomial(z, COSINE[m.kind(r)]), rest)
    sine, cosine = m.fast_two_sum(*sine), m.fast_two_sum(*cosine)
    odd, after = _is_odd(m, quadrant), m.iadd(quadrant, m.integer(1, quadrant))
    high, rest = (_turned(m, m.select(odd, c, s), quadrant) for s, c in zip(sine, cosine, strict=True))
    other = DoubleDouble(*(_turned(m, m.select(odd, s, c), after) for s, c in zip(sine, cosine, strict=True)))
    return DoubleDouble(m.choose(m.equal(x, 0.0), x, high), rest), other  # keeps -0


@function("tan")
def tan(m: Arithmetic[V], x: V) -> V:
    """Computes the quotient sin / cos. For f32, it is computed in f64 and rounded once."""
    s, c, quadrant = _reduced(m, x)
    odd = _is_odd(m, quadrant)
    value = m.div(m.select(odd, m.neg(c), s), m.select(odd, s, c))
    value = m.narrow(value) if m.prefers_f64(x) else value
    return m.choose(m.equal(x, 0.0), x, value)  # keeps -0


def sine_and_cosine_of_f32(m: Arithmetic[V], x: V) -> tuple[V, V]:
    """Returns (sin x, cos x) of an f32 value as f64 values, of which the first 37 bits are right."""
    r, quadrant = reduce_f32_by_half_pi(m, x)
    s, c = _sine_and_cosine_of_f32(m, r)
    odd, after = _is_odd(m, quadrant), m.iadd(quadrant, m.integer(1, quadrant))
    return _turned(m, m.select(odd, c, s), quadrant), _turned(m, m.select(odd, s, c), after)


def _sine_and_cosine_of_f32(m: Arithmetic[V], r: V) -> tuple[V, V]:
    """Returns (sin r, cos r) of an f64 in [-pi / 4, pi / 4], of which the first 37 bits are right."""
    z = m.mul(r, r)
    s = m.fma(m.mul(r, z), m.polynomial(z, SINE["f32"]), r)
    return s, m.fma(z, m.polynomial(z, COSINE_OF_F32), m.constant(1.0, r))


def _atan_of_ratio(m: Arithmetic[V], small: V, large: V) -> V:
    """Returns atan(small / large), for 0 <= small <= large."""
    if m.kind(small) == "f32":
        t = m.div(small, large)
        z = m.mul(t, t)
        return m.fma(m.mul(t, z), m.polynomial(z, ATAN["f32"]), t)
    # Above tan(pi / 8): atan(t) = pi / 4 + atan((t - 1) / (t + 1)).
    steep = m.fcmp("ogt", small, m.mul(large, 0.4142135623730951))
    above = m.select(steep, m.sub(small, large), small)
    below = m.select(steep, m.add(small, large), large)
    t = m.div(above, below)
    z = m.mul(t, t)
    series = m.mul(m.mul(t, z), m.polynomial(z, ATAN["f64"]))
    high = m.choose(steep, 0.7853981633974483, m.constant(0.0, t))
    low = m.choose(steep, 3.061616997868383e-17, m.constant(0.0, t))
    return m.add(high, m.add(t, m.add(series, low)))


@function("atan2")
def atan2(m: Arithmetic[V], y: V, x: V) -> V:
    """Returns the angle of (x, y), computed from that of its octant."""
    ax, ay = m.abs(x), m.abs(y)
    swap = m.fcmp("ogt", ay, ax)
    small, large = m.select(swap, ax, ay), m.select(swap, ay, ax)
    # Equal infinities have the angle of equal numbers; for two zeros, the angle in the octant is 0.
    both = m.and_(m.equal(small, float("inf")), m.equal(large, float("inf")))
    small, large = m.choose(both, 1.0, small), m.choose(both, 1.0, large)
    large = m.choose(m.equal(large, 0.0), 1.0, large)
    if m.kind(x) == "f64":  # scale down where their sum could overflow, and up where their products would lose bits
        huge, tiny = m.greater(large, 2.0**1020), m.less(large, 2.0**-960)
        scale = m.choose(huge, 0.125, m.choose(tiny, 2.0**120, m.constant(1.0, x)))
        small, large = m.mul(small, scale), m.mul(large, scale)
    angle = _atan_of_ratio(m, small, large)
    high, low = PI_OVER_2[m.kind(x)][:2]
    angle = m.select(swap, m.add(m.sub(m.constant(high, x), angle), m.constant(low, x)), angle)
    left = m.icmp("slt", m.bits(x), m.integer(0, x))
    angle = m.select(left, m.add(m.sub(m.constant(2 * high, x), angle), m.constant(2 * low, x)), angle)
    angle = m.with_sign(angle, y)
    return m.choose(m.fcmp("uno", x, y), float("nan"), angle)


@function("atan")
def atan(m: Arithmetic[V], x: V) -> V:
    """The inverse tangent."""
    return m.emit("atan2", x, m.constant(1.0, x))


@function("asin", in_f64=True)
def asin(m: Arithmetic[V], x: V) -> V:
    """Computes the angle of (sqrt((1 - x) (1 + x)), x)."""
    return m.emit("atan2", x, _other_leg(m, x))


@function("acos", in_f64=True)
def acos(m: Arithmetic[V], x: V) -> V:
    """Computes the angle of (x, sqrt((1 - x) (1 + x)))."""
    return m.emit("atan2", _other_leg(m, x), x)


def _other_leg(m: Arithmetic[V], x: V) -> V:
    one = m.constant(1.0, x)
    return m.sqrt(m.mul(m.sub(one, x), m.add(one, x)))
