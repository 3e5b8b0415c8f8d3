"""reduction_splitter: splits a large reduction to few elements into two steps.

The first step has enough independent parts for all cores. (XLA: xla/service/gpu/transforms/tree_reduction_rewriter.h.)
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

from xla_core.analysis.indexing import reduced_rows
from xla_core.hlo.ir.builder import Builder
from xla_core.hlo.ir.combiner import combiner
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.opcode import Opcode
from xla_core.passes.expanders.column_parts import parts_beside_rows
from xla_core.passes.expanders.expander import OpExpander
from xla_core.sizes import ceil_div
from xla_core.target import ParallelModel

_FEWER = 4  # equal parts may be fewer than are wanted by this factor
_ALIGNED = 16  # elements; parts that begin at a multiple of them are read by vectors


@dataclasses.dataclass(frozen=True, slots=True)
class _Split:
    """How a reduction is divided.

    Attributes:
        sizes: the operand's dimensions. Reduced dimensions that are neighbours may have become one.
        reduced: those that are reduced.
        dimension: the one that is divided.
        parts, length: how many parts of how many elements it has. The second step takes the elements behind them.
    """

    sizes: Sequence[int]
    reduced: Sequence[int]
    dimension: int
    parts: int
    length: int


class ReductionSplitter(OpExpander):
    """Rewrites reduce(x) to reduce(reduce(parts of x)), for one operand and an op with an identity.

    If the elements can't be divided into equal parts, the second step also reduces those that remain. If a kernel of
    blocks reduces the rows whose columns are reduced here, the parts are those that suit this kernel.

    The parts depend only on shapes, so the result doesn't depend on the number of threads.
    """

    opcodes = frozenset({Opcode.REDUCE})

    def __init__(self, parallel: ParallelModel | None = None) -> None:
        super().__init__()
        self._parallel = parallel or ParallelModel()

    def matches(self, instruction: HloInstruction) -> bool:
        if len(instruction.operands) != 2 or instruction.shape.is_tuple:
            return False
        x = instruction.operand(0).shape
        op = combiner(instruction.attribute("to_apply"))
        if op is None or op.identity(x.element_type) is None or x.element_type is not instruction.shape.element_type:
            return False
        beside = self._parts_beside_rows(instruction)
        if beside is not None:
            return beside > 1
        return (
            x.num_elements >= self._parallel.split_reduction_elements * self._blocks(instruction)
            and self._parts(instruction) <= self._parallel.units // 2  # more are enough independent parts
            and self._split(instruction) is not None
        )

    def _parts_beside_rows(self, instruction: HloInstruction) -> int | None:
        """The number of parts for a kernel that also reduces the rows whose columns the instruction reduces."""
        if instruction.operand(0).shape.num_elements < self._parallel.split_reduction_elements:
            return None
        return parts_beside_rows(instruction, self._parallel) if _is_row_major(instruction) else None

    def _parts(self, instruction: HloInstruction) -> int:
        """The number of independent parts that one step would have."""
        return self._blocks(instruction) if self._parallel.has_blocks else instruction.shape.num_elements

    def _blocks(self, instruction: HloInstruction) -> int:
        """The number of blocks of threads that one step would have; 1 for a target without blocks."""
        rows = reduced_rows(instruction)
        if rows is None or not self._parallel.has_blocks:
            return 1
        return rows.count if rows.inner == 1 else ceil_div(rows.count, self._parallel.lanes)

    def _split(self, instruction: HloInstruction) -> _Split | None:
        """How the elements are divided: into equal parts if there are enough of them, else with a rest."""
        operand = instruction.operand(0).shape
        sizes: Sequence[int] = operand.dimensions
        reduced: Sequence[int] = sorted(instruction.attribute("dimensions"))
        first, end = reduced[0], reduced[0] + len(reduced)
        joined = (*sizes[:first], math.prod(sizes[first:end]), *sizes[end:])
        beside = self._parts_beside_rows(instruction)
        if beside is not None:
            return _Split(joined, (first,), first, beside, joined[first] // beside)
        most = max(8, self._parallel.units // self._blocks(instruction))
        equal = _equal_parts(sizes, reduced, most)
        if _are_few(equal, most) and _is_row_major(instruction):
            sizes, reduced = joined, (first,)
            equal = _equal_parts(sizes, reduced, most)
        if not _are_few(equal, most):
            return equal
        largest = max(reduced, key=lambda d: sizes[d])
        length = sizes[largest] // most
        if length >= _ALIGNED:
            length -= length % _ALIGNED
        return _Split(sizes, reduced, largest, most, length) if length > 1 else equal

    def expand(self, instruction: HloInstruction, b: Builder) -> HloInstruction:
        x, init = instruction.operands
        split = self._split(instruction)
        assert split is not None
        d, sizes, end = split.dimension, split.sizes, split.parts * split.length
        body = instruction.attribute("to_apply")
        op = combiner(body)
        identity = None if op is None else op.identity(x.shape.element_type)
        assert identity is not None
        x = b.reshape(x, sizes)
        parts = b.slice_in_dim(x, d, 0, end)
        parts = b.reshape(parts, [*sizes[:d], split.parts, split.length, *sizes[d + 1 :]])
        start = b.constant(identity, init.shape)
        reduced = [r if r < d else r + 1 for r in split.reduced]  # without the parts
        first = b.add(Opcode.REDUCE, parts, start, dimensions=tuple(reduced), to_apply=body)
        place = d - sum(1 for r in split.reduced if r < d)
        if end < sizes[d]:
            rest = b.slice_in_dim(x, d, end, sizes[d])
            others = tuple(r for r in split.reduced if r != d)
            if others:
                rest = b.add(Opcode.REDUCE, rest, start, dimensions=others, to_apply=body)
            first = b.add(Opcode.CONCATENATE, first, rest, dimensions=(place,))
        second = b.add(Opcode.REDUCE, first, init, dimensions=(place,), to_apply=body)
        assert math.prod(second.shape.dimensions) == instruction.shape.num_elements
        return second


def _is_row_major(reduction: HloInstruction) -> bool:
    """Whether the reduced dimensions are neighbours, of an array in row-major order."""
    operand, reduced = reduction.operand(0).shape, sorted(reduction.attribute("dimensions"))
    is_row_major = operand.layout is None or operand.layout.is_row_major
    return is_row_major and reduced == list(range(reduced[0], reduced[0] + len(reduced)))


def _are_few(split: _Split | None, wanted: int) -> bool:
    return split is None or split.parts < wanted // _FEWER


def _equal_parts(sizes: Sequence[int], reduced: Sequence[int], most: int) -> _Split | None:
    """Divides the first reduced dimension with a suitable divisor."""
    for d in reduced:
        parts = next((n for n in range(min(most, sizes[d]), 7, -1) if sizes[d] % n == 0), None)
        if parts is not None:
            return _Split(sizes, reduced, d, parts, sizes[d] // parts)
    return None
