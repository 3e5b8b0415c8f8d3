"""Dots: as blocked products of our own, or by OpenBLAS.

A real dot is a blocked product wherever its right side can be read in rows (`passes/dot_packer.py` sees to that).
Others, complex ones above all, go to OpenBLAS where batch dimensions come first, in order, and the contracting ones are
the first or the last of the rest; a call is cut into tiles that the process's own pool shares out.
"""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from xla_backend_cpu.codegen.blocked_product import BlockedProduct, Group
from xla_core.codegen.llvm import IrBuilder, IrModule, KernelFrame, Value
from xla_core.hlo import ElementType, HloInstruction

__all__ = ["DotShape", "LibraryDot", "dot_product", "is_library_dot"]

_PREFIX = {ElementType.F32: "s", ElementType.F64: "d", ElementType.C64: "c", ElementType.C128: "z"}
_SCALAR = {ElementType.F32: "float", ElementType.F64: "double"}
_ROW_MAJOR, _NO_TRANSPOSE, _TRANSPOSE = 101, 111, 112
_FEWEST_FEATURES = 4  # fewer would leave most of a vector register empty
_SMALL_FLOPS = 2 * 8 * 8 * 8  # below this a call costs more than the product


@dataclasses.dataclass(frozen=True, slots=True)
class DotShape:
    """batch x (m, k) x (k, n).

    `left_transposed` says that the left side lies as (k, m), `right_transposed` the right side as (n, k).
    """

    batch: int
    m: int
    n: int
    k: int
    left_transposed: bool
    right_transposed: bool

    @staticmethod
    def of(dot: HloInstruction) -> DotShape | None:
        """The numbers of a canonical dot; None for any other."""
        left, right = dot.operand(0).shape, dot.operand(1).shape
        batch = len(dot.attribute("lhs_batch_dims"))
        first = tuple(range(batch))
        lhs, rhs = dot.attribute("lhs_contracting_dims"), dot.attribute("rhs_contracting_dims")
        if (
            dot.attribute("lhs_batch_dims") != first
            or dot.attribute("rhs_batch_dims") != first
            or not lhs
            or 0 in (*left.dimensions, *right.dimensions)
            or not _row_major(dot)
        ):
            return None
        k = math.prod(left.dimensions[d] for d in lhs)
        left_first, left_last = _at_ends(lhs, batch, left.rank)
        right_first, right_last = _at_ends(rhs, batch, right.rank)
        if not (left_first or left_last) or not (right_first or right_last):
            return None
        return DotShape(
            math.prod(left.dimensions[:batch]),
            math.prod(left.dimensions[batch:]) // k,
            math.prod(right.dimensions[batch:]) // k,
            k,
            not left_last,
            not right_first,
        )

    @property
    def flops(self) -> float:
        return 2.0 * self.batch * self.m * self.n * self.k


def _at_ends(dims: tuple[int, ...], batch: int, rank: int) -> tuple[bool, bool]:
    """Whether the contracting dimensions are the first after the batch ones, or the last, in order."""
    count = len(dims)
    return dims == tuple(range(batch, batch + count)), dims == tuple(range(rank - count, rank))


def _element_type(dot: HloInstruction) -> ElementType | None:
    types = {dot.shape.element_type, *(o.shape.element_type for o in dot.operands)}
    return types.pop() if len(types) == 1 else None


def dot_product(dot: HloInstruction) -> BlockedProduct | None:
    """The numbers of a dot that is a blocked product; None for one that should be made otherwise.

    The left side may lie in any order. The right side's other dimensions must be contiguous (or panels), and its
    contracting ones evenly spaced.
    """
    left, right = (_Side(dot, side) for side in ("lhs", "rhs"))
    if _element_type(dot) not in _SCALAR or 0 in (*left.shape, *right.shape) or not _row_major(dot):
        return None
    taps, features = _merge(right.pick(right.contracting)), _merge(right.pick(right.free))
    tap_count = math.prod(count for count, _ in taps)
    panel = 0
    if len(features) == 2 and len(taps) <= 1 and features[1][1] == 1 and features[0][1] == tap_count * features[1][0]:
        panel = features[1][0]
        if taps and taps[0][1] != panel:
            return None
    elif len(features) > 1 or len(taps) > 1 or (features and features[0][1] != 1):
        return None
    n = math.prod(count for count, _ in features)
    if n < _FEWEST_FEATURES:
        return None
    out = _strides(dot.shape.dimensions)
    rank = len(left.batch)
    groups = [
        Group(count, left_step, right_step, out[i])
        for i, ((count, left_step), (_, right_step)) in enumerate(
            zip(left.pick(left.batch), right.pick(right.batch), strict=True)
        )
    ]
    points = _merge2([(count, step, out[rank + i]) for i, (count, step) in enumerate(left.pick(left.free))])
    groups += [Group(count, step, 0, out_step) for count, step, out_step in points[:-1]]
    return BlockedProduct(
        groups=tuple(groups),
        rows=points[-1] if points else (1, 0, 0),
        columns=(1, 0, 0),
        taps=tuple(left.pick(left.contracting)),
        features=n,
        right_row=taps[0][1] if taps else 0,
        panel=panel,
    )


