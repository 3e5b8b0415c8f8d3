"""Decompositions of ops that round: to integral values, and to formats with fewer bits."""

from __future__ import annotations

from xla_core.hlo.decompositions.expression import HloExpression, expressions
from xla_core.hlo.ir.builder import Builder
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.element_type import ElementType
from xla_core.passes.legalization.decompositions import decomposition


@decomposition(Opcode.FLOOR, Opcode.CEIL, Opcode.ROUND_NEAREST_EVEN, Opcode.ROUND_NEAREST_AFZ)
def _round(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """Rounds by conversion to an integer. Numbers that are too large to have a fraction are returned unchanged."""
    (x,) = expressions(b, *i.operands)
    if x.shape.element_type.bit_width < 16:
        x = x.astype(ElementType.F32)
    kind = x.shape.element_type
    integer = ElementType.S64 if kind.mantissa_bits > 30 else ElementType.S32
    whole = x.astype(integer).astype(kind)
    if i.opcode == Opcode.FLOOR:
        value = (whole > x).where(whole - 1, whole)
    elif i.opcode == Opcode.CEIL:
        value = (whole < x).where(whole + 1, whole)
    else:
        fraction = abs(x - whole)
        beyond = fraction >= 0.5
        if i.opcode == Opcode.ROUND_NEAREST_EVEN:
            half = (whole * 0.5).astype(integer).astype(kind)
            beyond = (fraction > 0.5) | (beyond & ~(half + half).equals(whole))
        value = beyond.where((x < 0).where(whole - 1, whole + 1), whole)
    # Zero results keep the sign of x. Zeros, NaN and numbers too large to have a fraction are returned unchanged.
    value = (value.equals(0) & (x < 0)).where(-0.0, value)
    small = (abs(x) < 2.0**kind.mantissa_bits) & x.differs(0)
    return small.where(value, x).astype(i.shape.element_type).i


@decomposition(Opcode.REDUCE_PRECISION)
def _reduce_precision(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """Rounds the bits to nearest even. Overflow gives infinity, and underflow gives zero."""
    x = i.operand(0)
    kind = x.shape.element_type
    if kind is ElementType.BF16 or kind.bit_width < 16:  # every value of these types is an f32
        wide = b.convert(x, x.shape.with_element_type(ElementType.F32))
        return b.convert(b.clone(i, [wide], shape=wide.shape), i.shape)
    own_exponent, own_mantissa = kind.exponent_bits, kind.mantissa_bits
    exponent_bits, mantissa_bits = i.attribute("exponent_bits"), i.attribute("mantissa_bits")
    sign_bit, infinity = 1 << own_exponent + own_mantissa, ((1 << own_exponent) - 1) << own_mantissa
    bits = HloExpression(b, x).bits(ElementType(f"s{kind.bit_width}"))
    sign = bits & -sign_bit
    size = before = bits & (sign_bit - 1)
    if mantissa_bits < own_mantissa:
        shift = own_mantissa - mantissa_bits
        last = (size >> shift) & 1
        size = (size + (last + ((1 << shift - 1) - 1))) & -(1 << shift)
    if exponent_bits < own_exponent:
        own_bias, bias = (1 << own_exponent - 1) - 1, (1 << exponent_bits - 1) - 1
        exponent = size & infinity
        over, under = exponent > (own_bias + bias) << own_mantissa, exponent <= (own_bias - bias) << own_mantissa
        size = under.where(0, over.where(infinity, size))
    size = (before > infinity).where(before if mantissa_bits else infinity, size)
    return (sign | size).bits(kind).i
