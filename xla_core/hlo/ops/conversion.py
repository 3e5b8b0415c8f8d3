"""Evaluates conversions between element types."""

from __future__ import annotations

import numpy as np

from xla_core.hlo.ops.numerics import BIT_WIDTH, CLASS, Array, integer_bounds, round_to, signless, widen
from xla_core.hlo.values.element_type import ElementType

_F64 = np.dtype(np.float64)


def convert(x: Array, dtype: np.dtype) -> Array:
    """Converts values to `dtype`.

    Floats round to nearest even; from float to integer, values truncate and saturate, and NaN becomes 0. Integers wrap.
    Complex to real drops the imaginary part. A pred says whether the value differs from 0.
    """
    if x.dtype == dtype:
        return x
    source, target = CLASS[x.dtype], CLASS[dtype]
    if target == "b":
        return np.asarray(np.not_equal(widen(x), 0))
    if source == "c" and target != "c":
        x = x.real
        source = "f"
    if target in "iun":
        return _to_integer(widen(x), dtype) if source in "fe" else (widen(x) if source == "n" else x).astype(dtype)
    if target == "e" and source in "iu" and x.dtype.itemsize >= 4:
        return round_to((_sticky(x) if x.dtype.itemsize == 8 else x).astype(_F64), dtype)
    if target == "e":
        return round_to(x if source == "f" else x.astype(np.float32), dtype)
    if source == "e":
        return x.astype(np.float32).astype(dtype)
    return (widen(x) if source == "n" else x).astype(dtype)


def _sticky(x: Array) -> Array:
    """Folds the bits of 64-bit integers that float64 cannot hold into a lower bit.

    This keeps a later rounding to a narrower type correct.
    """
    low = x.dtype.type(0xFFF)
    large = (x > 1 << 53) | ((x < -(1 << 53)) if x.dtype.kind == "i" else False)
    return np.where(large & ((x & low) != 0), (x & ~low) | x.dtype.type(0x800), x)


def _to_integer(x: Array, dtype: np.dtype) -> Array:
    least, greatest = integer_bounds(dtype)
    wide = np.uint64 if greatest > np.iinfo(np.int64).max else np.int64
    whole = np.trunc(np.where(np.isnan(x), 0, x))
    high, low = whole >= float(greatest) + (BIT_WIDTH[dtype] < 54), whole <= float(least)
    inside = np.where(high | low, 0, whole).astype(wide)
    return np.where(high, wide(greatest), np.where(low, wide(least), inside)).astype(dtype)


def _to_bits(x: Array) -> Array:
    """Returns the bits of each element, lowest first, along a new last dimension."""
    raw = np.ascontiguousarray(signless(x))
    octets = raw.view(np.uint8).reshape(*x.shape, x.dtype.itemsize)
    return np.unpackbits(octets, axis=-1, bitorder="little")[..., : BIT_WIDTH[x.dtype]]


def bitcast_convert(x: Array, dtype: np.dtype) -> Array:
    """Reinterprets the bits as another type, lowest first.

    A narrower type adds a last dimension; a wider type removes it.
    """
    before, after = BIT_WIDTH[x.dtype], BIT_WIDTH[dtype]
    if before % 8 == 0 and after % 8 == 0:
        raw = np.ascontiguousarray(x)
        if before == after:
            return raw.view(dtype).reshape(x.shape)
        if before > after:
            return raw.reshape(*x.shape, 1).view(dtype)
        return raw.view(dtype).reshape(x.shape[:-1])
    shape = x.shape if before == after else (*x.shape, before // after) if before > after else x.shape[:-1]
    bits = _to_bits(x).reshape(*shape, after)
    octets = np.packbits(bits, axis=-1, bitorder="little")
    if CLASS[dtype] == "b":
        return np.asarray(octets.reshape(shape) != 0)
    if CLASS[dtype] == "n":
        return octets.reshape(shape).astype(dtype)
    return np.ascontiguousarray(octets).view(dtype).reshape(shape)


def reduce_precision(x: Array, exponent_bits: int, mantissa_bits: int) -> Array:
    """Rounds to nearest even in the format; values out of its exponent range become infinity or zero.

    Types of 8 bits and fewer are rounded as f32.
    """
    kind = ElementType.from_numpy(x.dtype)
    if kind.bit_width < 16:
        return convert(reduce_precision(convert(x, np.dtype(np.float32)), exponent_bits, mantissa_bits), x.dtype)
    source_exponent, source_mantissa = kind.exponent_bits, kind.mantissa_bits
    bits = signless(x)
    unsigned = bits.dtype.type
    if mantissa_bits < source_mantissa:
        dropped = source_mantissa - mantissa_bits
        last = (bits >> unsigned(dropped)) & unsigned(1)
        bits = bits + (unsigned((1 << (dropped - 1)) - 1) + last)
        bits = bits & unsigned((1 << BIT_WIDTH[x.dtype]) - (1 << dropped))
    if exponent_bits < source_exponent:
        bias, reduced = (1 << (source_exponent - 1)) - 1, (1 << (exponent_bits - 1)) - 1
        mask = ((1 << source_exponent) - 1) << source_mantissa
        sign = bits & unsigned(1 << (BIT_WIDTH[x.dtype] - 1))
        exponent = bits & unsigned(mask)
        bits = np.where(exponent > unsigned((bias + reduced) << source_mantissa), sign | unsigned(mask), bits)
        bits = np.where(exponent <= unsigned((bias - reduced) << source_mantissa), sign, bits)
    result = np.asarray(bits, dtype=unsigned).view(x.dtype)
    if mantissa_bits == 0:
        return np.where(np.isnan(x), np.copysign(x.dtype.type(np.inf), x), result)
    return np.where(np.isnan(x), x, result)


def stochastic_convert(x: Array, random: Array, dtype: np.dtype) -> Array:
    """Converts to integers; the fraction is compared with the random bits, so that the rounding is unbiased."""
    least, greatest = integer_bounds(dtype)
    value = widen(x)
    magnitude = np.abs(np.where(np.isnan(value), 0, value))
    whole = np.floor(magnitude)
    fraction = np.where(np.isinf(value), 0, magnitude - whole)
    up = widen(random) < np.ceil(np.ldexp(fraction, BIT_WIDTH[random.dtype])).astype(np.uint64)
    rounded = np.copysign(whole + up, value)
    return _to_integer(np.clip(rounded, float(least), float(greatest)), dtype)
