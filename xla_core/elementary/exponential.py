"""exp and the functions that are computed from it: expm1, logistic, tanh, sinh, cosh."""

from __future__ import annotations

import math

from xla_core.elementary.arithmetic import Arithmetic, V
from xla_core.elementary.coefficients import (
    COSH_OF_F32,
    EXPONENTIAL,
    EXPONENTIAL_OF_DOUBLE,
    EXPONENTIAL_OF_F32,
    LN2_HIGH,
    LN2_LOW,
    LN2_REST,
    SINH_OF_F32,
)
from xla_core.elementary.double_double import DoubleDouble
from xla_core.elementary.functions import function

_LOWEST = {"f32": -104.0, "f64": -746.0}  # below, e^x rounds to zero
_ZERO = {"f32": -176.0, "f64": -1418.0}  # here the two halves of the scale of e^x are the floats with an exponent of 0
_HIGHEST = {"f32": 89.0, "f64": 710.0}  # above, e^x rounds to infinity


def _reduced(m: Arithmetic[V], x: V, low: V | None = None) -> tuple[V, V, V]:
    """Returns (r, e^r - 1, n) with x + low = n ln(2) + r and |r| <= ln(2) / 2.

    Only the low bits of n are valid; see `Arithmetic.nearest`.
    """
    n, number = m.nearest(x, 1.4426950408889634)
    r = x
    for part in (LN2_HIGH[m.kind(x)], LN2_LOW[m.kind(x)]):
        r = m.fma(n, m.constant(-part, x), r)
    if low is not None:
        r = m.add(r, low)
    square = m.mul(r, r)
    tail = m.polynomial_by_square(r, square, EXPONENTIAL[m.kind(x)])
    return r, m.fma(square, tail, r), number


def exp_with_low(m: Arithmetic[V], x: V, low: V | None) -> V:
    """Returns e^(x + low), where |low| is far below |x|.

    The scale is applied in two halves, so that denormal results are rounded once. Far below zero, as where attention
    masks elements, both halves are 0: a product that underflows would take a processor a hundred cycles.
    """
    return exp_of_bounded(m, m.limit(x, _ZERO[m.kind(x)], _HIGHEST[m.kind(x)]), low)


def exp_of_bounded(m: Arithmetic[V], x: V, low: V | None) -> V:
    """Returns e^(x + low) for an x of at least `_ZERO`, with which e^(x / 2) doesn't overflow."""
    _, less_one, n = _reduced(m, x, low)
    half = m.ashr(n, 1)
    scale = m.power_of_two(half)
    return m.mul(m.fma(less_one, scale, scale), m.power_of_two(m.isub(n, half)))


@function("exponential")
def exp(m: Arithmetic[V], x: V) -> V:
    """e^x."""
    return exp_with_low(m, x, None)


@function("exponential-minus-one")
def expm1(m: Arithmetic[V], x: V) -> V:
    """Computes e^x - 1 = 2 (2^(n-1) (e^r - 1) + (2^(n-1) - 1/2)). Halving the terms avoids an early overflow."""
    small = {"f32": -18.0, "f64": -38.0}[m.kind(x)]
    _, less_one, n = _reduced(m, m.limit(x, small, _HIGHEST[m.kind(x)]))
    scale = m.power_of_two(m.isub(n, m.integer(1, n)))
    half = m.fma(less_one, scale, m.sub(scale, 0.5))
    result = m.add(half, half)
    tiny = m.less(m.abs(x), {"f32": 2.0**-26, "f64": 2.0**-55}[m.kind(x)])
    return m.select(tiny, x, result)  # keeps -0, and all bits of denormal numbers


def decay_double_double(m: Arithmetic[V], x: V) -> tuple[DoubleDouble[V], DoubleDouble[V], V]:
    """Returns (q, 1 - q, rest) with q rest = e^-x, for x >= 0.

    `rest` is 1 unless e^-x is so small that q would be denormal. Without fma, q and 1 - q are the plain functions, and
    their low parts are zero.
    """
    far, one, none = 64.0, m.constant(1.0, x), m.constant(0.0, x)
    if not m.has_fma:
        near = m.choose(m.greater(x, far), -far, m.neg(x))
        less = m.neg(m.emit("exponential-minus-one", near))
        return (
            DoubleDouble(m.emit("exponential", near), none),
            DoubleDouble(less, none),
            m.emit("exponential", m.sub(m.neg(x), near)),
        )
    r, _, low_bits = _reduced(m, m.limit(m.neg(x), _LOWEST[m.kind(x)], 0.0))
    n = m.whole(low_bits, x)
    power, low = m.fast_two_sum(r, m.mul(m.mul(r, r), m.polynomial(r, EXPONENTIAL[m.kind(x)])))
    power, rest = m.fast_two_sum(one, power)
    kept = m.clamp(m.integer(-int(far), n), n, m.integer(0, n))
    scale = m.power_of_two(kept)
    q = DoubleDouble(m.mul(power, scale), m.mul(m.add(rest, low), scale))
    less, error = m.two_sum(one, m.neg(q.high))
    return q, DoubleDouble(*m.fast_two_sum(less, m.sub(error, q.low))), m.power_of_two(m.isub(n, kept))


