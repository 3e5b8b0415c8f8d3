"""Exact values of complex functions, by Arb (python-flint), and errors in units in the last place.

Arb's numbers are balls that are guaranteed to contain the exact value; the precision is raised until the ball is small
enough. A zero part of an operand is replaced by a tiny number of its sign, so that a point on a branch cut belongs to
the side that the sign of its zero names. The results at infinities, NaN and poles are in `specials`.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable, Iterable, Sequence

import flint
import numpy as np
from flint import acb, arb

Array = np.ndarray

_ZERO_EXPONENT = -3300
"""2^-3300 replaces a zero operand. Its product with the largest float is below products of two smallest floats."""
_NEGLIGIBLE = arb(2) ** -1200  # below the smallest number of every type
_ON_THE_CUT = arb(2) ** -8000
"""A smaller distance from a branch cut counts as zero. Replaced zeros are at least 2^-3600, their products 2^-7200."""
_FIRST_PRECISION, _LAST_PRECISION = 128, 1 << 14
_ACCURATE = 80  # the number of bits that a result must have
_FARTHEST = 1 << 40  # exponents are clamped to this
_I = acb(0, 1)


def _logistic(z: acb) -> acb:
    return 1 / (1 + (-z).exp()) if z.real > 0 else z.exp() / (1 + z.exp())


def _acosh(z: acb) -> acb:
    """Computes acosh by Kahan's formula, whose branch cut is the real line left of 1."""
    return 2 * (((z + 1) / 2).sqrt() + ((z - 1) / 2).sqrt()).log()


def _atan2(y: acb, x: acb) -> acb:
    direction = (x + _I * y) / (x * x + y * y).sqrt()
    if direction.imag.abs_upper() < _ON_THE_CUT:
        direction = acb(direction.real)
    return -_I * direction.log()


COMPLEX_FUNCTIONS: dict[str, tuple[int, Callable[..., acb]]] = {
    "exponential": (1, acb.exp),
    "exponential-minus-one": (1, acb.expm1),
    "log": (1, acb.log),
    "log-plus-one": (1, acb.log1p),
    "logistic": (1, _logistic),
    "sqrt": (1, acb.sqrt),
    "rsqrt": (1, acb.rsqrt),
    "cbrt": (1, lambda z: (z.log() / 3).exp()),
    "sine": (1, acb.sin),
    "cosine": (1, acb.cos),
    "tan": (1, acb.tan),
    "sinh": (1, acb.sinh),
    "cosh": (1, acb.cosh),
    "tanh": (1, acb.tanh),
    "asin": (1, acb.asin),
    "acos": (1, acb.acos),
    "atan": (1, acb.atan),
    "asinh": (1, acb.asinh),
    "acosh": (1, _acosh),
    "atanh": (1, acb.atanh),
    "abs": (1, lambda z: acb(abs(z))),
    "sign": (1, lambda z: z / abs(z)),
    "square": (1, lambda z: z * z),
    "multiply": (2, lambda a, b: a * b),
    "divide": (2, lambda a, b: a / b),
    "power": (2, lambda a, b: (b * a.log()).exp()),
    "atan2": (2, _atan2),
}
"""HLO opcode (and CHLO's square) -> the number of operands, and the definition on Arb's numbers."""


def exact_value(function: str, *operands: complex) -> tuple[arb, arb]:
    """Returns the real and the imaginary part of the function at finite points.

    Raises:
        ArithmeticError: the point is a pole, or Arb finds no accurate value.
    """
    now = _value(function, operands, _ZERO_EXPONENT)
    if all(part for z in operands for part in (z.real, z.imag)):
        return now
    # A part that shrinks when the replacement of zero gets smaller is zero at the operand zero.
    smaller = _value(function, operands, _ZERO_EXPONENT - 300)
    tiny = arb(2) ** _ZERO_EXPONENT
    real, imag = (
        part.sgn() * tiny if abs(less) * 2 < abs(part) else part for part, less in zip(now, smaller, strict=True)
    )
    return real, imag


def _value(function: str, operands: Sequence[complex], zero_exponent: int) -> tuple[arb, arb]:
    definition = COMPLEX_FUNCTIONS[function][1]
    points = [acb(_number(z.real, zero_exponent), _number(z.imag, zero_exponent)) for z in operands]
    precision = _FIRST_PRECISION
    while precision <= _LAST_PRECISION:
        with flint.ctx.workprec(precision):
            value = definition(*points)
            if _is_accurate(value.real) and _is_accurate(value.imag):
                return value.real, value.imag
        precision *= 2
    raise ArithmeticError(f"{function} of {operands}: no accurate value with {_LAST_PRECISION} bits")


