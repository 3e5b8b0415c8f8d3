"""triangular_solve_expander: expands triangular-solve to substitution in a loop over rows.

(XLA: xla/service/triangular_solve_expander.h.)
"""

from __future__ import annotations

from xla_core.hlo.decompositions.expression import HloExpression
from xla_core.hlo.decompositions.loops import Values, counted_loop
from xla_core.hlo.ir.builder import Builder
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.opcode import Opcode
from xla_core.passes.expanders.expander import OpExpander
from xla_core.passes.expanders.linear_algebra import matrices


class TriangularSolveExpander(OpExpander):
    """Solves by forward substitution for a lower triangle, and by back substitution for an upper one."""

    opcodes = frozenset({Opcode.TRIANGULAR_SOLVE})
    widens = True

    def matches(self, instruction: HloInstruction) -> bool:
        return instruction.shape.num_elements > 0

    def expand(self, instruction: HloInstruction, b: Builder) -> HloInstruction:
        attribute = instruction.attribute
        a, right = (matrices.batched(operand, b) for operand in instruction.operands)
        lower, transpose, left_side = attribute("lower"), attribute("transpose_a"), attribute("left_side")
        if transpose != "NO_TRANSPOSE":
            a, lower = (matrices.adjoint if transpose == "ADJOINT" else matrices.transposed)(a), not lower
        if not left_side:  # x a = b is equivalent to a^T x^T = b^T
            a, right, lower = matrices.transposed(a), matrices.transposed(right), not lower
        matrix, n = matrices.triangle(a, lower=lower), a.shape.dimensions[1]
        unit = attribute("unit_diagonal")

        def row(inner: Builder, turn: HloInstruction, changing: Values, constant: Values) -> Values:
            at, solution, matrix, wanted = (HloExpression(inner, i) for i in (turn, *changing, *constant))
            return [_row(at if lower else n - 1 - at, solution, matrix, wanted, unit=unit).i]

        zeros = matrices.zeros_like(right)
        (found,) = counted_loop(instruction, b, n, [zeros.i], [matrix.i, right.i], row)
        solution = HloExpression(b, found)
        return b.reshape((solution if left_side else matrices.transposed(solution)).i, instruction.shape.dimensions)


def _row(
    at: HloExpression, solution: HloExpression, matrix: HloExpression, wanted: HloExpression, *, unit: bool
) -> HloExpression:
    factors = matrices.row(matrix, at)
    # Rows that are not solved yet are zero, so the product doesn't include them.
    rest = matrices.row(wanted, at) - matrices.vector_times(factors, solution)
    if not unit:
        rest = rest / matrices.spread(matrices.element(factors, at), rest.shape.dimensions)
    return matrices.with_row(solution, at, rest)
