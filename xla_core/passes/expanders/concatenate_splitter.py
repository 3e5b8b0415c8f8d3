"""concatenate_splitter: a concatenate of very many operands becomes a tree of small ones.

One kernel chooses among all operands of a concatenate, and the time to compile that grows faster than their number.
"""

from __future__ import annotations

from xla_core.hlo.instruction import HloInstruction
from xla_core.hlo.opcode import Opcode
from xla_core.passes.expanders.expander import OpExpander
from xla_core.passes.rewriter import Builder

__all__ = ["ConcatenateSplitter"]


class ConcatenateSplitter(OpExpander):
    """concatenate(x...) -> concatenate(concatenate(x...)...), each of at most `max_operands` operands."""

    name = "concatenate-splitter"
    opcodes = frozenset({Opcode.CONCATENATE})

    def __init__(self, max_operands: int = 64) -> None:
        super().__init__()
        self._most = max(max_operands, 2)

    def matches(self, instruction: HloInstruction) -> bool:
        return len(instruction.operands) > self._most

    def expand(self, instruction: HloInstruction, b: Builder) -> HloInstruction:
        dimensions, parts = instruction.attribute("dimensions"), list(instruction.operands)
        while len(parts) > 1:
            groups = -(-len(parts) // self._most)
            size = -(-len(parts) // groups)
            chunks = [parts[n : n + size] for n in range(0, len(parts), size)]
            parts = [b.add(Opcode.CONCATENATE, *c, dimensions=dimensions) if len(c) > 1 else c[0] for c in chunks]
        return parts[0]
