"""The exact values of complex functions: mpmath, to as many digits as it takes, and errors in ULP.

A zero part of an operand is a tiny number of its sign, so that a point on a branch cut belongs to the side that its
zero names. What C's Annex G lists (infinities, NaN, poles) is for `specials` to say.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from xla_conformance.accuracy.complex_functions.balls import Ball

__all__ = ["COMPLEX_FUNCTIONS", "Exact", "exact_value", "ulp_bound", "ulp_error"]

Exact = Any
"""mpmath's mpf: a real number of any size and precision."""

_mp = Any

_ZERO_EXPONENT = -3300  # a zero operand is 2^that: times the largest float it is below products of the smallest
_NOTHING = -1200  # results below 2^that are zero in every type


def _power(mp: _mp, a: Any, b: Any) -> Any:
    return mp.exp(b * mp.log(a))


def _atan2(mp: _mp, y: Any, x: Any) -> Any:
    return -1j * mp.log((x + 1j * y) / mp.sqrt(x * x + y * y))


def _acosh(mp: _mp, z: Any) -> Any:
    """By Kahan's product, whose cut is the half line left of 1."""
    return 2 * mp.log(mp.sqrt((z + 1) / 2) + mp.sqrt((z - 1) / 2))


def _asinh(mp: _mp, z: Any) -> Any:
    """log(z + sqrt(z^2 + 1)), of the half plane where nothing cancels."""
    return mp.log(z + mp.sqrt(z * z + 1)) if z.real >= 0 else -mp.log(-z + mp.sqrt(z * z + 1))


def _atanh(mp: _mp, z: Any) -> Any:
    return (mp.log(1 + z) - mp.log(1 - z)) / 2


def _asin(mp: _mp, z: Any) -> Any:
    return -1j * _asinh(mp, 1j * z)


def _acos(mp: _mp, z: Any) -> Any:
    """By Kahan's sum of roots."""
    return -2j * mp.log(mp.sqrt((1 + z) / 2) + 1j * mp.sqrt((1 - z) / 2))


COMPLEX_FUNCTIONS: dict[str, tuple[int, Callable[..., Any]]] = {
    "exponential": (1, lambda mp, z: mp.exp(z)),
    "exponential-minus-one": (1, lambda mp, z: mp.exp(z) - 1),
    "log": (1, lambda mp, z: mp.log(z)),
    "log-plus-one": (1, lambda mp, z: mp.log(1 + z)),
    "logistic": (1, lambda mp, z: 1 / (1 + mp.exp(-z)) if z.real > 0 else mp.exp(z) / (1 + mp.exp(z))),
    "sqrt": (1, lambda mp, z: mp.sqrt(z)),
    "rsqrt": (1, lambda mp, z: 1 / mp.sqrt(z)),
    "cbrt": (1, lambda mp, z: mp.exp(mp.log(z) / 3)),
    "sine": (1, lambda mp, z: mp.sin(z)),
    "cosine": (1, lambda mp, z: mp.cos(z)),
    "tan": (1, lambda mp, z: -1j * mp.tanh(1j * z)),
    "sinh": (1, lambda mp, z: mp.sinh(z)),
    "cosh": (1, lambda mp, z: mp.cosh(z)),
    "tanh": (1, lambda mp, z: mp.tanh(z)),
    "asin": (1, _asin),
    "acos": (1, _acos),
    "atan": (1, lambda mp, z: -1j * _atanh(mp, 1j * z)),
    "asinh": (1, _asinh),
    "acosh": (1, _acosh),
    "atanh": (1, _atanh),
    "abs": (1, lambda mp, z: mp.mpc(abs(z))),
    "sign": (1, lambda mp, z: z / abs(z)),
    "square": (1, lambda mp, z: z * z),
    "multiply": (2, lambda mp, a, b: a * b),
    "divide": (2, lambda mp, a, b: a / b),
    "power": (2, _power),
    "atan2": (2, _atan2),
}
"""HLO opcode (and CHLO's square) -> the number of operands, and the definition on mpmath's numbers."""


