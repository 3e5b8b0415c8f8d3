"""Partition: how a kernel's loops are divided into units of work, and the loops over a range of units.

The outermost loops are flattened into the number of the unit. The others run inside a unit: as they are, in segments
within which it is known whether an index is inside a range, or two of them in square tiles.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Callable, Hashable, Sequence

from xla_core.codegen.llvm.ir.builder import IrBuilder, Loop
from xla_core.codegen.llvm.ir.module import Value
from xla_core.codegen.llvm.loops.affine import AffineExpr
from xla_core.codegen.llvm.loops.context import EmissionContext, minor_loop_metadata
from xla_core.codegen.llvm.loops.index import Digit, split_digit
from xla_core.codegen.llvm.loops.schedule import Tile
from xla_core.codegen.llvm.loops.transposition import SIZE
from xla_core.target import ParallelModel

_SEGMENTED = 32  # iterations; shorter loops are not cut into segments


class Partition:
    """How the loops over a space are divided into `count` units.

    The first `prefix` loops are flattened into the number of the unit. Where that makes few units, the last loop is
    divided into `chunks` of `chunk` iterations each.
    """

    def __init__(
        self,
        space: Hashable,
        extents: Sequence[int],
        parallel: ParallelModel,
        *,
        flatten: bool = False,
        tile: int = 0,
        across: int = -1,
        whole_rows: bool = False,
        segments: int = 1,
    ) -> None:
        """Divides the loops.

        Args:
            space: the iteration space.
            extents: the loops over it, outermost first.
            parallel: how many units the target wants, and how large.
            flatten: whether every element is a unit.
            tile: the most iterations of a chunk; 0 sets no limit. With a limit, a single loop is divided too.
            across: the loop that runs in square tiles with the last one, or -1. Each tile is then a unit.
            whole_rows: whether the last loop must not be divided, because something costly is computed once a row.
            segments: how often the body may be emitted.
        """
        self.segments = segments
        self.across = across
        self.space = space
        self.extents = list(extents)
        self.flatten = flatten
        self.chunks = 1
        self.chunk = self.extents[-1]
        if flatten or (len(self.extents) == 1 and not tile):
            self.prefix = len(self.extents)
            self.count = math.prod(self.extents)
            self.grain = parallel.grain_elements
            return
        if across >= 0:
            self.prefix = len(self.extents)
            others = math.prod(n for p, n in enumerate(self.extents[:-1]) if p != across)
            self.count = others * _ceil_div(self.extents[across], SIZE) * _ceil_div(self.extents[-1], SIZE)
            self.grain = 1
            return
        outer = self.extents[:-1]
        sizes = [math.prod(outer[:taken]) for taken in range(len(outer) + 1)]
        self.prefix = (
            len(outer) if tile else next((n for n, size in enumerate(sizes) if size >= parallel.units), len(outer))
        )
        rows, inner, least = sizes[self.prefix], self.extents[-1], 64 if tile else parallel.row_elements
        wanted = min(_ceil_div(parallel.units, rows), inner // least) if rows < parallel.units and not whole_rows else 1
        wanted = max(wanted, _ceil_div(inner, tile)) if tile else wanted
        if wanted > 1:
            self.chunk = _ceil_div(_ceil_div(inner, wanted), 64) * 64
            self.chunks = _ceil_div(inner, self.chunk)
        self.count = rows * self.chunks
        self.grain = max(1, parallel.grain_elements * self.count // max(math.prod(self.extents), 1))


def _ceil_div(a: int, b: int) -> int:
    return -(-a // b)


def partitioned_loops(
    context: EmissionContext,
    begin: Value,
    end: Value,
    step: Value,
    partition: Partition,
    body: Callable[[list[Digit]], None],
) -> None:
    """Emits the loops over units [begin, end) of a partition; `body(digits)` is called inside the innermost.

    It is called once for each combination of the loops' segments.
    """
    b, extents = context.builder, partition.extents
    if partition.across >= 0:
        loop, _ = context.open_loop(begin, end, step, name="unit")
        _tiled_loops(context, loop.index, partition, body)
        context.close_loop(loop)
        return
    if not partition.flatten and len(extents) > 1:
        context.tile = Tile(partition.space, len(extents) - 1)
    cuts = _Segments(context, partition)

    def nest(digits: list[Digit], chunk: tuple[Value, Value] | None) -> None:
        position = len(digits)
        if position == len(extents):
            body(digits)
            return
        is_last = position == len(extents) - 1
        first, limit = chunk if chunk is not None and is_last else (b.int_(0), b.int_(extents[position]))
        for segment in cuts.of(position):
            loop, _ = context.open_loop(*_clipped(b, first, limit, segment, extents[position]), name=f"dim{position}")
            if is_last:
                loop.metadata.extend(minor_loop_metadata(segment.high - segment.low))
            nest([*digits, _variable(context, loop, partition, position, segment)], chunk)
            context.close_loop(loop)

    is_position = partition.prefix == 1 and partition.chunks == 1 and not partition.flatten and step.integer == 1
    for segment in cuts.of(0) if is_position else [None]:
        first, limit = (begin, end) if segment is None else _clipped(b, begin, end, segment, extents[0])
        loop, _ = context.open_loop(first, limit, step, name="unit")
        if segment is not None:
            nest([_variable(context, loop, partition, 0, segment)], None)
        else:
            nest(*unit_digits(context, loop.index, partition))
        context.close_loop(loop)
    context.tile = None


class _Segments:
    """The segments into which a partition's loops are cut. Earlier attempts to emit the kernel asked for the cuts."""

    def __init__(self, context: EmissionContext, partition: Partition) -> None:
        self._partition = partition
        self._cuts = [context.cuts(partition.space, p) for p in range(len(partition.extents))]
        self._cuts_loops = context.builder.cuts_loops

    def of(self, position: int) -> list[AffineExpr]:
        """Returns the segments of a loop, in order."""
        extent, cuts = self._partition.extents[position], self._cuts[position]
        others = math.prod(len(c) + 1 for p, c in enumerate(self._cuts) if p != position)
        may_cut = self._cuts_loops and extent >= _SEGMENTED and others * (len(cuts) + 2) <= self._partition.segments
        loop = (self._partition.space, position) if may_cut else None
        bounds = [0, *sorted(cuts), extent]
        return [AffineExpr(loop, low, high) for low, high in itertools.pairwise(bounds)]


