"""The register-blocked product that convolutions and dots share.

    out[g, r, c, f] = sum over taps t of left[g, r, c; t] * right[g; t, f]

`g` runs over groups (images, batches), `r` and `c` over rows and columns of output points, `f` over features, which are
contiguous in `right` and `out`. A tap is a multi-index (window position and channel of a convolution, the contracting
index of a dot); its address on the left is a sum of steps, so an image is read in place and a transposed matrix costs
nothing. A block of points times a few vectors of features stays in registers while the taps run.
"""

from __future__ import annotations

import dataclasses
import math

from xla_backend_cpu.codegen.vectors import VectorIsa, VectorOps
from xla_core.codegen.llvm import IrBuilder, KernelFrame, Value

__all__ = ["Block", "BlockedProduct", "Group", "ProductEmitter", "choose_block"]


@dataclasses.dataclass(frozen=True, slots=True)
class Group:
    """One dimension of groups: how many, and the steps in elements on the left, on the right and in the result."""

    count: int
    left: int
    right: int
    out: int


@dataclasses.dataclass(frozen=True, slots=True)
class BlockedProduct:
    """A product as numbers; all strides in elements.

    Attributes:
        groups: outermost first.
        rows, columns: (count, left stride, out stride) of the two dimensions of points.
        taps: (count, left stride), outermost first; on the right they are consecutive rows of `right_row` elements.
        features: how many there are.
        right_row: elements between two taps on the right.
        panel: 0 where the right side is one matrix; else it lies in panels of `panel` features, each with all its taps.
    """

    groups: tuple[Group, ...]
    rows: tuple[int, int, int]
    columns: tuple[int, int, int]
    taps: tuple[tuple[int, int], ...]
    features: int
    right_row: int
    panel: int = 0

    @property
    def tap_count(self) -> int:
        return math.prod(count for count, _ in self.taps)

    @property
    def flops(self) -> float:
        points = math.prod(g.count for g in self.groups) * self.rows[0] * self.columns[0]
        return 2.0 * points * self.features * self.tap_count


@dataclasses.dataclass(frozen=True, slots=True)
class Block:
    """What a register block holds: rows times columns of points, and vectors of features."""

    rows: int
    columns: int
    vectors: int


