"""optimization_barrier_expander: drops barriers, once nothing moves any more. (XLA:
xla/service/optimization_barrier_expander.h.)
"""

from __future__ import annotations

from xla_core.hlo.instruction import HloInstruction
from xla_core.hlo.opcode import Opcode
from xla_core.passes.expanders.expander import OpExpander
from xla_core.passes.rewriter import Builder

__all__ = ["OptimizationBarrierExpander"]


class OptimizationBarrierExpander(OpExpander):
    """A barrier is its operand."""

    name = "optimization-barrier-expander"
    opcodes = frozenset({Opcode.OPT_BARRIER})

    def expand(self, instruction: HloInstruction, b: Builder) -> HloInstruction:
        return instruction.operands[0]