def _number(x: float, zero_exponent: int) -> arb:
    return arb(x) if x else arb(math.copysign(1.0, x)) * arb(2) ** zero_exponent


def _is_accurate(part: arb) -> bool:
    return part.rel_accuracy_bits() >= _ACCURATE or bool(part.abs_upper() < _NEGLIGIBLE)


@dataclasses.dataclass(frozen=True)
class Exact:
    """Real numbers, element by element: (mantissa + rest) * 2^exponent.

    The mantissas are in [1/2, 1), or zero, or NaN for an unknown number; the rests are below their spacing. Exponents
    may exceed those of float64.
    """

    mantissa: Array
    rest: Array
    exponent: Array

    def rounded(self) -> Array:
        """Returns the numbers as float64; a number that is too large becomes infinite."""
        with np.errstate(over="ignore", under="ignore"):
            return np.asarray(np.ldexp(self.mantissa, np.clip(self.exponent, -5000, 5000)))

    @staticmethod
    def of(values: Iterable[arb]) -> Exact:
        parts = _Parts()
        for value in values:
            parts.add(value)
        return parts.exact()


def exact_values(function: str, operands: Sequence[Array]) -> tuple[Exact, Exact]:
    """Returns `exact_value` at each point, and NaN where it raises.

    It raises, for example, on a branch cut if no zero's sign tells the side.
    """
    definition = COMPLEX_FUNCTIONS[function][1]
    parts = _Parts(), _Parts()
    with flint.ctx.workprec(_FIRST_PRECISION):
        for point in zip(*(z.tolist() for z in operands), strict=True):
            value = definition(*map(acb, point))
            real, imag = value.real, value.imag
            has_zero = not all(part for z in point for part in (z.real, z.imag))
            if has_zero or real.rel_accuracy_bits() < _ACCURATE or imag.rel_accuracy_bits() < _ACCURATE:
                try:
                    real, imag = exact_value(function, *point)
                except ArithmeticError:
                    real = imag = arb.nan()
            parts[0].add(real)
            parts[1].add(imag)
    return parts[0].exact(), parts[1].exact()


class _Parts:
    """Collects numbers as float64; numbers outside its range are scaled by powers of two."""

    def __init__(self) -> None:
        self.high: list[float] = []
        self.rest: list[float] = []
        self.scaled: list[tuple[int, int]] = []  # (index, exponent)

    def add(self, value: arb) -> None:
        high = float(value)
        if not 1e-280 < abs(high) < 1e300 and value.is_finite():
            mantissa, exponent = value.mid().man_exp()
            if mantissa:
                bits = int(mantissa).bit_length()
                scale = max(min(int(exponent) + bits, _FARTHEST), -_FARTHEST)  # int64 can hold sums of it
                self.scaled.append((len(self.high), scale))
                value = arb(mantissa) * arb(2) ** -bits
                high = float(value)
        self.high.append(high)
        self.rest.append(float(value - high))

    def exact(self) -> Exact:
        mantissa, exponent = np.frexp(np.array(self.high))
        rest = np.ldexp(np.array(self.rest), -exponent)
        exponent = np.where(mantissa == 0, -_FARTHEST, exponent.astype(np.int64))
        for index, scale in self.scaled:
            exponent[index] += scale
        return Exact(mantissa, rest, exponent)


@functools.cache
def _limits(dtype: np.dtype) -> tuple[int, int, int]:
    """Returns the bits of precision, and the least and greatest exponents of normal numbers, as frexp counts them."""
    info = np.finfo(dtype)
    return info.nmant + 1, int(info.minexp) + 1, int(info.maxexp)


def ulp_errors(got: Array, exact: Exact, scale: Exact | None = None) -> Array:
    """Computes |got - exact| in units in the last place of the exact value, or of `scale` if that is larger.

    A result that is too large for the type must be infinite or the largest finite number. A zero's sign does not count.
    """
    bits, least, greatest = _limits(got.dtype)
    exponent = exact.exponent if scale is None else np.maximum(exact.exponent, scale.exponent)
    size = np.clip(exponent, least, greatest)
    shift = np.clip(exact.exponent - size + bits, -5000, 5000)
    with np.errstate(all="ignore"):
        units = np.ldexp(got.astype(np.float64), bits - size)
        units = np.where(np.isinf(got), np.copysign(np.ldexp(1.0, greatest - size + bits), got), units)
        error = np.abs(units - np.ldexp(exact.mantissa, shift) - np.ldexp(exact.rest, shift))
    overflows = np.isinf(got) & (exact.exponent > greatest)
    error = np.where(overflows, np.where(np.signbit(got) == np.signbit(exact.mantissa), 0.0, np.inf), error)
    return np.asarray(np.where(np.isnan(error), np.inf, error))
