"""triangular_solve_expander: expands triangular-solve to substitution in a loop over rows.

(XLA: xla/service/triangular_solve_expander.h.)
"""

from __future__ import annotations

import math

from xla_core.hlo.decompositions.loops import Values, counted_loop
from xla_core.hlo.ir.builder import Builder
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.element_type import ElementType
from xla_core.hlo.values.shape import Shape
from xla_core.passes.expanders.cholesky_expander import adjoint, batched_dot, transposed, triangle
from xla_core.passes.expanders.expander import OpExpander

_INDEX = Shape(ElementType.S32)


class TriangularSolveExpander(OpExpander):
    """Solves by forward substitution for a lower triangle, and by back substitution for an upper one."""

    name = "triangular-solve-expander"
    opcodes = frozenset({Opcode.TRIANGULAR_SOLVE})
    widens = True

    def matches(self, instruction: HloInstruction) -> bool:
        return instruction.shape.num_elements > 0

    def expand(self, instruction: HloInstruction, b: Builder) -> HloInstruction:
        attribute = instruction.attribute
        a, right = instruction.operands
        lower, transpose, left_side = attribute("lower"), attribute("transpose_a"), attribute("left_side")
        if transpose != "NO_TRANSPOSE":
            a, lower = (adjoint if transpose == "ADJOINT" else transposed)(a, b), not lower
        if not left_side:  # x a = b is equivalent to a^T x^T = b^T
            a, right, lower = transposed(a, b), transposed(right, b), not lower
        *batch, n, columns = right.shape.dimensions
        size = math.prod(batch)
        matrix = triangle(b.reshape(a, (size, n, n)), b, lower=lower)
        wanted = b.reshape(right, (size, n, columns))
        unit = attribute("unit_diagonal")

        def row(inner: Builder, turn: HloInstruction, changing: Values, constant: Values) -> Values:
            at = turn if lower else inner.add(Opcode.SUBTRACT, inner.constant(n - 1, _INDEX), turn)
            return [_row(inner, at, changing[0], *constant, unit=unit)]

        (solution,) = counted_loop(instruction, b, n, [b.constant(0, wanted.shape)], [matrix, wanted], row)
        solution = b.reshape(solution, right.shape.dimensions)
        return solution if left_side else transposed(solution, b)


def _row(
    b: Builder,
    at: HloInstruction,
    solution: HloInstruction,
    matrix: HloInstruction,
    wanted: HloInstruction,
    *,
    unit: bool,
) -> HloInstruction:
    size, n, columns = wanted.shape.dimensions
    zero = b.constant(0, _INDEX)
    factors = b.add(Opcode.DYNAMIC_SLICE, matrix, zero, at, zero, dynamic_slice_sizes=(size, 1, n))
    # Rows that are not solved yet are zero, so the product doesn't include them.
    known = batched_dot(factors, solution, (size, 1, columns), b)
    target = b.add(Opcode.DYNAMIC_SLICE, wanted, zero, at, zero, dynamic_slice_sizes=(size, 1, columns))
    rest = b.add(Opcode.SUBTRACT, target, known)
    if not unit:
        pivot = b.add(Opcode.DYNAMIC_SLICE, factors, zero, zero, at, dynamic_slice_sizes=(size, 1, 1))
        rest = b.add(Opcode.DIVIDE, rest, b.broadcast(b.reshape(pivot, (size,)), (size, 1, columns), (0,)))
    return b.add(Opcode.DYNAMIC_UPDATE_SLICE, solution, rest, zero, at, zero)
