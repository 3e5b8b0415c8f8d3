"""PartitionedLoops: emits the loops over a range of the units into which a `Partition` divides a kernel's loops.

Loops inside a unit are emitted as they are, in segments within which it is known whether an index is inside a range, or
two of them in square tiles.
"""

from __future__ import annotations

import contextlib
import itertools
import math
from collections.abc import Callable, Iterator, Sequence

from xla_core.analysis.indexing import IndexExpr, Variable, delinearized, floor_div, linearized, modulo
from xla_core.codegen.llvm.ir.builder import IrBuilder
from xla_core.codegen.llvm.ir.module import Value
from xla_core.codegen.llvm.loops.context import EmissionContext, minor_loop_metadata
from xla_core.codegen.llvm.loops.index_values import IndexValues
from xla_core.codegen.llvm.loops.transposition import Tile
from xla_core.codegen.partition import TILE_SIDE, Partition
from xla_core.sizes import ceil_div


class PartitionedLoops:
    """The loops over units of a partition.

    Args:
        context, indices: the kernel under construction.
        partition: the division of the loops.
        variables: those of the loops, outermost first.
        cuts: for each loop, the iterations at which a new segment begins.
    """

    def __init__(
        self,
        context: EmissionContext,
        indices: IndexValues,
        partition: Partition,
        variables: Sequence[Variable],
        cuts: Sequence[Sequence[int]],
    ) -> None:
        self._context, self._indices, self._partition = context, indices, partition
        self._variables, self._cuts = variables, cuts

    def emit(self, begin: Value, end: Value, step: Value, body: Callable[[IndexExpr, Tile | None], None]) -> None:
        """Emits the loops over units [begin, end).

        `body(position, tile)` is called inside the innermost loop, once for each combination of the loops' segments.
        """
        context, partition = self._context, self._partition
        is_position = partition.is_position and step.integer == 1
        for segment in self._segments(0) if is_position else [None]:
            bounds = (begin, end) if segment is None else _clipped(context.builder, begin, end, segment, partition)
            extent = partition.count if segment is None else segment.extent
            with self._loop(*bounds, step, extent=extent, name="unit") as unit:
                if segment is not None:
                    self._inside([self._indices.bind(segment, unit)], None, body)
                elif partition.across >= 0:
                    self._tile(unit, body)
                else:
                    self._inside(*self.unit(unit), body)

    @contextlib.contextmanager
    def _loop(
        self,
        begin: Value,
        end: Value,
        step: Value | None = None,
        *,
        extent: int,
        name: str,
        metadata: Sequence[str] = (),
    ) -> Iterator[Value]:
        """Emits a loop around the block, which gets its index. A single iteration is emitted without a loop.

        `extent` is the number of iterations of a run, or of all runs of a loop that threads divide.
        """
        first, last = begin.integer, end.integer
        if first is not None and last is not None and last - first == 1:
            yield begin
            return
        loop, _ = self._context.open_loop(begin, end, step, name=name)
        loop.metadata.extend(metadata)
        yield loop.index
        self._context.overlap(extent, math.prod(self._partition.extents))
        self._context.close_loop(loop)

    def _inside(
        self,
        outer: list[IndexExpr],
        chunk: tuple[Value, Value] | None,
        body: Callable[[IndexExpr, Tile | None], None],
    ) -> None:
        """Emits the loops inside of `outer`."""
        b, position = self._context.builder, len(outer)
        if position == len(self._variables):
            body(self._position(outer), None)
            return
        variable = self._variables[position]
        is_last = position == len(self._variables) - 1
        first, limit = chunk if chunk is not None and is_last else (b.int_(0), b.int_(variable.extent))
        for segment in self._segments(position):
            bounds = _clipped(b, first, limit, segment, self._partition, position)
            metadata = minor_loop_metadata(segment.extent) if is_last else ()
            extent = min(self._partition.chunk, segment.extent) if is_last else segment.extent
            with self._loop(*bounds, extent=extent, name=f"dim{position}", metadata=metadata) as index:
                self._inside([*outer, self._indices.bind(segment, index)], chunk, body)

    def _segments(self, position: int) -> list[Variable]:
        """Returns the variables of a loop's segments, in order; the loop's own if there is one segment."""
        variable, cuts = self._variables[position], self._cuts[position] if self._cuts else ()
        bounds = [0, *cuts, variable.extent]
        if len(bounds) == 2:
            return [variable]
        return [
            Variable((variable.key, low), high - low, variable.name, low) for low, high in itertools.pairwise(bounds)
        ]

    def unit(self, number: Value) -> tuple[list[IndexExpr], tuple[Value, Value] | None]:
        """Returns the indices of the prefix loops, and the range of the last loop where that is cut into chunks."""
        b, partition, indices = self._context.builder, self._partition, self._indices
        unit, chunk = indices.new("unit", partition.count, number), None
        if partition.chunks > 1:
            first = indices.value(modulo(unit, partition.chunks) * partition.chunk)
            limit = b.add(first, b.int_(partition.chunk), "nuw nsw")
            if partition.extents[-1] % partition.chunk:  # else LLVM sees that all chunks are of one size
                limit = b.intrinsic("umin", limit, b.int_(partition.extents[-1]))
            chunk = (first, limit)
        return self._bind(floor_div(unit, partition.chunks), range(partition.prefix)), chunk

    def _bind(self, position: IndexExpr, loops: Sequence[int]) -> list[IndexExpr]:
        """Gives the variables of some loops the values that they have at a position of those loops."""
        extents = [self._variables[p].extent for p in loops]
        places = delinearized(position, extents)
        return [
            self._indices.bind(self._variables[p], self._indices.value(expr))
            for p, expr in zip(loops, places, strict=True)
        ]

    def _tile(self, number: Value, body: Callable[[IndexExpr, Tile | None], None]) -> None:
        """Emits the loops over one square tile of two of the loops."""
        context, indices, b = self._context, self._indices, self._context.builder
        across, last = self._partition.across, len(self._variables) - 1
        sides = [ceil_div(self._variables[p].extent, TILE_SIDE) for p in (across, last)]
        unit = indices.new("unit", self._partition.count, number)
        rest, blocks = floor_div(unit, math.prod(sides)), delinearized(modulo(unit, math.prod(sides)), sides)
        others = [p for p in range(last) if p != across]
        places = dict(zip(others, self._bind(rest, others), strict=True))
        begins = [indices.value(block * TILE_SIDE) for block in blocks]
        ends = [
            b.intrinsic("umin", b.add(first, b.int_(TILE_SIDE), "nuw nsw"), b.int_(self._variables[p].extent))
            for first, p in zip(begins, (across, last), strict=True)
        ]
        outer, inner = self._variables[across], self._variables[last]
        tile = Tile(outer, inner, (begins[0], begins[1]), (ends[0], ends[1]), b.level)
        opened = []
        for position, first, limit in zip((across, last), begins, ends, strict=True):
            loop, _ = context.open_loop(first, limit, name="tile")
            opened.append(loop)
            if position == last:
                loop.metadata.extend(minor_loop_metadata(TILE_SIDE))
            places[position] = indices.bind(self._variables[position], loop.index)
        body(self._position([places[p] for p in range(last + 1)]), tile)
        for loop in reversed(opened):
            context.close_loop(loop)

    def _position(self, values: Sequence[IndexExpr]) -> IndexExpr:
        return linearized(values, [v.extent for v in self._variables])


def _clipped(
    b: IrBuilder, begin: Value, end: Value, segment: Variable, partition: Partition, position: int = 0
) -> tuple[Value, Value]:
    """Returns the part of [begin, end) that is in a segment of a loop; it may be empty."""
    low, high = b.int_(segment.low), b.int_(segment.low + segment.extent)
    if segment.low:
        begin = low if begin.integer is not None else b.intrinsic("umax", begin, low)
    if segment.low + segment.extent < partition.extents[position]:
        end = high if end.integer is not None else b.intrinsic("umin", end, high)
    return begin, end
