"""Emits products of complex matrices that call OpenBLAS for each tile; the threads of the process divide the tiles."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

import numpy as np

from xla_backend_cpu.codegen.blocked_product import Group, split_groups, split_index
from xla_core.codegen.llvm import IrModule, KernelFrame, Value
from xla_core.hlo import ElementType

_PREFIX = {ElementType.C64: "c", ElementType.C128: "z"}
_ROW_MAJOR, _NO_TRANSPOSE, _TRANSPOSE = 101, 111, 112
_LARGEST = 2**31 - 1  # the largest integer of OpenBLAS's interface


@dataclasses.dataclass(frozen=True, slots=True)
class LibraryProduct:
    """A product that `cblas_?gemm` computes; strides are in elements.

    Attributes:
        groups: the group dimensions, outermost first; each group is one product.
        m, n, k: the sizes of a product.
        left: whether the left matrix is stored as (k, m), and the stride of its outer dimension.
        right: whether the right matrix is stored as (n, k), and the stride of its outer dimension.
        out_row: the stride between two rows of the result.
    """

    element_type: ElementType
    groups: tuple[Group, ...]
    m: int
    n: int
    k: int
    left: tuple[bool, int]
    right: tuple[bool, int]
    out_row: int

    def __str__(self) -> str:
        return f"{self.symbol} of {self.m} x {self.n} x {self.k}"

    @staticmethod
    def of(
        element_type: ElementType,
        groups: Sequence[Group],
        rows: tuple[int, int, int],
        taps: tuple[int, int, int],
        columns: tuple[int, int],
    ) -> LibraryProduct | None:
        """The product with these sizes and strides, or None if gemm does not support them.

        Args:
            element_type: the type of the operands and the result.
            groups: the group dimensions, outermost first.
            rows: (count, left stride, result stride).
            taps: (count, left stride, right stride) of the contracting index.
            columns: (count, right stride).
        """
        (m, left_row, out_row), (k, left_tap, right_tap), (n, right_column) = rows, taps, columns
        left = _storage(m, left_row, k, left_tap)
        right = _storage(k, right_tap, n, right_column)
        if element_type not in _PREFIX or left is None or right is None:
            return None
        if max(m, n, k, left[1], right[1], out_row) > _LARGEST:
            return None
        return LibraryProduct(element_type, tuple(groups), m, n, k, left, right, max(out_row, n))

    @property
    def symbol(self) -> str:
        return f"cblas_{_PREFIX[self.element_type]}gemm"

    @property
    def batch(self) -> int:
        return math.prod(g.count for g in self.groups)

    @property
    def flops(self) -> float:
        return 2.0 * self.batch * self.m * self.n * self.k


def _storage(rows: int, row: int, columns: int, column: int) -> tuple[bool, int] | None:
    """Whether a matrix is stored transposed, and the stride of its outer dimension; None if neither stride is 1."""
    if (column == 1 or columns == 1) and (row >= columns or rows == 1):
        return False, max(row, columns)
    if (row == 1 or rows == 1) and (column >= rows or columns == 1):
        return True, max(column, rows)
    return None


class LibraryEmitter:
    """Emits a kernel that calls OpenBLAS. A unit of work is a (group, tile of rows, tile of columns)."""

    def __init__(self, product: LibraryProduct, threads: int) -> None:
        self.product = product
        self.rows, self.columns = _tiles(product, threads)
        self.down, self.across = -(-product.m // self.rows), -(-product.n // self.columns)
        self.pieces = product.batch * self.down * self.across

    def emit(self, frame: KernelFrame) -> None:
        """Emits the kernel's body. The frame's buffers are left, right and result."""
        b, p = frame.builder, self.product
        element = f"[{p.element_type.byte_width} x i8]"
        loop, _ = b.open_loop(frame.begin, frame.end, name="tile")
        rest, tile_column = split_index(b, loop.index, self.across)
        rest, tile_row = split_index(b, rest, self.down)
        offsets = split_groups(b, rest, p.groups)
        left, right, out = (b.gep(element, base, offset) for base, offset in zip(frame.buffers, offsets, strict=True))
        row, column = b.mul(tile_row, b.int_(self.rows)), b.mul(tile_column, b.int_(self.columns))
        (left_transposed, left_step), (right_transposed, right_step) = p.left, p.right

        def extent(start: Value, tile: int, whole: int) -> Value:
            if whole % tile == 0:
                return b.int_(tile, "i32")
            return b.resize(b.intrinsic("umin", b.int_(tile), b.sub(b.int_(whole), start)), "i32", signed=False)

        def at(base: Value, index: Value, stride: int) -> Value:
            return b.gep(element, base, b.mul(index, b.int_(stride)))

        one, zero = (self._scalar(b.module, value) for value in (1.0, 0.0))
        b.call(
            p.symbol,
            "void",
            [
                b.int_(_ROW_MAJOR, "i32"),
                b.int_(_TRANSPOSE if left_transposed else _NO_TRANSPOSE, "i32"),
                b.int_(_TRANSPOSE if right_transposed else _NO_TRANSPOSE, "i32"),
                extent(row, self.rows, p.m),
                extent(column, self.columns, p.n),
                b.int_(p.k, "i32"),
                one,
                at(left, row, 1 if left_transposed else left_step),
                b.int_(left_step, "i32"),
                at(right, column, right_step if right_transposed else 1),
                b.int_(right_step, "i32"),
                zero,
                b.gep(element, at(out, row, p.out_row), column),
                b.int_(p.out_row, "i32"),
            ],
        )
        b.close_loop(loop)

    def _scalar(self, module: IrModule, value: float) -> Value:
        """Alpha or beta as an argument: complex numbers are passed by address."""
        return module.constant_bytes(np.array(value, self.product.element_type.dtype).tobytes(), 16)


def _tiles(product: LibraryProduct, threads: int) -> tuple[int, int]:
    """Rows and columns of a tile: a whole product if there are enough of them, else a part of its longer side.

    The number of rows is a multiple of 24, the most that OpenBLAS computes at once. It adds the terms of fewer rows in
    another order, so that the result would depend on the number of threads.
    """
    m, n, batch = product.m, product.n, product.batch
    if threads == 1 or batch >= 2 * threads or product.flops < 200_000:
        return m, n
    wanted = threads if batch == 1 else -(-2 * threads // batch)
    if m >= n:
        rows = -(-m // wanted)
        return min(m, -(-rows // 24) * 24), n
    columns = -(-n // wanted)
    return m, min(n, -(-columns // 16) * 16)
