"""cholesky_expander: expands Cholesky to a loop over columns (XLA: xla/service/cholesky_expander.h)."""

from __future__ import annotations

import math

from xla_core.hlo.decompositions.expression import HloExpression
from xla_core.hlo.decompositions.loops import Values, counted_loop
from xla_core.hlo.ir.builder import Builder
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.opcode import Opcode
from xla_core.passes.expanders.expander import OpExpander
from xla_core.passes.expanders.linear_algebra import matrices


class CholeskyExpander(OpExpander):
    """Computes the factor column by column.

    The loop subtracts the contribution of the previous columns from column j of the matrix, and divides it by the
    square root of its diagonal element. The factor of a matrix that is not positive definite is all NaN.
    """

    opcodes = frozenset({Opcode.CHOLESKY})
    widens = True

    def matches(self, instruction: HloInstruction) -> bool:
        return instruction.shape.num_elements > 0

    def expand(self, instruction: HloInstruction, b: Builder) -> HloInstruction:
        lower = instruction.attribute("lower")
        x = matrices.batched(instruction.operands[0], b)
        matrix = matrices.triangle(x if lower else matrices.adjoint(x), lower=True)
        n = matrix.shape.dimensions[1]
        (found,) = counted_loop(instruction, b, n, [matrices.zeros_like(matrix).i], [matrix.i], _column)
        factor = _nan_where_it_failed(HloExpression(b, found))
        return b.reshape((factor if lower else matrices.adjoint(factor)).i, instruction.shape.dimensions)


def _column(b: Builder, turn: HloInstruction, changing: Values, constant: Values) -> Values:
    j, factor, matrix = (HloExpression(b, i) for i in (turn, *changing, *constant))
    size, n, _ = matrix.shape.dimensions
    known = matrices.times(factor, matrices.conjugate(matrices.row(factor, j)))
    left = matrices.column(matrix, j) - known
    pivot = matrices.real_part(matrices.element(left, j))
    root = (pivot > 0).where(pivot.op(Opcode.SQRT), math.nan)  # the matrix of a pivot 0 is singular
    if matrix.element_type.is_complex:
        root = root.op(Opcode.COMPLEX, 0)
    rows, spread = matrices.numbers(b, (size, n), 1), matrices.spread(root, (size, n))
    whole = rows.equals(j).where(spread, (rows > j).where(left / spread, 0))
    return [matrices.with_column(factor, j, whole).i]


def _nan_where_it_failed(factor: HloExpression) -> HloExpression:
    b, dimensions = factor.b, factor.shape.dimensions
    failed = HloExpression(b, b.reduce(matrices.real_part(factor).is_nan().i, Opcode.OR, False, (1, 2)))
    nan = matrices.filled(b, math.nan, factor.element_type, dimensions)
    return matrices.spread(failed, dimensions).where(nan, factor)
