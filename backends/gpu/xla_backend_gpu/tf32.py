"""Tf32: lets products of f32 round their operands to tf32, where the program leaves the precision to the compiler."""

from __future__ import annotations

from xla_core.hlo import ElementType, HloInstruction, Opcode
from xla_core.passes import Builder, OpExpander


class Tf32(OpExpander):
    """Gives dots of f32 operands of default precision the algorithm `dot_tf32_tf32_f32`."""

    opcodes = frozenset({Opcode.DOT})

    def matches(self, instruction: HloInstruction) -> bool:
        types = {i.shape.element_type for i in (instruction, *instruction.operands)}
        is_default = set(instruction.attribute("operand_precision")) <= {"default"}
        return types == {ElementType.F32} and is_default and instruction.attribute("algorithm") is None

    def expand(self, instruction: HloInstruction, b: Builder) -> HloInstruction:
        return b.clone(instruction, instruction.operands, algorithm="dot_tf32_tf32_f32")
