"""Emits products whose operands are packed into panels; see `panels.py`.

    out[g, r, f] = sum over taps t of left[g, r; t] * right[g; t, f]

A unit of work is a part of the rows times a part of the features of a group. It packs its rows of the left operand, a
panel for each block of rows, unless it reads them in place. Then it packs one panel of features after the other, and
multiplies each with all blocks of rows while the panel is in the first-level cache. If the second-level cache has room
for all panels, it packs them first, and then computes the results in the order of the memory.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

from xla_backend_cpu.codegen.blocked_product import (
    Block,
    Group,
    block_start,
    choose_block,
    even_size,
    split_groups,
    split_index,
)
from xla_backend_cpu.codegen.panels import PanelFormat, PanelOps, TapBlock
from xla_backend_cpu.codegen.processor import Processor
from xla_backend_cpu.codegen.vectors import LINE_BYTES
from xla_core.codegen.llvm import IrBuilder, KernelFrame, Value

MOST_TAPS = 1024  # that one accumulator sums: the error of a sum grows with the number of its terms
_FEWEST_ROWS = 128  # with fewer rows, packing the panels of features takes too long


@dataclasses.dataclass(frozen=True, slots=True)
class PackedProduct:
    """The sizes and strides of a product; strides are in elements.

    Attributes:
        format: the words of the panels.
        groups: the group dimensions, outermost first.
        rows: (count, left stride, out stride).
        taps: (count, left stride, right stride).
        features: (count, right stride, out stride). If the stride in the result is not 1, that of the rows is.
        swapped: whether the left operand of the instruction is the right one of the product.
    """

    format: PanelFormat
    groups: tuple[Group, ...]
    rows: tuple[int, int, int]
    taps: tuple[int, int, int]
    features: tuple[int, int, int]
    swapped: bool = False

    def __str__(self) -> str:
        batch = f"{self.batch} x " if self.batch > 1 else ""
        return f"packed product of {batch}{self.rows[0]} points, {self.features[0]} features, {self.taps[0]} taps"

    @property
    def batch(self) -> int:
        return math.prod(g.count for g in self.groups)

    @property
    def flops(self) -> float:
        return 2.0 * self.batch * self.rows[0] * self.features[0] * self.taps[0]

    @property
    def is_packable(self) -> bool:
        """Whether each operand is contiguous along its points or along its taps."""
        return 1 in (self.rows[1], self.taps[1]) and 1 in (self.features[1], self.taps[2])


class PackedEmitter:
    """Emits a packed product into a kernel's frame, whose buffers are left, right and result.

    `pieces` is the number of the kernel's units of work, `scratch_bytes` the size of the memory that it packs into.
    """

    def __init__(self, product: PackedProduct, processor: Processor, threads: int) -> None:
        self.product = p = product
        self.lanes = processor.register_bytes // p.format.word_bytes
        # Two vectors hold a word that is multiplied and its products.
        registers = processor.registers - (p.format.depth > 1)
        self.block: Block = choose_block(p.rows[0], 1, p.features[0], self.lanes, registers)
        self.width = self.block.vectors * self.lanes
        self.stored = min(self.width, p.features[0])
        square = self.lanes * p.format.depth
        half_cache = processor.cache.size_bytes // 2
        most_taps = half_cache // 2 // (self.width * p.format.word_bytes) * p.format.depth
        most_taps = max(min(most_taps, MOST_TAPS) if p.format.depth == 1 else most_taps, square)
        self.taps = (
            p.taps[0]
            if p.taps[0] <= most_taps or p.features[2] != 1
            else -(-even_size(p.taps[0], most_taps) // square) * square
        )
        self.tap_blocks = -(-p.taps[0] // self.taps)
        self.words = -(-p.format.words(self.taps) // self.lanes) * self.lanes  # squares of words are packed
        # Where a row's taps are apart, a block of rows reads a line of the cache for each tap.
        lines_in_cache = self.taps * LINE_BYTES <= processor.first_cache_bytes
        rows_in_cache = p.rows[0] * p.taps[0] * p.format.word_bytes <= half_cache
        in_cache = p.taps[1] == 1 or (lines_in_cache and rows_in_cache)
        self.packs_left = p.format.depth > 1 or (not in_cache and p.features[0] >= _FEWEST_ROWS)
        # Where points are contiguous, a store of a whole vector may end beyond its points: the next store corrects it.
        whole_vectors = -(-self.block.rows // self.lanes) * self.lanes
        self.row_step = self.block.rows if p.taps[1] != 1 else whole_vectors
        self.row_panel = self.row_step * self.words
        self.row_blocks, self.panels = -(-p.rows[0] // self.block.rows), -(-p.features[0] // self.width)
        self._divide(processor.cache.size_bytes, threads)

    def _divide(self, cache_bytes: int, threads: int) -> None:
        """Divides the rows and the panels into parts, and decides whether a part keeps its panels."""
        p, half_cache = self.product, cache_bytes // 2
        row_parts, panel_parts = 1, 1
        if self.packs_left:  # a part packs all features again, and reads its packed rows in order for each panel
            row_bytes = self.row_panel * p.format.word_bytes
            most = max(2 * cache_bytes // row_bytes, _FEWEST_ROWS // self.block.rows, 1)
            row_parts = -(-self.row_blocks // most)
        wanted = -(-2 * threads // p.batch) if threads > 1 else 1
        if row_parts < wanted:
            if p.rows[0] > p.features[0]:
                row_parts = min(wanted, self.row_blocks)
            else:
                panel_parts = min(-(-wanted // row_parts), self.panels)
        # With few taps, writing the results takes most of the time; with many rows, packing takes little. With several
        # blocks of taps, rows that don't fit into the cache displace prefetched data, and each panel would read them
        # again.
        block_bytes = p.rows[0] * self.taps * p.format.word_bytes
        keeps = p.rows[0] >= self.taps if self.tap_blocks == 1 else block_bytes > half_cache
        if not self.packs_left and keeps:
            kept = half_cache // (self.width * self.words * p.format.word_bytes)
            panel_parts = max(panel_parts, -(-self.panels // max(kept, 1)))
        self.part_rows, self.part_panels = -(-self.row_blocks // row_parts), -(-self.panels // panel_parts)
        self.row_parts, self.panel_parts = -(-self.row_blocks // self.part_rows), -(-self.panels // self.part_panels)
        self.pieces = p.batch * self.row_parts * self.panel_parts
        whole_vectors = -(-self.block.rows // self.lanes) * self.lanes
        self.left_words = self.part_rows * self.row_panel + whole_vectors if self.packs_left else 0
        self.right_panel = self.width * self.words
        panels_bytes = self.part_panels * self.right_panel * p.format.word_bytes
        self.keeps_panels = not self.packs_left and panels_bytes <= half_cache
        right_words = self.part_panels * self.right_panel if self.keeps_panels else self.right_panel
        self.scratch_bytes = (self.left_words + right_words) * p.format.word_bytes

    def emit(self, frame: KernelFrame, ops: PanelOps, scratch: Value) -> None:
        """Emits the kernel's body."""
        b, p, f = frame.builder, self.product, self.product.format
        left_panels, right_panel = scratch, b.gep(f.word, scratch, b.int_(self.left_words))
        loop, _ = b.open_loop(frame.begin, frame.end, name="piece")
        group, (first_row, last_row), (first_panel, last_panel) = self._piece(b, loop.index)
        left, right, out = (
            b.gep(type_, base, offset)
            for type_, base, offset in zip(
                (f.left.scalar, f.right.scalar, f.word), frame.buffers, split_groups(b, group, p.groups), strict=True
            )
        )
        loops = []

        def open_loop(first: Value, last: Value, name: str) -> Value:
            loops.append(b.open_loop(first, last, name=name)[0])
            return loops[-1].index

        # All blocks of taps of the rows that are read in place stay in the cache, so the results are in it from one
        # block to the next. Packed rows, and panels that are kept, are those of one block.
        if not self.packs_left and not self.keeps_panels:
            panel = open_loop(first_panel, last_panel, "right")
        block = open_loop(b.int_(0), b.int_(self.tap_blocks), "block")
        taps = TapBlock.of(b, p.taps[0], self.taps, block)
        if self.packs_left:
            self._pack_left(ops, left, taps, (first_row, last_row), left_panels)
            panel = open_loop(first_panel, last_panel, "right")
        if self.keeps_panels:
            kept, _ = b.open_loop(first_panel, last_panel, name="right")
            panel = kept.index
            right_panel = b.gep(f.word, scratch, b.mul(b.sub(panel, first_panel), b.int_(self.right_panel)))
        feature, source = self._pack_right(ops, right, taps, panel, right_panel)
        words = b.udiv(b.add(taps.count, b.int_(f.depth - 1)), b.int_(f.depth))
        starts = ops.correction(right_panel, self.block.vectors, words)
        if self.keeps_panels:
            b.close_loop(kept)
        row_block = open_loop(first_row, last_row, "rows")
        if self.keeps_panels:
            panel = open_loop(first_panel, last_panel, "panels")
            right_panel = b.gep(f.word, scratch, b.mul(b.sub(panel, first_panel), b.int_(self.right_panel)))
            feature = block_start(b, panel, self.stored, p.features[0])
        row = block_start(b, row_block, self.block.rows, p.rows[0])
        steps = (1, self.row_step) if self.packs_left else (p.rows[1], p.taps[1])
        if self.packs_left:
            here = b.gep(f.word, left_panels, b.mul(b.sub(row_block, first_row), b.int_(self.row_panel)))
        else:
            place = b.add(b.mul(row, b.int_(p.rows[1])), b.mul(taps.first, b.int_(p.taps[1])))
            here = b.gep(f.word, left, place)
        result = _Result(
            b.gep(f.word, out, b.add(b.mul(row, b.int_(p.rows[2])), b.mul(feature, b.int_(p.features[2])))),
            b.icmp("ne", block, b.int_(0)),
            b.sub(b.mul(row_block, b.int_(self.block.rows)), row),
            b.sub(b.mul(panel, b.int_(self.stored)), feature),
        )
        ahead = self._lines_ahead(ops, source, taps, b.sub(row_block, first_row))
        self._tile(ops, here, steps, right_panel, words, starts, result, ahead)
        for inner in (*reversed(loops), loop):
            b.close_loop(inner)

    def _piece(self, b: IrBuilder, number: Value) -> tuple[Value, tuple[Value, Value], tuple[Value, Value]]:
        """The group of a unit of work, and where its register blocks of rows and its panels begin and end."""
        rest, panel_part = split_index(b, number, self.panel_parts)
        group, row_part = split_index(b, rest, self.row_parts)
        rows = _part(b, row_part, self.part_rows, self.row_blocks)
        return group, rows, _part(b, panel_part, self.part_panels, self.panels)

    def _pack_left(
        self, ops: PanelOps, left: Value, taps: TapBlock, blocks: tuple[Value, Value], panels: Value
    ) -> None:
        """Packs a block of taps of the rows of some register blocks, given by the first one and the one after them."""
        b, p, f = ops.b, self.product, self.product.format
        loop, _ = b.open_loop(*blocks, name="left")
        row = block_start(b, loop.index, self.block.rows, p.rows[0])
        source = b.gep(f.left.scalar, left, b.mul(row, b.int_(p.rows[1])))
        place = b.gep(f.word, panels, b.mul(b.sub(loop.index, blocks[0]), b.int_(self.row_panel)))
        ops.pack(f.left, source, (p.rows[1], p.taps[1]), self.block.rows, taps, place, self.row_step)
        b.close_loop(loop)

    def _pack_right(
        self, ops: PanelOps, right: Value, taps: TapBlock, number: Value, panel: Value
    ) -> tuple[Value, Value]:
        """Packs a block of taps of one panel's features. Returns the first feature and where its first tap is."""
        b, p, f = ops.b, self.product, self.product.format
        feature = block_start(b, number, self.stored, p.features[0])
        source = b.gep(f.right.scalar, right, b.mul(feature, b.int_(p.features[1])))
        ops.pack(f.right, source, (p.features[1], p.taps[2]), self.stored, taps, panel, self.width)
        return feature, source

    def _lines_ahead(self, ops: PanelOps, source: Value, taps: TapBlock, tile: Value) -> tuple[list[Value], int]:
        """The lines of memory that register block number `tile` prefetches in its first step, and the elements from
        there to those of the next step.

        They are a part of the data that are packed next: all register blocks that read a panel prefetch the panel after
        it, so that packing doesn't wait for memory. They go to the second-level cache, because the first one has no
        room for them beside the data that the register blocks read. `source` is where the panel's first tap is, and
        `taps` is the block of taps that the panel holds.
        """
        b, p, f = ops.b, self.product, self.product.format
        in_order = p.taps[2] == 1  # a panel's elements are contiguous, if its points are
        if self.keeps_panels or (in_order and (self.tap_blocks > 1 or p.features[1] != p.taps[0])):
            return [], 0
        height, points, step = (
            (1, self.stored * f.depth, self.stored * f.depth)
            if in_order
            else (f.depth, self.stored, f.depth * p.taps[2])
        )
        next_panel = b.int_(self.stored * p.features[1])
        if self.packs_left:  # the same taps of the next panel
            distance = b.add(next_panel, b.mul(taps.first, b.int_(p.taps[2])))
        elif taps.is_last is None:
            distance = next_panel
        else:
            next_block = b.mul(b.add(taps.first, b.int_(self.taps)), b.int_(p.taps[2]))
            distance = b.select(taps.is_last, next_panel, next_block)
        lines = -(-points * f.right.bytes // LINE_BYTES)
        each = -(-height * lines // self.part_rows)
        first = b.mul(b.urem(tile, b.int_(-(-height * lines // each))), b.int_(each))
        ahead = []
        for i in range(each):
            tap, line = split_index(b, b.add(first, b.int_(i)), lines)
            place = b.gep(f.right.scalar, source, b.add(distance, b.mul(tap, b.int_(p.taps[2]))))
            ahead.append(b.gep("i8", place, b.mul(line, b.int_(LINE_BYTES))))
        return ahead, step

    def _tile(
        self,
        ops: PanelOps,
        left: Value,
        steps: tuple[int, int],
        right: Value,
        words: Value,
        starts: Sequence[Value],
        result: _Result,
        ahead: tuple[list[Value], int],
    ) -> None:
        """Computes one register block. `steps` are the strides of a row and of a word on the left."""
        b, p, rows, vectors = ops.b, self.product, self.block.rows, self.block.vectors
        # Hide the addresses' origin from LLVM's loop strength reduction, which else takes half of the compile time.
        left, right, out = (b.intrinsic("launder.invariant.group", q) for q in (left, right, result.pointer))
        places = [
            (row, i, b.gep(p.format.word, out, b.int_(row * p.rows[2] + i * self.lanes)))
            for row in range(rows)
            for i in range(vectors)
        ]
        self._prefetch_results(ops, out)
        ends = [min(self.stored - i * self.lanes, self.lanes) for i in range(vectors)]
        sizes = [ops.enough_for(end) for end in ends]
        sums = [sizes[i].resized(starts[i]) for _, i, _ in places]
        loop, sums = b.open_loop(b.int_(0), words, carried=sums, name="tap")
        here = b.gep(p.format.word, left, b.mul(loop.index, b.int_(steps[1])))
        there = b.gep(ops.type, right, b.mul(loop.index, b.int_(vectors)))
        weights = [size.load(b.gep(ops.type, there, b.int_(i)), size.lanes) for i, size in enumerate(sizes)]
        if not self.packs_left and p.taps[1] == 1 and p.rows[1] == p.taps[0]:
            ops.prefetch_next(left, loop.index, rows, p.taps[0])
        for place in ahead[0]:
            ops.prefetch(b.gep(p.format.right.scalar, place, b.mul(loop.index, b.int_(ahead[1]))), level=2)
        new = []
        for row in range(rows):
            values = ops.splats(b.gep(p.format.word, here, b.int_(row * steps[0])), sizes)
            new += [
                ops.multiply_add(value, weight, sums[row * vectors + i])
                for i, (value, weight) in enumerate(zip(values, weights, strict=True))
            ]
        sums = [ops.resized(total) for total in b.close_loop(loop, new)]
        self._store(ops, sums, places, ends, result)

    def _prefetch_results(self, ops: PanelOps, out: Value) -> None:
        """Prefetches the lines that a register block stores to, unless it stores columns."""
        b, p = ops.b, self.product
        for row in range(self.block.rows if p.features[2] == 1 else 0):
            line = b.gep(p.format.word, out, b.int_(row * p.rows[2]))
            for start in range(0, self.stored * p.format.word_bytes, LINE_BYTES):
                ops.prefetch(b.gep("i8", line, b.int_(start)))

    def _store(
        self,
        ops: PanelOps,
        sums: list[Value],
        places: Sequence[tuple[int, int, Value]],
        ends: Sequence[int],
        result: _Result,
    ) -> None:
        """Stores the sums of a register block, or adds them to those of the blocks of taps before.

        `places` are the row, the vector and the address of each sum, and `ends` the lanes to store of each vector.
        """
        b, p, rows, vectors = ops.b, self.product, self.block.rows, self.block.vectors
        if p.features[2] != 1:
            out = places[0][2]
            for i, end in enumerate(ends):
                place = b.gep(p.format.word, out, b.int_(i * self.lanes * p.features[2]))
                ops.store_columns(sums[i::vectors], place, end, p.features[2])
            return
        if self.tap_blocks == 1:
            for (_, i, place), total in zip(places, sums, strict=True):
                ops.store(total, place, ends[i])
            return
        masks = [ops.both(result.continues, end) for end in ends]
        sums = [
            ops.added(total, ops.load_where(masks[i], place)) for (_, i, place), total in zip(places, sums, strict=True)
        ]
        # An earlier register block has already stored the part that overlaps with this one.
        masks = [ops.between(b.sub(result.stored_lanes, b.int_(i * self.lanes)), end) for i, end in enumerate(ends)]
        for row in range(rows):
            with b.if_(b.icmp("ule", result.stored_rows, b.int_(row))):
                for (_, i, place), total in list(zip(places, sums, strict=True))[row * vectors : (row + 1) * vectors]:
                    ops.store_where(masks[i], total, place)


@dataclasses.dataclass(frozen=True, slots=True)
class _Result:
    """Where a register block is in the result, and which of its rows and lanes from the first on are stored already.

    `continues` is whether the sums go on from those of the block of taps before.
    """

    pointer: Value
    continues: Value
    stored_rows: Value
    stored_lanes: Value


def _part(b: IrBuilder, number: Value, size: int, whole: int) -> tuple[Value, Value]:
    """Where part `number` of `size` begins and ends."""
    first = b.mul(number, b.int_(size))
    end = b.add(first, b.int_(size))
    return first, end if whole % size == 0 else b.intrinsic("umin", end, b.int_(whole))
