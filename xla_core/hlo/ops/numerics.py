"""Number formats: classes of dtypes, exact widening, and correctly rounded narrowing.

numpy computes in its own types. Formats of ml_dtypes and integers of 2 and 4 bits are widened first and rounded (or
wrapped) afterwards, so that every op has the same result in every format.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from xla_core.hlo.values.element_type import ElementType
from xla_core.hlo.values.float_format import LEAST_POWER

Array = np.ndarray
Binary = Callable[..., Any]

CLASS: dict[np.dtype, str] = {}
"""dtype -> its class.

b is pred; i and u are integers of numpy; n are integers of 2 or 4 bits; f are floats of numpy; e are floats of
ml_dtypes; c is complex.
"""

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

POWERS = ElementType.F8E8M0FNU.dtype
"""The only type without a zero: its numbers are powers of two."""

LONG = np.dtype(np.longdouble)
"""A float type wider than float64, if the machine has one."""

LONG_COMPLEX = np.dtype(np.clongdouble)

_SIGNED_NARROW = frozenset(t.dtype for t in ElementType if t.is_signed and t.bit_width < 8)


def widen(x: Array) -> Array:
    """Converts 2- and 4-bit integers to int8 or uint8, floats to float64, and complex to
    complex128; keeps other types.
    """
    kind = CLASS[x.dtype]
    if kind in "fe":
        return x if x.dtype == _F64 else (x.astype(_F64) if kind == "f" else x.astype(_F32).astype(_F64))
    if kind == "n":
        return x.astype(np.int8 if x.dtype in _SIGNED_NARROW else np.uint8)
    return x.astype(_C128) if x.dtype == _C64 else x


def working(x: Array) -> Array:
    """Converts floats to the format in which functions of them are computed: float64, or the widest one for float64."""
    if x.dtype == _F64:
        return x.astype(LONG)
    return x.astype(LONG_COMPLEX) if x.dtype == _C128 else widen(x)


def wrap(x: Array, dtype: np.dtype) -> Array:
    """Reduces integers modulo 2^width to integers of `dtype`."""
    return x.astype(dtype)


def round_to(x: Array, dtype: np.dtype) -> Array:
    """Rounds float64 (or wider, or complex) values to the nearest of `dtype`, ties to even, with a single rounding."""
    if CLASS[dtype] != "e":
        return x.astype(dtype)
    if x.dtype == _F32:
        return x.astype(dtype)
    if CLASS.get(x.dtype) != "f":
        x = x.astype(_F64)
    return _round_to_odd(x).astype(dtype)


def _round_to_odd(x: Array) -> Array:
    """Rounds float64 to float32 by round-to-odd, so that a second rounding gives the result of a single one."""
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


def compute_in(function: Binary) -> Binary:
    """Extends a function of wide numbers to any format: widens the operands and rounds (or wraps) the result."""

    def computed(*operands: Array) -> Array:
        dtype = operands[0].dtype
        result = function(*[widen(x) for x in operands])
        return result if result.dtype == dtype else round_to(result, dtype)

    return computed


def stay_positive(function: Binary) -> Binary:
    """Extends the function of an op with `Trait.POSITIVE` to F8E8M0FNU, which has no zero.

    A result that underflows becomes the type's least number.
    """

    def computed(*operands: Array) -> Array:
        if operands[0].dtype != POWERS:
            return np.asarray(function(*operands))
        wide = function(*[widen(x) for x in operands])
        return round_to(np.asarray(np.where(wide == 0, LEAST_POWER, wide)), POWERS)

    return computed


def signless(x: Array) -> Array:
    """Returns the bits as unsigned integers of numpy; 2- and 4-bit integers are the low bits of a uint8."""
    kind = CLASS[x.dtype]
    if kind in "ub":
        return x
    if kind == "n":
        return x.astype(np.int8).view(np.uint8) & np.uint8((1 << BIT_WIDTH[x.dtype]) - 1)
    return np.asarray(x).view(f"u{x.dtype.itemsize}")


def integer_bounds(dtype: np.dtype) -> tuple[int, int]:
    """Returns the least and the greatest value of an integer type."""
    return ElementType.from_numpy(dtype).integer_range


def total_order_key(x: Array) -> Array:
    """Returns integers that are ordered as by IEEE 754's totalOrder: -NaN < -inf < ... < -0 < +0 < ... < inf < NaN."""
    if CLASS[x.dtype] not in "fe":
        return widen(x)
    if not ElementType.from_numpy(x.dtype).has_sign_bit:
        return widen(signless(x))
    bits = np.ascontiguousarray(x).view(f"i{x.dtype.itemsize}")
    width = BIT_WIDTH[x.dtype]
    if width < 8:
        bits = np.left_shift(bits, 8 - width)
    greatest = bits.dtype.type(np.iinfo(bits.dtype).max)
    return np.where(bits < 0, bits ^ greatest, bits).reshape(x.shape)
