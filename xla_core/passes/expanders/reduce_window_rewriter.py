"""reduce_window_rewriter: expands scans (cumulative sums, products and extremes) to whole-array ops.

Each row is divided into blocks. The blocks are scanned in log2(block) steps of whole-array ops. The totals of the
blocks are scanned in the same way, and combined with the blocks that follow.
This takes about log2(16) + 1 ops per element. (XLA: xla/service/reduce_window_rewriter.h.)
"""

from __future__ import annotations

from xla_core.analysis.indexing import SHORT_SCAN, scanned_rows
from xla_core.hlo.ir.builder import Builder
from xla_core.hlo.ir.combiner import combiner
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.op_table import OpDef
from xla_core.hlo.table.opcode import Opcode
from xla_core.passes.expanders.expander import OpExpander


class ReduceWindowRewriter(OpExpander):
    """Rewrites the scans that `scanned_rows` finds. The rewrite applies the initial value once."""

    name = "reduce-window-rewriter"
    opcodes = frozenset({Opcode.REDUCE_WINDOW})

    def matches(self, instruction: HloInstruction) -> bool:
        return scanned_rows(instruction) is not None

    def expand(self, instruction: HloInstruction, b: Builder) -> HloInstruction:
        found, op = scanned_rows(instruction), combiner(instruction.attribute("to_apply"))
        assert found is not None
        assert op is not None
        scan = _Scan(b, op, SHORT_SCAN)
        x = instruction.operands[0]
        result = scan.run(x, found.dimension, found.backwards)
        return b.add(op.opcode, b.broadcast(instruction.operands[1], x.shape.dimensions), result)


class _Scan:
    def __init__(self, b: Builder, op: OpDef, block: int) -> None:
        self.b = b
        self.op = op
        self.block = block

    def run(self, x: HloInstruction, d: int, backwards: bool) -> HloInstruction:
        size = x.shape.dimensions[d]
        if size <= self.block:
            return self._steps(x, d, backwards)
        b, sizes = self.b, list(x.shape.dimensions)
        blocks = -(-size // self.block)
        # Padding goes to the end of the scan, so that it doesn't affect other elements.
        missing = blocks * self.block - size
        padded = self._pad(x, d, missing if backwards else 0, 0 if backwards else missing)
        cut = b.reshape(padded, [*sizes[:d], blocks, self.block, *sizes[d + 1 :]])
        inner = self._steps(cut, d + 1, backwards)
        edge = 0 if backwards else self.block - 1
        totals = b.slice_in_dim(inner, d + 1, edge, edge + 1)
        totals = b.reshape(totals, [*sizes[:d], blocks, *sizes[d + 1 :]])
        before = self._shift(self.run(totals, d, backwards), d, 1, backwards)
        kept = [n for n in range(cut.shape.rank) if n != d + 1]
        spread = b.broadcast(before, cut.shape.dimensions, kept)
        whole = b.reshape(self._combine(spread, inner, backwards), padded.shape.dimensions)
        start = missing if backwards else 0
        return b.slice_in_dim(whole, d, start, start + size)

    def _steps(self, x: HloInstruction, d: int, backwards: bool) -> HloInstruction:
        distance = 1
        while distance < x.shape.dimensions[d]:
            x = self._combine(self._shift(x, d, distance, backwards), x, backwards)
            distance *= 2
        return x

    def _combine(self, before: HloInstruction, x: HloInstruction, backwards: bool) -> HloInstruction:
        return self.b.add(self.op.opcode, *((x, before) if backwards else (before, x)))

    def _shift(self, x: HloInstruction, d: int, distance: int, backwards: bool) -> HloInstruction:
        """Shifts elements by `distance`, and fills with the identity."""
        return self._pad(x, d, -distance if backwards else distance, distance if backwards else -distance)

    def _pad(self, x: HloInstruction, d: int, low: int, high: int) -> HloInstruction:
        neutral = self.op.identity(x.shape.element_type)
        assert neutral is not None
        return self.b.pad_in_dim(x, d, low, high, neutral)
