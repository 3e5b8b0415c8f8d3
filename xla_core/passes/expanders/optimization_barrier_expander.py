"""optimization_barrier_expander: removes optimization barriers, after all passes that they affect.

(XLA: xla/service/optimization_barrier_expander.h.)
"""

from __future__ import annotations

from xla_core.hlo.builder import Builder
from xla_core.hlo.instruction import HloInstruction
from xla_core.hlo.opcode import Opcode
from xla_core.passes.expanders.expander import OpExpander


class OptimizationBarrierExpander(OpExpander):
    """Replaces each barrier with its operand."""

    name = "optimization-barrier-expander"
    opcodes = frozenset({Opcode.OPT_BARRIER})

    def expand(self, instruction: HloInstruction, b: Builder) -> HloInstruction:
        return instruction.operands[0]
