"""Cholesky and LU factorizations, triangular systems and tridiagonal systems."""

from __future__ import annotations

from collections.abc import Sequence

from xla_core.hlo.decompositions.expression import HloExpression
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.element_type import ElementType
from xla_core.passes.expanders.linear_algebra.matrices import (
    Expression,
    adjoint,
    column,
    conjugate,
    element,
    epsilon,
    filled,
    first_where,
    largest,
    loop,
    numbers,
    outer,
    real_part,
    row,
    spread,
    squares,
    times,
    with_column,
    with_element,
    with_row,
    zeros_like,
)


def potrf(source: HloInstruction, a: Expression, *, lower: bool) -> list[Expression]:
    """Cholesky's factor, and `info`: the number of the first column, from 1 on, where a matrix isn't positive.

    The other triangle and the columns from that one on keep their elements, except for the pivot that isn't positive.
    """
    size, n, _ = a.shape.dimensions

    def step(j: Expression, values: Sequence[Expression]) -> Sequence[Expression]:
        factor, info = values
        b = factor.b
        places = numbers(b, (size, n), 1)
        rows, columns = (numbers(b, (size, n, n), d) for d in (1, 2))
        known = ((rows >= j) & (columns < j)).where(factor, 0)
        left = column(factor, j) - times(known, conjugate((places < j).where(row(factor, j), 0)))
        pivot = real_part(element(left, j))
        reached = info.equals(0)
        good = reached & (pivot > 0)
        root = good.where(pivot, 1).sqrt()
        diagonal = spread(good.where(root, pivot).astype(factor.element_type), (size, n))
        below = left / spread(root.astype(factor.element_type), (size, n))
        new = (spread(good, (size, n)) & (places > j)).where(below, column(factor, j))
        new = (spread(reached, (size, n)) & places.equals(j)).where(diagonal, new)
        number = spread(j + 1, (size,), ())
        return with_column(factor, j, new), (good | info.differs(0)).where(info, number)

    start = a if lower else adjoint(a)
    factor, info = loop(source, n, [start, filled(a.b, 0, ElementType.S32, (size,))], step)
    return [factor if lower else adjoint(factor), info]


def getrf(source: HloInstruction, a: Expression) -> list[Expression]:
    """The LU factors with partial pivoting, the pivots and `info`, both from 1 on."""
    size, m, n = a.shape.dimensions
    count = min(m, n)

    def step(j: Expression, values: Sequence[Expression]) -> Sequence[Expression]:
        factors, pivots, info = values
        places = numbers(factors.b, (size, m), 1)
        head = column(factors, j)
        sizes = abs(head.real()) + abs(head.imag()) if head.element_type.is_complex else abs(head)
        sizes = (places >= j).where(sizes, -1)
        sizes = sizes.is_nan().where(-1, sizes)  # BLAS's amax passes over NaN
        most = largest(sizes, 1)
        pivot = first_where(sizes.equals(spread(most, (size, m))) & (places >= j), j)
        is_pivot, is_first = places.equals(spread(pivot, (size, m))), places.equals(j)
        first = row(factors, j)
        chosen = _selected_row(factors, is_pivot)
        whole = (size, m, n)
        factors = spread(is_pivot, whole, (0, 1)).where(spread(first, whole, (0, 2)), factors)
        factors = spread(is_first, whole, (0, 1)).where(spread(chosen, whole, (0, 2)), factors)
        head = column(factors, j)
        corner = element(head, j)
        is_zero = corner.equals(0)
        divisor = spread(is_zero.where(1, corner), (size, m))
        factor = (places > j).where(head / divisor, 0)
        rest = (numbers(factors.b, (size, n), 1) > j).where(chosen, 0)
        factors = with_column(factors - outer(factor, rest), j, (places > j).where(factor, head))
        number = spread(j + 1, (size,), ())
        info = (is_zero & info.equals(0)).where(number, info)
        return factors, with_element(pivots, j, pivot + 1), info

    integers = ElementType.S32
    start = [a, filled(a.b, 0, integers, (size, count)), filled(a.b, 0, integers, (size,))]
    return loop(source, count, start, step)


def _selected_row(x: Expression, chosen: Expression) -> Expression:
    """The row of each matrix for which a predicate of rows holds."""
    parts = spread(chosen, x.shape.dimensions, (0, 1)).where(x, 0)
    return HloExpression(x.b, x.b.reduce(parts.i, Opcode.ADD, 0, (1,)))


def trsm(a: Expression, right: Expression, *, left_side: bool, lower: bool, unit: bool, transpose: str) -> Expression:
    """The solution of a triangular system."""
    return HloExpression(
        a.b,
        a.b.add(
            Opcode.TRIANGULAR_SOLVE,
            a.i,
            right.i,
            left_side=left_side,
            lower=lower,
            unit_diagonal=unit,
            transpose_a=transpose,
        ),
    )


