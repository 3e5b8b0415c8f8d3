"""The comparisons that StableHLO's own tests make: equal, almost equal, and close in units in the last place."""

from __future__ import annotations

import numpy as np


def differing(got: np.ndarray, want: np.ndarray, *, tolerance: float = 0.0, most: int = 0) -> np.ndarray:
    """A mask of where two arrays differ by more than `tolerance` and by more than `most` units in the last place."""
    good = np.ones(got.shape, np.bool_)
    for a, b in zip(_parts(got), _parts(want), strict=True):
        with np.errstate(all="ignore"):
            near = (np.abs(_wide(a) - _wide(b)) <= tolerance) | _same(a, b)
        good &= near | (ulp_difference(a, b) <= most) if most else near
    return ~good


def equal(got: np.ndarray, want: np.ndarray) -> str | None:
    """The difference as text, or None. NaN equals NaN, and 0 equals -0."""
    return _shapes(got, want) or _report(got, want, _same(got, want))


def almost_equal(got: np.ndarray, want: np.ndarray, tolerance: float = 1e-4) -> str | None:
    """As `equal`, within an absolute tolerance, which holds for each part of a complex number.

    StableHLO: stablehlo/reference/Element.cpp, `areApproximatelyEqual`.
    """
    return _shapes(got, want) or _report(got, want, ~differing(got, want, tolerance=tolerance))


def close(got: np.ndarray, want: np.ndarray, least: int = 0, most: int = 3) -> str | None:
    """As `equal`, but the largest difference must be between `least` and `most` units in the last place.

    Infinities must be equal. The parts of complex numbers are compared separately.
    """
    if (problem := _shapes(got, want)) is not None:
        return problem
    distances = [ulp_difference(a, b) for a, b in zip(_parts(got), _parts(want), strict=True)]
    largest = max((int(d.max()) for d in distances if d.size), default=0)
    if largest > most:
        where = next(i for i, d in enumerate(distances) if d.size and int(d.max()) > most)
        index = np.unravel_index(int(np.argmax(distances[where])), distances[where].shape)
        place = [int(i) for i in index]
        return f"{largest} ULP apart at {place}: got {got[index]!r}, expected {want[index]!r}; allowed {most}"
    return f"at most {largest} ULP apart, expected {least} or more" if largest < least else None


def ulp_difference(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The distance of a and b in units in the last place (uint64); 2^64 - 1 if only one is NaN or infinite."""
    width = a.dtype.itemsize
    unsigned = np.dtype(f"u{width}")
    top = np.uint64(1) << np.uint64(8 * width - 1)
    steps = []
    for array in (a, b):
        bits = np.array(array, order="C").view(unsigned).astype(np.uint64)
        # Order the bit patterns as the numbers are: negative ones count down from the middle.
        steps.append(np.where(bits & top, top - (bits & (top - np.uint64(1))), top + bits))
    low, high = np.minimum(*steps), np.maximum(*steps)
    wide_a, wide_b = _wide(a), _wide(b)
    special = ~np.isfinite(wide_a) | ~np.isfinite(wide_b)
    difference: np.ndarray = np.where(special, np.uint64(2**64 - 1), high - low)
    return np.where(_same(a, b), np.uint64(0), difference)


def _parts(array: np.ndarray) -> list[np.ndarray]:
    """The real and imaginary parts of a complex array, or the array itself."""
    return [array.real, array.imag] if array.dtype.kind == "c" else [array]


def _wide(array: np.ndarray) -> np.ndarray:
    if array.dtype.kind in "iub":
        return array.astype(np.float64)
    return array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)


def _same(got: np.ndarray, want: np.ndarray) -> np.ndarray:
    with np.errstate(all="ignore"):
        same = np.asarray(got == want)
        if got.dtype.kind not in "iub":
            same = same | (np.isnan(_wide(got)) & np.isnan(_wide(want)))
    return same


def _shapes(got: np.ndarray, want: np.ndarray) -> str | None:
    if got.shape != want.shape or got.dtype != want.dtype:
        return f"got {got.dtype}{list(got.shape)}, expected {want.dtype}{list(want.shape)}"
    return None


def _report(got: np.ndarray, want: np.ndarray, good: np.ndarray) -> str | None:
    if np.all(good):
        return None
    index = np.unravel_index(int(np.argmin(good)), good.shape)
    count = int(np.sum(~good))
    place = [int(i) for i in index]
    differ = f"{count} of {good.size} elements differ, the first at {place}"
    return f"{differ}: got {got[index]!r}, expected {want[index]!r}"
