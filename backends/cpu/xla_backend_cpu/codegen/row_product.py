"""Emits the product of a few rows and a transposed matrix, both contiguous along the contracting index.

    out[g, r, c] = sum over t of left[g, r, t] * right[g, c, t]

The result is computed in blocks of rows and columns. Each element of a block has a vector register of partial sums, to
which the loop over the contracting index adds; after the loop the lanes are summed. The right matrix (for example the
weights of a layer) is read in order.
"""

from __future__ import annotations

import dataclasses
import math

from xla_backend_cpu.codegen.blocked_product import Group, block_start, even_size, split_groups, split_index
from xla_backend_cpu.codegen.processor import Processor
from xla_backend_cpu.codegen.vectors import VectorOps
from xla_core.codegen.llvm import KernelFrame, Value


@dataclasses.dataclass(frozen=True, slots=True)
class RowProduct:
    """The sizes and strides of a product; strides are in elements.

    Attributes:
        groups: the batch dimensions, outermost first.
        rows: (count, left stride, out stride).
        taps: the size of the contracting index, whose strides are 1.
        columns: (count, right stride, out stride).
        swapped: whether the left operand of the instruction is the right one of the product.
    """

    groups: tuple[Group, ...]
    rows: tuple[int, int, int]
    taps: int
    columns: tuple[int, int, int]
    swapped: bool = False

    def __str__(self) -> str:
        return f"row product of {self.rows[0]} x {self.columns[0]} elements, {self.taps} taps"

    @property
    def flops(self) -> float:
        return 2.0 * math.prod(g.count for g in self.groups) * self.rows[0] * self.columns[0] * self.taps


def _choose_block(product: RowProduct, registers: int) -> tuple[int, int]:
    """The rows and columns of the block with the most multiply-adds per load and the least waste at the edges.

    A single row is as fast as memory delivers the matrix: eight columns at once keep enough loads in flight.
    """
    if product.rows[0] == 1:
        return 1, even_size(product.columns[0], min(8, registers - 2))

    def gain(block: tuple[int, int]) -> float:
        rows, columns = block
        return product.rows[0] / -(-product.rows[0] // rows) * columns / (rows + columns)

    # The sums, one vector for each column and one vector of a row must fit into the registers.
    blocks = [
        (even_size(product.rows[0], (registers - 1) // columns - 1), columns)
        for columns in range(1, min(product.columns[0], 4) + 1)
    ]
    return max(blocks, key=gain)


class RowEmitter:
    """Emits the kernel of a row product. Its units of work are the blocks of columns of each group."""

    def __init__(self, product: RowProduct, processor: Processor) -> None:
        self.product = product
        self.block_rows, self.block_columns = _choose_block(product, processor.registers)
        self.column_blocks = -(-product.columns[0] // self.block_columns)
        self.pieces = math.prod(g.count for g in product.groups) * self.column_blocks

    def emit(self, frame: KernelFrame, vectors: VectorOps) -> None:
        """Emits the kernel's body. The frame's buffers are left, right and result."""
        b, p, v = frame.builder, self.product, vectors
        loop, _ = b.open_loop(frame.begin, frame.end, name="columns")
        rest, block = split_index(b, loop.index, self.column_blocks)
        offsets = split_groups(b, rest, p.groups)
        left, right, out = (b.gep(v.scalar, base, offset) for base, offset in zip(frame.buffers, offsets, strict=True))
        column = block_start(b, block, self.block_columns, p.columns[0])
        right = b.gep(v.scalar, right, b.mul(column, b.int_(p.columns[1])))
        out = b.gep(v.scalar, out, b.mul(column, b.int_(p.columns[2])))
        rows, _ = b.open_loop(b.int_(0), b.int_(-(-p.rows[0] // self.block_rows)), name="rows")
        row = block_start(b, rows.index, self.block_rows, p.rows[0])
        left = b.gep(v.scalar, left, b.mul(row, b.int_(p.rows[1])))
        self._block(v, left, right, b.gep(v.scalar, out, b.mul(row, b.int_(p.rows[2]))))
        b.close_loop(rows)
        b.close_loop(loop)

    def _block(self, v: VectorOps, left: Value, right: Value, out: Value) -> None:
        b, p, rows, columns = v.b, self.product, self.block_rows, self.block_columns

        def step(tap: Value, sums: list[Value], lanes: int) -> list[Value]:
            weights = [
                v.load(b.gep(v.scalar, right, b.add(tap, b.int_(c * p.columns[1]))), lanes) for c in range(columns)
            ]
            if rows > 1:
                for c in range(columns, 2 * columns):  # the next block's, which the processor's own prefetcher misses
                    v.prefetch(b.gep(v.scalar, right, b.add(tap, b.int_(c * p.columns[1]))))
            new = []
            for r in range(rows):
                value = v.load(b.gep(v.scalar, left, b.add(tap, b.int_(r * p.rows[1]))), lanes)
                new += [v.multiply_add(value, w, sums[r * columns + c]) for c, w in enumerate(weights)]
            return new

        sums = [v.zero] * (rows * columns)
        whole, left_over = divmod(p.taps, v.lanes)
        if whole:
            loop, sums = b.open_loop(b.int_(0), b.int_(whole), carried=sums, name="tap")
            sums = b.close_loop(loop, step(b.mul(loop.index, b.int_(v.lanes)), sums, v.lanes))
        if left_over:
            sums = step(b.int_(whole * v.lanes), sums, left_over)
        places = sorted(
            (r * p.rows[2] + c * p.columns[2], r * columns + c) for r in range(rows) for c in range(columns)
        )
        totals = v.sums([sums[i] for _, i in places])
        for i, total in enumerate(totals):
            v.store_lanes(total, out, [offset for offset, _ in places[i * v.lanes : (i + 1) * v.lanes]])
