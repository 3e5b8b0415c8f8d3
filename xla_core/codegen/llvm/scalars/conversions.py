"""Conversions between floating formats, written out in integer operations where hardware may lack them.

Every format below 32 bits is widened to f32 exactly, and narrowed from f32 with one rounding to nearest even. An f64 is
first rounded to an odd f32, so that the second rounding gives the correctly rounded result.
"""

from __future__ import annotations

from xla_core.codegen.llvm.ir.builder import IrBuilder
from xla_core.codegen.llvm.ir.module import Value
from xla_core.codegen.llvm.ir.types import register_type
from xla_core.hlo.values.element_type import ElementType
from xla_core.hlo.values.float_format import FLOAT_FORMATS

_NAN, _INFINITY = 0x7FC00000, 0x7F800000


def widen_to_f32(b: IrBuilder, value: Value, element_type: ElementType) -> Value:
    """Converts a small float's register value to f32, exactly."""
    i32 = "i32"
    if element_type is ElementType.F8E8M0FNU:
        bits = b.cast("zext", value, i32)
        shifted = b.select(b.icmp("eq", bits, b.int_(0, i32)), b.int_(0x00400000, i32), b.shl(bits, 23))
        return b.bitcast(b.select(b.icmp("eq", bits, b.int_(255, i32)), b.int_(_NAN, i32), shifted), "float")
    format_ = FLOAT_FORMATS[element_type]
    bits = b.cast("zext", value, i32)
    if element_type is ElementType.BF16:
        return b.bitcast(b.shl(bits, 16), "float")
    sign = b.shl(b.lshr(bits, format_.magnitude_bits), 31)
    magnitude = b.binary("and", bits, b.int_((1 << format_.magnitude_bits) - 1, i32))
    # Placed into f32's fields, the number is off by the difference of the biases alone, denormal or not.
    placed = b.bitcast(b.shl(magnitude, 23 - format_.mantissa_bits), "float")
    scaled = b.bitcast(b.emit("float", f"fmul {placed}, {b.float_(2.0 ** (127 - format_.bias)).name}"), i32)
    if format_.special == "ieee":
        infinity = b.int_(format_.largest + 1, i32)
        scaled = b.select(b.icmp("eq", magnitude, infinity), b.int_(_INFINITY, i32), scaled)
        scaled = b.select(b.icmp("ugt", magnitude, infinity), b.int_(_NAN, i32), scaled)
    elif format_.special == "fn":
        scaled = b.select(b.icmp("ugt", magnitude, b.int_(format_.largest, i32)), b.int_(_NAN, i32), scaled)
    result = b.or_(scaled, sign)
    if format_.special == "fnuz":
        lone = b.icmp("eq", bits, b.int_(1 << format_.magnitude_bits, i32))
        result = b.select(lone, b.int_(_NAN, i32), result)
    return b.bitcast(result, "float")


def truncate_to_bf16(b: IrBuilder, value: Value) -> Value:
    """Converts an f32 whose value bf16 holds; returns it as the register value of bf16."""
    return b.cast("trunc", b.lshr(b.bitcast(value, "i32"), 16), "i16")


def round_to_bf16(b: IrBuilder, value: Value) -> Value:
    """Rounds an f32 to bf16, ties to even, where the last 16 bits of a NaN are zero: rounding keeps such a NaN."""
    bits = b.bitcast(value, "i32")
    return b.cast("trunc", b.lshr(_to_nearest_bf16(b, bits), 16), "i16")


def _to_nearest_bf16(b: IrBuilder, bits: Value) -> Value:
    """Adds half a unit in the last place of bf16 to the bits of a number; the last 16 bits have no meaning."""
    return b.add(b.add(bits, b.int_(0x7FFF, "i32")), _bit(b, bits, 16))


