"""Dots: as blocked products of our own, or by OpenBLAS, whichever is faster.

A dot is canonical where batch dimensions come first, in order, on both sides, and the contracting dimensions, in one
order, are the first or the last of the others (`dot-decomposer` makes it so). Real products are blocked products (`passes/dot_packer.py` has put the
right side of large ones into panels); complex ones, and those with a transposed right side that was not worth packing,
go to OpenBLAS, cut into tiles that the process's own pool shares out.
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
_SMALL_FLOPS = 2 * 8 * 8 * 8  # below this a call costs more than the product


@dataclasses.dataclass(frozen=True, slots=True)
class DotShape:
    """batch x (m, k) x (k, n).

    `left_transposed` says that the left side lies as (k, m), `right_transposed` the right side as (n, k). `panel` is
    the width of the right side's panels, which lies as (n / panel, k, panel) then; 0 for a plain matrix.
    """

    batch: int
    m: int
    n: int
    k: int
    left_transposed: bool
    right_transposed: bool
    panel: int = 0

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
            or any(s.layout is not None and not s.layout.is_row_major for s in (left, right, dot.shape))
        ):
            return None
        k = math.prod(left.dimensions[d] for d in lhs)
        packed = right.rank == batch + 3 and rhs == (batch + 1,)
        left_first, left_last = _at_ends(lhs, batch, left.rank)
        right_first, right_last = _at_ends(rhs, batch, right.rank)
        if not (left_first or left_last) or not (right_first or right_last or packed):
            return None
        return DotShape(
            math.prod(left.dimensions[:batch]),
            math.prod(left.dimensions[batch:]) // k,
            math.prod(right.dimensions[batch:]) // k,
            k,
            not left_last,
            not (right_first or packed),
            right.dimensions[-1] if packed else 0,
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
    """The numbers of a dot that is a blocked product; None for one that should be made otherwise."""
    shape = DotShape.of(dot)
    if shape is None or _element_type(dot) not in _SCALAR or shape.right_transposed or shape.n < 4:
        return None
    row, tap = (1, shape.m) if shape.left_transposed else (shape.k, 1)
    return BlockedProduct(
        groups=(Group(shape.batch, shape.m * shape.k, shape.k * shape.n, shape.m * shape.n),),
        rows=(shape.m, row, shape.n),
        columns=(1, 0, 0),
        taps=((shape.k, tap),),
        features=shape.n,
        right_row=shape.panel or shape.n,
        panel=shape.panel,
    )


def is_library_dot(dot: HloInstruction) -> bool:
    """Whether `LibraryDot` takes it, and a call is worth it."""
    shape = DotShape.of(dot)
    if shape is None or shape.panel or _element_type(dot) not in _PREFIX:
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
