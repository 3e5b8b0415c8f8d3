"""What a fusion computes. Every other instruction counts as a fusion of itself, since it is a kernel as well.

(XLA: HloInstruction::fused_instructions, fused_parameters and fused_expression_root in xla/hlo/ir/hlo_instruction.h.)
"""

from __future__ import annotations

from collections.abc import Sequence

from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.opcode import Opcode


def fused_instructions(instruction: HloInstruction) -> Sequence[HloInstruction]:
    """Returns the instructions of a fusion's computation, each after its operands; of another one, itself."""
    if instruction.opcode != Opcode.FUSION:
        return [instruction]
    found: list[HloInstruction] = instruction.attribute("calls").post_order()
    return found


def fused_parameters(instruction: HloInstruction) -> Sequence[HloInstruction]:
    """Returns what `fused_instructions` read: the parameters of a fusion's computation; of another one, its operands.

    The parameters are as many as the fusion's operands, in their order.
    """
    if instruction.opcode != Opcode.FUSION:
        return instruction.operands
    found: Sequence[HloInstruction] = instruction.attribute("calls").parameters
    return found


def fused_root(instruction: HloInstruction) -> HloInstruction:
    """Returns the instruction that computes a fusion's result, a tuple if there are several; of another one, itself."""
    if instruction.opcode != Opcode.FUSION:
        return instruction
    root: HloInstruction = instruction.attribute("calls").root
    return root


def fused_roots(instruction: HloInstruction) -> Sequence[HloInstruction]:
    """Returns the instructions that compute the results of a fusion, one for each; of another one, itself."""
    root = fused_root(instruction)
    return root.operands if root.opcode == Opcode.TUPLE and root is not instruction else [root]
