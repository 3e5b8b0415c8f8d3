"""Complex functions with error bounds, a million points in a second or two: what spares mpmath most points.

Each is computed in the machine's extended precision by a formula whose parts hardly ever cancel, on balls, which know
where they do. The formulas are textbook ones (Kahan, "Branch cuts for complex elementary functions"); neither the
evaluator's nor a backend's code is among them. The tests compare all of them with mpmath.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from xla_conformance.accuracy.complex_functions import balls
from xla_conformance.accuracy.complex_functions.balls import Ball, where

__all__ = ["ENCLOSURES", "enclose", "power_size"]

Array = np.ndarray
Pair = tuple[Ball, Ball]
"""(real part, imaginary part)."""

_ZERO_EXPONENTS = (-3300, -3600)
_NOTHING = np.ldexp(np.longdouble(1), -1200)
_FAR = 30.0  # tanh is 1 to 80 bits


def _times(a: Pair, b: Pair) -> Pair:
    return a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]


def _over(a: Pair, b: Pair) -> Pair:
    size = b[0] * b[0] + b[1] * b[1]
    real, imag = _times(a, (b[0], -b[1]))
    return real / size, imag / size


def _size(z: Pair) -> Ball:
    return balls.sqrt(z[0] * z[0] + z[1] * z[1])


def _times_i(z: Pair) -> Pair:
    return -z[1], z[0]


def _over_i(z: Pair) -> Pair:
    return z[1], -z[0]


def _exp(z: Pair) -> Pair:
    size = balls.exp(z[0])
    return size * balls.cos(z[1]), size * balls.sin(z[1])


def _expm1(z: Pair) -> Pair:
    half = balls.sin(z[1].scaled(0.5))
    return balls.expm1(z[0]) * balls.cos(z[1]) - (half * half).scaled(2), balls.exp(z[0]) * balls.sin(z[1])


def _half_log(size: Ball, beyond_one: Ball) -> Ball:
    """log(size) / 2, by size - 1 where that is small."""
    near = np.abs(beyond_one.middle) < 0.5
    return where(near, balls.log1p(where(near, beyond_one, Ball.of(0.0))), balls.log(size)).scaled(0.5)


def _log(z: Pair) -> Pair:
    x, y = abs(z[0]), abs(z[1])
    swap = x.middle < y.middle
    large, small = where(swap, y, x), where(swap, x, y)
    beyond = (large - 1) * (large + 1) + small * small
    return _half_log(x * x + y * y, beyond), balls.arctan2(z[1], z[0])


def _log1p(z: Pair) -> Pair:
    x, y = z
    right = x + 1
    return _half_log(right * right + y * y, x * (x + 2) + y * y), balls.arctan2(y, right)


def _logistic(z: Pair) -> Pair:
    right = z[0].middle > 0
    small = _exp((-abs(z[0]), where(right, -z[1], z[1])))
    below = small[0] + 1, small[1]
    one = Ball.of(np.ones_like(z[0].middle))
    above = where(right, one, small[0]), where(right, one * 0, small[1])
    return _over(above, below)


def _sqrt(z: Pair) -> Pair:
    long = balls.sqrt((_size(z) + abs(z[0])).scaled(0.5))
    short = abs(z[1]) / long.scaled(2)
    right = z[0].middle >= 0
    return where(right, long, short), where(right, short, long).copysign(z[1])


def _rsqrt(z: Pair) -> Pair:
    root, size = _sqrt(z), _size(z)
    return root[0] / size, -root[1] / size


def _cbrt(z: Pair) -> Pair:
    size, third = balls.cbrt(_size(z)), balls.arctan2(z[1], z[0]) / 3
    return size * balls.cos(third), size * balls.sin(third)


def _sinh(z: Pair) -> Pair:
    return balls.sinh(z[0]) * balls.cos(z[1]), balls.cosh(z[0]) * balls.sin(z[1])


def _cosh(z: Pair) -> Pair:
    return balls.cosh(z[0]) * balls.cos(z[1]), balls.sinh(z[0]) * balls.sin(z[1])


def _tanh(z: Pair) -> Pair:
    sine, cosine = balls.sin(z[1]), balls.cos(z[1])
    far = np.abs(z[0].middle) > _FAR
    x = where(far, Ball.of(1.0), z[0])
    up, across = balls.sinh(x), balls.cosh(x)
    below = up * up + cosine * cosine
    rest = balls.exp(abs(z[0]).scaled(-2))
    bound = Ball(np.zeros_like(rest.middle), 4 * rest.middle + rest.radius)
    one = (bound + 1).copysign(z[0])
    flat = (sine * cosine * rest).scaled(4)
    flat = Ball(flat.middle, flat.radius + np.abs(flat.middle) * (4 * rest.middle))
    return where(far, one, up * across / below), where(far, flat, sine * cosine / below)


def _asin(z: Pair) -> Pair:
    a, b = _sqrt((1 - z[0], -z[1])), _sqrt((z[0] + 1, z[1]))
    return balls.arctan2(z[0], a[0] * b[0] - a[1] * b[1]), balls.asinh(a[0] * b[1] - a[1] * b[0])


def _acos(z: Pair) -> Pair:
    a, b = _sqrt((1 - z[0], -z[1])), _sqrt((z[0] + 1, z[1]))
    return balls.arctan2(a[0], b[0]).scaled(2), balls.asinh(b[0] * a[1] - b[1] * a[0])


def _acosh(z: Pair) -> Pair:
    a, b = _sqrt((z[0] - 1, z[1])), _sqrt((z[0] + 1, z[1]))
    return balls.asinh(a[0] * b[0] + a[1] * b[1]), balls.arctan2(a[1], b[0]).scaled(2)


def _atanh(z: Pair) -> Pair:
    x, y = abs(z[0]), z[1]
    left = 1 - x
    real = balls.log1p(x.scaled(4) / (left * left + y * y)).scaled(0.25)
    return real.copysign(z[0]), balls.arctan2(y.scaled(2), left * (x + 1) - y * y).scaled(0.5)


def _atan(z: Pair) -> Pair:
    return _over_i(_atanh(_times_i(z)))


def _square(z: Pair) -> Pair:
    return (z[0] - z[1]) * (z[0] + z[1]), (z[0] * z[1]).scaled(2)


def _atan2(y: Pair, x: Pair) -> Pair:
    """The arc tangent of y / x, and half a turn where w = (x + iy) / √(x² + y²), whose angle it is, lies on the left:
    where it and the angle are of different sides of the real axis.
    """
    real, imag = _over(_plus(x, _times_i(y)), _sqrt(_plus(_times(x, x), _times(y, y))))
    angle, rest = _atan(_over(y, x))
    certain, upright = _has_sign(real), _has_sign(imag) & _has_sign(angle)
    left = np.where(certain, real.middle < 0, np.signbit(imag.middle) != np.signbit(angle.middle))
    half_turn = Ball(_PI, _PI * np.finfo(np.longdouble).eps)
    nothing = Ball.of(np.where(certain | upright, 0, np.nan))
    return where(left, angle - half_turn.copysign(angle), angle) + nothing, rest + nothing


def _has_sign(x: Ball) -> Array:
    return np.asarray(np.abs(x.middle) > x.radius)


_PI = 4 * np.arctan(np.longdouble(1))


def _plus(a: Pair, b: Pair) -> Pair:
    return a[0] + b[0], a[1] + b[1]


def _power(a: Pair, b: Pair) -> Pair:
    return _exp(_times(b, _log(a)))


def power_size(a: Array, b: Array) -> Ball:
    """A ball around |a^b|: it is known where the angle isn't."""
    with np.errstate(all="ignore"):
        return balls.exp(_times(_parts(b, _ZERO_EXPONENTS[0]), _log(_parts(a, _ZERO_EXPONENTS[0])))[0])