def exact_value(function: Callable[..., Any], *operands: complex) -> tuple[Exact, Exact]:
    """(real part, imaginary part) of the function at finite points; a zero is a number of its sign below every float.

    Raises ArithmeticError at poles.
    """
    import mpmath

    mp = mpmath.mp
    parts = [part for z in operands for part in (z.real, z.imag)]
    exponents = [math.frexp(p)[1] if p else _ZERO_EXPONENT for p in parts]
    precision = 160 + 2 * (max(-min(exponents), 0) + max(*exponents, 0))
    certain = 2 * sum(abs(math.frexp(p)[1]) for p in parts)
    before = None
    while True:
        with mp.workprec(precision):
            now = _parts(mp, function, operands, _ZERO_EXPONENT)
        if before is not None and all(_agree(*pair, precision > certain) for pair in zip(before, now, strict=True)):
            break
        before, precision = now, precision + precision // 2
        if precision > 40000:
            raise ArithmeticError(f"no value of {operands} to 40000 bits")
    if 0 not in parts:
        return now
    # What follows how small a zero is, and is zero at the zero itself, is so however much the function grows around it.
    with mp.workprec(precision):
        try:
            there = _parts(mp, function, operands, None)
            smaller = _parts(mp, function, operands, _ZERO_EXPONENT - 300)
        except (ArithmeticError, ValueError):
            return now
        nothing = mp.ldexp(1, _ZERO_EXPONENT)
        real, imag = (
            mp.sign(x) * nothing if at == 0 and not _agree(x, less, True) else x
            for x, at, less in zip(now, there, smaller, strict=True)
        )
    return real, imag


def _parts(mp: _mp, function: Callable[..., Any], operands: Sequence[complex], zero: int | None) -> tuple[Exact, Exact]:
    def number(x: float) -> Any:
        return mp.mpf(x) if x or zero is None else mp.ldexp(math.copysign(1.0, x), zero)

    value = function(mp, *(mp.mpc(number(z.real), number(z.imag)) for z in operands))
    return mp.mpf(value.real), mp.mpf(value.imag)


def _agree(a: Exact, b: Exact, certain: bool) -> bool:
    """To 80 bits, or both nothing where no digits can be missing."""
    import mpmath

    if not (mpmath.isfinite(a) and mpmath.isfinite(b)):  # of digits that cancelled
        return False
    size = max(_exponent(a), _exponent(b))
    if size < _NOTHING:
        return certain
    with mpmath.mp.workprec(120):
        return bool(a == b) or _exponent(a - b) < size - 80


def _exponent(x: Exact) -> int:
    """E with 2^(e-1) <= |x| < 2^e."""
    return int(x.man_exp[1]) + int(x.man_exp[0]).bit_length() if x else -(1 << 40)


@functools.cache
def _limits(dtype: np.dtype) -> tuple[int, int, int]:
    """(bits of precision, least exponent of a normal number, greatest exponent) as frexp counts."""
    info = np.finfo(dtype)
    return info.nmant + 1, int(info.minexp) + 1, int(info.maxexp)


def ulp_error(got: float, exact: Exact, dtype: np.dtype, scale: Exact = None) -> float:
    """|got - exact| in units in the last place of the exact value, or of a larger one, `scale`.

    What rounds to infinity must be infinite or the largest finite number; a zero's sign doesn't count here.
    """
    import mpmath

    bits, least, greatest = _limits(dtype)
    if got != got:
        return math.inf
    with mpmath.mp.workprec(200):
        size = max(_exponent(exact), _exponent(scale) if scale is not None else least, least)
        if _exponent(exact) > greatest and math.isinf(got):
            return 0.0 if (got > 0) == (exact > 0) else math.inf
        size = min(size, greatest)
        value = mpmath.mpf(got) if math.isfinite(got) else mpmath.ldexp(math.copysign(1, got), greatest)
        return float(abs(value - exact) / mpmath.ldexp(1, size - bits))


def ulp_bound(got: np.ndarray, exact: Ball, scale: np.ndarray | None = None) -> np.ndarray:
    """At least `ulp_error` of results of a float type for any exact value in the balls, and for any scale of at least
    so much; infinite where the balls say nothing.
    """
    bits, least, greatest = _limits(got.dtype)
    with np.errstate(all="ignore"):
        size = np.abs(exact.middle) - exact.radius
        exponent = np.frexp(np.maximum(size, 0 if scale is None else scale))[1]
        unit = np.ldexp(np.longdouble(1), np.clip(exponent, least, greatest) - bits)
        edge = np.ldexp(np.longdouble(1), greatest)
        value = np.where(np.isinf(got), np.copysign(edge, got), got.astype(np.longdouble))
        error = (np.abs(value - exact.middle) + exact.radius) / unit * (1 + 2.0**-40)
        far = np.isinf(got) & (size > edge) & (np.signbit(got) == np.signbit(exact.middle))
        error = np.where(far, 0, error)
    return np.asarray(np.where(np.isnan(error), np.inf, error))
