"""gather_simplifier: replaces a gather of one slice with a dynamic-slice.

(XLA: xla/service/gather_simplifier.h.)
"""

from __future__ import annotations

from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.passes.expanders.gather_expander import GatherExpander


class GatherSimplifier(GatherExpander):
    """Rewrites gathers with a single index vector."""

    def matches(self, instruction: HloInstruction) -> bool:
        indices = instruction.operands[1].shape
        vector_dim = instruction.attribute("index_vector_dim")
        slices = [n for d, n in enumerate(indices.dimensions) if d != vector_dim]
        return super().matches(instruction) and all(n == 1 for n in slices)