def narrow_from_f32(b: IrBuilder, value: Value, element_type: ElementType) -> Value:
    """Returns the nearest value of a small float format, ties to even, as its register value.

    Values too large for the format become infinity if it has one, else NaN if it has one, else the largest value.
    """
    i32 = "i32"
    bits = b.bitcast(value, i32)
    if element_type is ElementType.BF16:
        quiet = b.or_(bits, b.int_(0x400000, i32))
        rounded = b.select(b.fcmp("uno", value, value), quiet, _to_nearest_bf16(b, bits))
        return b.cast("trunc", b.lshr(rounded, 16), "i16")
    magnitude = b.binary("and", bits, b.int_(0x7FFFFFFF, i32))
    is_nan = b.icmp("ugt", magnitude, b.int_(_INFINITY, i32))
    if element_type is ElementType.F8E8M0FNU:
        return _narrow_to_exponent(b, bits, magnitude, is_nan)
    format_ = FLOAT_FORMATS[element_type]
    shift = 23 - format_.mantissa_bits
    # Normal results: rebias, round in the bits that fall off, shift.
    rebias = (127 - format_.bias) << 23
    normal = b.sub(magnitude, b.int_(rebias, i32))
    normal = b.add(b.add(normal, b.int_((1 << shift - 1) - 1, i32)), _bit(b, magnitude, shift))
    normal = b.lshr(normal, shift)
    # Denormal results: adding a number whose last place is the format's smallest step lets the adder round.
    anchor = float(2.0 ** (1 - format_.bias - format_.mantissa_bits + 23))
    anchored = b.emit("float", f"fadd {b.bitcast(magnitude, 'float')}, {b.float_(anchor).name}")
    denormal = b.sub(b.bitcast(anchored, i32), b.bitcast(b.float_(anchor), i32))
    small = b.icmp("ult", magnitude, b.int_((128 - format_.bias) << 23, i32))
    result = b.select(small, denormal, normal)
    over = b.icmp("ugt", result, b.int_(format_.largest, i32))
    over = b.or_(over, b.icmp("ugt", magnitude, b.int_((127 + 128 - format_.bias) << 23, i32)))
    sign = b.shl(b.lshr(bits, 31), format_.magnitude_bits)
    negative = 1 << format_.magnitude_bits
    if format_.special == "fnuz":
        result = b.select(b.icmp("eq", result, b.int_(0, i32)), result, b.or_(result, sign))
        result = b.select(b.or_(over, is_nan), b.int_(negative, i32), result)
    else:
        nan = {
            "ieee": format_.largest + 1 + (1 << format_.mantissa_bits - 1),
            "fn": format_.largest + 1,
            "finite": negative,
        }[format_.special]
        beyond = format_.largest + (0 if format_.special == "finite" else 1)
        result = b.select(over, b.int_(beyond, i32), result)
        result = b.or_(result, sign)
        with_sign = b.int_(nan, i32) if format_.special == "finite" else b.or_(b.int_(nan, i32), sign)
        result = b.select(is_nan, with_sign, result)
    return b.cast("trunc", result, register_type(element_type))


def _narrow_to_exponent(b: IrBuilder, bits: Value, magnitude: Value, is_nan: Value) -> Value:
    """Rounds to the nearest power of two, ties up. Zero, negative and too large values become NaN."""
    i32 = "i32"
    rounded = b.lshr(b.add(magnitude, b.int_(0x400000, i32)), 23)
    # As in ml_dtypes, denormal f32 values up to 2^-127 become 2^-127, and greater ones become 2^-126.
    least = b.cast("zext", b.icmp("ugt", magnitude, b.int_(0x400000, i32)), i32)
    rounded = b.select(b.icmp("ult", magnitude, b.int_(0x800000, i32)), least, rounded)
    invalid = b.or_(is_nan, b.icmp("sle", bits, b.int_(0, i32)))
    invalid = b.or_(invalid, b.icmp("ugt", rounded, b.int_(254, i32)))
    return b.cast("trunc", b.select(invalid, b.int_(255, i32), rounded), "i8")


def _bit(b: IrBuilder, bits: Value, position: int) -> Value:
    return b.binary("and", b.lshr(bits, position), b.int_(1, bits.type))


def round_to_odd(b: IrBuilder, value: Value) -> Value:
    """Truncates an f64 to f32, and sets the last bit if that was inexact."""
    rounded = b.cast("fptrunc", value, "float")
    back = b.cast("fpext", rounded, "double")
    bits = b.bitcast(rounded, "i32")
    magnitude = b.intrinsic("fabs", value)
    larger = b.fcmp("ogt", b.intrinsic("fabs", back), magnitude)
    truncated = b.sub(bits, b.cast("zext", larger, "i32"))
    odd = b.or_(truncated, b.int_(1, "i32"))
    return b.bitcast(b.select(b.fcmp("one", back, value), odd, bits), "float")
