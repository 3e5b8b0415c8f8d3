"""Hyperbolic and trigonometric functions of complex numbers, and the logistic function, as formulas on their parts.

Infinities, NaN and the signs of zeros are those of Annex G of C99.
"""

from __future__ import annotations

from typing import Generic, NamedTuple

from xla_core.elementary import double_double
from xla_core.elementary.arithmetic import Arithmetic, V
from xla_core.elementary.complex_arithmetic import Pair, complex_function, rotated
from xla_core.elementary.complex_elementary import FAR, is_unbounded
from xla_core.elementary.double_double import DoubleDouble
from xla_core.elementary.exponential import decay_double_double
from xla_core.elementary.trigonometric import sine_and_cosine_double_double

_INFINITY = float("inf")


def _hyperbolic(m: Arithmetic[V], x: V) -> tuple[V, V, V]:
    """Returns (s, c, f) with sinh(x) = s f and cosh(x) = c f.

    Large values are split into two factors, because a product with them may be finite.
    """
    size = m.abs(x)
    far = m.greater(size, FAR[m.kind(x)])
    t = m.emit("exponential-minus-one", m.select(far, m.mul(size, 0.5), size))
    e = m.add(t, 1.0)
    half = m.mul(e, 0.5)
    sinh = m.mul(m.add(t, m.div(t, e)), 0.5)
    cosh = m.fma(m.div(t, e), m.mul(t, 0.5), m.constant(1.0, t))
    infinite = m.equal(size, _INFINITY)
    sinh, cosh = m.select(far, half, sinh), m.select(far, half, cosh)
    sinh, cosh = m.choose(infinite, _INFINITY, sinh), m.choose(infinite, _INFINITY, cosh)
    return m.with_sign(sinh, x), cosh, m.choose(far, e, 1.0)


@complex_function("sinh")
def _sinh(m: Arithmetic[V], x: Pair[V]) -> Pair[V]:
    """Computes sinh(x) cos(y) and cosh(x) sin(y)."""
    y = x.imag
    sinh, cosh, factor = _hyperbolic(m, x.real)
    real = m.mul(m.mul(m.emit("cosine", y), sinh), factor)
    imag = m.mul(m.mul(m.emit("sine", y), cosh), factor)
    real = m.select(m.and_(m.equal(m.abs(x.real), _INFINITY), is_unbounded(m, y)), x.real, real)
    real = m.select(m.equal(x.real, 0.0), x.real, real)
    flat = m.equal(y, 0.0)
    return Pair(m.select(flat, m.mul(sinh, factor), real), m.select(flat, y, imag))


@complex_function("cosh")
def _cosh(m: Arithmetic[V], x: Pair[V]) -> Pair[V]:
    """Computes cosh(x) cos(y) and sinh(x) sin(y)."""
    y = x.imag
    sinh, cosh, factor = _hyperbolic(m, x.real)
    sine = m.emit("sine", y)
    real = m.mul(m.mul(m.emit("cosine", y), cosh), factor)
    imag = m.mul(m.mul(sine, sinh), factor)
    real = m.choose(m.and_(m.equal(m.abs(x.real), _INFINITY), is_unbounded(m, y)), _INFINITY, real)
    flat = m.equal(y, 0.0)
    zero = m.or_(flat, m.equal(x.real, 0.0))  # the zero has the sign of the product, whatever the other part is
    sign = m.mul(m.with_sign(m.constant(1.0, y), x.real), m.with_sign(m.constant(1.0, y), m.select(flat, y, sine)))
    imag = m.select(zero, m.with_sign(m.constant(0.0, y), sign), imag)
    return Pair(m.select(flat, m.mul(cosh, factor), real), imag)


complex_function("sine")(rotated(_sinh))


@complex_function("cosine")
def _cosine(m: Arithmetic[V], x: Pair[V]) -> Pair[V]:
    """Computes cosh(i x)."""
    return _cosh(m, Pair(m.neg(x.imag), x.real))


class _Poles(NamedTuple, Generic[V]):
    """Terms of functions that have poles at q = 1, c = 0, for q = e^-size and the cosine c and sine s of an angle.

    The denominator `below` is (1 - q)^2 + 4 q c^2 = |1 + q e^(2 i angle)|^2, a form in which nothing cancels.
    """

    less: DoubleDouble[V]  # 1 - q
    share: DoubleDouble[V]  # q (1 - q)
    across: DoubleDouble[V]  # 2 q c^2
    along: DoubleDouble[V]  # 2 q c s
    below: DoubleDouble[V]
    inverse: V  # of `below`
    rest: V  # a further factor of q; 1 unless q is tiny


def _poles(m: Arithmetic[V], size: V, angle: V) -> _Poles[V]:
    q, less, rest = decay_double_double(m, size)
    sine, cosine = sine_and_cosine_double_double(m, angle)
    twice = double_double.mul(m, double_double.scaled(m, q, 2.0), cosine)
    across = double_double.mul(m, twice, cosine)
    below = double_double.add(m, double_double.mul(m, less, less), double_double.scaled(m, across, 2.0))
    inverse = m.div(m.constant(1.0, size), below.high)
    return _Poles(less, double_double.mul(m, q, less), across, double_double.mul(m, twice, sine), below, inverse, rest)


@complex_function("logistic")
def _logistic(m: Arithmetic[V], x: Pair[V]) -> Pair[V]:
    """Computes the logistic function by q = e^-|x| and c = cos(y / 2).

    The real part is 1 - q + 2 q c^2 for x >= 0 and 2 q c^2 - q (1 - q) for x < 0, the imaginary part q sin(y), both
    over |1 + q e^(i y)|^2.
    """
    p = _poles(m, m.abs(x.real), m.mul(x.imag, 0.5))
    left = m.less(x.real, 0.0)
    second = DoubleDouble(*(m.select(left, m.neg(share), less) for share, less in zip(p.share, p.less, strict=True)))
    real = double_double.div(m, double_double.add(m, p.across, second), p.below, p.inverse)
    real = m.select(left, m.mul(real, p.rest), real)
    imag = m.mul(double_double.div(m, p.along, p.below, p.inverse), p.rest)
    settled = m.and_(m.equal(m.abs(x.real), _INFINITY), is_unbounded(m, x.imag))
    real = m.select(settled, m.choose(left, 0.0, m.constant(1.0, real)), real)
    return Pair(real, m.choose(settled, 0.0, imag))


@complex_function("tanh")
def _tanh(m: Arithmetic[V], x: Pair[V]) -> Pair[V]:
    """Computes 1 - q^2 and 2 q sin(2 y) over |1 + q e^(2 i y)|^2, with q = e^-2|x|."""
    y = x.imag
    size = m.abs(x.real)
    p = _poles(m, m.add(size, size), y)
    real = double_double.div(m, double_double.add(m, p.less, p.share), p.below, p.inverse)
    imag = m.mul(double_double.div(m, double_double.scaled(m, p.along, 2.0), p.below, p.inverse), p.rest)
    settled = m.and_(m.equal(size, _INFINITY), is_unbounded(m, y))
    real, imag = m.choose(settled, 1.0, real), m.choose(settled, 0.0, imag)
    real = m.with_sign(real, x.real)
    return Pair(m.select(m.equal(x.real, 0.0), x.real, real), m.select(m.equal(y, 0.0), y, imag))


complex_function("tan")(rotated(_tanh))
