"""Roots and the error functions."""

from __future__ import annotations

from xla_core.elementary.arithmetic import Arithmetic, V
from xla_core.elementary.coefficients import ERF, ERFCX, ERFCX_FAR, ERFCX_MIDDLE, LOG_ERFC, ROOT_OF_ERFC
from xla_core.elementary.exponential import exp_of_bounded, exp_with_low
from xla_core.elementary.functions import function


@function("sqrt")
def sqrt(m: Arithmetic[V], x: V) -> V:
    """Computes the inverse root by Newton's iteration and multiplies it by x.

    In the last step only the correction is rounded.
    """
    wide = m.is_wide(x)
    least, up, most, down = (-900, 100, 1000, -50) if wide else (-80, 36, 100, -24)
    tiny, huge = m.less(x, 2.0**least), m.greater(x, 2.0**most)
    y = m.mul(x, m.choose(tiny, 2.0 ** (2 * up), m.choose(huge, 2.0 ** (2 * down), m.constant(1.0, x))))
    # The bits of half the negated exponent, plus a constant that centres the error, are right to 3.5 %.
    magic = m.integer(0x5FE6EB50C7B537A9 if wide else 0x5F375A86, x)
    t = m.from_bits(m.isub(magic, m.lshr(m.bits(y), 1)))
    half = m.mul(y, 0.5)
    for _ in range(4 if wide else 3):
        t = m.mul(t, m.sub(m.constant(1.5, x), m.mul(m.mul(half, t), t)))
    root = m.mul(y, t)
    square, error = m.two_product(root, root)
    root = m.add(root, m.mul(m.sub(m.sub(y, square), error), m.mul(t, 0.5)))
    root = m.mul(root, m.choose(tiny, 2.0**-up, m.choose(huge, 2.0**-down, m.constant(1.0, x))))
    root = m.choose(m.less(x, 0.0), float("nan"), root)
    return m.choose(m.or_(m.equal(x, 0.0), m.fcmp("ueq", x, m.constant(float("inf"), x))), x, root)


@function("rsqrt")
def rsqrt(m: Arithmetic[V], x: V) -> V:
    """1 / sqrt(x)."""
    return m.div(m.constant(1.0, x), m.sqrt(x))


@function("cbrt", in_f64=True)
def cbrt(m: Arithmetic[V], x: V) -> V:
    """Divides the exponent by 3 for a first guess, and runs Halley's iteration, which triples the digits."""
    size = m.abs(x)
    least, up, most, down = {"f32": (-80, 24, 120, -8), "f64": (-1022, 18, 1000, -18)}[m.kind(x)]
    tiny, huge = m.less(size, 2.0**least), m.greater(size, 2.0**most)
    y = m.mul(size, m.choose(tiny, 2.0 ** (3 * up), m.choose(huge, 2.0 ** (3 * down), m.constant(1.0, x))))
    # A third of the high word, plus a constant that centres the error (Kahan), is right to 5 %.
    high = m.truncate(m.lshr(m.bits(y), 32)) if m.is_wide(x) else m.bits(y)
    guess = m.iadd(m.udiv(high, m.number(3, "i32")), m.number(715094163 if m.is_wide(x) else 709958130, "i32"))
    t = m.from_bits(m.shl(m.extend(guess), 32) if m.is_wide(x) else guess)
    for _ in range(2):
        cube = m.mul(m.mul(t, t), t)
        t = m.mul(t, m.div(m.fma(y, m.constant(2.0, x), cube), m.fma(cube, m.constant(2.0, x), y)))
    # In the last step only the correction is rounded: t - t (t^3 - y) / (2 t^3 + y).
    square, square_low = m.two_product(t, t)
    cube, cube_low = m.two_product(square, t)
    excess = m.add(m.sub(cube, y), m.fma(square_low, t, cube_low))
    t = m.sub(t, m.mul(t, m.div(excess, m.fma(cube, m.constant(2.0, x), y))))
    t = m.mul(t, m.choose(tiny, 2.0**-up, m.choose(huge, 2.0**-down, m.constant(1.0, x))))
    plain = m.and_(m.greater(size, 0.0), m.less(size, float("inf")))
    return m.select(plain, m.with_sign(t, x), m.add(x, x))