def choose_block(product: BlockedProduct, lanes: int, registers: int) -> Block:
    """The block with the most multiply-adds for each load and the least waste at the edges."""
    vectors_needed = -(-product.features // lanes)
    widths = [product.panel // lanes] if product.panel else range(1, min(8, vectors_needed) + 1)
    best, best_score = Block(1, 1, widths[0]), -1.0
    for vectors in widths:
        points = max((registers - 1 - vectors) // vectors, 1)
        for rows in range(1, min(product.rows[0], points) + 1):
            columns = min(points // rows, product.columns[0])
            columns = -(-product.columns[0] // -(-product.columns[0] // columns))  # even tiles
            used = (
                product.rows[0]
                / (-(-product.rows[0] // rows) * rows)
                * vectors_needed
                / (-(-vectors_needed // vectors) * vectors)
            )
            work = rows * columns * vectors
            loads = rows * columns + 2 * vectors  # the right side comes from further away
            rate = min(1.0, work / 10) / (1 + loads / work)
            if used * rate > best_score + 1e-9:
                best, best_score = Block(rows, columns, vectors), used * rate
    return best


class ProductEmitter:
    """Emits a product into a kernel's frame; buffers are left, right, result.

    `pieces` is the kernel's partition: groups times blocks of rows, times panels of features where those are few.
    """

    def __init__(self, product: BlockedProduct, element_bytes: int, isa: VectorIsa, threads: int) -> None:
        self.product = product
        lanes = isa.register_bytes // element_bytes
        self.block = choose_block(product, lanes, isa.registers)
        self.width = lanes * self.block.vectors
        self.row_blocks = -(-product.rows[0] // self.block.rows)
        coarse = math.prod(g.count for g in product.groups) * self.row_blocks
        self.feature_pieces = -(-product.features // self.width) if coarse < 4 * threads else 1
        self.pieces = coarse * self.feature_pieces

    def emit(self, frame: KernelFrame, vectors: VectorOps) -> None:
        """Writes the kernel's body."""
        _Body(self, frame, vectors).emit()


class _Body:
    def __init__(self, plan: ProductEmitter, frame: KernelFrame, vectors: VectorOps) -> None:
        self.b: IrBuilder = frame.builder
        self.v = vectors
        self.frame = frame
        self.plan = plan
        self.p = plan.product
        self.left, self.right, self.out = frame.buffers

    def emit(self) -> None:
        b, p, plan = self.b, self.p, self.plan
        loop, _ = b.open_loop(self.frame.begin, self.frame.end, name="piece")
        rest, feature_piece = self._split(loop.index, plan.feature_pieces)
        rest, row_block = self._split(rest, plan.row_blocks)
        left, right, out = b.int_(0), b.int_(0), b.int_(0)
        for group in reversed(p.groups):
            rest, index = self._split(rest, group.count)
            left = b.add(left, b.mul(index, b.int_(group.left)))
            right = b.add(right, b.mul(index, b.int_(group.right)))
            out = b.add(out, b.mul(index, b.int_(group.out)))
        row = b.mul(row_block, b.int_(plan.block.rows))
        starts = (
            b.gep(self.v.scalar, self.left, b.add(left, b.mul(row, b.int_(p.rows[1])))),
            b.gep(self.v.scalar, self.right, right),
            b.gep(self.v.scalar, self.out, b.add(out, b.mul(row, b.int_(p.rows[2])))),
        )
        full, left_over = divmod(p.rows[0], plan.block.rows)
        if full and left_over:
            with b.if_(b.icmp("ult", row_block, b.int_(full))):
                self._features(starts, plan.block.rows, feature_piece)
            with b.if_(b.icmp("eq", row_block, b.int_(full))):
                self._features(starts, left_over, feature_piece)
        else:
            self._features(starts, plan.block.rows if full else left_over, feature_piece)
        b.close_loop(loop)

    def _split(self, index: Value, count: int) -> tuple[Value, Value]:
        b = self.b
        if count == 1:
            return index, b.int_(0)
        return b.udiv(index, b.int_(count)), b.urem(index, b.int_(count))

    def _features(self, starts: tuple[Value, Value, Value], rows: int, piece: Value) -> None:
        """All features (or those of one piece) of one block of rows: whole blocks in a loop, then what is left."""
        b, lanes, width = self.b, self.v.lanes, self.plan.width
        whole, left = divmod(self.p.features, width)
        tail = [lanes] * (left // lanes) + ([left % lanes] if left % lanes else [])
        if self.plan.feature_pieces > 1:
            if whole:
                with b.if_(b.icmp("ult", piece, b.int_(whole))):
                    self._columns(starts, rows, piece, [lanes] * self.plan.block.vectors)
            if left:
                with b.if_(b.icmp("eq", piece, b.int_(whole))):
                    self._columns(starts, rows, b.int_(whole), tail)
            return
        if whole:
            loop, _ = b.open_loop(b.int_(0), b.int_(whole), name="features")
            self._columns(starts, rows, loop.index, [lanes] * self.plan.block.vectors)
            b.close_loop(loop)
        if left:
            self._columns(starts, rows, b.int_(whole), tail)

    def _columns(self, starts: tuple[Value, Value, Value], rows: int, panel: Value, lanes: list[int]) -> None:
        b, columns = self.b, self.plan.block.columns
        left, right, out = starts
        feature = b.mul(panel, b.int_(self.plan.width))
        step = self.p.panel * self.p.tap_count if self.p.panel else self.plan.width
        right = b.gep(self.v.scalar, right, b.mul(panel, b.int_(step)))
        out = b.gep(self.v.scalar, out, feature)
        whole, left_over = divmod(self.p.columns[0], columns)

        def tile(column: Value, count: int) -> None:
            self._tile(
                b.gep(self.v.scalar, left, b.mul(column, b.int_(self.p.columns[1]))),
                right,
                b.gep(self.v.scalar, out, b.mul(column, b.int_(self.p.columns[2]))),
                (rows, count),
                lanes,
            )

        if whole:
            loop, _ = b.open_loop(b.int_(0), b.int_(whole), name="columns")
            tile(b.mul(loop.index, b.int_(columns)), columns)
            b.close_loop(loop)
        if left_over:
            tile(b.int_(whole * columns), left_over)

    def _tile(self, left: Value, right: Value, out: Value, size: tuple[int, int], lanes: list[int]) -> None:
        """One register block: an accumulator for each point and vector of features."""
        b, v, p = self.b, self.v, self.p
        points = [(r, c) for r in range(size[0]) for c in range(size[1])]
        sums = [v.zero()] * (len(points) * len(lanes))
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
        weights = [v.load(b.gep(v.scalar, there, b.int_(i * v.lanes)), count) for i, count in enumerate(lanes)]
        new = []
        for position, (r, c) in enumerate(points):
            value = v.splat_load(b.gep(v.scalar, here, b.int_(r * p.rows[1] + c * p.columns[1])))
            for i, weight in enumerate(weights):
                new.append(v.multiply_add(value, weight, sums[position * len(lanes) + i]))
        for loop in reversed(loops):
            new = b.close_loop(loop, new)
        for position, (r, c) in enumerate(points):
            for i, count in enumerate(lanes):
                place = b.gep(v.scalar, out, b.int_(r * p.rows[2] + c * p.columns[2] + i * v.lanes))
                v.store(new[position * len(lanes) + i], place, count)
