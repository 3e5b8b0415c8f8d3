"""Emits convolutions with few features, whose vectors run over the taps.

    out[g, r, c, f] = sum over taps t of left[g, r, c; t] * right[t, f]

In a blocked product the vectors run over the features: most of a register would be unused. Here each point and feature
has a vector register of partial sums. The taps of a line of the window are contiguous in the image if the window has no
dilation: a step multiplies as many of them as a register has lanes. The weights are transposed first, so that those of
a feature are contiguous too.
"""

from __future__ import annotations

import math

from xla_backend_cpu.codegen.blocked_product import BlockedProduct, block_start, even_size, split_groups, split_index
from xla_backend_cpu.codegen.processor import Processor
from xla_backend_cpu.codegen.vectors import VectorOps
from xla_core.codegen.llvm import KernelFrame, Value

_FEWEST_VECTORS = 2  # of contiguous taps


def is_narrow(product: BlockedProduct, element_bytes: int, processor: Processor) -> bool:
    """Whether a product has few features, and many contiguous taps."""
    lanes = processor.register_bytes // element_bytes
    is_convolution = (
        product.columns[0] > 1
        and product.columns[2] == product.features
        and product.out_feature == 1
        and not any(group.right for group in product.groups)
    )
    return is_convolution and 2 * product.features <= lanes and _lines(product)[1] >= _FEWEST_VECTORS * lanes


def _lines(product: BlockedProduct) -> tuple[list[tuple[int, int]], int]:
    """Returns the tap dimensions that are apart on the left, and how many taps are contiguous in each step of these."""
    apart, contiguous = list(product.taps), 1
    while apart and apart[-1][1] == contiguous:
        contiguous *= apart.pop()[0]
    return apart, contiguous


class NarrowEmitter:
    """Emits the kernel of a narrow product. Its units of work are the rows of points of each group.

    `scratch_bytes` is the size of the memory for the transposed weights.
    """

    def __init__(self, product: BlockedProduct, element_bytes: int, processor: Processor) -> None:
        self.product = product
        # The sums, the weights of all features and a vector of the image must fit into the registers.
        most = max((processor.registers - 1) // product.features - 1, 1)
        self.points = even_size(product.columns[0], most)
        self.pieces = math.prod(g.count for g in product.groups) * product.rows[0]
        self.scratch_bytes = product.tap_count * product.features * element_bytes

    def emit(self, frame: KernelFrame, vectors: VectorOps, scratch: Value) -> None:
        """Emits the kernel's body. The frame's buffers are left, right and result."""
        b, v, p = frame.builder, vectors, self.product
        self._transpose_weights(v, frame.buffers[1], scratch)
        loop, _ = b.open_loop(frame.begin, frame.end, name="piece")
        group, row = split_index(b, loop.index, p.rows[0])
        left, _, out = (
            b.gep(v.scalar, base, offset)
            for base, offset in zip(frame.buffers, split_groups(b, group, p.groups), strict=True)
        )
        left = b.gep(v.scalar, left, b.mul(row, b.int_(p.rows[1])))
        out = b.gep(v.scalar, out, b.mul(row, b.int_(p.rows[2])))
        columns, _ = b.open_loop(b.int_(0), b.int_(-(-p.columns[0] // self.points)), name="columns")
        column = block_start(b, columns.index, self.points, p.columns[0])
        here = b.gep(v.scalar, left, b.mul(column, b.int_(p.columns[1])))
        self._block(v, here, scratch, b.gep(v.scalar, out, b.mul(column, b.int_(p.columns[2]))))
        b.close_loop(columns)
        b.close_loop(loop)

    def _transpose_weights(self, v: VectorOps, weights: Value, scratch: Value) -> None:
        b, taps, features = v.b, self.product.tap_count, self.product.features
        loop, _ = b.open_loop(b.int_(0), b.int_(taps), name="weight")
        for feature in range(features):
            place = b.add(b.mul(loop.index, b.int_(self.product.right_row)), b.int_(feature))
            weight = b.load(v.scalar, b.gep(v.scalar, weights, place), align=v.scalar_bytes)
            to = b.gep(v.scalar, scratch, b.add(loop.index, b.int_(feature * taps)))
            b.store(weight, to, align=v.scalar_bytes)
        b.close_loop(loop)

    def _block(self, v: VectorOps, left: Value, weights: Value, out: Value) -> None:
        """Computes all features of a few points."""
        b, p, features = v.b, self.product, self.product.features
        apart, contiguous = _lines(p)
        whole, left_over = divmod(contiguous, v.lanes)
        sums = [v.zero] * (self.points * features)
        offset, line, loops = b.int_(0), b.int_(0), []
        for count, step in apart:
            if count > 1:
                loop, sums = b.open_loop(b.int_(0), b.int_(count), carried=sums, name="line")
                loops.append(loop)
                offset = b.add(offset, b.mul(loop.index, b.int_(step)))
                line = b.add(b.mul(line, b.int_(count)), loop.index)
        here = b.gep(v.scalar, left, offset)
        there = b.gep(v.scalar, weights, b.mul(line, b.int_(contiguous)))

        def step_of(tap: Value, sums: list[Value], lanes: int) -> list[Value]:
            rows = [v.load(b.gep(v.scalar, there, b.add(tap, b.int_(f * p.tap_count))), lanes) for f in range(features)]
            new = []
            for point in range(self.points):
                pixels = v.load(b.gep(v.scalar, here, b.add(tap, b.int_(point * p.columns[1]))), lanes)
                new += [v.multiply_add(pixels, row, sums[point * features + f]) for f, row in enumerate(rows)]
            return new

        loop, sums = b.open_loop(b.int_(0), b.int_(whole), carried=sums, name="tap")
        sums = b.close_loop(loop, step_of(b.mul(loop.index, b.int_(v.lanes)), sums, v.lanes))
        if left_over:
            sums = step_of(b.int_(whole * v.lanes), sums, left_over)
        for loop in reversed(loops):
            sums = b.close_loop(loop, sums)
        for number, total in enumerate(v.sums(sums)):
            first = number * v.lanes
            v.store(total, b.gep(v.scalar, out, b.int_(first)), min(v.lanes, len(sums) - first))