@function("logistic")
def logistic(m: Arithmetic[V], x: V) -> V:
    """Computes 1 / (1 + e^-x) by e^-|x|, which stays accurate down to denormal results."""
    z = m.emit("exponential", m.neg(m.abs(x)))
    return m.div(m.choose(m.less(x, 0.0), z, 1.0), m.add(z, 1.0))


@function("tanh")
def tanh(m: Arithmetic[V], x: V) -> V:
    """Computes t / (t + 2), with t = e^(2|x|) - 1.

    f32 takes ln(2) as one number (`_doubled`), because the error of a large t hardly matters.
    """
    limit = {"f32": 10.0, "f64": 22.0}[m.kind(x)]
    size = m.abs(x)
    y = m.choose(m.greater(size, limit), limit, size)
    less_one, n = _reduced(m, m.add(y, y))[1:] if m.is_wide(x) else _doubled(m, y)
    scale = m.power_of_two(n)
    t = m.fma(less_one, scale, m.sub(scale, 1.0))
    quotient = m.div(t, m.add(t, 2.0))
    return m.with_sign_of(quotient, x, size)


def _doubled(m: Arithmetic[V], x: V) -> tuple[V, V]:
    """Returns (e^2r - 1, n) of an f32 value, with 2 x = n ln(2) + 2 r.

    Takes ln(2) as one number, whose error only a large n shows.
    """
    n, number = m.nearest(x, 2 / math.log(2.0))
    r = m.fma(n, m.constant(-math.log(2.0) / 2, x), x)
    square = m.mul(r, r)
    return m.fma(square, m.polynomial_by_square(r, square, EXPONENTIAL_OF_DOUBLE), m.add(r, r)), number


def exp_of_f32(m: Arithmetic[V], x: V) -> tuple[V, V]:
    """Returns (e^x, e^x - 1) of an f64 whose value is an f32. The first 33 bits are right.

    Beyond +-200, where f32 overflows or vanishes, it takes 200 or -200 for x.
    """
    r, n = _reduced_for_f32(m, x)
    square, scale = m.mul(r, r), m.power_of_two(n)
    less_one = m.fma(square, m.polynomial_by_square(r, square, EXPONENTIAL_OF_F32), r)
    return m.fma(less_one, scale, scale), m.fma(less_one, scale, m.sub(scale, 1.0))


def _reduced_for_f32(m: Arithmetic[V], x: V) -> tuple[V, V]:
    """Returns (r, n) of an f64 whose value is an f32, with x = n ln(2) + r. Takes x beyond +-200, where f32 overflows,
    as 200 or -200.
    """
    bounded = m.limit(x, -200.0, 200.0)
    n, number = m.nearest(bounded, 1 / math.log(2.0))
    return m.fma(n, m.constant(-math.log(2.0), bounded), bounded), number


def cosh_and_sinh_of_f32(m: Arithmetic[V], x: V) -> tuple[V, V]:
    """Returns (cosh(x), sinh(x)) of an f64 whose value is an f32. The first 37 bits are right up to +-200.

    Takes e^x = 2^n (c + s) and e^-x = 2^-n (c - s), with c = cosh(r) and s = sinh(r), and needs no division.
    """
    r, number = _reduced_for_f32(m, x)
    z, one = m.mul(r, r), m.integer(1, r)
    c = m.fma(z, m.polynomial(z, COSH_OF_F32), m.constant(1.0, r))
    s = m.fma(m.mul(r, z), m.polynomial(z, SINH_OF_F32), r)
    up = m.power_of_two(m.isub(number, one))
    down = m.power_of_two(m.isub(m.integer(-1, r), number))
    both, less = m.add(up, down), m.sub(up, down)
    return m.fma(both, c, m.mul(less, s)), m.fma(both, s, m.mul(less, c))


@function("sinh")
def sinh(m: Arithmetic[V], x: V) -> V:
    """Computes (t + t / (t + 1)) / 2, with t = e^|x| - 1. A large |x| uses `_half_exp`, which overflows later."""
    if m.prefers_f64(x):
        return m.with_sign(m.narrow(cosh_and_sinh_of_f32(m, m.widen(x))[1]), x)
    y = m.abs(x)
    t = m.emit("exponential-minus-one", y)
    near = m.mul(m.add(t, m.div(t, m.add(t, 1.0))), 0.5)
    return m.with_sign(m.choose(m.greater(y, 40.0), _half_exp(m, y), near), x)


@function("cosh")
def cosh(m: Arithmetic[V], x: V) -> V:
    """Computes (e^|x| + e^-|x|) / 2. A large |x| uses `_half_exp`, which overflows later."""
    if m.prefers_f64(x):
        return m.narrow(cosh_and_sinh_of_f32(m, m.widen(x))[0])
    y = m.abs(x)
    e = m.emit("exponential", y)
    near = m.add(m.mul(e, 0.5), m.div(m.constant(0.5, x), e))
    return m.choose(m.greater(y, 40.0), _half_exp(m, y), near)


def _half_exp(m: Arithmetic[V], x: V) -> V:
    """Returns e^x / 2 without early overflow."""
    x = m.limit(x, 0.0, 712.0)
    # x - ln(2) is used as high + low, because the rounding error of the difference would cost 500 ULP
    high, low = m.two_sum(x, m.constant(-0.6931471805599453, x))
    return exp_with_low(m, high, m.add(low, -LN2_REST[m.kind(x)]))
