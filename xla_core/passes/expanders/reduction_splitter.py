"""reduction_splitter: splits a large reduction to few elements into two steps.

The first step has enough independent parts for all cores. (XLA: xla/service/gpu/transforms/tree_reduction_rewriter.h.)
"""

from __future__ import annotations

import math

from xla_core.analysis.indexing import reduced_rows
from xla_core.hlo.builder import Builder
from xla_core.hlo.combiner import combiner
from xla_core.hlo.instruction import HloInstruction
from xla_core.hlo.opcode import Opcode
from xla_core.passes.expanders.expander import OpExpander
from xla_core.target import ParallelModel


class ReductionSplitter(OpExpander):
    """Rewrites reduce(x) to reduce(reduce(parts of x)), for one operand and an op with an identity.

    The parts depend only on shapes, so the result doesn't depend on the number of threads.
    """

    name = "reduction-splitter"
    opcodes = frozenset({Opcode.REDUCE})

    def __init__(self, parallel: ParallelModel | None = None) -> None:
        super().__init__()
        self._parallel = parallel or ParallelModel()

    def matches(self, instruction: HloInstruction) -> bool:
        if len(instruction.operands) != 2 or instruction.shape.is_tuple:
            return False
        x = instruction.operand(0).shape
        op = combiner(instruction.attribute("to_apply"))
        return (
            op is not None
            and op.identity(x.element_type) is not None
            and x.element_type is instruction.shape.element_type
            and x.num_elements >= self._parallel.split_reduction_elements * self._blocks(instruction)
            and self._parts(instruction) <= self._parallel.units // 2  # more are enough independent parts
            and self._split(instruction) is not None
        )

    def _parts(self, instruction: HloInstruction) -> int:
        """The number of independent parts that one step would have."""
        return self._blocks(instruction) if self._parallel.has_blocks else instruction.shape.num_elements

    def _blocks(self, instruction: HloInstruction) -> int:
        """The number of blocks of threads that one step would have; 1 for a target without blocks."""
        rows = reduced_rows(instruction)
        if rows is None or not self._parallel.has_blocks:
            return 1
        return rows.count if rows.inner == 1 else -(-rows.count // self._parallel.lanes)

    def _split(self, instruction: HloInstruction) -> tuple[int, int] | None:
        """The dimension to split and the number of parts: the first reduced dimension with a suitable divisor."""
        sizes = instruction.operand(0).shape.dimensions
        most = max(8, self._parallel.units // self._blocks(instruction))
        for d in sorted(instruction.attribute("dimensions")):
            parts = next((n for n in range(min(most, sizes[d]), 7, -1) if sizes[d] % n == 0), None)
            if parts is not None:
                return d, parts
        return None

    def expand(self, instruction: HloInstruction, b: Builder) -> HloInstruction:
        x, init = instruction.operands
        found = self._split(instruction)
        assert found is not None
        d, parts = found
        sizes = list(x.shape.dimensions)
        cut = b.reshape(x, [*sizes[:d], parts, sizes[d] // parts, *sizes[d + 1 :]])
        reduced = [r if r < d else r + 1 for r in instruction.attribute("dimensions")]  # without the parts
        body = instruction.attribute("to_apply")
        op = combiner(body)
        identity = None if op is None else op.identity(x.shape.element_type)
        assert identity is not None
        start = b.constant(identity, init.shape)
        first = b.add(Opcode.REDUCE, cut, start, dimensions=tuple(reduced), to_apply=body)
        kept = [n for n in range(len(sizes) + 1) if n not in reduced]
        place = kept.index(d)
        second = b.add(Opcode.REDUCE, first, init, dimensions=(place,), to_apply=body)
        assert math.prod(second.shape.dimensions) == instruction.shape.num_elements
        return second
