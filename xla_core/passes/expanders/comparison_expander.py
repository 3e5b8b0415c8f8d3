"""comparison_expander: compares floats in total order as integers (XLA: xla/service/comparison_expander.h)."""

from __future__ import annotations

from xla_core.hlo.decompositions.expression import HloExpression, expressions
from xla_core.hlo.ir.builder import Builder
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.element_type import ElementType
from xla_core.passes.expanders.expander import OpExpander

_INTEGERS = {8: ElementType.S8, 16: ElementType.S16, 32: ElementType.S32, 64: ElementType.S64}


def _total_order_key(x: HloExpression) -> HloExpression:
    """Converts floats to integers with the same order as the total order: -NaN < -inf < -0 < 0 < inf < NaN."""
    bits = x.bits(_INTEGERS[x.shape.element_type.bit_width])
    return (bits < 0).where(bits ^ ((1 << (x.shape.element_type.bit_width - 1)) - 1), bits)


class ComparisonExpander(OpExpander):
    """Expands compare with type=TOTALORDER, for signed floats of at least eight bits that have -0."""

    opcodes = frozenset({Opcode.COMPARE})

    def matches(self, instruction: HloInstruction) -> bool:
        element_type = instruction.operands[0].shape.element_type
        return (
            instruction.attribute("type") == "TOTALORDER"
            and element_type.is_floating
            and element_type.bit_width in _INTEGERS
            and "nuz" not in element_type.value
            and element_type.has_sign_bit
        )

    def expand(self, instruction: HloInstruction, b: Builder) -> HloInstruction:
        x, y = map(_total_order_key, expressions(b, *instruction.operands))
        return x.op(Opcode.COMPARE, y, direction=instruction.attribute("direction")).i
