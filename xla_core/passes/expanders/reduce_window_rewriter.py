"""reduce_window_rewriter: expands scans (cumulative sums, products and extremes) to whole-array ops.

Each row is divided into blocks. The blocks are scanned in log2(block) steps of whole-array ops. The totals of the
blocks are scanned in the same way, and combined with the blocks that follow.
This takes about log2(16) + 1 ops per element. (XLA: xla/service/reduce_window_rewriter.h.)
"""

from __future__ import annotations

import abc

import numpy as np

from xla_core.analysis.indexing import SHORT_SCAN, scanned_dimension, scanned_rows
from xla_core.hlo.evaluation.evaluation_context import EvaluationContext
from xla_core.hlo.ir.builder import Builder
from xla_core.hlo.ir.combiner import combiner
from xla_core.hlo.ir.computation import HloComputation
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.op_table import OpDef
from xla_core.hlo.table.opcode import Opcode
from xla_core.passes.expanders.expander import OpExpander
from xla_core.passes.inlining import apply_to_arrays, is_elementwise_of_scalars
from xla_core.sizes import ceil_div


class ReduceWindowRewriter(OpExpander):
    """Rewrites the scans that `scanned_rows` finds, and those by other computations. It applies the initial value once.

    Other computations, such as the logarithm of a sum of exponentials, are elementwise. Two initial values must combine
    to the initial value. Then any number of them in the padding does too, because a computation may combine in any
    grouping.
    """

    opcodes = frozenset({Opcode.REDUCE_WINDOW})

    def matches(self, instruction: HloInstruction) -> bool:
        return scanned_rows(instruction) is not None or _is_other_scan(instruction)

    def expand(self, instruction: HloInstruction, b: Builder) -> HloInstruction:
        found, computation = scanned_dimension(instruction), instruction.attribute("to_apply")
        assert found is not None
        op = combiner(computation) if scanned_rows(instruction) is not None else None
        scan = _OpScan(b, op) if op is not None else _ComputationScan(b, computation)
        x = instruction.operands[0]
        initial = b.broadcast(instruction.operands[1], x.shape.dimensions)
        return scan.combine(initial, scan.run(x, *found))


def _is_other_scan(instruction: HloInstruction) -> bool:
    found, computation = scanned_dimension(instruction), instruction.attribute("to_apply")
    if found is None or combiner(computation) is not None or not is_elementwise_of_scalars(computation):
        return False
    shape, operand, initial = instruction.shape, instruction.operand(0), instruction.operand(1)
    while initial.opcode == Opcode.BROADCAST:
        initial = initial.operand(0)
    types = {i.shape.element_type for i in (instruction, operand, initial, *computation.parameters)}
    if len(types) > 1 or initial.opcode != Opcode.CONSTANT or shape.dimensions[found[0]] <= SHORT_SCAN:
        return False
    value = initial.literal.array.reshape(-1)[:1].reshape(())
    with np.errstate(all="ignore"):
        return shape.num_elements > 0 and np.array_equal(EvaluationContext().call(computation, [value, value]), value)


class _Scan(abc.ABC):
    """Scans by one way of combining elements."""

    def __init__(self, b: Builder) -> None:
        self.b = b

    @abc.abstractmethod
    def combine(self, before: HloInstruction, x: HloInstruction) -> HloInstruction:
        """Combines arrays, of which the first one's elements come before the second one's."""

    @abc.abstractmethod
    def combine_shifted(
        self, before: HloInstruction, x: HloInstruction, d: int, distance: int, backwards: bool
    ) -> HloInstruction:
        """Combines each element of `x` with the element of `before` at `distance` before it, if there is one."""

    def run(self, x: HloInstruction, d: int, backwards: bool) -> HloInstruction:
        size = x.shape.dimensions[d]
        if size <= SHORT_SCAN:
            return self._steps(x, d, backwards)
        b, sizes = self.b, list(x.shape.dimensions)
        blocks = ceil_div(size, SHORT_SCAN)
        # Padding goes to the end of the scan, so that it doesn't affect other elements.
        missing = blocks * SHORT_SCAN - size
        padded = b.pad_in_dim(x, d, missing if backwards else 0, 0 if backwards else missing)
        cut = b.reshape(padded, [*sizes[:d], blocks, SHORT_SCAN, *sizes[d + 1 :]])
        inner = self._steps(cut, d + 1, backwards)
        edge = 0 if backwards else SHORT_SCAN - 1
        totals = b.slice_in_dim(inner, d + 1, edge, edge + 1)
        totals = self.run(b.reshape(totals, [*sizes[:d], blocks, *sizes[d + 1 :]]), d, backwards)
        kept = [n for n in range(cut.shape.rank) if n != d + 1]
        spread = b.broadcast(totals, cut.shape.dimensions, kept)
        whole = b.reshape(self.combine_shifted(spread, inner, d, 1, backwards), padded.shape.dimensions)
        start = missing if backwards else 0
        return b.slice_in_dim(whole, d, start, start + size)

    def _steps(self, x: HloInstruction, d: int, backwards: bool) -> HloInstruction:
        distance = 1
        while distance < x.shape.dimensions[d]:
            x = self.combine_shifted(x, x, d, distance, backwards)
            distance *= 2
        return x


class _OpScan(_Scan):
    """Scans by an op that has an identity, with which shifted arrays are filled."""

    def __init__(self, b: Builder, op: OpDef) -> None:
        super().__init__(b)
        self.op = op

    def combine(self, before: HloInstruction, x: HloInstruction) -> HloInstruction:
        return self.b.add(self.op.opcode, before, x)

    def combine_shifted(
        self, before: HloInstruction, x: HloInstruction, d: int, distance: int, backwards: bool
    ) -> HloInstruction:
        neutral = self.op.identity(x.shape.element_type)
        assert neutral is not None
        if backwards:
            return self.combine(x, self.b.pad_in_dim(before, d, -distance, distance, neutral))
        return self.combine(self.b.pad_in_dim(before, d, distance, -distance, neutral), x)


class _ComputationScan(_Scan):
    """Scans by a computation without a known identity: elements with none before them stay as they are."""

    def __init__(self, b: Builder, computation: HloComputation) -> None:
        super().__init__(b)
        self.computation = computation

    def combine(self, before: HloInstruction, x: HloInstruction) -> HloInstruction:
        return apply_to_arrays(self.computation, [before, x], self.b)[0]

    def combine_shifted(
        self, before: HloInstruction, x: HloInstruction, d: int, distance: int, backwards: bool
    ) -> HloInstruction:
        b, size = self.b, x.shape.dimensions[d]
        low, high = (0, size - distance) if backwards else (distance, size)
        earlier = b.slice_in_dim(before, d, size - high, size - low)
        later = b.slice_in_dim(x, d, low, high)
        combined = self.combine(later, earlier) if backwards else self.combine(earlier, later)
        kept = b.slice_in_dim(x, d, high, size) if backwards else b.slice_in_dim(x, d, 0, low)
        return b.add(Opcode.CONCATENATE, *((combined, kept) if backwards else (kept, combined)), dimensions=(d,))
