"""Where complex functions are measured: every magnitude, both sides of branch cuts, near poles, and special values."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

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
    """About `count` pairs of finite points.

    Three eighths of the pairs have moderate sizes. In an eighth each, the two points are close to each other, the parts
    have any exponents, a part is small or zero, or only one of the points has a moderate size. The rest are corners.
    """
    rng = np.random.default_rng(seed)
    epsilon = np.finfo(dtype).nmant
    each = max(count // 8, 1)

    def sized(number: int, low: float, high: float) -> Any:
        sign = rng.choice([-1.0, 1.0], (2, number))
        return sign * rng.uniform(1, 2, (2, number)) * 2.0 ** rng.uniform(low, high, (2, number))

    first, second = sized(4 * each, -6, 6) + 1j * sized(4 * each, -6, 6)
    turn = rng.choice(np.array([1, -1, 1j, -1j]), each)
    second[:each] = first[:each] * turn * (1 + sized(each, -epsilon, -1)[0] + 1j * sized(each, -epsilon, -1)[1])
    wild, tame, corners = complex_points(dtype, 6 * each, seed + 1), first[:each], finite_corners(dtype)
    anywhere = [rng.choice(wild[: len(wild) // 6], each) for _ in range(2)]
    beside = [_on_an_axis(rng, rng.choice(wild, each)) for _ in range(2)]
    mixed = [rng.choice(wild, each), tame.astype(dtype)]
    if rng.random() < 0.5:
        mixed.reverse()
    ends = [rng.choice(corners, each) for _ in range(2)]
    parts = zip([first.astype(dtype), second.astype(dtype)], anywhere, beside, mixed, ends, strict=True)
    a, b = (np.concatenate(some) for some in parts)
    return a, b


def _on_an_axis(rng: np.random.Generator, points: np.ndarray) -> np.ndarray:
    """Replaces half of the parts by zeros of either sign."""
    kept = points.copy()
    for part in (kept.real, kept.imag):
        zero = rng.random(len(points)) < 0.5
        part[zero] = rng.choice([0.0, -0.0], int(np.count_nonzero(zero)))
    return kept


def finite_corners(dtype: np.dtype) -> np.ndarray:
    """Every pair of zeros of both signs, the smallest and largest numbers, one and its neighbours, and a few more."""
    info = np.finfo(np.float32 if dtype == np.complex64 else np.float64)
    largest, epsilon = float(info.max), float(info.eps)
    values = [0.0, float(info.smallest_subnormal), float(info.tiny), 0.5, 1 - epsilon / 2, 1.0, 1 + epsilon, 2.0]
    values += [np.pi / 2, largest**0.5, largest]
    parts = [s * v for v in values for s in (1.0, -1.0)]
    return _pairs(parts, parts, dtype)


def special_points(dtype: np.dtype) -> np.ndarray:
    """Returns all pairs of special values (infinities, NaN, zeros), and pairs of an infinity or NaN and a number."""
    special = [np.inf, -np.inf, np.nan, 0.0, -0.0]
    finite = [0.0, -0.0, 0.5, -0.5, 2.0, -2.0, 1.0, -1.0, 4.0, -4.0, 1e3, -1e3, 1e10, -1e10]
    return np.concatenate(
        [_pairs(special, special, dtype), _pairs(special[:3], finite, dtype), _pairs(finite, special[:3], dtype)]
    )


def _pairs(real: list[float], imag: list[float], dtype: np.dtype) -> np.ndarray:
    result = np.empty(len(real) * len(imag), dtype)
    pairs = np.array(list(itertools.product(real, imag)))
    result.real, result.imag = pairs[:, 0], pairs[:, 1]
    return result
