"""Elementwise ops on complex numbers, as formulas on their parts.

complex64 is computed in f64, where intermediate results neither overflow nor cancel, and rounded once. Functions that
cancel by themselves (near branch points and unit modulus) have formulas that avoid it. Branch cuts and the signs of
zeros are those of C99. (Kahan, Branch cuts for complex elementary functions, 1987.)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, NamedTuple

from xla_core.elementary.arithmetic import Arithmetic, V
from xla_core.registration import registers_in


class Pair(NamedTuple, Generic[V]):
    """A complex number: two values of one kind."""

    real: V
    imag: V


ComplexFunction = Callable[..., Any]
"""(arithmetic, pairs) -> a pair or a real value."""

COMPLEX_ARITHMETIC: dict[str, ComplexFunction] = {}
"""HLO opcode -> formula that is computed in the precision of its operands."""

COMPLEX_FUNCTIONS: dict[str, ComplexFunction] = {}
"""HLO opcode -> formula that is computed in f64 if the target has it, and rounded once."""

WIDENED_FUNCTIONS: dict[str, ComplexFunction] = {}
"""HLO opcode -> a shorter formula in f64 for operands whose values are f32."""

_op = registers_in(COMPLEX_ARITHMETIC)
complex_function = registers_in(COMPLEX_FUNCTIONS)
widened = registers_in(WIDENED_FUNCTIONS)


def rotated(formula: Callable[[Arithmetic[V], Pair[V]], Pair[V]]) -> Callable[[Arithmetic[V], Pair[V]], Pair[V]]:
    """Returns -i f(i x) of a formula f, as sin(x) = -i sinh(i x)."""

    def turned(m: Arithmetic[V], x: Pair[V]) -> Pair[V]:
        result = formula(m, Pair(m.neg(x.imag), x.real))
        return Pair(result.imag, m.neg(result.real))

    return turned


@_op("add")
def _add(m: Arithmetic[V], x: Pair[V], y: Pair[V]) -> Pair[V]:
    return Pair(m.add(x.real, y.real), m.add(x.imag, y.imag))


@_op("subtract")
def _subtract(m: Arithmetic[V], x: Pair[V], y: Pair[V]) -> Pair[V]:
    return Pair(m.sub(x.real, y.real), m.sub(x.imag, y.imag))


@_op("multiply")
def _multiply(m: Arithmetic[V], x: Pair[V], y: Pair[V]) -> Pair[V]:
    """The second product of each part is rounded, the first is not, as in XLA's CPU backend."""
    real = m.fma(x.real, y.real, m.neg(m.mul(x.imag, y.imag)))
    imag = m.fma(x.imag, y.real, m.mul(x.real, y.imag))
    return Pair(real, imag)


@_op("negate")
def _negate(m: Arithmetic[V], x: Pair[V]) -> Pair[V]:
    return Pair(m.neg(x.real), m.neg(x.imag))


def _either(m: Arithmetic[V], first: V, x: Pair[V], y: Pair[V]) -> Pair[V]:
    """Returns x where `first` holds or x has a NaN, else y."""
    first = m.or_(first, m.fcmp("uno", x.real, x.imag))
    return Pair(m.select(first, x.real, y.real), m.select(first, x.imag, y.imag))


def _precedes(m: Arithmetic[V], x: Pair[V], y: Pair[V]) -> V:
    """Whether x <= y in the lexicographic order of real and imaginary parts; false if either has a NaN."""
    ordered = m.and_(m.fcmp("ord", x.imag, y.imag), m.fcmp("olt", x.real, y.real))
    return m.or_(ordered, m.and_(m.fcmp("oeq", x.real, y.real), m.fcmp("ole", x.imag, y.imag)))


@_op("maximum")
def _maximum(m: Arithmetic[V], x: Pair[V], y: Pair[V]) -> Pair[V]:
    return _either(m, _precedes(m, y, x), x, y)


@_op("minimum")
def _minimum(m: Arithmetic[V], x: Pair[V], y: Pair[V]) -> Pair[V]:
    return _either(m, _precedes(m, x, y), x, y)


@complex_function("divide")
def divide(m: Arithmetic[V], x: Pair[V], y: Pair[V]) -> Pair[V]:
    """Scales both operands by powers of two, so that no intermediate result overflows or loses bits by underflow."""
    x, back = _moderate(m, x)
    y, forth = _moderate(m, y)
    quotient = _smiths_quotient(m, x, y)
    half = m.div(forth, back)  # applied twice, because its square may overflow
    return Pair(*(m.mul(m.mul(part, half), half) for part in quotient))


@widened("divide")
def _divide_widened(m: Arithmetic[V], x: Pair[V], y: Pair[V]) -> Pair[V]:
    """`divide` in f64 of numbers that are f32: their products are exact, and neither overflow nor vanish."""
    size = m.add(m.mul(y.real, y.real), m.mul(y.imag, y.imag))
    real = m.add(m.mul(x.real, y.real), m.mul(x.imag, y.imag))
    imag = m.sub(m.mul(x.imag, y.real), m.mul(x.real, y.imag))
    zero = m.equal(size, 0.0)
    numerator = Pair(m.select(zero, x.real, real), m.select(zero, x.imag, imag))
    quotient = Pair(m.div(numerator.real, size), m.div(numerator.imag, size))
    return _quotient_of_infinity(m, x, y, _quotient_by_infinity(m, x, y, quotient))


def _moderate(m: Arithmetic[V], x: Pair[V]) -> tuple[Pair[V], V]:
    """Returns (x r^2, r), where r is a power of two."""
    size = m.maximum(m.abs(x.real), m.abs(x.imag))
    end, step = {"f32": (60, 35), "f64": (500, 300)}[m.kind(size)]
    tiny = m.less(size, 2.0**-end)
    root = m.choose(m.greater(size, 2.0**end), 2.0**-step, m.choose(tiny, 2.0**step, m.constant(1.0, size)))
    scale = m.mul(root, root)
    return Pair(m.mul(x.real, scale), m.mul(x.imag, scale)), root


