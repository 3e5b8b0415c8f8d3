"""The buffers of a program. A serialized program has none, since its optimized module gives the same ones again."""

from __future__ import annotations

from xla_backend_gpu.processors import ALIGNMENT
from xla_core.analysis import BufferAssignment, assign_buffers
from xla_core.codegen.llvm import may_share_buffer
from xla_core.hlo import HloInstruction, HloModule

__all__ = ["assign", "may_share"]


def may_share(instruction: HloInstruction, operand: int, leaf: int) -> bool:
    """Whether a kernel may write a leaf of its result over an operand, an array."""
    before = sum(s.is_array for o in instruction.operands[:operand] for s in o.shape.leaves())
    return may_share_buffer(instruction, leaf, before)


def assign(module: HloModule) -> BufferAssignment:
    """Assigns buffers to a scheduled module."""
    return assign_buffers(module, alignment=ALIGNMENT, can_share=may_share)
