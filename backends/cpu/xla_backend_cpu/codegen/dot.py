"""Products: OpenBLAS where it wins, the generic loops of the shared emitter where it doesn't.

The pipeline has made every dot canonical: batch dimensions first, in order, on both sides; then one contracting
dimension and at most one other on each side, in either order (a transposed operand is an argument of the routine).
A large product is cut into tiles of rows or columns, each a piece of the kernel, so that the process's one pool does
what BLAS's own would.
"""

from __future__ import annotations

import dataclasses
import math

from xla_backend_cpu.codegen.kernel import NativeKernel, begin_kernel
from xla_core.codegen.llvm import IrModule, LoopAbi, Value
from xla_core.hlo import ElementType, HloInstruction

__all__ = ["DotShape", "emit_dot", "is_library_dot", "library_symbol"]

_PREFIX = {ElementType.F32: "s", ElementType.F64: "d", ElementType.C64: "c", ElementType.C128: "z"}
_SCALAR = {ElementType.F32: "float", ElementType.F64: "double"}
_ROW_MAJOR, _NO_TRANSPOSE, _TRANSPOSE = 101, 111, 112
_SMALL_FLOPS = 2 * 8 * 8 * 8  # below this a call costs more than the product


@dataclasses.dataclass(frozen=True, slots=True)
class DotShape:
    """batch x (m, k) x (k, n); `left_transposed` says that the left operand lies as (k, m), `right_` as (n, k)."""

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
        contracting = (dot.attribute("lhs_contracting_dims"), dot.attribute("rhs_contracting_dims"))
        if (
            dot.attribute("lhs_batch_dims") != first
            or dot.attribute("rhs_batch_dims") != first
            or any(len(c) != 1 for c in contracting)
            or left.rank > batch + 2
            or right.rank > batch + 2
            or any(s.layout is not None and not s.layout.is_row_major for s in (left, right, dot.shape))
        ):
            return None
        (lhs,), (rhs,) = contracting
        k = left.dimensions[lhs]
        if k == 0:
            return None
        size = math.prod(left.dimensions[:batch])
        m = math.prod(left.dimensions[batch:]) // k
        n = math.prod(right.dimensions[batch:]) // k
        return DotShape(size, m, n, k, lhs == batch and left.rank == batch + 2, rhs == batch + 1)

    @property
    def flops(self) -> int:
        return 2 * self.batch * self.m * self.n * self.k


def is_library_dot(dot: HloInstruction) -> bool:
    """Whether `emit_dot` takes it."""
    types = {dot.shape.element_type, *(o.shape.element_type for o in dot.operands)}
    if len(types) != 1 or dot.shape.element_type not in _PREFIX:
        return False
    shape = DotShape.of(dot)
    return shape is not None and shape.m * shape.n > 0 and shape.flops // shape.batch >= _SMALL_FLOPS


def library_symbol(dot: HloInstruction) -> str:
    """The routine that the kernel calls."""
    return f"cblas_{_PREFIX[dot.shape.element_type]}gemm"


def emit_dot(module: IrModule, abi: LoopAbi, name: str, dot: HloInstruction, threads: int) -> NativeKernel:
    """Emits the kernel; its pieces are (batch, tile of rows, tile of columns). Arguments: left, right, result."""
    shape = DotShape.of(dot)
    assert shape is not None
    rows, columns = _tiles(shape, threads)
    frame = begin_kernel(module, abi, name, dot)
    b = frame.builder
    left, right, result = frame.buffers
    element = f"[{dot.shape.element_type.byte_width} x i8]"
    down, across = -(-shape.m // rows), -(-shape.n // columns)

    loop, _ = b.open_loop(frame.begin, frame.end, name="tile")
    tile_column = b.urem(loop.index, b.int_(across))
    rest = b.udiv(loop.index, b.int_(across))
    tile_row, batch = b.urem(rest, b.int_(down)), b.udiv(rest, b.int_(down))
    row, column = b.mul(tile_row, b.int_(rows)), b.mul(tile_column, b.int_(columns))

    def extent(start: Value, tile: int, whole: int) -> Value:
        if whole % tile == 0:
            return b.int_(tile, "i32")
        return b.resize(b.intrinsic("umin", b.int_(tile), b.sub(b.int_(whole), start)), "i32", signed=False)

    def at(base: Value, batch_size: int, index: Value, stride: int) -> Value:
        return b.gep(element, base, b.add(b.mul(batch, b.int_(batch_size)), b.mul(index, b.int_(stride))))

    left_stride = shape.m if shape.left_transposed else shape.k
    right_stride = shape.k if shape.right_transposed else shape.n
    left_at = at(left, shape.m * shape.k, row, 1 if shape.left_transposed else shape.k)
    right_at = at(right, shape.k * shape.n, column, shape.k if shape.right_transposed else 1)
    result_at = b.gep(element, at(result, shape.m * shape.n, row, shape.n), column)

    def integer(value: int) -> Value:
        return b.int_(value, "i32")

    scalar = _SCALAR.get(dot.shape.element_type)
    if scalar is not None:
        one, zero = b.float_(1.0, scalar), b.float_(0.0, scalar)
    else:  # complex scalars are passed by address
        one, zero = (_complex_constant(module, dot.shape.element_type, value) for value in (1.0, 0.0))
    b.call(
        library_symbol(dot),
        "void",
        [
            integer(_ROW_MAJOR),
            integer(_TRANSPOSE if shape.left_transposed else _NO_TRANSPOSE),
            integer(_TRANSPOSE if shape.right_transposed else _NO_TRANSPOSE),
            extent(row, rows, shape.m),
            extent(column, columns, shape.n),
            integer(shape.k),
            one,
            left_at,
            integer(left_stride),
            right_at,
            integer(right_stride),
            zero,
            result_at,
            integer(shape.n),
        ],
    )
    b.close_loop(loop)
    abi.end_kernel(frame)
    moved = (shape.m * shape.k + shape.k * shape.n + shape.m * shape.n) * shape.batch * dot.shape.element_type.byte_width
    return NativeKernel(name, shape.batch * down * across, max(shape.flops / 100, moved / 10))


def _complex_constant(module: IrModule, element_type: ElementType, value: float) -> Value:
    import numpy as np

    return module.constant_bytes(np.array(value, element_type.dtype).tobytes(), 16)


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
