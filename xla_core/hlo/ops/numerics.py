"""Number formats: which class a dtype belongs to, exact widening, correctly rounded narrowing.

numpy computes in its own types; the formats of ml_dtypes and integers of 2 and 4 bits are widened first and rounded
(or wrapped) after, so that every op means the same in every format.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from xla_core.hlo.element_type import ElementType

__all__ = [
    "BIT_WIDTH",
    "CLASS",
    "LONG",
    "LONG_COMPLEX",
    "Array",
    "bits_of",
    "compute_in",
    "integer_bounds",
    "round_to",
    "signless",
    "total_order_key",
    "widen",
    "working",
    "wrap",
]

Array = np.ndarray
Binary = Callable[..., Any]

CLASS: dict[np.dtype, str] = {}
"""Per dtype: b pred, i and u integers of numpy, n integers of 2 or 4 bits, f floats of numpy, e floats of ml_dtypes,
c complex."""

BIT_WIDTH: dict[np.dtype, int] = {}

for _type in ElementType:
    if _type.is_array:
        BIT_WIDTH[_type.dtype] = _type.bit_width
        if _type is ElementType.PRED:
            CLASS[_type.dtype] = "b"
        elif _type.is_complex:
            CLASS[_type.dtype] = "c"
        elif _type.is_floating:
            CLASS[_type.dtype] = "f" if _type in (ElementType.F16, ElementType.F32, ElementType.F64) else "e"
        elif _type.bit_width < 8:
            CLASS[_type.dtype] = "n"
        else:
            CLASS[_type.dtype] = "i" if _type.is_signed else "u"

_F32, _F64, _C64, _C128 = (np.dtype(t) for t in ("float32", "float64", "complex64", "complex128"))

LONG = np.dtype(np.longdouble)
"""Wider than float64 where the machine has such a type."""

LONG_COMPLEX = np.dtype(np.clongdouble)

_SIGNED_NARROW = frozenset(t.dtype for t in ElementType if t.is_signed and t.bit_width < 8)


def widen(x: Array) -> Array:
    """The same values in int8 or uint8 (2 and 4-bit integers), float64 (floats), complex128, or as they are."""
    kind = CLASS[x.dtype]
    if kind in "fe":
        return x if x.dtype == _F64 else (x.astype(_F64) if kind == "f" else x.astype(_F32).astype(_F64))
    if kind == "n":
        return x.astype(np.int8 if x.dtype in _SIGNED_NARROW else np.uint8)
    return x.astype(_C128) if x.dtype == _C64 else x


def working(x: Array) -> Array:
    """Floats in the format in which functions of them are computed: float64, or the machine's widest for float64."""
    if x.dtype == _F64:
        return x.astype(LONG)
    return x.astype(LONG_COMPLEX) if x.dtype == _C128 else widen(x)


def wrap(x: Array, dtype: np.dtype) -> Array:
    """Integers modulo 2^width, as integers of `dtype`."""
    return x.astype(dtype)


def round_to(x: Array, dtype: np.dtype) -> Array:
    """float64 (or wider, or complex) values to the nearest of `dtype`, ties to even, rounded once."""
    if CLASS[dtype] != "e":
        return x.astype(dtype)
    if x.dtype == _F32:
        return x.astype(dtype)
    if CLASS.get(x.dtype) != "f":
        x = x.astype(_F64)
    return _round_to_odd(x).astype(dtype)


def _round_to_odd(x: Array) -> Array:
    """float64 to float32, an inexact result made odd: rounding it again gives what rounding once would have."""
    x = np.asarray(x)
    nearest = np.asarray(x.astype(_F32))
    back = nearest.astype(_F64)
    inexact = np.isfinite(x) & (back != x)
    if not inexact.any():
        return nearest
    bits = nearest.view(np.uint32)
    toward_zero = np.where(inexact & (np.abs(back) > np.abs(x)), bits - np.uint32(1), bits)
    odd: Array = np.where(inexact, toward_zero | np.uint32(1), bits).astype(np.uint32).view(_F32)
    return odd


def compute_in(function: Binary, wide: Callable[[Array], Array] = widen) -> Binary:
    """A function of wide numbers as one of any format: operands widened, the result rounded (or wrapped)."""

    def computed(*operands: Array) -> Array:
        dtype = operands[0].dtype
        result = function(*[wide(x) for x in operands])
        return result if result.dtype == dtype else round_to(result, dtype)

    return computed


def signless(x: Array) -> Array:
    """The bits as unsigned integers of numpy (2 and 4-bit integers in the low bits of a uint8)."""
    kind = CLASS[x.dtype]
    if kind in "ub":
        return x
    if kind == "n":
        return x.astype(np.int8).view(np.uint8) & np.uint8((1 << BIT_WIDTH[x.dtype]) - 1)
    return np.asarray(x).view(f"u{x.dtype.itemsize}")


bits_of = signless


def integer_bounds(dtype: np.dtype) -> tuple[int, int]:
    """The least and the greatest value of an integer type."""
    width = BIT_WIDTH[dtype]
    signed = CLASS[dtype] == "i" or dtype in _SIGNED_NARROW
    return (-(1 << (width - 1)), (1 << (width - 1)) - 1) if signed else (0, (1 << width) - 1)


def total_order_key(x: Array) -> Array:
    """Integers in the order of IEEE 754's totalOrder: -NaN < -inf < ... < -0 < +0 < ... < inf < NaN."""
    if CLASS[x.dtype] not in "fe":
        return widen(x)
    bits = np.ascontiguousarray(x).view(f"i{x.dtype.itemsize}")
    width = BIT_WIDTH[x.dtype]
    if width < 8:
        bits = np.left_shift(bits, 8 - width)
    greatest = bits.dtype.type(np.iinfo(bits.dtype).max)
    return np.where(bits < 0, bits ^ greatest, bits).reshape(x.shape)
