"""logistic_expander: logistic(x) becomes 1 / (1 + exp(-x)). (XLA: xla/service/logistic_expander.h.)"""

from __future__ import annotations

from xla_core.hlo.instruction import HloInstruction
from xla_core.passes.expander import OpExpander
from xla_core.passes.rewriter import Builder

__all__ = ["LogisticExpander"]


class LogisticExpander(OpExpander):
    """Expands logistic of every floating and complex type."""

    name = "logistic-expander"
    opcodes = frozenset({"logistic"})

    def expand(self, instruction: HloInstruction, b: Builder) -> HloInstruction:
        one = b.constant(1, instruction.shape)
        exponential = b.add("exponential", b.add("negate", instruction.operands[0]))
        return b.add("divide", one, b.add("add", one, exponential))
