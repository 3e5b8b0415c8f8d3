"""Convolution as a register-blocked product that reads the image in place.

The pipeline has made every convolution canonical before: dimensions `b01f_01io->b01f` for any number of spatial
dimensions, no padding, no base dilation, no reversal (`convolution_canonicalizer.py`). What is left is, for each image,

    out[p, o] = sum over taps t and channels c of in[p * stride + t * dilation, c] * kernel[t, c, o]

A block of output points times a block of output channels stays in vector registers while the taps and channels run;
that is a matrix product whose left side is never built.
"""

from __future__ import annotations

import dataclasses
import itertools
import math

from xla_backend_cpu.codegen.kernel import NativeKernel, begin_kernel
from xla_backend_cpu.codegen.vectors import VectorIsa, VectorOps
from xla_core.codegen.llvm import IrModule, KernelFrame, LoopAbi, Value
from xla_core.hlo import ElementType, HloInstruction

__all__ = ["ConvolutionShape", "emit_convolution", "is_canonical"]


@dataclasses.dataclass(frozen=True, slots=True)
class ConvolutionShape:
    """The numbers of a canonical convolution, spatial ones as three dimensions (leading ones are 1)."""

    batch: int
    image: tuple[int, int, int]
    channels: int
    window: tuple[int, int, int]
    stride: tuple[int, int, int]
    dilation: tuple[int, int, int]
    out: tuple[int, int, int]
    features: int

    @staticmethod
    def of(instruction: HloInstruction) -> ConvolutionShape:
        left, right = (o.shape.dimensions for o in instruction.operands)
        window = instruction.attribute("window")
        fill = (1,) * (3 - len(window))

        def three(values: list[int]) -> tuple[int, int, int]:
            a, b, c = (*fill, *values)
            return a, b, c

        return ConvolutionShape(
            batch=left[0],
            image=three(list(left[1:-1])),
            channels=left[-1],
            window=three([d.size for d in window]),
            stride=three([d.stride for d in window]),
            dilation=three([d.window_dilation for d in window]),
            out=three(list(instruction.shape.dimensions[1:-1])),
            features=right[-1],
        )

    @property
    def flops(self) -> int:
        return 2 * self.batch * math.prod(self.out) * self.features * self.channels * math.prod(self.window)


def is_canonical(instruction: HloInstruction) -> bool:
    """Whether `emit_convolution` takes it: the form above, one group, f32 or f64, at most three spatial dimensions."""
    numbers = instruction.attribute("dim_labels")
    window = instruction.attribute("window")
    spatial = len(window)
    middle = tuple(range(1, spatial + 1))
    return (
        spatial <= 3
        and instruction.shape.element_type in (ElementType.F32, ElementType.F64)
        and all(o.shape.element_type is instruction.shape.element_type for o in instruction.operands)
        and instruction.attribute("feature_group_count") == instruction.attribute("batch_group_count") == 1
        and (numbers.input_batch, numbers.input_spatial, numbers.input_feature) == (0, middle, spatial + 1)
        and (numbers.output_batch, numbers.output_spatial, numbers.output_feature) == (0, middle, spatial + 1)
        and numbers.kernel_spatial == tuple(range(spatial))
        and (numbers.kernel_input_feature, numbers.kernel_output_feature) == (spatial, spatial + 1)
        and all(
            d.padding_low == d.padding_high == 0 and d.base_dilation == 1 and not d.window_reversal for d in window
        )
        and all(s.layout is None or s.layout.is_row_major for s in (instruction.shape, *(o.shape for o in instruction.operands)))
    )


@dataclasses.dataclass(frozen=True, slots=True)
class _Block:
    """How many output points (rows by columns) and vectors of features a register block holds."""

    rows: int
    columns: int
    vectors: int


