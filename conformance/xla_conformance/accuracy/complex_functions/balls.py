"""Numbers with error bounds: arrays in the machine's extended precision, each with how far the exact value may be.

Every operation encloses its exact result, whatever cancels: what comes out too wide is known to be so. The operations
are IEEE's, rounded once; the C library's functions are allowed a unit in the last place more than glibc states of them
(its manual, "Known Maximum Errors in Math Functions"). What lies beyond e^±11000 stands for all that does: every
element type's numbers end far before.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = [
    "Ball",
    "arctan2",
    "asinh",
    "cbrt",
    "cos",
    "cosh",
    "exp",
    "expm1",
    "log",
    "log1p",
    "sin",
    "sinh",
    "sqrt",
    "where",
]

Array = np.ndarray

_LONG = np.longdouble
_EPS = float(np.finfo(_LONG).eps)
_TINY = np.finfo(_LONG).tiny  # more than a denormal number's rounding, and faster to add
_SLACK = 1 + 2.0**-40  # for the roundings of radii
_FARTHEST = 11000.0
_STEEP = 1.3  # e^r - 1 <= 1.3 r for r up to a half


@dataclasses.dataclass(frozen=True, eq=False)
class Ball:
    """Values within `radius` of `middle`, element by element. Where either is NaN, or the radius infinite, any."""

    middle: Array
    radius: Array

    @staticmethod
    def of(values: Any) -> Ball:
        """Exact numbers."""
        middle = np.asarray(values, _LONG)
        return Ball(middle, np.zeros_like(middle))

    def __neg__(self) -> Ball:
        return Ball(-self.middle, self.radius)

    def __abs__(self) -> Ball:
        return Ball(np.abs(self.middle), self.radius)

    def __add__(self, other: Ball | float) -> Ball:
        other = _ball(other)
        return _rounded(self.middle + other.middle, self.radius + other.radius)

    def __sub__(self, other: Ball | float) -> Ball:
        return self + -_ball(other)

    def __rsub__(self, other: float) -> Ball:
        return -self + other

    def __mul__(self, other: Ball | float) -> Ball:
        other = _ball(other)
        a, b = np.abs(self.middle), np.abs(other.middle)
        return _rounded(self.middle * other.middle, a * other.radius + b * self.radius + self.radius * other.radius)

    def __truediv__(self, other: Ball | float) -> Ball:
        other = _ball(other)
        middle, least = self.middle / other.middle, np.abs(other.middle) - other.radius
        radius = (self.radius + np.abs(middle) * other.radius) / least
        return _rounded(middle, np.where(least > 0, radius, np.inf))

    __radd__, __rmul__ = __add__, __mul__

    def scaled(self, factor: float) -> Ball:
        """Times a power of two, which rounds nothing."""
        return Ball(self.middle * factor, self.radius * abs(factor))

    def copysign(self, other: Ball) -> Ball:
        """Of a number that isn't negative: with the sign of another, where that is certain."""
        certain = np.abs(other.middle) > other.radius
        return Ball(np.copysign(self.middle, other.middle), np.where(certain, self.radius, np.inf))


def _ball(value: Ball | float) -> Ball:
    return value if isinstance(value, Ball) else Ball.of(value)


def _rounded(middle: Array, radius: Array, ulps: float = 0.5) -> Ball:
    return Ball(middle, (radius + np.abs(middle) * (ulps * _EPS)) * _SLACK + _TINY)


def where(condition: Array, a: Ball, b: Ball) -> Ball:
    return Ball(np.where(condition, a.middle, b.middle), np.where(condition, a.radius, b.radius))


def _function(
    compute: Callable[[Array], Array], ulps: float, slope: Callable[[Array, Array, Array], Array]
) -> Callable[[Ball], Ball]:
    """A function of the C library, within so many units in the last place.

    `slope` of (x, radius of x, result): at most how steep it is in the ball.
    """

    def computed(x: Ball) -> Ball:
        middle = compute(x.middle)
        steep = slope(x.middle, x.radius, middle)
        spread = np.where((x.radius == 0) | (steep == 0), 0, steep * x.radius)
        return _rounded(middle, spread, ulps)

    return computed


def _until_half(radius: Array, slope: Array) -> Array:
    return np.where(radius <= 0.5, _STEEP * slope, np.inf)


def _from(least: Array) -> Array:
    """1 / least, of a positive number."""
    return np.where(least > 0, 1 / least, np.inf)


def _limited(compute: Callable[[Array], Array]) -> Callable[[Array], Array]:
    return lambda x: compute(np.clip(x, -_FARTHEST, _FARTHEST))


exp = _function(_limited(np.exp), 2, lambda x, r, y: np.where(np.abs(x) - r > _FARTHEST, 0, _until_half(r, y)))
expm1 = _function(_limited(np.expm1), 5, lambda x, r, y: _until_half(r, y + 1))
sinh = _function(_limited(np.sinh), 6, lambda x, r, y: _until_half(r, np.abs(y) + 1))
cosh = _function(_limited(np.cosh), 4, lambda x, r, y: _until_half(r, y))
log = _function(np.log, 2, lambda x, r, y: _from(x - r))
log1p = _function(np.log1p, 4, lambda x, r, y: _from((1 + x) * (1 - 2 * _EPS) - r))
sin = _function(np.sin, 2, lambda x, r, y: 2 / np.maximum(r, 2))
cos = _function(np.cos, 2, lambda x, r, y: 2 / np.maximum(r, 2))
asinh = _function(np.arcsinh, 5, lambda x, r, y: 1 / np.maximum(1, np.abs(x) - r))
sqrt = _function(np.sqrt, 0.5, lambda x, r, y: np.where(y > 0, 1 / y, np.inf))  # |a - b| = |√a - √b| (√a + √b)
cbrt = _function(np.cbrt, 2, lambda x, r, y: np.where(x > 0, y / x, np.inf))  # of what isn't negative


def arctan2(y: Ball, x: Ball) -> Ball:
    """The angle of (x, y), where the ball doesn't reach the cut; the exact signs of exact operands count."""
    middle = np.arctan2(y.middle, x.middle)
    size = np.abs(x.middle) * np.abs(x.middle) + np.abs(y.middle) * np.abs(y.middle)
    spread = x.radius + y.radius
    turn = (np.abs(x.middle) * y.radius + np.abs(y.middle) * x.radius) / size
    near = spread * spread > size * 2.0**-20  # beyond, the angle's slope changes by less than a percent
    cut = (x.middle < x.radius) & (np.abs(y.middle) <= y.radius)
    radius = np.where(spread == 0, 0, np.where(near | cut, np.inf, 1.01 * turn))
    return _rounded(middle, radius, 2)
