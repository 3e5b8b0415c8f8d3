"""Decompositions of ops that round: to integral values, and to formats with fewer bits."""

from __future__ import annotations

from xla_core.hlo.element_type import ElementType
from xla_core.hlo.instruction import HloInstruction
from xla_core.hlo.opcode import Opcode
from xla_core.passes.legalization.rules import decomposition
from xla_core.passes.rewriter import Builder

__all__: list[str] = []


@decomposition(Opcode.FLOOR, Opcode.CEIL, Opcode.ROUND_NEAREST_EVEN, Opcode.ROUND_NEAREST_AFZ)
def _round(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """Rounds by conversion to an integer. Numbers that are too large to have a fraction are returned unchanged."""
    x = i.operand(0)
    if x.shape.element_type.bit_width < 16:
        x = b.convert(x, x.shape.with_element_type(ElementType.F32))
    bits = x.shape.element_type.mantissa_bits
    integer = ElementType.S64 if bits > 30 else ElementType.S32
    whole = b.convert(b.convert(x, x.shape.with_element_type(integer)), x.shape)
    one, zero, half = b.constant(1, x.shape), b.constant(0, x.shape), b.constant(0.5, x.shape)
    up, down = b.add(Opcode.ADD, whole, one), b.add(Opcode.SUBTRACT, whole, one)
    if i.opcode == Opcode.FLOOR:
        value = b.add(Opcode.SELECT, b.compare(whole, x, "GT"), down, whole)
    elif i.opcode == Opcode.CEIL:
        value = b.add(Opcode.SELECT, b.compare(whole, x, "LT"), up, whole)
    else:
        size = b.add(Opcode.ABS, b.add(Opcode.SUBTRACT, x, whole))
        away = b.add(Opcode.SELECT, b.compare(x, zero, "LT"), down, up)
        beyond = b.compare(size, half, "GE")
        if i.opcode == Opcode.ROUND_NEAREST_EVEN:
            twice = b.convert(
                b.convert(b.add(Opcode.MULTIPLY, whole, half), x.shape.with_element_type(integer)), x.shape
            )
            even = b.compare(b.add(Opcode.ADD, twice, twice), whole, "EQ")
            beyond = b.add(Opcode.OR, b.compare(size, half, "GT"), b.add(Opcode.AND, beyond, b.add(Opcode.NOT, even)))
        value = b.add(Opcode.SELECT, beyond, away, whole)
    # Zero results keep the sign of x. Zeros, NaN and numbers too large to have a fraction are returned unchanged.
    negative = b.add(Opcode.AND, b.compare(value, zero, "EQ"), b.compare(x, zero, "LT"))
    value = b.add(Opcode.SELECT, negative, b.constant(-0.0, x.shape), value)
    large = b.constant(2.0**bits, x.shape)
    small = b.add(Opcode.AND, b.compare(b.add(Opcode.ABS, x), large, "LT"), b.compare(x, zero, "NE"))
    return b.convert(b.add(Opcode.SELECT, small, value, x), i.shape)


@decomposition(Opcode.REDUCE_PRECISION)
def _reduce_precision(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """Rounds the bits to nearest even. Overflow gives infinity, and underflow gives zero."""
    x = i.operand(0)
    kind = x.shape.element_type
    if kind is ElementType.BF16 or kind.bit_width < 16:  # every value of these types is an f32
        wide = b.convert(x, x.shape.with_element_type(ElementType.F32))
        return b.convert(b.clone(i, [wide], shape=wide.shape), i.shape)
    own_exponent, own_mantissa, integer = kind.exponent_bits, kind.mantissa_bits, ElementType(f"s{kind.bit_width}")
    exponent_bits, mantissa_bits = i.attributes["exponent_bits"], i.attributes["mantissa_bits"]
    shape = x.shape.without_layout().with_element_type(integer)

    def number(value: int) -> HloInstruction:
        return b.constant(value, shape)

    sign_bit, infinity = 1 << own_exponent + own_mantissa, ((1 << own_exponent) - 1) << own_mantissa
    bits = b.add(Opcode.BITCAST_CONVERT, x, shape=shape)
    sign = b.add(Opcode.AND, bits, number(-sign_bit))
    size = before = b.add(Opcode.AND, bits, number(sign_bit - 1))
    if mantissa_bits < own_mantissa:
        shift = own_mantissa - mantissa_bits
        last = b.add(Opcode.AND, b.add(Opcode.SHIFT_RIGHT_LOGICAL, size, number(shift)), number(1))
        size = b.add(Opcode.ADD, size, b.add(Opcode.ADD, last, number((1 << shift - 1) - 1)))
        size = b.add(Opcode.AND, size, number(-(1 << shift)))
    if exponent_bits < own_exponent:
        own_bias, bias = (1 << own_exponent - 1) - 1, (1 << exponent_bits - 1) - 1
        exponent = b.add(Opcode.AND, size, number(infinity))
        over = b.compare(exponent, number((own_bias + bias) << own_mantissa), "GT")
        under = b.compare(exponent, number((own_bias - bias) << own_mantissa), "LE")
        size = b.add(Opcode.SELECT, over, number(infinity), size)
        size = b.add(Opcode.SELECT, under, number(0), size)
    nan = before if mantissa_bits else number(infinity)
    size = b.add(Opcode.SELECT, b.compare(before, number(infinity), "GT"), nan, size)
    return b.add(Opcode.BITCAST_CONVERT, b.add(Opcode.OR, sign, size), shape=x.shape.without_layout())