def _choose_block(shape: ConvolutionShape, lanes: int, registers: int) -> _Block:
    """The block with the most multiply-adds for each load and the least waste at the edges."""
    vectors_needed = -(-shape.features // lanes)
    best, best_score = _Block(1, 1, 1), -1.0
    for vectors in range(1, min(4, vectors_needed) + 1):
        points = (registers - 1 - vectors) // vectors
        for rows in range(1, min(shape.out[1], 4) + 1):
            columns = min(points // rows, shape.out[2])
            if not columns:
                continue
            columns = -(-shape.out[2] // -(-shape.out[2] // columns))  # even tiles
            used = shape.out[1] / (-(-shape.out[1] // rows) * rows) * vectors_needed / (-(-vectors_needed // vectors) * vectors)
            work = rows * columns * vectors
            rate = min(1.0, work / 8) * work / max(work, rows * columns + vectors)  # hide latency; loads beside products
            score = used * rate
            if score > best_score + 1e-9:
                best, best_score = _Block(rows, columns, vectors), score
    return best


def emit_convolution(
    module: IrModule, abi: LoopAbi, name: str, instruction: HloInstruction, isa: VectorIsa
) -> NativeKernel:
    """Emits the kernel; its pieces are (image, depth, block of rows). Arguments: image, kernel, result."""
    shape = ConvolutionShape.of(instruction)
    frame = begin_kernel(module, abi, name, instruction)
    emitter = _Emitter(frame, shape, VectorOps(frame.builder, instruction.shape.element_type, isa), isa)
    emitter.emit()
    abi.end_kernel(frame)
    gflops = isa.register_bytes / emitter.vectors.element_bytes * 4 * 3 * 0.6
    return NativeKernel(name, emitter.pieces, shape.flops / gflops)


class _Emitter:
    def __init__(self, frame: KernelFrame, shape: ConvolutionShape, vectors: VectorOps, isa: VectorIsa) -> None:
        self.b = frame.builder
        self.frame = frame
        self.shape = shape
        self.vectors = vectors
        self.block = _choose_block(shape, vectors.lanes, isa.registers)
        self.row_blocks = -(-shape.out[1] // self.block.rows)
        self.pieces = shape.batch * shape.out[0] * self.row_blocks
        self.size = vectors.element_bytes
        self.image, self.weights, self.result = frame.buffers

    def emit(self) -> None:
        b, s = self.b, self.shape
        loop, _ = b.open_loop(self.frame.begin, self.frame.end, name="piece")
        row_block = b.urem(loop.index, b.int_(self.row_blocks))
        rest = b.udiv(loop.index, b.int_(self.row_blocks))
        depth, n = b.urem(rest, b.int_(s.out[0])), b.udiv(rest, b.int_(s.out[0]))
        row = b.mul(row_block, b.int_(self.block.rows))
        full_rows = s.out[1] // self.block.rows
        left_over = s.out[1] % self.block.rows
        if full_rows:
            with b.if_(b.icmp("ult", row_block, b.int_(full_rows))):
                self._feature_blocks(n, depth, row, self.block.rows)
        if left_over:
            with b.if_(b.icmp("eq", row_block, b.int_(full_rows))):
                self._feature_blocks(n, depth, row, left_over)
        b.close_loop(loop)

    def _feature_blocks(self, n: Value, depth: Value, row: Value, rows: int) -> None:
        """All features of one block of rows: whole blocks of vectors in a loop, then what is left."""
        b, lanes, vectors = self.b, self.vectors.lanes, self.block.vectors
        width = lanes * vectors
        whole = self.shape.features // width
        if whole:
            loop, _ = b.open_loop(b.int_(0), b.int_(whole), name="features")
            self._column_blocks(n, depth, row, rows, b.mul(loop.index, b.int_(width)), [lanes] * vectors)
            b.close_loop(loop)
        left = self.shape.features - whole * width
        if left:
            tail = [lanes] * (left // lanes) + ([left % lanes] if left % lanes else [])
            self._column_blocks(n, depth, row, rows, b.int_(whole * width), tail)

    def _column_blocks(self, n: Value, depth: Value, row: Value, rows: int, feature: Value, lanes: list[int]) -> None:
        b, columns, across = self.b, self.block.columns, self.shape.out[2]
        whole = across // columns
        if whole:
            loop, _ = b.open_loop(b.int_(0), b.int_(whole), name="columns")
            self._tile(n, depth, row, b.mul(loop.index, b.int_(columns)), rows, columns, feature, lanes)
            b.close_loop(loop)
        if across % columns:
            self._tile(n, depth, row, b.int_(whole * columns), rows, across % columns, feature, lanes)

    def _address(self, base: Value, *terms: tuple[Value, int]) -> Value:
        """base + sum(index * elements), in elements."""
        b = self.b
        offset = b.int_(0)
        for index, elements in terms:
            offset = b.add(offset, b.mul(index, b.int_(elements)))
        return b.gep(self.vectors.scalar, base, offset)

    def _tile(
        self, n: Value, depth: Value, row: Value, column: Value, rows: int, columns: int, feature: Value, lanes: list[int]
    ) -> None:
        """One register block: accumulators for rows x columns points and len(lanes) vectors of features."""
        b, s, v = self.b, self.shape, self.vectors
        _, height, width = s.image
        pixel, line, plane = s.channels, width * s.channels, height * width * s.channels
        start = self._address(
            self.image,
            (n, s.image[0] * plane),
            (depth, s.stride[0] * plane),
            (row, s.stride[1] * line),
            (column, s.stride[2] * pixel),
        )
        points = list(itertools.product(range(rows), range(columns)))
        shifts = [r * s.stride[1] * line + c * s.stride[2] * pixel for r, c in points]
        sums = [v.zero()] * (len(points) * len(lanes))
        weights = b.gep(v.scalar, self.weights, feature)
        loops = []
        offset, weight_row = b.int_(0), b.int_(0)
        steps = (s.dilation[0] * plane, s.dilation[1] * line, s.dilation[2] * pixel, 1)
        counts = (*s.window, s.channels)
        for count, step in zip(counts, steps, strict=True):
            if count == 1:
                continue
            loop, sums = b.open_loop(b.int_(0), b.int_(count), carried=sums, name="tap")
            loops.append(loop)
            offset = b.add(offset, b.mul(loop.index, b.int_(step)))
            weight_row = b.add(b.mul(weight_row, b.int_(count)), loop.index)
        here = b.gep(v.scalar, start, offset)
        there = b.gep(v.scalar, weights, b.mul(weight_row, b.int_(s.features)))
        columns_of_weights = [
            v.load(b.gep(v.scalar, there, b.int_(i * v.lanes)), count) for i, count in enumerate(lanes)
        ]
        new = []
        for p, shift in enumerate(shifts):
            value = v.splat_load(b.gep(v.scalar, here, b.int_(shift)))
            for i, weight in enumerate(columns_of_weights):
                new.append(v.multiply_add(value, weight, sums[p * len(lanes) + i]))
        for loop in reversed(loops):
            new = b.close_loop(loop, new)
        out_line, out_plane = s.out[2] * s.features, s.out[1] * s.out[2] * s.features
        target = self._address(
            self.result,
            (n, s.out[0] * out_plane),
            (depth, out_plane),
            (row, out_line),
            (column, s.features),
            (feature, 1),
        )
        for p, (r, c) in enumerate(points):
            for i, count in enumerate(lanes):
                place = b.gep(v.scalar, target, b.int_(r * out_line + c * s.features + i * v.lanes))
                v.store(new[p * len(lanes) + i], place, count)
