"""Emits the register-blocked product that convolutions and dots share.

    out[g, r, c, f] = sum over taps t of left[g, r, c; t] * right[g; t, f]

`g` is a group (an image, a batch), `r` and `c` are the row and column of an output point, and `f` is a feature.
Features are contiguous in `right` and `out`. A tap is a multi-index: the window position and channel of a convolution,
or the contracting index of a dot. The offset of a tap on the left is a sum of strides, so that images and
transposed matrices are read in place. The sums of a block of points times a few vectors of features stay in registers
during the loop over taps.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

from xla_backend_cpu.codegen.processor import Processor
from xla_backend_cpu.codegen.vectors import VectorOps
from xla_core.codegen.llvm import IrBuilder, KernelFrame, Value

_PREFETCHED_TAPS = 12
_LEAST_GAIN = 1.1  # of the score by other rows than the image's own, which are near each other in memory
_MOST_OCCUPIED = 0.5  # of the cache's sets that features map to; the rest is for points and results


@dataclasses.dataclass(frozen=True, slots=True)
class Group:
    """A group dimension: its size, and its strides in the left operand, the right operand and the result."""

    count: int
    left: int
    right: int
    out: int


def split_index(b: IrBuilder, index: Value, count: int) -> tuple[Value, Value]:
    """The quotient and the remainder of an index by a dimension's size."""
    if count == 1:
        return index, b.int_(0)
    return b.udiv(index, b.int_(count)), b.urem(index, b.int_(count))


def split_groups(b: IrBuilder, index: Value, groups: Sequence[Group]) -> tuple[Value, Value, Value]:
    """The offsets of group number `index` in the left operand, the right operand and the result."""
    left, right, out = b.int_(0), b.int_(0), b.int_(0)
    for group in reversed(groups):
        index, position = split_index(b, index, group.count)
        left = b.add(left, b.mul(position, b.int_(group.left)))
        right = b.add(right, b.mul(position, b.int_(group.right)))
        out = b.add(out, b.mul(position, b.int_(group.out)))
    return left, right, out


@dataclasses.dataclass(frozen=True, slots=True)
class BlockedProduct:
    """The sizes and strides of a product; strides are in elements.

    Attributes:
        groups: the group dimensions, outermost first.
        rows, columns: (count, left stride, out stride) of the two dimensions of points.
        taps: (count, left stride) of each tap dimension, outermost first; on the right, taps are `right_row` apart.
        features: the number of features.
        right_row: the stride between two taps on the right, where features are contiguous.
        out_feature: the stride of the features in the result. If it is not 1, that of the rows is 1.
        swapped: whether the left operand of the instruction is the right one of the product.
    """

    groups: tuple[Group, ...]
    rows: tuple[int, int, int]
    columns: tuple[int, int, int]
    taps: tuple[tuple[int, int], ...]
    features: int
    right_row: int
    out_feature: int = 1
    swapped: bool = False

    def __str__(self) -> str:
        points = " x ".join(str(n) for n in (*(g.count for g in self.groups), self.rows[0], self.columns[0]) if n != 1)
        return f"blocked product of {points or 1} points, {self.features} features, {self.tap_count} taps"

    @property
    def tap_count(self) -> int:
        return math.prod(count for count, _ in self.taps)

    def reads_from_cache(self, element_bytes: int, processor: Processor) -> bool:
        """Whether data that several register blocks read stay in the cache from one block to the next: the features of
        a unit of work, and the points, if those of a tap are adjacent.
        """
        features, cache = self.features, processor.cache
        if (
            self.taps
            and self.taps[-1][1] != 1
            and self.rows[0] * self.tap_count * element_bytes > cache.size_bytes // 2
        ):
            return False
        if _is_large(self, element_bytes, processor):
            lanes = processor.register_bytes // element_bytes
            block = choose_block(self.rows[0], self.columns[0], features, lanes, processor.registers)
            features = min(block.vectors * lanes, features)
        taps, stride = self.tap_count, self.right_row * element_bytes
        return cache.occupancy(taps, features * element_bytes, stride) < _MOST_OCCUPIED

    @property
    def flops(self) -> float:
        points = math.prod(g.count for g in self.groups) * self.rows[0] * self.columns[0]
        return 2.0 * points * self.features * self.tap_count


@dataclasses.dataclass(frozen=True, slots=True)
class Block:
    """The size of a register block: rows times columns of points, times vectors of features."""

    rows: int
    columns: int
    vectors: int


