"""concatenate_splitter: splits a concatenate of many operands into a tree of small ones.

The kernel of a concatenate selects among all operands, and its compile time grows superlinearly with their number.
"""

from __future__ import annotations

from xla_core.hlo.ir.builder import Builder
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.opcode import Opcode
from xla_core.passes.expanders.expander import OpExpander
from xla_core.sizes import ceil_div


class ConcatenateSplitter(OpExpander):
    """Rewrites concatenate(x...) to concatenate(concatenate(x...)...), each with at most `max_operands` operands.

    The inner ones have half as many, so that fusion, which has the same limit, can take in producers of two operands.
    """

    opcodes = frozenset({Opcode.CONCATENATE})

    def __init__(self, max_operands: int = 64) -> None:
        super().__init__()
        self._most = max(max_operands, 4)

    def matches(self, instruction: HloInstruction) -> bool:
        return len(instruction.operands) > self._most

    def expand(self, instruction: HloInstruction, b: Builder) -> HloInstruction:
        dimensions, parts = instruction.attribute("dimensions"), list(instruction.operands)
        while len(parts) > self._most:
            groups = ceil_div(len(parts), self._most // 2)
            size = ceil_div(len(parts), groups)
            chunks = [parts[n : n + size] for n in range(0, len(parts), size)]
            parts = [b.add(Opcode.CONCATENATE, *c, dimensions=dimensions) if len(c) > 1 else c[0] for c in chunks]
        return b.add(Opcode.CONCATENATE, *parts, dimensions=dimensions)
