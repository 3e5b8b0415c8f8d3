"""Buffer assignment. Serialized programs don't contain it: the optimized module gives the same assignment again."""

from __future__ import annotations

from xla_backend_gpu.processors import ALIGNMENT
from xla_core.analysis import BufferAssignment, assign_buffers, can_share_buffer
from xla_core.codegen.llvm import may_share_buffer
from xla_core.hlo import HloInstruction, HloModule, Opcode


def may_share(instruction: HloInstruction, operand: int, leaf: int) -> bool:
    """Tells whether a kernel, or a custom call on the host, may write a leaf of its result to an operand's buffer."""
    if instruction.opcode == Opcode.CUSTOM_CALL:
        return can_share_buffer(instruction, operand, leaf)
    before = sum(s.is_array for o in instruction.operands[:operand] for s in o.shape.leaves())
    return may_share_buffer(instruction, leaf, before)


def assign(module: HloModule) -> BufferAssignment:
    """Assigns buffers to a scheduled module."""
    return assign_buffers(module, alignment=ALIGNMENT, can_share=may_share)