def choose_block(all_rows: int, all_columns: int, features: int, lanes: int, registers: int) -> Block:
    """Chooses the block with the most multiply-adds per load and the least waste at the edges."""
    return _best_block(all_rows, all_columns, features, lanes, registers)[0]


def _best_block(all_rows: int, all_columns: int, features: int, lanes: int, registers: int) -> tuple[Block, float]:
    """The block that `choose_block` chooses, and its score."""
    vectors_needed = -(-features // lanes)
    best, best_score = Block(1, 1, 1), -1.0
    for most in range(1, min(8, vectors_needed) + 1):
        vectors = even_size(vectors_needed, most)
        points = max((registers - 1 - vectors) // vectors, 1)
        for rows in range(1, min(all_rows, points) + 1):
            columns = even_size(all_columns, points // rows)
            used = _used(all_rows, rows) * _used(all_columns, columns) * _used(vectors_needed, vectors)
            work = rows * columns * vectors
            loads = rows * columns + 2 * vectors  # loads of the right operand cost twice as much
            rate = min(1.0, work / 10) / (1 + loads / work)
            if used * rate > best_score + 1e-9:
                best, best_score = Block(rows, columns, vectors), used * rate
    return best, best_score


def with_best_rows(product: BlockedProduct, element_bytes: int, processor: Processor) -> BlockedProduct:
    """The product with the rows and a group dimension exchanged, if larger register blocks divide that one evenly.

    The weights' gradient of a convolution has only as many rows of points as the window, and many channels.
    """
    lanes = processor.register_bytes // element_bytes

    def score(rows: int) -> float:
        return _best_block(rows, product.columns[0], product.features, lanes, processor.registers)[1]

    best, best_score = product, score(product.rows[0]) * _LEAST_GAIN
    count, left, out = product.rows
    for i, group in enumerate(product.groups):
        if group.right == 0 and score(group.count) > best_score:
            groups = (*product.groups[:i], Group(count, left, 0, out), *product.groups[i + 1 :])
            best = dataclasses.replace(product, groups=groups, rows=(group.count, group.left, group.out))
            best_score = score(group.count)
    return best


def _used(count: int, size: int) -> float:
    """Returns `count` divided by the number of elements that blocks of `size` compute for it."""
    return count / (-(-count // size) * size)


def even_size(count: int, most: int) -> int:
    """The size of the blocks if `count` is divided evenly into as many blocks as blocks of `most` would make."""
    most = min(most, count)
    return -(-count // -(-count // most))


def block_start(b: IrBuilder, number: Value, size: int, count: int) -> Value:
    """Where block `number` of `size` begins. The last of `count` elements end the last block, so that it overlaps the
    one before it if the blocks don't divide the elements evenly. Both then compute the same results.
    """
    start = b.mul(number, b.int_(size))
    return start if count % size == 0 else b.intrinsic("umin", start, b.int_(count - size))


def _is_large(product: BlockedProduct, element_bytes: int, processor: Processor) -> bool:
    """Whether the right operand is read in parts, because the cache has no room for all of it."""
    return product.tap_count * product.features * element_bytes > processor.cache.size_bytes // 4


class ProductEmitter:
    """Emits a product into a kernel's frame, whose buffers are left, right and result.

    `pieces` is the number of the kernel's units of work: the groups, times the blocks of rows, times the blocks of
    features if the right operand is large or there are few units otherwise. A register block has `width` lanes of
    features, of which `stored` are in the result.
    """

    def __init__(self, product: BlockedProduct, element_bytes: int, processor: Processor, threads: int) -> None:
        self.product = product
        lanes = processor.register_bytes // element_bytes
        self.block = choose_block(product.rows[0], product.columns[0], product.features, lanes, processor.registers)
        self.width = lanes * self.block.vectors
        self.stored = min(self.width, product.features)
        self.row_blocks = -(-product.rows[0] // self.block.rows)
        coarse = math.prod(g.count for g in product.groups) * self.row_blocks
        self.large = _is_large(product, element_bytes, processor)
        self.feature_pieces = -(-product.features // self.width) if self.large or coarse < 4 * threads else 1
        self.pieces = coarse * self.feature_pieces

    def emit(self, frame: KernelFrame, vectors: VectorOps) -> None:
        """Emits the kernel's body."""
        _Body(self, frame, vectors).emit()


class _Body:
    def __init__(self, plan: ProductEmitter, frame: KernelFrame, vectors: VectorOps) -> None:
        self.b: IrBuilder = frame.builder
        self.v = vectors
        self.frame = frame
        self.plan = plan
        self.p = plan.product

    def emit(self) -> None:
        b, v, p, plan = self.b, self.v, self.p, self.plan
        loop, _ = b.open_loop(self.frame.begin, self.frame.end, name="piece")
        rest, row_block = split_index(b, loop.index, plan.row_blocks)
        rest, feature_block = split_index(b, rest, plan.feature_pieces)
        left, right, out = (
            b.gep(v.scalar, base, offset)
            for base, offset in zip(self.frame.buffers, split_groups(b, rest, p.groups), strict=True)
        )
        row = block_start(b, row_block, plan.block.rows, p.rows[0])
        left, out = b.gep(v.scalar, left, b.mul(row, b.int_(p.rows[1]))), self._out(out, row, p.rows)
        features = None
        if plan.feature_pieces == 1:
            features, _ = b.open_loop(b.int_(0), b.int_(-(-p.features // plan.width)), name="features")
            feature_block = features.index
        start = block_start(b, feature_block, plan.stored, p.features)
        right, out = b.gep(v.scalar, right, start), b.gep(v.scalar, out, b.mul(start, b.int_(p.out_feature)))
        columns, _ = b.open_loop(b.int_(0), b.int_(-(-p.columns[0] // plan.block.columns)), name="columns")
        column = block_start(b, columns.index, plan.block.columns, p.columns[0])
        left = b.gep(v.scalar, left, b.mul(column, b.int_(p.columns[1])))
        self._tile(left, right, self._out(out, column, p.columns))
        for inner in (columns, features, loop):
            if inner is not None:
                b.close_loop(inner)

    def _out(self, out: Value, point: Value, dimension: tuple[int, int, int]) -> Value:
        return self.b.gep(self.v.scalar, out, self.b.mul(point, self.b.int_(dimension[2])))

    def _tile(self, left: Value, right: Value, out: Value) -> None:
        """Computes one register block, with one accumulator for each point and vector of features."""
        b, v, p, plan = self.b, self.v, self.p, self.plan
        points = [(r, c) for r in range(plan.block.rows) for c in range(plan.block.columns)]
        lanes = [min(v.lanes, plan.stored - first) for first in range(0, plan.stored, v.lanes)]
        # Hide the addresses' origin from LLVM's loop strength reduction, which else takes half of the compile time.
        left, right, out = (b.intrinsic("launder.invariant.group", q) for q in (left, right, out))
        sizes = [v.enough_for(count) for count in lanes]
        sums = [size.zero for size in sizes] * len(points)
        offset, tap = b.int_(0), b.int_(0)
        loops = []
        for count, step in p.taps:
            if count > 1:
                loop, sums = b.open_loop(b.int_(0), b.int_(count), carried=sums, name="tap")
                loops.append(loop)
                offset = b.add(offset, b.mul(loop.index, b.int_(step)))
                tap = b.add(b.mul(tap, b.int_(count)), loop.index)
        here = b.gep(v.scalar, left, offset)
        there = b.gep(v.scalar, right, b.mul(tap, b.int_(p.right_row)))
        places = [b.gep(v.scalar, there, b.int_(i * v.lanes)) for i in range(len(lanes))]
        weights = [size.load(place, count) for size, place, count in zip(sizes, places, lanes, strict=True)]
        if plan.large:
            for place in places:
                v.prefetch(b.gep(v.scalar, place, b.int_(_PREFETCHED_TAPS * p.right_row)))
        if p.taps == ((p.rows[1], 1),):
            v.prefetch_next(left, tap, plan.block.rows, p.tap_count)
        new = []
        for position, (r, c) in enumerate(points):
            values = v.splats(b.gep(v.scalar, here, b.int_(r * p.rows[1] + c * p.columns[1])), sizes)
            for i, (value, weight) in enumerate(zip(values, weights, strict=True)):
                new.append(v.multiply_add(value, weight, sums[position * len(lanes) + i]))
        for loop in reversed(loops):
            new = b.close_loop(loop, new)
        new = [v.resized(total) for total in new]
        if p.out_feature != 1:
            for i, count in enumerate(lanes):
                place = b.gep(v.scalar, out, b.int_(i * v.lanes * p.out_feature))
                v.store_columns(new[i :: len(lanes)], place, count, p.out_feature)
            return
        for position, (r, c) in enumerate(points):
            for i, count in enumerate(lanes):
                place = b.gep(v.scalar, out, b.int_(r * p.rows[2] + c * p.columns[2] + i * v.lanes))
                v.store(new[position * len(lanes) + i], place, count)