def _clipped(b: IrBuilder, begin: Value, end: Value, segment: AffineExpr, extent: int) -> tuple[Value, Value]:
    """Returns the part of [begin, end), a range within [0, extent), that lies in a segment; it may be empty."""
    low, high = b.int_(segment.low), b.int_(segment.high)
    if segment.low:
        begin = low if begin.integer is not None else b.intrinsic("umax", begin, low)
    if segment.high < extent:
        end = high if end.integer is not None else b.intrinsic("umin", end, high)
    return begin, end


def _variable(context: EmissionContext, loop: Loop, partition: Partition, position: int, segment: AffineExpr) -> Digit:
    return Digit(
        loop.index, partition.extents[position], context.builder.level, (partition.space, position), affine=segment
    )


def _tiled_loops(
    context: EmissionContext, unit_index: Value, partition: Partition, body: Callable[[list[Digit]], None]
) -> None:
    """The loops over one square tile of two of the loops."""
    b, extents, across, last = context.builder, partition.extents, partition.across, len(partition.extents) - 1
    unit = Digit(unit_index, partition.count, b.level)
    blocks: dict[int, Digit] = {}
    for position in (last, across):
        unit, blocks[position] = split_digit(b, unit, _ceil_div(extents[position], SIZE))
    digits: dict[int, Digit] = {}
    remaining = [p for p in range(last) if p != across]
    for position in reversed(remaining):
        unit, low = split_digit(b, unit, extents[position]) if position != remaining[0] else (unit, unit)
        digits[position] = dataclasses.replace(low, extent=extents[position], loop=(partition.space, position))
    begins, ends = [], []
    for position in (across, last):
        first = b.mul(blocks[position].value, b.int_(SIZE), "nuw nsw")
        begins.append(first)
        ends.append(b.intrinsic("umin", b.add(first, b.int_(SIZE), "nuw nsw"), b.int_(extents[position])))
    tile = Tile(partition.space, last, across, b.level, (begins[0], begins[1]), (ends[0], ends[1]))
    context.tile = tile
    opened = []
    for position, first, limit in zip((across, last), begins, ends, strict=True):
        loop, _ = context.open_loop(first, limit, name="tile")
        opened.append(loop)
        if position == last:
            loop.metadata.extend(minor_loop_metadata(SIZE))
        digits[position] = Digit(loop.index, extents[position], b.level, (partition.space, position))
    body([digits[p] for p in range(len(extents))])
    for loop in reversed(opened):
        context.close_loop(loop)
    context.tile = None


def unit_digits(
    context: EmissionContext, index: Value, partition: Partition
) -> tuple[list[Digit], tuple[Value, Value] | None]:
    """Returns a unit's digits of the prefix loops, and its range of the last loop if that is cut into chunks."""
    b = context.builder
    unit = Digit(index, partition.count, b.level)
    chunk = None
    if partition.chunks > 1:
        unit, part = split_digit(b, unit, partition.chunks)
        first = b.mul(part.value, b.int_(partition.chunk), "nuw nsw")
        limit = b.add(first, b.int_(partition.chunk), "nuw nsw")
        if partition.extents[-1] % partition.chunk:  # else LLVM sees that all chunks are of one size
            limit = b.intrinsic("umin", limit, b.int_(partition.extents[-1]))
        chunk = (first, limit)
    digits: list[Digit] = []
    for position in range(partition.prefix - 1, -1, -1):
        unit, low = split_digit(b, unit, partition.extents[position]) if position else (unit, unit)
        loop = None if partition.flatten else (partition.space, position)
        digits.insert(0, dataclasses.replace(low, extent=partition.extents[position], loop=loop))
    return digits, chunk
