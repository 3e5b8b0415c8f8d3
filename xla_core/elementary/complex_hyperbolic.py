"""Hyperbolic and trigonometric functions of complex numbers, and the logistic function, as formulas on their parts.

Infinities, NaN and the signs of zeros are those of Annex G of C99.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, NamedTuple

from xla_core.elementary import double_double
from xla_core.elementary.arithmetic import Arithmetic, V
from xla_core.elementary.complex_arithmetic import Pair, complex_function, rotated, widened
from xla_core.elementary.complex_elementary import FAR, is_unbounded
from xla_core.elementary.double_double import DoubleDouble
from xla_core.elementary.exponential import cosh_and_sinh_of_f32, decay_double_double
from xla_core.elementary.trigonometric import sine_and_cosine_double_double, sine_and_cosine_of_f32

_INFINITY = float("inf")


class _Factors(NamedTuple, Generic[V]):
    """Hyperbolic functions of x and trigonometric functions of y, for a number x + i y.

    sinh(x) and cosh(x) are still to be multiplied by `factor`, because a product with them may be finite where they
    overflow.
    """

    sinh: V
    cosh: V
    factor: V
    sine: V
    cosine: V


def _factors(m: Arithmetic[V], x: Pair[V]) -> _Factors[V]:
    size = m.abs(x.real)
    far = m.greater(size, FAR[m.kind(size)])
    t = m.emit("exponential-minus-one", m.select(far, m.mul(size, 0.5), size))
    e = m.add(t, 1.0)
    half = m.mul(e, 0.5)
    sinh = m.mul(m.add(t, m.div(t, e)), 0.5)
    cosh = m.fma(m.div(t, e), m.mul(t, 0.5), m.constant(1.0, t))
    infinite = m.equal(size, _INFINITY)
    sinh, cosh = m.select(far, half, sinh), m.select(far, half, cosh)
    sinh, cosh = m.choose(infinite, _INFINITY, sinh), m.choose(infinite, _INFINITY, cosh)
    sine, cosine = m.emit("sine", x.imag), m.emit("cosine", x.imag)
    return _Factors(m.with_sign(sinh, x.real), cosh, m.choose(far, e, 1.0), sine, cosine)


def _factors_of_f32(m: Arithmetic[V], x: Pair[V]) -> _Factors[V]:
    """`_factors` in f64 of numbers that are f32, whose hyperbolic functions f64 holds."""
    cosh, sinh = cosh_and_sinh_of_f32(m, x.real)
    sine, cosine = sine_and_cosine_of_f32(m, m.narrow(x.imag))
    return _Factors(sinh, cosh, m.constant(1.0, sinh), sine, cosine)


def _sinh(m: Arithmetic[V], x: Pair[V], f: _Factors[V]) -> Pair[V]:
    """Computes sinh(x) cos(y) and cosh(x) sin(y)."""
    y = x.imag
    real = m.mul(m.mul(f.cosine, f.sinh), f.factor)
    imag = m.mul(m.mul(f.sine, f.cosh), f.factor)
    real = m.select(m.and_(m.equal(m.abs(x.real), _INFINITY), is_unbounded(m, y)), x.real, real)
    flat = m.equal(y, 0.0)
    real = m.select(flat, m.mul(f.sinh, f.factor), real)
    return Pair(m.select(m.equal(x.real, 0.0), x.real, real), m.select(flat, y, imag))


def _cosh(m: Arithmetic[V], x: Pair[V], f: _Factors[V]) -> Pair[V]:
    """Computes cosh(x) cos(y) and sinh(x) sin(y)."""
    y = x.imag
    real = m.mul(m.mul(f.cosine, f.cosh), f.factor)
    imag = m.mul(m.mul(f.sine, f.sinh), f.factor)
    real = m.choose(m.and_(m.equal(m.abs(x.real), _INFINITY), is_unbounded(m, y)), _INFINITY, real)
    flat = m.equal(y, 0.0)
    zero = m.or_(flat, m.equal(x.real, 0.0))  # the zero has the sign of the product, whatever the other part is
    sign = m.mul(m.with_sign(m.constant(1.0, y), x.real), m.with_sign(m.constant(1.0, y), m.select(flat, y, f.sine)))
    imag = m.select(zero, m.with_sign(m.constant(0.0, y), sign), imag)
    return Pair(m.select(flat, m.mul(f.cosh, f.factor), real), imag)


def _tanh_of_f32(m: Arithmetic[V], x: Pair[V], f: _Factors[V]) -> Pair[V]:
    """Computes sinh(x) cosh(x) and sin(y) cos(y) over sinh(x)^2 + cos(y)^2, in f64 of numbers that are f32."""
    below = m.fma(f.sinh, f.sinh, m.mul(f.cosine, f.cosine))
    real, imag = m.div(m.mul(f.sinh, f.cosh), below), m.div(m.mul(f.sine, f.cosine), below)
    return _settled_tanh(m, x, Pair(real, imag))


def _settled_tanh(m: Arithmetic[V], x: Pair[V], tanh: Pair[V]) -> Pair[V]:
    """Sets the results for an infinite real part and for parts that are zero."""
    settled = m.and_(m.equal(m.abs(x.real), _INFINITY), is_unbounded(m, x.imag))
    real, imag = m.choose(settled, 1.0, tanh.real), m.choose(settled, 0.0, tanh.imag)
    real = m.with_sign(real, x.real)
    return Pair(m.select(m.equal(x.real, 0.0), x.real, real), m.select(m.equal(x.imag, 0.0), x.imag, imag))


_Formula = Callable[[Arithmetic[V], Pair[V]], Pair[V]]


def _by(
    formula: Callable[[Arithmetic[V], Pair[V], _Factors[V]], Pair[V]],
    factors: Callable[[Arithmetic[V], Pair[V]], _Factors[V]],
) -> _Formula[V]:
    return lambda m, x: formula(m, x, factors(m, x))


def _rotated_back(formula: _Formula[V]) -> _Formula[V]:
    """Returns f(i x) of a formula f, as cos(x) = cosh(i x)."""
    return lambda m, x: formula(m, Pair(m.neg(x.imag), x.real))


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


def _tanh(m: Arithmetic[V], x: Pair[V]) -> Pair[V]:
    """Computes 1 - q^2 and 2 q sin(2 y) over |1 + q e^(2 i y)|^2, with q = e^-2|x|."""
    size = m.abs(x.real)
    p = _poles(m, m.add(size, size), x.imag)
    real = double_double.div(m, double_double.add(m, p.less, p.share), p.below, p.inverse)
    imag = m.mul(double_double.div(m, double_double.scaled(m, p.along, 2.0), p.below, p.inverse), p.rest)
    return _settled_tanh(m, x, Pair(real, imag))


for _register, _factors_of, _tanh_formula in (
    (complex_function, _factors, _tanh),
    (widened, _factors_of_f32, _by(_tanh_of_f32, _factors_of_f32)),
):
    _register("sinh")(_by(_sinh, _factors_of))
    _register("sine")(rotated(_by(_sinh, _factors_of)))
    _register("cosh")(_by(_cosh, _factors_of))
    _register("cosine")(_rotated_back(_by(_cosh, _factors_of)))
    _register("tanh")(_tanh_formula)
    _register("tan")(rotated(_tanh_formula))
