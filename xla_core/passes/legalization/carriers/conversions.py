"""Conversions to, from and between element types that are carried in other types."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from xla_core.hlo.decompositions.expression import HloExpression
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.element_type import ElementType
from xla_core.passes.legalization.carriers.narrow_floats import bits_of_float, float_of_bits, rounded

_F32, _S32, _U32, _PRED = ElementType.F32, ElementType.S32, ElementType.U32, ElementType.PRED

CARRIERS = {
    **{t: _S32 for t in ElementType if t.is_integral and (t.bit_width < 32 or t is _U32)},
    **{t: _F32 for t in ElementType if t.is_floating and t.bit_width < 32},
}
"""Element type -> the type that carries it: a narrow one by its values, u32 by its bits."""

Carried = Mapping[ElementType, ElementType]
"""The types of `CARRIERS` that are carried for a target, with their carriers."""


def wrapped(kind: ElementType, x: HloExpression) -> HloExpression:
    """The value of `kind` for a number in its carrier: integers modulo 2^width, floats rounded to nearest even."""
    if kind.is_floating:
        return rounded(kind, x)
    if kind is _U32:
        return x
    if kind.is_signed:
        spare = 32 - kind.bit_width
        return (x << spare).op(Opcode.SHIFT_RIGHT_ARITHMETIC, spare)
    return x & ((1 << kind.bit_width) - 1)


def converted(source: ElementType, target: ElementType, x: HloExpression, carried: Carried) -> HloExpression:
    """Converts `x`, which is of `source` or carries it, to `target` or its carrier."""
    if target is _PRED:
        return x.differs(0)
    wide = carried.get(target, target)
    if target in carried and wide is _S32 and x.element_type.is_floating:
        return _to_unsigned(x) if target is _U32 else _to_narrow_integer(target, x)
    if source in (_S32, _U32) and target in carried and wide.is_floating:
        x = _shortened(source, x)
    if source is _U32 and source in carried and wide.bit_width == 64:
        x = x.astype(wide) + (x < 0).astype(wide) * 2**32
    elif source is _U32 and source in carried and wide.is_floating:
        x = _unsigned_to_float(x, wide)
    else:
        x = x.astype(wide)
    return wrapped(target, x) if target in carried else x


def _unsigned_to_float(x: HloExpression, kind: ElementType) -> HloExpression:
    """Halves numbers from 2^31 on and ORs the lost bit into the lowest bit, so that the conversion rounds correctly."""
    half = (x >> 1) | (x & 1)
    return (x < 0).where(half.astype(kind) * 2, x.astype(kind))


def _shortened(kind: ElementType, x: HloExpression) -> HloExpression:
    """Replaces the low 9 bits of integers that f32 may not hold by 2^8, unless they are 0.

    f32 holds the result exactly, and a narrower type rounds it as it rounds the integer. The integer itself would be
    rounded twice, to f32 and to the narrower type.
    """
    low, is_long = x & 0x1FF, x >= 2**24
    if x.element_type is _S32:  # which may carry u32
        is_long = is_long | (x <= (-(2**24) if kind is _S32 else -1))
    return (is_long & low.differs(0)).where(x - low + 0x100, x)


def _to_unsigned(x: HloExpression) -> HloExpression:
    low = (x > 0).where(x, 0)
    high = (low - 2.0**31).astype(_S32) + -(2**31)
    beyond = (low >= 2.0**32).where(-1, high)
    return (low >= 2.0**31).where(beyond, low.astype(_S32))


def _to_narrow_integer(kind: ElementType, x: HloExpression) -> HloExpression:
    least, greatest = kind.integer_range
    return x.maximum(float(least)).minimum(float(greatest)).astype(_S32)


def reinterpreted(source: ElementType, target: ElementType, x: HloExpression) -> HloExpression:
    """Converts the bits of types of at most 32 bits. Of a wider number, the lowest bits come first."""
    if source.bit_width > target.bit_width:
        return split(target, bits_of(source, x), source.bit_width)
    bits = joined(source, x) if source.bit_width < target.bit_width else bits_of(source, x)
    return value_of(target, bits)


def split(kind: ElementType, bits: HloExpression, width: int, apart: int = 0) -> HloExpression:
    """The numbers of `kind`, in its carrier, that each `width` bits consist of, as one more dimension.

    They lie `apart` bits from each other; by default, side by side.
    """
    apart = apart or kind.bit_width
    shape = (*bits.shape.dimensions, width // apart)
    each = HloExpression(bits.b, bits.b.broadcast(bits.i, shape, range(len(shape) - 1)))
    return value_of(kind, each >> _places(each, apart))


def joined(kind: ElementType, x: HloExpression, apart: int = 0) -> HloExpression:
    """The bits, as s32, of the numbers of `kind` in the last dimension, of at most 32 bits together.

    They lie `apart` bits from each other; by default, side by side.
    """
    bits = bits_of(kind, x)
    shifted = bits << _places(bits, apart or kind.bit_width)
    return HloExpression(x.b, x.b.reduce(shifted.i, Opcode.ADD, 0, (x.shape.rank - 1,)))


def _places(each: HloExpression, apart: int) -> HloInstruction:
    """The number of bits by which each number of the last dimension is shifted."""
    dimensions = each.shape.dimensions
    bits = each.b.constant(np.arange(dimensions[-1], dtype=np.int32) * apart)
    return each.b.broadcast(bits, dimensions, (len(dimensions) - 1,))


def bits_of(kind: ElementType, x: HloExpression) -> HloExpression:
    """The bits, as s32, of a number of `kind` that `x` is or carries; bits above its width are 0."""
    if kind is _F32:
        return x.bits(_S32)
    if kind.is_floating:
        return bits_of_float(kind, x)
    return x if kind.bit_width == 32 else x & ((1 << kind.bit_width) - 1)


def value_of(kind: ElementType, bits: HloExpression) -> HloExpression:
    """The number of `kind`, or its carrier, with these bits (s32). Bits above its width are ignored."""
    if kind is _F32:
        return bits.bits(_F32)
    if kind.is_floating:
        return float_of_bits(kind, bits)
    return bits if kind.bit_width == 32 else wrapped(kind, bits)


def is_reinterpreted(source: ElementType, target: ElementType, carried: Carried) -> bool:
    """Whether `reinterpreted` knows the bits of both types."""
    return all(t in (_F32, _S32) or t in carried for t in (source, target))
