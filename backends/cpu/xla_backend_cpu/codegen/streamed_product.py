"""Emits the product of very few rows and a large matrix, whose rows are contiguous.

    out[g, r, f] = sum over taps t of left[g, r, t] * right[g, t, f]

Each element of the matrix is used once for each row on the left, so that the product is as fast as memory delivers the
matrix. A step reads a few rows of the matrix at the same time, each from beginning to end, which is the fastest way to
read memory, and adds them to the results. The results of a unit of work stay in the second-level cache between two
steps.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable

from xla_backend_cpu.codegen.blocked_product import Group, even_size, split_groups, split_index
from xla_backend_cpu.codegen.processor import Processor
from xla_backend_cpu.codegen.vectors import VectorOps
from xla_core.codegen.llvm import IrBuilder, KernelFrame, Value

_TAPS_PER_STEP = 8  # rows of the matrix that are read at the same time
_MOST_ROWS = 2  # more rows are multiplied fast enough to gain from a matrix in the last level of cache
_MOST_ROWS_FROM_MEMORY = 8
_FEWEST_BYTES = 1024  # of a row of the matrix that a unit of work reads


@dataclasses.dataclass(frozen=True, slots=True)
class StreamedProduct:
    """The sizes and strides of a product; strides are in elements.

    Attributes:
        groups: the batch dimensions, outermost first.
        rows: (count, left stride, out stride).
        taps: (count, left stride, right stride) of the contracting index.
        features: the number of features, which are contiguous on the right and in the result.
        swapped: whether the left operand of the instruction is the right one of the product.
    """

    groups: tuple[Group, ...]
    rows: tuple[int, int, int]
    taps: tuple[int, int, int]
    features: int
    swapped: bool = False

    def __str__(self) -> str:
        points = math.prod(g.count for g in self.groups) * self.rows[0]
        return f"streamed product of {points} points, {self.features} features, {self.taps[0]} taps"

    @property
    def flops(self) -> float:
        return 2.0 * math.prod(g.count for g in self.groups) * self.rows[0] * self.features * self.taps[0]

    def is_bound_by_memory(self, element_bytes: int, processor: Processor) -> bool:
        """Whether reading the matrices takes longer than multiplying by them."""
        if self.features * element_bytes < _FEWEST_BYTES:  # a register block holds the results: memory is read in order
            return False
        matrices = math.prod(g.count for g in self.groups if g.right)
        matrix_bytes = matrices * self.taps[0] * self.features * element_bytes
        if self.rows[0] <= _MOST_ROWS:
            return matrix_bytes > processor.cache.size_bytes // 4
        return self.rows[0] <= _MOST_ROWS_FROM_MEMORY and matrix_bytes > processor.last_cache_bytes


class StreamedProductEmitter:
    """Emits the kernel of a streamed product. Its units of work are parts of the features of each group."""

    def __init__(self, product: StreamedProduct, element_bytes: int, processor: Processor, threads: int) -> None:
        self.product = product
        lanes = processor.register_bytes // element_bytes
        vectors = -(-product.features // lanes)
        most = processor.cache.size_bytes // 4 // (product.rows[0] * processor.register_bytes)
        shared = -(-vectors * math.prod(g.count for g in product.groups) // threads)
        self.width = even_size(vectors, min(most, max(shared, _FEWEST_BYTES // processor.register_bytes))) * lanes
        self.parts = -(-product.features // self.width)
        self.pieces = math.prod(g.count for g in product.groups) * self.parts
        # The factors of a step are kept in registers if there is room beside the sums and the values that are read.
        self.keeps_factors = product.rows[0] * (_TAPS_PER_STEP + 1) + 1 <= processor.registers

    def emit(self, frame: KernelFrame, vectors: VectorOps) -> None:
        """Emits the kernel's body. The frame's buffers are left, right and result."""
        b, v, p = frame.builder, vectors, self.product
        loop, _ = b.open_loop(frame.begin, frame.end, name="piece")
        rest, part = split_index(b, loop.index, self.parts)
        left, right, out = (
            b.gep(v.scalar, base, offset)
            for base, offset in zip(frame.buffers, split_groups(b, rest, p.groups), strict=True)
        )
        start = b.mul(part, b.int_(self.width))
        right, out = b.gep(v.scalar, right, start), b.gep(v.scalar, out, start)
        size = b.intrinsic("umin", b.int_(self.width), b.sub(b.int_(p.features), start))
        step = _Step(v, p, left, right, out, size)
        step.clear()
        whole, left_over = divmod(p.taps[0], _TAPS_PER_STEP)
        if whole:
            taps, _ = b.open_loop(b.int_(0), b.int_(whole), name="taps")
            step.add(b.mul(taps.index, b.int_(_TAPS_PER_STEP)), _TAPS_PER_STEP, self.keeps_factors)
            b.close_loop(taps)
        if left_over:
            step.add(b.int_(whole * _TAPS_PER_STEP), left_over, self.keeps_factors)
        b.close_loop(loop)


class _Step:
    """Adds the products with a few rows of the matrix to the results of a unit of work, which has `size` features."""

    def __init__(
        self, v: VectorOps, product: StreamedProduct, left: Value, right: Value, out: Value, size: Value
    ) -> None:
        self.v = v
        self.b: IrBuilder = v.b
        self.p = product
        self.left, self.right, self.out = left, right, out
        self.whole, self.left_over = split_index(v.b, size, v.lanes)

    def clear(self) -> None:
        def clear_vector(feature: Value, lanes: int) -> None:
            for out in self._results(feature):
                self.v.store(self.v.zero, out, lanes)

        self._for_each_vector(clear_vector)

    def add(self, tap: Value, taps: int, keeps_factors: bool) -> None:
        """Adds the products with `taps` rows from number `tap` on."""
        b, v, p = self.b, self.v, self.p
        left = b.gep(v.scalar, self.left, b.mul(tap, b.int_(p.taps[1])))
        right = b.gep(v.scalar, self.right, b.mul(tap, b.int_(p.taps[2])))

        def factor(row: int, t: int) -> Value:
            return v.splat(b.gep(v.scalar, left, b.int_(row * p.rows[1] + t * p.taps[1])))

        kept = [[factor(row, t) for t in range(taps)] for row in range(p.rows[0])] if keeps_factors else []

        def add_vector(feature: Value, lanes: int) -> None:
            places = self._results(feature)
            sums = [v.load(place, lanes) for place in places]
            for t in range(taps):
                elements = v.load(b.gep(v.scalar, right, b.add(feature, b.int_(t * p.taps[2]))), lanes)
                sums = [
                    v.multiply_add(kept[row][t] if kept else factor(row, t), elements, total)
                    for row, total in enumerate(sums)
                ]
            for total, place in zip(sums, places, strict=True):
                v.store(total, place, lanes)

        self._for_each_vector(add_vector)

    def _results(self, feature: Value) -> list[Value]:
        b, (count, _, out_row) = self.b, self.p.rows
        return [b.gep(self.v.scalar, self.out, b.add(feature, b.int_(row * out_row))) for row in range(count)]

    def _for_each_vector(self, emit: Callable[[Value, int], None]) -> None:
        """Emits a loop over the features' whole vectors, and the last, shorter one of the last unit of work."""
        b, v, last = self.b, self.v, self.p.features % self.v.lanes
        loop, _ = b.open_loop(b.int_(0), self.whole, name="features")
        emit(b.mul(loop.index, b.int_(v.lanes)), v.lanes)
        b.close_loop(loop)
        if last:
            with b.if_(b.icmp("ne", self.left_over, b.int_(0))):
                emit(b.mul(self.whole, b.int_(v.lanes)), last)
