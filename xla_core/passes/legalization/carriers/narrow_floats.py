"""Numbers of floating formats of 16 bits and less that f32 carries: how f32 is rounded to them, and their bits."""

from __future__ import annotations

import math

from xla_core.hlo.decompositions.expression import HloExpression
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.element_type import ElementType
from xla_core.hlo.values.float_format import FLOAT_FORMATS, FloatFormat

_F32, _S32 = ElementType.F32, ElementType.S32
_INFINITY, _NAN = 0x7F800000, 0x7FC00000  # the bits of f32
_LEAST_POWER = 0x00400000  # the bits of 2^-127, the least number of f8e8m0fnu


def rounded(kind: ElementType, x: HloExpression) -> HloExpression:
    """Rounds f32 to the nearest number of `kind`, ties to even.

    Numbers that are too large become infinity if `kind` has it, else NaN if `kind` has it, else the largest number.
    """
    if kind is ElementType.BF16:
        return x.op(Opcode.REDUCE_PRECISION, exponent_bits=8, mantissa_bits=7)
    if kind not in FLOAT_FORMATS:
        return float_of_bits(kind, _nearest_power(x))
    format_ = FLOAT_FORMATS[kind]
    exponent_bits = format_.exponent_bits if format_.special == "ieee" else 8
    normal = x.op(Opcode.REDUCE_PRECISION, exponent_bits=exponent_bits, mantissa_bits=format_.mantissa_bits)
    least_normal = 2.0 ** (1 - format_.bias)
    # The last place of this number is the format's smallest step, so that the sum is rounded to it.
    anchor = math.ldexp(least_normal, 23 - format_.mantissa_bits)
    tiny = (abs(x) + anchor) - anchor
    result = (abs(x) < least_normal).where((x < 0).where(-tiny, x.equals(0).where(x, tiny)), normal)
    if format_.special == "ieee":
        return result
    largest = _magnitude(format_, format_.largest)
    if format_.special == "finite":
        most = result.minimum(largest).maximum(-largest)
        return x.differs(x).where(-0.0, most)
    result = (abs(result) > largest).where(math.nan, result)
    return result.equals(0).where(0.0, result) if format_.special == "fnuz" else result


def bits_of_float(kind: ElementType, x: HloExpression) -> HloExpression:
    """The bits, as s32, of a number of `kind` that f32 carries."""
    bits = x.bits(_S32)
    size = bits & 0x7FFFFFFF
    if kind is ElementType.BF16:
        kept = bits >> 16
        is_lost = (size > _INFINITY) & (size < _INFINITY + (1 << 16))  # a NaN whose bits the type doesn't have
        return is_lost.where(kept | 0x40, kept)
    if kind not in FLOAT_FORMATS:
        return (size > _INFINITY).where(0xFF, size >> 23)
    format_ = FLOAT_FORMATS[kind]
    mantissa_bits, bias = format_.mantissa_bits, format_.bias
    tiny = (abs(x) * 2.0 ** (bias + mantissa_bits - 1)).astype(_S32)
    normal = (size >> (23 - mantissa_bits)) - ((127 - bias) << mantissa_bits)
    number = (size < (128 - bias) << 23).where(tiny, normal)
    negative = 1 << format_.magnitude_bits
    sign = (bits >> (31 - format_.magnitude_bits)) & negative
    if format_.special == "fnuz":
        return (size > _INFINITY).where(negative, number | sign)
    if format_.special == "fn":
        number = (size > _INFINITY).where(format_.largest + 1, number)
    if format_.special == "ieee":
        rest = (size >> (23 - mantissa_bits)) & ((1 << mantissa_bits) - 1)
        nan = rest.equals(0).where(1 << (mantissa_bits - 1), rest)  # a NaN whose bits the type doesn't have stays one
        special = (size > _INFINITY).where(nan, rest.like(0)) | (format_.largest + 1)
        number = (size >= _INFINITY).where(special, number)
    return number | sign


def float_of_bits(kind: ElementType, bits: HloExpression) -> HloExpression:
    """The number of `kind`, in f32, with these bits (s32). Bits above its width are ignored."""
    if kind is ElementType.BF16:
        return (bits << 16).bits(_F32)
    if kind not in FLOAT_FORMATS:
        own = bits & 0xFF
        return own.equals(0).where(_LEAST_POWER, own.equals(0xFF).where(_NAN, own << 23)).bits(_F32)
    format_ = FLOAT_FORMATS[kind]
    mantissa_bits, negative = format_.mantissa_bits, 1 << format_.magnitude_bits
    size = bits & (negative - 1)
    exponent, offset = size & -(1 << mantissa_bits), size.like((127 - format_.bias) << 23)
    if format_.special == "ieee":
        beyond = (255 - (1 << format_.exponent_bits) + 1) << 23
        offset = exponent.equals(format_.largest + 1).where(beyond, offset)
    tiny = (size.astype(_F32) * 2.0 ** (1 - format_.bias - mantissa_bits)).bits(_S32)
    number = exponent.equals(0).where(tiny, (size << (23 - mantissa_bits)) + offset)
    if format_.special == "fn":
        number = (size > format_.largest).where(_NAN, number)
    if format_.special == "fnuz":
        number = (bits & (2 * negative - 1)).equals(negative).where(_NAN, number)
    return (number | ((bits & negative) << (31 - format_.magnitude_bits))).bits(_F32)


def _magnitude(format_: FloatFormat, bits: int) -> float:
    """The positive normal number with these bits."""
    exponent, fraction = divmod(bits, 1 << format_.mantissa_bits)
    return math.ldexp(1 + fraction / (1 << format_.mantissa_bits), exponent - format_.bias)


def _nearest_power(x: HloExpression) -> HloExpression:
    """The bits of the power of two that is nearest, ties up. Zero, negative and too large numbers become NaN.

    As in ml_dtypes, denormal f32 numbers up to 2^-127 become 2^-127, and greater ones become 2^-126.
    """
    bits = x.bits(_S32)
    size = bits & 0x7FFFFFFF
    power = (size + _LEAST_POWER) >> 23
    least = (size > _LEAST_POWER).astype(_S32)
    power = (size < 0x00800000).where(least, power)
    return ((bits <= 0) | (size > _INFINITY) | (power > 254)).where(0xFF, power)
