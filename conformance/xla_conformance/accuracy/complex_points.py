"""Where complex functions are measured: every magnitude, both sides of branch cuts, near poles, and special values."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

__all__ = ["complex_pairs", "complex_points", "finite_corners", "special_points"]

_NEAR = np.array(
    [1, -1, 1j, -1j, 0, np.pi / 2, -np.pi / 2, 1j * np.pi, 1j * np.pi / 2, 2j * np.pi, np.pi, 0.5, -2, -0.5]
)


def complex_points(dtype: np.dtype, count: int, seed: int = 0) -> np.ndarray:
    """About `count` finite points of a complex type.

    In equal parts: both parts of any exponent; of moderate exponents; near 1, i, pi / 2 and so on, at all distances;
    near the unit circle; one part so small that the point is beside an axis (where cuts lie); a part where exp
    overflows.
    """
    rng = np.random.default_rng(seed)
    info = np.finfo(np.float32 if dtype == np.complex64 else np.float64)
    each = max(count // 6, 1)

    def sized(low: float, high: float) -> Any:
        return rng.choice([-1.0, 1.0], each) * rng.uniform(1, 2, each) * 2.0 ** rng.uniform(low, high, each)

    least, most = float(info.minexp - info.nmant), float(info.maxexp - 1)
    epsilon = info.nmant
    anywhere = sized(least, most) + 1j * sized(least, most)
    moderate = sized(-8, 8) + 1j * sized(-8, 8)
    near = rng.choice(_NEAR, each) + sized(-2 * epsilon, -2) + 1j * sized(-2 * epsilon, -2)
    circle = np.exp(1j * rng.uniform(-np.pi, np.pi, each)) * (1 + sized(-epsilon - 2, -1))
    beside = np.where(rng.random(each) < 0.5, sized(-3, 3) + 1j * sized(least, 0), sized(least, 0) + 1j * sized(-3, 3))
    largest = float(np.log(float(info.max)))
    far = rng.choice([-1.0, 1.0], each) * largest * rng.uniform(0.4, 1.1, each) + 1j * sized(-4, 12)
    turned = np.where(rng.random(each) < 0.5, far, far.imag + 1j * far.real)
    with np.errstate(over="ignore"):
        points: np.ndarray = np.concatenate([anywhere, moderate, near, circle, beside, turned]).astype(dtype)
    finite: np.ndarray = points[np.isfinite(points.real) & np.isfinite(points.imag)]
    return finite


def complex_pairs(dtype: np.dtype, count: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """About `count` pairs of points: both of moderate size, or near each other in any direction."""
    rng = np.random.default_rng(seed)
    epsilon = np.finfo(dtype).nmant

    def sized(low: float, high: float) -> Any:
        return (
            rng.choice([-1.0, 1.0], (2, count))
            * rng.uniform(1, 2, (2, count))
            * 2.0 ** rng.uniform(low, high, (2, count))
        )

    first, second = sized(-6, 6) + 1j * sized(-6, 6)
    turn = rng.choice(np.array([1, -1, 1j, -1j]), count)
    close = first * turn * (1 + sized(-epsilon, -1)[0] + 1j * sized(-epsilon, -1)[1])
    second = np.where(rng.random(count) < 0.25, close, second)
    return first.astype(dtype), second.astype(dtype)


def finite_corners(dtype: np.dtype) -> np.ndarray:
    """Every pair of zeros of both signs, the smallest and largest numbers, one and its neighbours, and a few more."""
    info = np.finfo(np.float32 if dtype == np.complex64 else np.float64)
    largest, epsilon = float(info.max), float(info.eps)
    values = [0.0, float(info.smallest_subnormal), float(info.tiny), 0.5, 1 - epsilon / 2, 1.0, 1 + epsilon, 2.0]
    values += [np.pi / 2, largest**0.5, largest]
    parts = [s * v for v in values for s in (1.0, -1.0)]
    return _pairs(parts, parts, dtype)


def special_points(dtype: np.dtype) -> np.ndarray:
    """Pairs of which at least one part is infinite or NaN, and zeros."""
    special = [np.inf, -np.inf, np.nan, 0.0, -0.0]
    finite = [0.0, -0.0, 0.5, -0.5, 2.0, -2.0, 1.0, -1.0, 4.0, -4.0]
    return np.concatenate(
        [_pairs(special, special, dtype), _pairs(special[:3], finite, dtype), _pairs(finite, special[:3], dtype)]
    )


def _pairs(real: list[float], imag: list[float], dtype: np.dtype) -> np.ndarray:
    result = np.empty(len(real) * len(imag), dtype)
    pairs = np.array(list(itertools.product(real, imag)))
    result.real, result.imag = pairs[:, 0], pairs[:, 1]
    return result
