"""operand_converter: gives the operands and the result of a product types of one category.

The categories are, for example, integers and floats. (XLA: xla/service/operand_upcaster.h, result_caster.h.)
"""

from __future__ import annotations

from xla_core.hlo.ir.builder import Builder
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.ops.contraction import product_type
from xla_core.hlo.ops.rules import category
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.element_type import ElementType
from xla_core.passes.expanders.expander import OpExpander


class OperandConverter(OpExpander):
    """Rewrites s8 x s8 -> f32 to f32 x f32 of converted operands, and f32 x f32 -> s8 to a converted f32 x f32.

    Products within a category (bf16 x bf16 -> f32) are not changed, because backends have kernels for them.
    """

    opcodes = frozenset({Opcode.DOT, Opcode.CONVOLUTION, Opcode.RAGGED_DOT})

    def matches(self, instruction: HloInstruction) -> bool:
        shapes = [instruction.shape, *(o.shape for o in instruction.operands[:2])]
        return len({category(shape.element_type) for shape in shapes}) > 1

    def expand(self, instruction: HloInstruction, b: Builder) -> HloInstruction:
        lhs, rhs, *sizes = instruction.operands
        made = product_type(lhs.shape.element_type, rhs.shape.element_type, instruction.shape.element_type)
        shape = instruction.shape.with_element_type(made).without_layout()
        product = b.clone(instruction, [*(_cast(o, made, b) for o in (lhs, rhs)), *sizes], shape=shape)
        return b.convert(product, instruction.shape)


def _cast(operand: HloInstruction, made: ElementType, b: Builder) -> HloInstruction:
    """Converts the operand to `made` if that type is of another category."""
    if category(operand.shape.element_type) == category(made):
        return operand
    return b.convert(operand, operand.shape.with_element_type(made))