def _smiths_quotient(m: Arithmetic[V], x: Pair[V], y: Pair[V]) -> Pair[V]:
    """Computes Smith's quotient by the larger part of the divisor.

    Zero and infinite divisors are handled separately.
    """
    swap = m.fcmp("olt", m.abs(y.real), m.abs(y.imag))
    large, small = m.select(swap, y.imag, y.real), m.select(swap, y.real, y.imag)
    ratio = m.div(small, large)
    below = m.add(large, m.mul(small, ratio))
    first, second = m.select(swap, x.imag, x.real), m.select(swap, x.real, x.imag)
    real = m.div(m.add(first, m.mul(second, ratio)), below)
    imag = m.div(
        m.sub(m.select(swap, m.mul(x.imag, ratio), x.imag), m.select(swap, x.real, m.mul(x.real, ratio))), below
    )
    zero = m.equal(large, 0.0)
    size = m.abs(y.real)
    real = m.select(zero, m.div(x.real, size), real)
    imag = m.select(zero, m.div(x.imag, size), imag)
    return _quotient_of_infinity(m, x, y, _quotient_by_infinity(m, x, y, Pair(real, imag)))


def _quotient_by_infinity(m: Arithmetic[V], x: Pair[V], y: Pair[V], quotient: Pair[V]) -> Pair[V]:
    """Replaces the quotient of a finite number by an infinite one, which is zero."""
    infinite = m.or_(m.equal(m.abs(y.real), float("inf")), m.equal(m.abs(y.imag), float("inf")))
    finite = m.and_(m.less(m.abs(x.real), float("inf")), m.less(m.abs(x.imag), float("inf")))
    vanishes = m.and_(infinite, finite)
    return Pair(m.choose(vanishes, 0.0, quotient.real), m.choose(vanishes, 0.0, quotient.imag))


def _quotient_of_infinity(m: Arithmetic[V], x: Pair[V], y: Pair[V], quotient: Pair[V]) -> Pair[V]:
    """Replaces the quotient of an infinite number by a finite one, which is infinite. (C99, Annex G.5.1.)"""
    bounded = m.and_(m.less(m.abs(y.real), float("inf")), m.less(m.abs(y.imag), float("inf")))
    zero = m.and_(m.equal(y.real, 0.0), m.equal(y.imag, 0.0))
    recovered = m.and_(is_infinite(m, x), m.and_(bounded, m.not_(zero)))
    u, v = (m.with_sign(m.choose(m.equal(m.abs(part), float("inf")), 1.0, m.constant(0.0, part)), part) for part in x)
    real = m.add(m.mul(u, y.real), m.mul(v, y.imag))
    imag = m.sub(m.mul(v, y.real), m.mul(u, y.imag))
    return Pair(
        m.select(recovered, m.mul(real, float("inf")), quotient.real),
        m.select(recovered, m.mul(imag, float("inf")), quotient.imag),
    )


@complex_function("abs")
def modulus(m: Arithmetic[V], x: Pair[V]) -> V:
    """Computes the larger part times sqrt(1 + ratio^2). The result is infinite if either part is, even beside a NaN."""
    real, imag = m.abs(x.real), m.abs(x.imag)
    _, large, small = by_magnitude(m, real, imag)
    ratio = m.div(small, m.choose(m.equal(large, 0.0), 1.0, large))
    result = m.mul(large, m.sqrt(m.fma(ratio, ratio, m.constant(1.0, real))))
    infinite = m.or_(m.equal(real, float("inf")), m.equal(imag, float("inf")))
    return m.choose(infinite, float("inf"), result)


def by_magnitude(m: Arithmetic[V], x: V, y: V) -> tuple[V, V, V]:
    """Returns (whether x < y, the larger, the smaller) of two numbers, none of which is negative."""
    swap = m.fcmp("olt", x, y)
    return swap, m.select(swap, y, x), m.select(swap, x, y)


def rescaled(m: Arithmetic[V], x: Pair[V], step: int) -> tuple[Pair[V], V]:
    """Returns (x r^step, 1 / r), so that a root of order `step` can be scaled back exactly.

    r is 1, except where the modulus of x could overflow or x has few bits by underflow; there it is another power of
    two.
    """
    size = m.maximum(m.abs(x.real), m.abs(x.imag))
    most, least, up = {"f32": (100, -70, 24), "f64": (1000, -960, 50)}[m.kind(size)]
    huge, tiny = m.greater(size, 2.0**most), m.less(size, 2.0**least)
    scale = m.choose(huge, 2.0 ** (-4 * step), m.choose(tiny, 2.0 ** (up * step), m.constant(1.0, size)))
    back = m.choose(huge, 2.0**4, m.choose(tiny, 2.0**-up, m.constant(1.0, size)))
    return Pair(m.mul(x.real, scale), m.mul(x.imag, scale)), back


def is_infinite(m: Arithmetic[V], x: Pair[V]) -> V:
    """Whether either part is infinite."""
    return m.or_(m.equal(m.abs(x.real), float("inf")), m.equal(m.abs(x.imag), float("inf")))


@complex_function("sign")
def _sign(m: Arithmetic[V], x: Pair[V]) -> Pair[V]:
    zero = m.and_(m.equal(x.real, 0.0), m.equal(x.imag, 0.0))
    x, _ = rescaled(m, x, 1)
    size = modulus(m, x)
    return Pair(m.choose(zero, 0.0, m.div(x.real, size)), m.choose(zero, 0.0, m.div(x.imag, size)))