# -- tridiagonal systems -----------------------------------------------------------------------------------------------


def _eliminated(
    source: HloInstruction, low: Expression, diagonal: Expression, high: Expression, right: Expression
) -> list[Expression]:
    """Eliminates the subdiagonal with partial pivoting.

    Returns the diagonal, the two superdiagonals and the right sides. The first element of `low` and the last one of
    `high` are not part of the matrix.
    """
    size, n = diagonal.shape.dimensions

    def step(i: Expression, values: Sequence[Expression]) -> Sequence[Expression]:
        diagonal, high, beyond, low, x = values
        after = i + 1
        upper = [element(diagonal, i), element(high, i), element(beyond, i)]
        lower = [element(low, after), element(diagonal, after), element(high, after)]
        swap = abs(lower[0]) > abs(upper[0])
        pivot, second, third = (swap.where(b, a) for a, b in zip(upper, lower, strict=True))
        below, rest, end = (swap.where(a, b) for a, b in zip(upper, lower, strict=True))
        factor = below / pivot.equals(0).where(1, pivot)
        for_columns = x.shape.dimensions[0], x.shape.dimensions[2]
        first = spread(swap, for_columns).where(row(x, after), row(x, i))
        other = spread(swap, for_columns).where(row(x, i), row(x, after))
        diagonal = with_element(with_element(diagonal, i, pivot), after, rest - factor * second)
        high = with_element(with_element(high, i, second), after, end - factor * third)
        x = with_row(with_row(x, i, first), after, other - spread(factor, for_columns) * first)
        return diagonal, high, with_element(beyond, i, third), low, x

    last = numbers(high.b, (size, n), 1).equals(n - 1)
    values = [diagonal, last.where(0, high), zeros_like(diagonal), low, right]
    diagonal, high, beyond, _, right = loop(source, n - 1, values, step)
    return [diagonal, high, beyond, right]


def _substituted(
    source: HloInstruction, diagonal: Expression, high: Expression, beyond: Expression, right: Expression
) -> Expression:
    """Solves systems whose matrices have a diagonal and two superdiagonals."""
    size, n = diagonal.shape.dimensions
    columns = right.shape.dimensions[2]

    def step(turn: Expression, values: Sequence[Expression]) -> Sequence[Expression]:
        # Two rows of zeros follow the last one.
        x, diagonal, high, beyond = values
        i = n - 1 - turn
        known = row(x, i) - _times(element(high, i), row(x, i + 1), columns)
        known = known - _times(element(beyond, i), row(x, i + 2), columns)
        return with_row(x, i, known / spread(element(diagonal, i), (size, columns))), diagonal, high, beyond

    two_rows = HloExpression(right.b, right.b.pad_in_dim(right.i, 1, 0, 2))
    solution = loop(source, n, [two_rows, diagonal, high, beyond], step)[0]
    return HloExpression(right.b, right.b.slice_in_dim(solution.i, 1, 0, n))


def _times(scalar: Expression, x: Expression, columns: int) -> Expression:
    return spread(scalar, (scalar.shape.dimensions[0], columns)) * x


def gtsv(
    source: HloInstruction, low: Expression, diagonal: Expression, high: Expression, right: Expression
) -> list[Expression]:
    """The second superdiagonal, the diagonal and the superdiagonal of the factor U, the solution, and `info`."""
    size, n = diagonal.shape.dimensions
    diagonal, above, beyond, right = _eliminated(source, low, diagonal, high, right)
    none = filled(low.b, 0, ElementType.S32, ())
    zero = first_where(diagonal.equals(0), none - 1) + 1
    solution = _substituted(source, diagonal, above, beyond, right)
    places = numbers(low.b, (size, n), 1)
    shifted = HloExpression(low.b, low.b.pad_in_dim(low.b.slice_in_dim(beyond.i, 1, 0, n - 1), 1, 1, 0))
    inside = (places > 0) & (places < n - 1)
    return [inside.where(shifted, low), diagonal, (places < n - 1).where(above, high), solution, zero]


def tridiagonal_solve_perturbed(
    source: HloInstruction, low: Expression, diagonal: Expression, high: Expression, right: Expression
) -> Expression:
    """The solution of systems that may be singular: small pivots are raised to eps max|u|."""
    shape = diagonal.shape.dimensions
    diagonal, high, beyond, right = _eliminated(source, low, diagonal, high, right)
    eps = epsilon(diagonal.element_type)
    most = largest(abs(diagonal).maximum(abs(high)).maximum(abs(beyond)), 1)
    least = spread(most.equals(0).where(eps, most * eps), shape)
    sizes = squares(diagonal).sqrt()
    unit = sizes.equals(0).where(1, diagonal / sizes.equals(0).where(1, sizes).astype(diagonal.element_type))
    diagonal = (sizes < least).where(unit * least.astype(diagonal.element_type), diagonal)
    return _substituted(source, diagonal, high, beyond, right)