ENCLOSURES: dict[str, Callable[..., Pair]] = {
    "exponential": _exp,
    "exponential-minus-one": _expm1,
    "log": _log,
    "log-plus-one": _log1p,
    "logistic": _logistic,
    "sqrt": _sqrt,
    "rsqrt": _rsqrt,
    "cbrt": _cbrt,
    "sine": lambda z: _over_i(_sinh(_times_i(z))),
    "cosine": lambda z: _cosh(_times_i(z)),
    "tan": lambda z: _over_i(_tanh(_times_i(z))),
    "sinh": _sinh,
    "cosh": _cosh,
    "tanh": _tanh,
    "asin": _asin,
    "acos": _acos,
    "atan": _atan,
    "asinh": lambda z: _over_i(_asin(_times_i(z))),
    "acosh": _acosh,
    "atanh": _atanh,
    "abs": lambda z: (_size(z), Ball.of(np.zeros_like(z[0].middle))),
    "sign": lambda z: (z[0] / _size(z), z[1] / _size(z)),
    "square": _square,
    "multiply": _times,
    "divide": _over,
    "power": _power,
    "atan2": _atan2,
}
"""As `oracle.COMPLEX_FUNCTIONS`: name -> balls around the function at balls."""


def enclose(function: str, operands: Sequence[Array]) -> Pair:
    """Balls around the parts of a function's exact values, as `oracle.exact_value` defines those, at points of
    complex64 or complex128. Where an operand has a zero part, a part of the result that follows how small "below every
    float" is taken is any number, unless it stays below every float too.
    """
    with np.errstate(all="ignore"):
        real, imag = ENCLOSURES[function](*[_parts(z, _ZERO_EXPONENTS[0]) for z in operands])
        zeros = np.flatnonzero(np.any([(z.real == 0) | (z.imag == 0) for z in operands], axis=0))
        others = ENCLOSURES[function](*[_parts(z[zeros], _ZERO_EXPONENTS[1]) for z in operands])
        for part, other in zip((real, imag), others, strict=True):
            part.radius[zeros] = _settled(Ball(part.middle[zeros], part.radius[zeros]), other)
    return real, imag


def _parts(z: Array, zero_exponent: int) -> Pair:
    zero = np.ldexp(np.longdouble(1), zero_exponent)

    def part(x: Array) -> Ball:
        return Ball.of(np.where(x == 0, np.copysign(zero, x), x.astype(np.longdouble)))

    return part(z.real), part(z.imag)


def _settled(a: Ball, b: Ball) -> Array:
    """The radius of a, where b says the same; infinite elsewhere."""
    nothing = (np.abs(a.middle) + a.radius < _NOTHING) & (np.abs(b.middle) + b.radius < _NOTHING)
    same = np.abs(a.middle - b.middle) <= a.radius + b.radius
    return np.asarray(np.where(nothing | same, a.radius, np.inf))
