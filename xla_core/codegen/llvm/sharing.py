"""Which operand may share a result's buffer: what buffer assignment must know of how kernels are emitted.

(XLA: xla/service/hlo_dataflow_analysis.h, CanShareOperandBufferWithUser.)
"""

from __future__ import annotations

from xla_core.analysis.buffer_sharing import can_share_buffer
from xla_core.hlo.instruction import HloInstruction
from xla_core.hlo.opcode import Opcode

__all__ = ["may_share_buffer"]

_NOT_IN_PLACE = frozenset({Opcode.SORT, Opcode.CUSTOM_CALL})
"""What others may do in place, but no kernel of ours."""


def may_share_buffer(instruction: HloInstruction, result_leaf: int, operand_leaf: int) -> bool:
    """Whether a kernel of `instruction` is right when this operand's and this result's buffers are one.

    Leaves are counted over all operands, and over the result, as in `EmittedKernel.parameters`.
    """
    results = sum(s.is_array for s in instruction.shape.leaves())
    owners = [n for n, o in enumerate(instruction.operands) for s in o.shape.leaves() if s.is_array]
    if instruction.opcode in _NOT_IN_PLACE or result_leaf >= results or operand_leaf >= len(owners):
        return False
    return can_share_buffer(instruction, owners[operand_leaf], result_leaf)
