"""Which operands may share a buffer with a result, for buffer assignment.

(XLA: xla/service/hlo_dataflow_analysis.h, CanShareOperandBufferWithUser.)
"""

from __future__ import annotations

from xla_core.analysis.buffer_sharing import can_share_buffer
from xla_core.hlo.instruction import HloInstruction
from xla_core.hlo.opcode import Opcode

__all__ = ["may_share_buffer"]


def may_share_buffer(instruction: HloInstruction, result_leaf: int, operand_leaf: int) -> bool:
    """Whether the kernel of `instruction` may write this leaf of the result over this leaf of the operands.

    Leaves are counted as in `EmittedKernel.parameters`, those of the operands and those of the result each from 0.
    """
    results = sum(s.is_array for s in instruction.shape.leaves())
    owners = [n for n, o in enumerate(instruction.operands) for s in o.shape.leaves() if s.is_array]
    # XLA's sort is in place; the kernel's merges are not, and the emitter has no custom calls.
    by_others = instruction.opcode in (Opcode.SORT, Opcode.CUSTOM_CALL)
    if by_others or result_leaf >= results or operand_leaf >= len(owners):
        return False
    return can_share_buffer(instruction, owners[operand_leaf], result_leaf)
