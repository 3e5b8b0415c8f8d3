"""cholesky_expander: expands Cholesky to a loop over columns (XLA: xla/service/cholesky_expander.h)."""

from __future__ import annotations

import math
from collections.abc import Sequence

from xla_core.hlo.decompositions.expression import HloExpression
from xla_core.hlo.decompositions.loops import Values, counted_loop
from xla_core.hlo.ir.builder import Builder
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.element_type import ElementType
from xla_core.hlo.values.shape import Shape
from xla_core.passes.expanders.expander import OpExpander

_INDEX = Shape(ElementType.S32)


def _conjugate(x: HloInstruction, b: Builder) -> HloInstruction:
    if not x.shape.element_type.is_complex:
        return x
    return b.add(Opcode.COMPLEX, b.add(Opcode.REAL, x), b.add(Opcode.NEGATE, b.add(Opcode.IMAG, x)))


def adjoint(x: HloInstruction, b: Builder) -> HloInstruction:
    """The conjugate transpose of matrices in the last two dimensions."""
    return _conjugate(transposed(x, b), b)


def transposed(x: HloInstruction, b: Builder) -> HloInstruction:
    """The transpose of matrices in the last two dimensions."""
    rank = x.shape.rank
    return b.transpose(x, [*range(rank - 2), rank - 1, rank - 2])


def batched_dot(x: HloInstruction, y: HloInstruction, dimensions: Sequence[int], b: Builder) -> HloInstruction:
    """The exact products of matrices [n, i, k] with vectors [n, k] or matrices [n, k, j]."""
    return b.add(
        Opcode.DOT,
        x,
        y,
        shape=x.shape.with_dimensions(dimensions),
        lhs_batch_dims=(0,),
        rhs_batch_dims=(0,),
        lhs_contracting_dims=(2,),
        rhs_contracting_dims=(1,),
        operand_precision=("highest", "highest"),
    )


def triangle(x: HloInstruction, b: Builder, *, lower: bool) -> HloInstruction:
    """Sets the elements outside a triangle to zero; the triangle includes the diagonal."""
    rank, shape = x.shape.rank, Shape(ElementType.S32, x.shape.dimensions)
    row, column = (b.add(Opcode.IOTA, shape=shape, iota_dimension=d) for d in (rank - 2, rank - 1))
    kept = b.add(Opcode.COMPARE, row, column, direction="GE" if lower else "LE")
    return b.add(Opcode.SELECT, kept, x, b.constant(0, x.shape))


class CholeskyExpander(OpExpander):
    """Computes the factor column by column.

    The loop subtracts the contribution of the previous columns from column j of the matrix, and divides it by the
    square root of its diagonal element. The factor of a matrix that is not positive definite is all NaN.
    """

    name = "cholesky-expander"
    opcodes = frozenset({Opcode.CHOLESKY})
    widens = True

    def matches(self, instruction: HloInstruction) -> bool:
        return instruction.shape.num_elements > 0

    def expand(self, instruction: HloInstruction, b: Builder) -> HloInstruction:
        lower = instruction.attribute("lower")
        x = instruction.operands[0]
        *batch, n, _ = x.shape.dimensions
        size = math.prod(batch)
        matrix = b.reshape(x if lower else adjoint(x, b), (size, n, n))
        matrix = triangle(matrix, b, lower=True)
        (factor,) = counted_loop(instruction, b, n, [b.constant(0, matrix.shape)], [matrix], _column)
        factor = _nan_where_it_failed(factor, b)
        if not lower:
            factor = adjoint(factor, b)
        return b.reshape(factor, x.shape.dimensions)


def _column(b: Builder, j: HloInstruction, changing: Values, constant: Values) -> Values:
    (factor,), (matrix,) = changing, constant
    size, n, _ = matrix.shape.dimensions
    zero = b.constant(0, _INDEX)
    row = b.add(Opcode.DYNAMIC_SLICE, factor, zero, j, zero, dynamic_slice_sizes=(size, 1, n))
    known = batched_dot(factor, _conjugate(b.reshape(row, (size, n)), b), (size, n), b)
    column = b.add(Opcode.DYNAMIC_SLICE, matrix, zero, zero, j, dynamic_slice_sizes=(size, n, 1))
    left = HloExpression(b, b.reshape(column, (size, n))) - known
    head = HloExpression(b, b.add(Opcode.DYNAMIC_SLICE, left.i, zero, j, dynamic_slice_sizes=(size, 1)))
    is_complex = head.shape.element_type.is_complex
    pivot = head.op(Opcode.REAL) if is_complex else head
    root = (pivot > 0).where(pivot.op(Opcode.SQRT), math.nan)  # the matrix of a pivot 0 is singular
    if is_complex:
        root = root.op(Opcode.COMPLEX, 0)
    spread = HloExpression(b, b.broadcast(root.reshape((size,)).i, (size, n), (0,)))
    rows = HloExpression(b, b.add(Opcode.IOTA, shape=Shape(ElementType.S32, (size, n)), iota_dimension=1))
    whole = rows.equals(j).where(spread, (rows > j).where(left / spread, 0)).i
    return [b.add(Opcode.DYNAMIC_UPDATE_SLICE, factor, b.reshape(whole, (size, n, 1)), zero, zero, j)]


def _nan_where_it_failed(factor: HloInstruction, b: Builder) -> HloInstruction:
    size, n, _ = factor.shape.dimensions
    real = b.add(Opcode.REAL, factor) if factor.shape.element_type.is_complex else factor
    bad = b.add(Opcode.COMPARE, real, real, direction="NE")
    failed = b.reduce(bad, Opcode.OR, False, (1, 2))
    nan = b.constant(math.nan, factor.shape)
    return b.add(Opcode.SELECT, b.broadcast(failed, (size, n, n), (0,)), nan, factor)
