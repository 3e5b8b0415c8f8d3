"""grouped_dot_expander: expands ragged-dot and scaled-dot to dots.

(XLA: xla/service/ragged_dot_rewriter.h, scaled_dot_rewriter.h.)
"""

from __future__ import annotations

from xla_core.hlo.builder import Builder
from xla_core.hlo.decompositions.ragged_dot import decompose_ragged_dot
from xla_core.hlo.decompositions.scaled_dot import decompose_scaled_dot
from xla_core.hlo.instruction import HloInstruction
from xla_core.hlo.opcode import Opcode
from xla_core.passes.expanders.expander import OpExpander


class RaggedDotExpander(OpExpander):
    """Expands ragged-dot, a dot one of whose dimensions is divided into groups."""

    name = "ragged-dot-expander"
    opcodes = frozenset({Opcode.RAGGED_DOT})

    def expand(self, instruction: HloInstruction, b: Builder) -> HloInstruction:
        return decompose_ragged_dot(instruction, b)


class ScaledDotExpander(OpExpander):
    """Expands scaled-dot to a dot of the operands multiplied by their scales."""

    name = "scaled-dot-expander"
    opcodes = frozenset({Opcode.SCALED_DOT})

    def expand(self, instruction: HloInstruction, b: Builder) -> HloInstruction:
        return decompose_scaled_dot(instruction, b)
