"""Rules for conversions, and for the parts of complex numbers."""

from __future__ import annotations

from xla_core.hlo.ir.builder import Builder
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.element_type import ElementType
from xla_core.passes.simplifiers.algebraic_simplifier.rule_table import pair_rule, rule


@rule(Opcode.CONVERT)
def convert_to_same(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """Convert to the type that it has -> the operand"""
    return i.operands[0] if i.operands[0].shape.element_type is i.shape.element_type else None


@pair_rule(Opcode.CONVERT, Opcode.CONVERT)
def convert_converted(i: HloInstruction, x: HloInstruction, b: Builder) -> HloInstruction | None:
    """convert(convert(x)) -> convert(x), where the first loses nothing"""
    if x.operands[0].shape.dynamic_dimensions:
        return None
    first, middle, last = x.operands[0].shape.element_type, x.shape.element_type, i.shape.element_type
    if not middle.holds(first) or last is ElementType.PRED:
        return None
    # To floats and back to integers, out-of-range values saturate; directly they wrap.
    if first.is_integral and middle.is_floating and last.is_integral and not last.holds(first):
        return None
    return b.convert(x.operands[0], i.shape)


@rule(Opcode.BITCAST_CONVERT)
def bitcast_converted(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """bitcast-convert to the same type -> the operand; of a bitcast-convert -> one, or none"""
    x = i.operands[0]
    if x.shape.compatible(i.shape):
        return x
    if x.opcode != Opcode.BITCAST_CONVERT:
        return None
    source = x.operands[0]
    if source.shape.compatible(i.shape):
        return source
    if source.shape.element_type.bit_width != i.shape.element_type.bit_width:
        return None
    return b.add(Opcode.BITCAST_CONVERT, source, shape=i.shape.without_layout())