class _Side:
    """One operand of a dot: its dimensions, strides, and which dimensions are what."""

    def __init__(self, dot: HloInstruction, side: str) -> None:
        self.shape = dot.operand(0 if side == "lhs" else 1).shape.dimensions
        self.strides = _strides(self.shape)
        self.batch: tuple[int, ...] = dot.attribute(f"{side}_batch_dims")
        self.contracting: tuple[int, ...] = dot.attribute(f"{side}_contracting_dims")
        self.free = tuple(d for d in range(len(self.shape)) if d not in self.batch and d not in self.contracting)

    def pick(self, dims: tuple[int, ...]) -> list[tuple[int, int]]:
        """(size, stride) of some dimensions."""
        return [(self.shape[d], self.strides[d]) for d in dims]


def _strides(dimensions: tuple[int, ...]) -> list[int]:
    strides = [1] * len(dimensions)
    for i in range(len(dimensions) - 2, -1, -1):
        strides[i] = strides[i + 1] * dimensions[i + 1]
    return strides


def _merge(dims: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Joins dimensions that one stride steps through; drops those of size 1."""
    return [(count, step) for count, step, _ in _merge2([(count, step, step) for count, step in dims])]


def _merge2(dims: list[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    merged: list[tuple[int, int, int]] = []
    for count, step, other in dims:
        if count == 1:
            continue
        if merged and merged[-1][1] == step * count and merged[-1][2] == other * count:
            merged[-1] = (merged[-1][0] * count, step, other)
        else:
            merged.append((count, step, other))
    return merged


def _row_major(dot: HloInstruction) -> bool:
    return all(s.layout is None or s.layout.is_row_major for s in (dot.shape, *(o.shape for o in dot.operands)))


def is_library_dot(dot: HloInstruction) -> bool:
    """Whether `LibraryDot` takes it, and a call is worth it."""
    shape = DotShape.of(dot)
    if shape is None or _element_type(dot) not in _PREFIX:
        return False
    return shape.flops / shape.batch >= _SMALL_FLOPS


class LibraryDot:
    """A kernel that calls OpenBLAS; its pieces are (batch, tile of rows, tile of columns)."""

    def __init__(self, dot: HloInstruction, threads: int) -> None:
        shape = DotShape.of(dot)
        assert shape is not None
        self.shape = shape
        self.element_type = dot.shape.element_type
        self.symbol = f"cblas_{_PREFIX[self.element_type]}gemm"
        self.rows, self.columns = _tiles(shape, threads)
        self.down, self.across = -(-shape.m // self.rows), -(-shape.n // self.columns)
        self.pieces = shape.batch * self.down * self.across

    def emit(self, frame: KernelFrame) -> None:
        """Writes the kernel's body; buffers are left, right, result."""
        b, s = frame.builder, self.shape
        left, right, result = frame.buffers
        element = f"[{self.element_type.byte_width} x i8]"
        loop, _ = b.open_loop(frame.begin, frame.end, name="tile")
        tile_column = b.urem(loop.index, b.int_(self.across))
        rest = b.udiv(loop.index, b.int_(self.across))
        tile_row, batch = b.urem(rest, b.int_(self.down)), b.udiv(rest, b.int_(self.down))
        row, column = b.mul(tile_row, b.int_(self.rows)), b.mul(tile_column, b.int_(self.columns))

        def extent(start: Value, tile: int, whole: int) -> Value:
            if whole % tile == 0:
                return b.int_(tile, "i32")
            return b.resize(b.intrinsic("umin", b.int_(tile), b.sub(b.int_(whole), start)), "i32", signed=False)

        def at(base: Value, batch_size: int, index: Value, stride: int) -> Value:
            return b.gep(element, base, b.add(b.mul(batch, b.int_(batch_size)), b.mul(index, b.int_(stride))))

        one, zero = (self._scalar(b.module, value) for value in (1.0, 0.0))
        b.call(
            self.symbol,
            "void",
            [
                b.int_(_ROW_MAJOR, "i32"),
                b.int_(_TRANSPOSE if s.left_transposed else _NO_TRANSPOSE, "i32"),
                b.int_(_TRANSPOSE if s.right_transposed else _NO_TRANSPOSE, "i32"),
                extent(row, self.rows, s.m),
                extent(column, self.columns, s.n),
                b.int_(s.k, "i32"),
                one,
                at(left, s.m * s.k, row, 1 if s.left_transposed else s.k),
                b.int_(s.m if s.left_transposed else s.k, "i32"),
                at(right, s.k * s.n, column, s.k if s.right_transposed else 1),
                b.int_(s.k if s.right_transposed else s.n, "i32"),
                zero,
                b.gep(element, at(result, s.m * s.n, row, s.n), column),
                b.int_(s.n, "i32"),
            ],
        )
        b.close_loop(loop)

    def _scalar(self, module: IrModule, value: float) -> Value:
        """Alpha or beta; complex ones are passed by address."""
        type_ = _SCALAR.get(self.element_type)
        if type_ is None:
            return module.constant_bytes(np.array(value, self.element_type.dtype).tobytes(), 16)
        return IrBuilder.float_(value, type_)


def _tiles(shape: DotShape, threads: int) -> tuple[int, int]:
    """Rows and columns of a tile: whole products where there are enough of them, else cut along the longer side."""
    if threads == 1 or shape.batch >= 2 * threads or shape.flops < 200_000:
        return shape.m, shape.n
    wanted = threads if shape.batch == 1 else -(-2 * threads // shape.batch)
    if shape.m >= shape.n:
        rows = -(-shape.m // wanted)
        return min(shape.m, -(-rows // 8) * 8), shape.n
    columns = -(-shape.n // wanted)
    return shape.m, min(shape.n, -(-columns // 16) * 16)
