"""Emits the product of a few rows and a transposed matrix, both contiguous along the contracting index.

    out[g, r, c] = sum over t of left[g, r, t] * right[g, c, t]

The result is computed in blocks of rows and columns. Each element of a block has a vector register of partial sums, to
which the loop over the contracting index adds; after the loop the lanes are summed. The right matrix (for example the
weights of a layer) is read in order.
"""

from __future__ import annotations

import dataclasses
import math

from xla_backend_cpu.codegen.blocked_product import Group, split_groups, split_index
from xla_backend_cpu.codegen.vectors import VectorIsa, VectorOps
from xla_core.codegen.llvm import KernelFrame, Value

__all__ = ["RowEmitter", "RowProduct"]


@dataclasses.dataclass(frozen=True, slots=True)
class RowProduct:
    """The sizes and strides of a product; strides are in elements.

    Attributes:
        groups: the batch dimensions, outermost first.
        rows: (count, left stride, out stride).
        taps: the size of the contracting index, whose strides are 1.
        columns: (count, right stride); the stride in the result is 1.
    """

    groups: tuple[Group, ...]
    rows: tuple[int, int, int]
    taps: int
    columns: tuple[int, int]

    @property
    def flops(self) -> float:
        return 2.0 * math.prod(g.count for g in self.groups) * self.rows[0] * self.columns[0] * self.taps


class RowEmitter:
    """Emits the kernel of a row product. Its units of work are the blocks of columns of each group."""

    def __init__(self, product: RowProduct, isa: VectorIsa) -> None:
        self.product = product
        # The sums, one vector for each column and one vector of a row must fit into the registers.
        most = 4 if isa.registers >= 32 else 2
        self.block_columns = min(most, product.columns[0])
        self.block_rows = min((isa.registers - 1 - self.block_columns) // self.block_columns, product.rows[0], 6)
        self.column_blocks = -(-product.columns[0] // self.block_columns)
        self.pieces = math.prod(g.count for g in product.groups) * self.column_blocks

    def emit(self, frame: KernelFrame, vectors: VectorOps) -> None:
        """Emits the kernel's body. The frame's buffers are left, right and result."""
        b, p, v = frame.builder, self.product, vectors
        loop, _ = b.open_loop(frame.begin, frame.end, name="columns")
        rest, block = split_index(b, loop.index, self.column_blocks)
        offsets = split_groups(b, rest, p.groups)
        left, right, out = (b.gep(v.scalar, base, offset) for base, offset in zip(frame.buffers, offsets, strict=True))
        column = b.mul(block, b.int_(self.block_columns))
        right = b.gep(v.scalar, right, b.mul(column, b.int_(p.columns[1])))
        out = b.gep(v.scalar, out, column)
        full, left_over = divmod(p.columns[0], self.block_columns)
        if left_over:
            with b.if_(b.icmp("ult", block, b.int_(full))):
                self._rows(v, (left, right, out), self.block_columns)
            with b.if_(b.icmp("eq", block, b.int_(full))):
                self._rows(v, (left, right, out), left_over)
        else:
            self._rows(v, (left, right, out), self.block_columns)
        b.close_loop(loop)

    def _rows(self, v: VectorOps, places: tuple[Value, Value, Value], columns: int) -> None:
        b, p = v.b, self.product
        left, right, out = places
        full, left_over = divmod(p.rows[0], self.block_rows)
        if full:
            loop, _ = b.open_loop(b.int_(0), b.int_(full), name="rows")
            row = b.mul(loop.index, b.int_(self.block_rows))
            here = b.gep(v.scalar, left, b.mul(row, b.int_(p.rows[1])))
            self._block(v, (here, right, b.gep(v.scalar, out, b.mul(row, b.int_(p.rows[2])))), self.block_rows, columns)
            b.close_loop(loop)
        if left_over:
            row = b.int_(full * self.block_rows)
            here = b.gep(v.scalar, left, b.mul(row, b.int_(p.rows[1])))
            self._block(v, (here, right, b.gep(v.scalar, out, b.mul(row, b.int_(p.rows[2])))), left_over, columns)

    def _block(self, v: VectorOps, places: tuple[Value, Value, Value], rows: int, columns: int) -> None:
        b, p = v.b, self.product
        left, right, out = places

        def step(tap: Value, sums: list[Value], lanes: int) -> list[Value]:
            weights = [
                v.load(b.gep(v.scalar, right, b.add(tap, b.int_(c * p.columns[1]))), lanes) for c in range(columns)
            ]
            new = []
            for r in range(rows):
                value = v.load(b.gep(v.scalar, left, b.add(tap, b.int_(r * p.rows[1]))), lanes)
                new += [v.multiply_add(value, w, sums[r * columns + c]) for c, w in enumerate(weights)]
            return new

        sums = [v.zero()] * (rows * columns)
        whole, left_over = divmod(p.taps, v.lanes)
        if whole:
            loop, sums = b.open_loop(b.int_(0), b.int_(whole), carried=sums, name="tap")
            sums = b.close_loop(loop, step(b.mul(loop.index, b.int_(v.lanes)), sums, v.lanes))
        if left_over:
            sums = step(b.int_(whole * v.lanes), sums, left_over)
        for r in range(rows):
            for c in range(columns):
                place = b.gep(v.scalar, out, b.int_(r * p.rows[2] + c))
                b.store(v.sum(sums[r * columns + c]), place, align=v.element_bytes)
