"""Exact floating-point arithmetic on numpy arrays, rounded once.

A sum is computed in float64 and rounded to odd: the last bit of an inexact result is one. A second rounding, to a type
with a mantissa of at most 50 bits, then gives the correctly rounded exact result (Boldo and Melquiond, "Emulation of
FMA and correctly rounded sums").
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt

from xla_backend_gpu.emulator.ptx.types import PtxType

Array = npt.NDArray[Any]
F64 = npt.NDArray[np.float64]

_UNSIGNED = {2: np.uint16, 4: np.uint32, 8: np.uint64}
_SMALLEST_NORMAL = {"f16": 2.0**-14, "f32": 2.0**-126, "bf16": 2.0**-126, "f64": 2.0**-1022}

NANS = {"f16": 0x7FFF, "bf16": 0x7FFF, "f32": 0x7FFFFFFF, "f64": 0x7FF8 << 48}
"""The NaN that arithmetic gives. A device keeps the bits of a NaN of f64. Here they would depend on which operand of a
sum the host's compiler takes first.
"""


def odd_sum(a: F64, b: F64) -> F64:
    """A + b in float64, rounded to odd."""
    s = a + b
    t = s - a
    error = (a - (s - t)) + (b - t)
    bits = s.view(np.int64)
    inexact = (error != 0) & np.isfinite(s) & (bits & 1 == 0)
    toward_zero = (error < 0) != np.signbit(s)
    return np.where(inexact, bits + np.where(toward_zero, -1, 1), bits).view(np.float64)


def narrow(x: F64, type_: PtxType, mode: str = "rn") -> Array:
    """Rounds a float64 to a lane of a type: to nearest even, towards zero (rz), down (rm) or up (rp)."""
    if type_.bits // type_.lanes == 64:
        return x
    nearest: Array = _to_bfloat16(x) if type_.dtype == ml_dtypes.bfloat16 else x.astype(type_.dtype)
    if mode == "rn":
        return nearest
    back = nearest.astype(np.float64)
    grown = np.abs(back) > np.abs(x)
    up, down = back < x, back > x
    negative = np.signbit(back)
    step = {
        "rz": np.where(grown, -1, 0),
        "rp": np.where(up, np.where(negative, -1, 1), 0),
        "rm": np.where(down, np.where(negative, 1, -1), 0),
    }[mode]
    bits = nearest.view(_UNSIGNED[nearest.dtype.itemsize])
    moved: Array = (bits + step.astype(bits.dtype)).astype(bits.dtype)
    return moved.view(nearest.dtype)


def _to_bfloat16(x: F64) -> Array:
    """Rounds to float32, to odd, and then to bfloat16, to nearest even."""
    f = x.astype(np.float32)
    back = f.astype(np.float64)
    bits = f.view(np.uint32)
    odd = (bits - (np.abs(back) > np.abs(x))) | 1
    bits = np.where(back == x, bits, odd).astype(np.uint32)
    rounded = (bits + (0x7FFF + (bits >> 16 & 1))) >> 16
    return np.where(np.isnan(x), 0x7FFF, rounded).astype(np.uint16).view(ml_dtypes.bfloat16)


def fma(a: Array, b: Array, c: Array, type_: PtxType, mode: str = "rn") -> Array:
    """A * b + c, rounded once."""
    if type_.lane.bits == 64:
        return _fma64(a, b, c)
    product = a.astype(np.float64) * b.astype(np.float64)  # exact: the significands have 24 bits at most
    return narrow(odd_sum(product, c.astype(np.float64)), type_, mode)


def _fma64(a: F64, b: F64, c: F64) -> F64:
    a, b, c = np.broadcast_arrays(a, b, c)
    high, low = _product(a, b)
    t = c + low
    s = t - c
    sum_high, sum_low = t, (c - (t - s)) + (low - s)
    v = high + sum_high
    s = v - high
    v_low = (high - (v - s)) + (sum_high - s)
    result = v + odd_sum(sum_low, v_low)
    plain = ~np.isfinite(a + b + c) & ~(np.isfinite(a) & np.isfinite(b) & np.isfinite(c))
    plain |= (a == 0) | (b == 0) | (c == 0)
    result = np.where(plain, np.where((c == 0) & (a != 0) & (b != 0), a * b, a * b + c), result)
    within = _moderate(a) & _moderate(b) & _moderate(c) & (result != 0)
    for i in np.flatnonzero(~plain & ~within):
        result[i] = _exact_fma(float(a[i]), float(b[i]), float(c[i]))
    return result


def _product(a: F64, b: F64) -> tuple[F64, F64]:
    """A * b as the rounded product and its error (Dekker)."""
    ah, al = _split(a)
    bh, bl = _split(b)
    p = a * b
    return p, ((ah * bh - p) + ah * bl + al * bh) + al * bl


def _split(a: F64) -> tuple[F64, F64]:
    c = a * 134217729.0
    high = c - (c - a)
    return high, a - high


def _moderate(a: F64) -> npt.NDArray[np.bool_]:
    """Tells where products neither overflow nor underflow."""
    magnitude = np.abs(a)
    return (magnitude > 2.0**-400) & (magnitude < 2.0**400)


def _exact_fma(a: float, b: float, c: float) -> float:
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    if not exact:
        product = math.copysign(0.0, a) * math.copysign(1.0, b)
        return product + c if not a or not b else 0.0
    try:
        return float(exact)
    except OverflowError:
        return math.inf if exact > 0 else -math.inf


def from_integers(x: Array, type_: PtxType, mode: str = "rn") -> Array:
    """Converts integers to floats, with one rounding."""
    if x.dtype.itemsize < 8:
        return narrow(x.astype(np.float64), type_, mode)
    low = x & np.array(0xFFFFFFFF, x.dtype)
    if type_.bits == 64:
        return np.asarray((x - low).astype(np.float64) + low.astype(np.float64))
    return narrow(odd_sum((x - low).astype(np.float64), low.astype(np.float64)), type_, mode)


def flush(x: Array, type_: PtxType) -> Array:
    """Replaces subnormal numbers by zeros of the same sign."""
    small = np.abs(x) < np.array(_SMALLEST_NORMAL[type_.lane.name], np.float64).astype(x.dtype)
    return np.where(small, np.copysign(np.zeros_like(x), x), x)


def saturate(x: Array) -> Array:
    """Clamps to [0, 1]; NaN becomes 0."""
    one, zero = np.ones_like(x), np.zeros_like(x)
    return np.where(x >= one, one, np.where(x > zero, x, zero))


def canonical_nan(x: Array, type_: PtxType) -> Array:
    """Replaces NaNs by the NaN that the device's arithmetic returns."""
    missing = np.isnan(x)
    if not missing.any():
        return x
    return np.where(missing, np.array(NANS[type_.lane.name], _UNSIGNED[x.dtype.itemsize]).view(x.dtype), x)
