"""Conversions to, from and between element types that are carried in other types."""

from __future__ import annotations

from collections.abc import Mapping

from xla_core.hlo.decompositions.expression import HloExpression
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.element_type import ElementType

_F32, _S32, _U32, _PRED = ElementType.F32, ElementType.S32, ElementType.U32, ElementType.PRED

CARRIERS = {
    **{t: _S32 for t in ElementType if t.is_integral and (t.bit_width < 32 or t is _U32)},
    ElementType.BF16: _F32,
    ElementType.F16: _F32,
}
"""Element type -> the type that carries it: a narrow one by its values, u32 by its bits."""

Carried = Mapping[ElementType, ElementType]
"""The types of `CARRIERS` that are carried for a target, with their carriers."""


def wrapped(kind: ElementType, x: HloExpression) -> HloExpression:
    """The value of `kind` for a number in its carrier: integers modulo 2^width, floats rounded to nearest even."""
    if kind is ElementType.BF16:
        return x.op(Opcode.REDUCE_PRECISION, exponent_bits=8, mantissa_bits=7)
    if kind is ElementType.F16:
        return _rounded_to_f16(x)
    if kind is _U32:
        return x
    if kind.is_signed:
        spare = 32 - kind.bit_width
        return (x << spare).op(Opcode.SHIFT_RIGHT_ARITHMETIC, spare)
    return x & ((1 << kind.bit_width) - 1)


def _rounded_to_f16(x: HloExpression) -> HloExpression:
    """Below 2^-14, f16 has multiples of 2^-24: those are the f32 numbers between 1/2 and 1."""
    normal = x.op(Opcode.REDUCE_PRECISION, exponent_bits=5, mantissa_bits=10)
    tiny = (abs(x) + 0.5) - 0.5
    return (abs(x) < 2.0**-14).where((x < 0).where(-tiny, x.equals(0).where(x, tiny)), normal)


def converted(source: ElementType, target: ElementType, x: HloExpression, carried: Carried) -> HloExpression:
    """Converts `x`, which is of `source` or carries it, to `target` or its carrier."""
    if target is _PRED:
        return x.differs(0)
    wide = carried.get(target, target)
    if target in carried and wide is _S32 and x.element_type.is_floating:
        return _to_unsigned(x) if target is _U32 else _to_narrow_integer(target, x)
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


def _to_unsigned(x: HloExpression) -> HloExpression:
    low = (x > 0).where(x, 0)
    high = (low - 2.0**31).astype(_S32) + -(2**31)
    beyond = (low >= 2.0**32).where(-1, high)
    return (low >= 2.0**31).where(beyond, low.astype(_S32))


def _to_narrow_integer(kind: ElementType, x: HloExpression) -> HloExpression:
    least, greatest = kind.integer_range
    return x.maximum(float(least)).minimum(float(greatest)).astype(_S32)


def reinterpreted(source: ElementType, target: ElementType, x: HloExpression) -> HloExpression:
    """Converts the bits of u32, s32 and f32, or of 16-bit integers and bf16, or of integers of another width."""
    if source is ElementType.BF16:
        x = x.bits(_S32) >> 16
    elif source is _F32:
        x = x.bits(_S32)
    if target is ElementType.BF16:
        return (x << 16).bits(_F32)
    if target is _F32:
        return x.bits(_F32)
    return wrapped(target, x) if target in CARRIERS else x


def is_reinterpreted(source: ElementType, target: ElementType, carried: Carried) -> bool:
    """Whether `reinterpreted` knows the bits of both types."""
    own = (_F32, _S32)
    return source.bit_width == target.bit_width and all(
        t in own or (t in carried and t is not ElementType.F16) for t in (source, target)
    )
