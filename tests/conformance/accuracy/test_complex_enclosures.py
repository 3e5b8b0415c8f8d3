"""The enclosures of complex functions hold mpmath's values, at random points and at hard ones, and are narrow at most."""

from __future__ import annotations

import math

import numpy as np
import pytest

mpmath = pytest.importorskip("mpmath")

from xla_conformance.accuracy.complex_functions import balls
from xla_conformance.accuracy.complex_functions.balls import Ball
from xla_conformance.accuracy.complex_functions.enclosures import ENCLOSURES, enclose, power_size
from xla_conformance.accuracy.complex_functions.oracle import COMPLEX_FUNCTIONS, exact_value, ulp_bound, ulp_error
from xla_conformance.accuracy.complex_functions.points import complex_pairs, complex_points, finite_corners

RANDOM, CORNERS = 48, 16
NOTHING, EVERYTHING = -1200, 10_000  # exponents of what is zero, and what infinite, in every type


def exactly(x: np.longdouble):
    """As mpmath's number."""
    mantissa, exponent = np.frexp(x)
    high = float(mantissa)
    return mpmath.ldexp(mpmath.mpf(high) + mpmath.mpf(float(mantissa - np.longdouble(high))), int(exponent))


def points(function: str, dtype: np.dtype) -> list[np.ndarray]:
    if COMPLEX_FUNCTIONS[function][0] == 2:
        return [z[:: max(len(z) // RANDOM, 1)] for z in complex_pairs(dtype, 4 * RANDOM, 3)]
    corners = np.random.default_rng(7).permutation(finite_corners(dtype))[:CORNERS]
    return [np.concatenate([complex_points(dtype, RANDOM, 3), corners])]


def holds(ball: Ball, i: int, exact) -> bool:
    middle, radius = ball.middle[i], ball.radius[i]
    if not (np.isfinite(middle) and np.isfinite(radius)):
        return True
    with mpmath.workprec(400):
        centre, size = exactly(middle), abs(exact)
        limit, most = mpmath.ldexp(1, NOTHING), mpmath.ldexp(1, EVERYTHING)
        if size < limit or size > most:
            return abs(centre) < limit if size < limit else abs(centre) > most
        return abs(centre - exact) <= exactly(radius)


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
@pytest.mark.parametrize("function", sorted(ENCLOSURES))
def test_they_hold_the_exact_values(function, dtype):
    operands = points(function, np.dtype(dtype))
    parts = enclose(function, operands)
    asked = wide = 0
    for i, z in enumerate(zip(*operands, strict=True)):
        try:
            exact = exact_value(COMPLEX_FUNCTIONS[function][1], *map(complex, z))
        except ArithmeticError:  # a pole
            continue
        assert all(holds(ball, i, e) for ball, e in zip(parts, exact, strict=True)), (z, exact)
        asked += 1
        wide += not all(np.isfinite(ball.radius[i]) for ball in parts)
    assert asked > RANDOM / 2
    assert wide < asked / 4


def test_every_function_has_one():
    assert set(ENCLOSURES) == set(COMPLEX_FUNCTIONS)


REAL = {
    "exp": (-700, 700), "expm1": (-40, 700), "sinh": (-700, 700), "cosh": (-700, 700), "log": (0, 1e6),
    "log1p": (-0.75, 2), "sin": (-1e6, 1e6), "cos": (-1e6, 1e6), "asinh": (-1e6, 1e6), "sqrt": (0, 1e6), "cbrt": (0, 1e6),
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(REAL))
def test_functions_of_balls_hold_the_function_at_their_ends(name):
    """Of exact numbers, which is what the C library's functions are trusted with, and of wide balls."""
    random = np.random.default_rng(1)
    x = np.concatenate([random.uniform(*REAL[name], 300), 2.0 ** -random.uniform(1, 200, 100)])
    function = getattr(mpmath, name)
    for radius in (0.0, 1e-9, 1e-3):
        ball = Ball(x.astype(np.longdouble), np.abs(x).astype(np.longdouble) * radius)
        result = getattr(balls, name)(ball)
        with mpmath.workprec(200):
            for i, at in enumerate(x):
                for side in (-1, 0, 1):
                    exact = function(mpmath.mpf(at) + side * exactly(ball.radius[i]))
                    assert holds(result, i, exact), (at, radius, side)


def test_angles_of_balls():
    random = np.random.default_rng(2)
    y, x = random.standard_normal((2, 400)) * 2.0 ** random.uniform(-60, 60, (2, 400))
    for radius in (0.0, 1e-9):
        a, b = (Ball(v.astype(np.longdouble), np.abs(v).astype(np.longdouble) * radius) for v in (y, x))
        result = balls.arctan2(a, b)
        with mpmath.workprec(200):
            for i in range(400):
                for s, t in ((0, 0), (1, 1), (1, -1), (-1, 1)):
                    up, right = mpmath.mpf(y[i]) + s * exactly(a.radius[i]), mpmath.mpf(x[i]) + t * exactly(b.radius[i])
                    assert holds(result, i, mpmath.atan2(up, right)), (y[i], x[i])


def test_what_cancels_is_known_to():
    one = Ball.of(np.ones(1))
    difference = (one + 1e-25) - one
    assert difference.radius[0] >= 1e-25
    with np.errstate(divide="ignore"):
        assert np.isinf((one / difference).radius[0])


def test_bounds_of_errors_are_at_least_the_errors():
    dtype = np.dtype(np.float32)
    got = np.array([1.0, 2.0, -1.5, 0.0, 3e38, np.inf, np.nan, 1e-45], dtype)
    exact = np.array([1 + 2.0**-30, 2 - 2.0**-26, -1.5 + 2.0**-22, 1e-46, 3.5e38, 4e38, 1.0, 2.1e-45])
    bounds = ulp_bound(got, Ball.of(exact))
    errors = [ulp_error(float(g), mpmath.mpf(e), dtype) for g, e in zip(got, exact, strict=True)]
    assert np.all(bounds >= errors)
    assert np.all((bounds <= np.array(errors) * 1.01 + 1e-9) | np.isinf(bounds))
    assert ulp_bound(got[:1], Ball(np.ones(1, np.longdouble), np.array([2.0**-23], np.longdouble)))[0] >= 1


def test_the_size_of_a_power_is_known_where_its_angle_is_not():
    size = power_size(np.array([3 + 4j]), np.array([1e30 + 1e-30j]))
    assert size.middle[0] - size.radius[0] > math.ldexp(1, 1023)
