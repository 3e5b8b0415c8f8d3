"""operand_upcaster: converts operands of products with a wider result (XLA: xla/service/operand_upcaster.h)."""

from __future__ import annotations

from xla_core.hlo.ir.builder import Builder
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.opcode import Opcode
from xla_core.passes.expanders.expander import OpExpander


class OperandUpcaster(OpExpander):
    """Converts the operands of dot and convolution to the result's type: bf16 x bf16 -> f32 becomes f32 x f32."""

    opcodes = frozenset({Opcode.DOT, Opcode.CONVOLUTION})

    def matches(self, instruction: HloInstruction) -> bool:
        wide = instruction.shape.element_type
        return any(
            o.shape.element_type is not wide and o.shape.element_type.bit_width <= wide.bit_width
            for o in instruction.operands
        )

    def expand(self, instruction: HloInstruction, b: Builder) -> HloInstruction:
        return b.clone(instruction, [b.convert(o, instruction.shape) for o in instruction.operands])