@function("erf")
def erf(m: Arithmetic[V], x: V) -> V:
    """Evaluates a polynomial of x^2 near 0, and 1 - erfc outside.

    In f32, erfc is the fourth power of a polynomial, which needs half the degree of a polynomial for erfc itself.
    """
    y = m.abs(x)
    near = m.fma(y, m.polynomial(m.mul(y, y), ERF[m.kind(x)]), y)
    if m.kind(x) == "f32":
        bounded = m.choose(m.greater(y, 4.0), 4.0, y)  # from there on erf rounds to 1
        t = m.sub(bounded, 1.5)
        root = m.polynomial_by_square(t, m.mul(t, t), ROOT_OF_ERFC)
        square = m.mul(root, root)
        far = m.fma(m.neg(square), square, m.constant(1.0, x))
    else:
        bounded = m.choose(m.greater(y, 6.0), 6.0, y)
        first = m.polynomial(m.sub(bounded, 1.75), LOG_ERFC["near"])
        second = m.polynomial(m.sub(bounded, 4.25), LOG_ERFC["far"])
        exponent = m.select(m.less(bounded, 2.5), first, second)
        square, low = m.two_product(bounded, bounded)
        high, rest = m.two_sum(m.neg(square), exponent)
        far = m.sub(m.constant(1.0, x), exp_with_low(m, high, m.sub(rest, low)))
    size = m.select(m.less(y, {"f32": 1.15, "f64": 1.0}[m.kind(x)]), near, far)
    return m.with_sign_of(size, x, y)


@function("erfc")
def erfc(m: Arithmetic[V], x: V) -> V:
    """Multiplies e^(-x^2) by a fit of the rest, so that small results are accurate too."""
    return (_erfc_in_f64 if m.is_wide(x) else _erfc_in_f32)(m, x)


def _erfc_in_f32(m: Arithmetic[V], x: V) -> V:
    """One fit in t = 1 / (1 + |x|) serves all x, with one division.

    The rounding errors of t would cost 2 ULP. They change the fit by 1.19 times their relative size, which is added to
    the exponent.
    """
    y = m.abs(x)
    y = m.choose(m.greater(y, 10.3), 10.3, y)  # from there on erfc rounds to 0
    one = m.constant(1.0, x)
    d = m.add(y, 1.0)
    t = m.div(one, d)
    product, low = m.two_product(t, d)
    error = m.sub(m.sub(one, product), low)
    error = m.sub(error, m.mul(t, m.sub(y, m.sub(d, 1.0))))  # 1 - t (1 + y)
    square, low = m.two_product(y, y)
    power = exp_of_bounded(m, m.neg(square), m.sub(m.mul(error, 1.19), low))
    fit = m.fma(m.mul(t, m.sub(one, t)), m.polynomial(t, ERFCX), t)
    result = m.mul(power, fit)
    return m.select(m.less(x, 0.0), m.sub(m.constant(2.0, x), result), result)


def _erfc_in_f64(m: Arithmetic[V], x: V) -> V:
    """Uses erf for |x| < 3/4, and two fits outside."""
    y = m.abs(x)
    y = m.choose(m.greater(y, 27.3), 27.3, y)  # from there on erfc rounds to 0
    inverse = m.div(m.constant(1.0, x), y)
    middle = m.add(m.polynomial(m.sub(y, 1.625), ERFCX_MIDDLE[1:]), ERFCX_MIDDLE[0])
    far = m.add(m.polynomial(m.sub(m.mul(inverse, inverse), 0.08), ERFCX_FAR[1:]), ERFCX_FAR[0])
    fit = m.select(m.less(y, 2.5), middle, m.div(far, y))
    square, low = m.two_product(y, y)
    outside = m.mul(exp_of_bounded(m, m.neg(square), m.neg(low)), fit)
    outside = m.select(m.less(x, 0.0), m.sub(m.constant(2.0, x), outside), outside)
    within = m.sub(m.constant(1.0, x), m.fma(x, m.polynomial(m.mul(x, x), ERF["f64"]), x))
    return m.select(m.less(y, 0.75), within, outside)
