"""Rules for maximum, minimum, absolute value, clamp and precision."""

from __future__ import annotations

from xla_core.hlo.instruction import HloInstruction
from xla_core.hlo.opcode import Opcode
from xla_core.passes.patterns import is_all, is_total_order
from xla_core.passes.rewriter import Builder
from xla_core.passes.simplifiers.algebraic_simplifier.rule_table import rule

__all__: list[str] = []


@rule(Opcode.MAXIMUM, Opcode.MINIMUM)
def extreme_constants(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """max(x, least) -> x; max(x, greatest) -> greatest where there is no NaN; and for min"""
    x, y = i.operands
    element_type = i.shape.element_type
    identity = i.op.identity(element_type)
    if identity is None:
        return None
    if is_all(y, identity):
        return x
    absorbing = element_type.greatest if i.opcode == Opcode.MAXIMUM else element_type.least
    return y if absorbing is not None and is_total_order(element_type) and is_all(y, absorbing) else None


@rule(Opcode.ABS)
def absolute_of_negated(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """|-x| -> |x|; |x| -> x for unsigned integers"""
    x = i.operands[0]
    if x.shape.element_type.is_unsigned:
        return x
    return b.add(Opcode.ABS, x.operands[0]) if x.opcode == Opcode.NEGATE else None


@rule(Opcode.CLAMP)
def clamp_without_limits(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """clamp(least, x, greatest) -> x"""
    low, x, high = i.operands
    element_type = i.shape.element_type
    if element_type.least is None or element_type.greatest is None:
        return None
    return x if is_all(low, element_type.least) and is_all(high, element_type.greatest) else None


@rule(Opcode.CLAMP)
def clamp_twice(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """clamp(a, clamp(a, x, c), c) -> clamp(a, x, c)"""
    low, x, high = i.operands
    return x if x.opcode == Opcode.CLAMP and x.operands[0] is low and x.operands[2] is high else None


@rule(Opcode.REDUCE_PRECISION)
def precision_is_there(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """reduce-precision to the precision of the type, or to that of its operand -> the operand"""
    x = i.operands[0]
    bits = (i.attributes["exponent_bits"], i.attributes["mantissa_bits"])
    if x.opcode == Opcode.REDUCE_PRECISION and bits == (x.attributes["exponent_bits"], x.attributes["mantissa_bits"]):
        return x
    kind = i.shape.element_type
    is_whole = kind.bit_width >= 16 and bits[0] >= kind.exponent_bits and bits[1] >= kind.mantissa_bits
    return x if is_whole else None
