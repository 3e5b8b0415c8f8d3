"""Orthogonal factorizations by Householder's reflectors I - tau v v^H: QR, Hessenberg and tridiagonal forms."""

from __future__ import annotations

from collections.abc import Sequence

from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.values.element_type import ElementType
from xla_core.passes.expanders.linear_algebra.matrices import (
    Expression,
    along_rows,
    column,
    conjugate,
    diagonal,
    element,
    filled,
    first_where,
    identity,
    largest,
    loop,
    numbers,
    outer,
    real_part,
    real_type,
    reversed_in,
    row,
    scaled,
    spread,
    squares,
    times,
    total,
    transposed,
    vector_times,
    with_column,
    with_element,
)


def reflector(x: Expression, at: Expression) -> tuple[Expression, Expression, Expression]:
    """Returns (tau, v, beta) for vectors of which elements before number `at` are ignored.

    v[at] is 1, v is zero before, and (I - tau v v^H)^H x is the real number beta at `at` and zero after.
    (LAPACK: larfg)
    """
    places = numbers(x.b, x.shape.dimensions, 1)
    alpha, tail = element(x, at), (places > at).where(x, 0)
    size = largest(abs((places >= at).where(x, 0)), 1)
    size = (size > 0).where(size, 1)
    norm = size * total(squares((places >= at).where(scaled(x, 1 / size), 0)), 1).sqrt()
    nothing = largest(abs(tail), 1).equals(0)
    if x.element_type.is_complex:
        nothing = nothing & alpha.imag().equals(0)
    beta = nothing.where(real_part(alpha), (real_part(alpha) >= 0).where(-norm, norm))
    wide = beta.astype(x.element_type)
    tau = nothing.where(0, (wide - alpha) / nothing.where(1, wide))
    divisor = nothing.where(1, alpha - wide)
    v = places.equals(at).where(1, tail / spread(divisor, x.shape.dimensions))
    return tau, v, beta


def reflected(x: Expression, tau: Expression, v: Expression, columns: Expression | None = None) -> Expression:
    """The product (I - tau v v^H) x, in the columns for which a predicate holds."""
    across = vector_times(conjugate(v), x)
    return x - outer(scaled(v, tau), across if columns is None else columns.where(across, 0))


def reflected_right(x: Expression, tau: Expression, v: Expression, rows: Expression | None = None) -> Expression:
    """The product x (I - tau v v^H), in the rows for which a predicate holds."""
    down = times(x, v)
    return x - outer(scaled(down if rows is None else rows.where(down, 0), tau), conjugate(v))


def geqrf(source: HloInstruction, a: Expression) -> list[Expression]:
    """R in the upper triangle, the vectors of the reflectors below it, and their tau."""
    size, m, n = a.shape.dimensions

    def step(k: Expression, values: Sequence[Expression]) -> Sequence[Expression]:
        return _eliminate(k, *values)

    return loop(source, min(m, n), [a, filled(a.b, 0, a.element_type, (size, min(m, n)))], step)


def _eliminate(k: Expression, a: Expression, taus: Expression) -> tuple[Expression, Expression]:
    """Makes column k upper triangular."""
    size, m, n = a.shape.dimensions
    places = numbers(a.b, (size, m), 1)
    x = column(a, k)
    tau, v, beta = reflector(x, k)
    after = numbers(a.b, (size, n), 1) > k
    new = places.equals(k).where(spread(beta.astype(a.element_type), (size, m)), v)
    a = with_column(reflected(a, conjugate(tau), v, after), k, (places < k).where(x, new))
    return a, with_element(taus, k, tau)


def geqp3(source: HloInstruction, a: Expression, given: Expression) -> list[Expression]:
    """QR with pivoting: R and the reflectors, the numbers of the columns, counted from 1, and tau.

    Columns whose number in `given` is not zero come first. The others are chosen by their remaining norm.
    """
    size, m, n = a.shape.dimensions

    def step(k: Expression, values: Sequence[Expression]) -> Sequence[Expression]:
        a, order, taus, given = values
        places, rows = numbers(a.b, (size, n), 1), numbers(a.b, a.shape.dimensions, 1)
        remaining = total(squares((rows >= k).where(a, 0)), 1).sqrt()
        remaining = remaining.is_nan().where(0, remaining)
        is_fixed = given.differs(0) & (places >= k)
        open_ = places >= k
        most = largest(open_.where(remaining, 0), 1)
        best = first_where(remaining.equals(spread(most, (size, n))) & open_, k)
        first_fixed = first_where(is_fixed, k)
        any_fixed = largest(is_fixed.astype(ElementType.S32), 1) > 0
        best = any_fixed.where(first_fixed, best)
        chosen = places.equals(spread(best, (size, n)))
        a = transposed(_swapped(transposed(a), k, chosen))
        order = _swapped(order.reshape((size, n, 1)), k, chosen).reshape((size, n))
        given = _swapped(given.reshape((size, n, 1)), k, chosen).reshape((size, n))
        a, taus = _eliminate(k, a, taus)
        return a, order, taus, given

    order = numbers(a.b, (size, n), 1) + 1
    start = [a, order, filled(a.b, 0, a.element_type, (size, min(m, n))), given]
    return loop(source, min(m, n), start, step)[:3]


def _swapped(x: Expression, k: Expression, chosen: Expression) -> Expression:
    """Swaps row k with the row for which a predicate holds."""
    size, rows, _ = x.shape.dimensions
    is_chosen = along_rows(chosen, x)
    other = total(is_chosen.where(x, 0), 1)
    mine = row(x, k)
    x = is_chosen.where(spread(mine, x.shape.dimensions, (0, 2)), x)
    is_mine = along_rows(numbers(x.b, (size, rows), 1).equals(k), x)
    return is_mine.where(spread(other, x.shape.dimensions, (0, 2)), x)


def orgqr(source: HloInstruction, a: Expression, taus: Expression, columns: int | None = None) -> Expression:
    """The first columns of the product of the reflectors whose vectors are in `a`; as many as `a` has by default."""
    size, m, n = a.shape.dimensions
    count = taus.shape.dimensions[1]

    def step(turn: Expression, values: Sequence[Expression]) -> Sequence[Expression]:
        q, a, taus = values
        i = count - 1 - turn
        return reflected(q, element(taus, i), _vector(a, i)), a, taus

    start = identity(a.b, a.element_type, (size, m, n if columns is None else columns))
    return loop(source, count, [start, a, taus], step)[0]


def _vector(a: Expression, i: Expression) -> Expression:
    """The vector of reflector i, from below the diagonal."""
    x = column(a, i)
    places = numbers(a.b, x.shape.dimensions, 1)
    return places.equals(i).where(1, (places > i).where(x, 0))


def ormqr(
    source: HloInstruction, a: Expression, taus: Expression, c: Expression, *, left: bool, transpose: bool
) -> Expression:
    """The product of Q or of its adjoint with a matrix, from the left or from the right."""
    count = taus.shape.dimensions[1]

    def step(turn: Expression, values: Sequence[Expression]) -> Sequence[Expression]:
        c, a, taus = values
        i = turn if left == transpose else count - 1 - turn
        tau = element(taus, i)
        apply = reflected if left else reflected_right
        return apply(c, conjugate(tau) if transpose else tau, _vector(a, i)), a, taus

    return loop(source, count, [c, a, taus], step)[0]


def gehrd(source: HloInstruction, a: Expression, *, low: int, high: int) -> list[Expression]:
    """The Hessenberg form of rows and columns `low` to `high` (counted from 1), the reflectors below it, and tau."""
    size, n, _ = a.shape.dimensions

    def step(turn: Expression, values: Sequence[Expression]) -> Sequence[Expression]:
        a, taus = values
        i = turn + (low - 1)
        places = numbers(a.b, (size, n), 1)
        x = column(a, i)
        tau, v, beta = reflector((places < high).where(x, 0), i + 1)
        a = reflected_right(a, tau, v, places < high)
        a = reflected(a, conjugate(tau), v, places > i)
        new = places.equals(i + 1).where(spread(beta.astype(a.element_type), (size, n)), v)
        new = ((places <= i) | (places >= high)).where(x, new)
        return with_column(a, i, new), with_element(taus, i, tau)

    start = [a, filled(a.b, 0, a.element_type, (size, max(n - 1, 0)))]
    a, taus = loop(source, high - low, start, step)
    return [a, taus, filled(a.b, 0, ElementType.S32, (size,))]


def sytrd(source: HloInstruction, a: Expression, *, lower: bool) -> list[Expression]:
    """Tridiagonal form of a Hermitian matrix, of which one triangle is read.

    Returns the reflectors, the diagonal, the subdiagonal, tau and `info`. The upper form is computed as the lower form
    of the matrix with rows and columns reversed.
    """
    if not lower:
        made, middle, beside, taus, info = sytrd(source, reversed_in(a, 1, 2), lower=True)
        return [reversed_in(made, 1, 2), reversed_in(middle, 1), reversed_in(beside, 1), reversed_in(taus, 1), info]
    size, n, _ = a.shape.dimensions

    def step(i: Expression, values: Sequence[Expression]) -> Sequence[Expression]:
        full, a, beside, taus = values
        places = numbers(a.b, (size, n), 1)
        tau, v, beta = reflector(column(full, i), i + 1)
        full = reflected_right(reflected(full, conjugate(tau), v), tau, v)
        new = places.equals(i + 1).where(spread(beta.astype(a.element_type), (size, n)), v)
        a = with_column(a, i, (places <= i).where(column(a, i), new))
        return full, a, with_element(beside, i, beta), with_element(taus, i, tau)

    count = max(n - 1, 0)
    real = real_type(a.element_type)
    beside, taus = (filled(a.b, 0, kind, (size, count)) for kind in (real, a.element_type))
    start = [hermitian(a, lower=True), a, beside, taus]
    full, made, beside, taus = loop(source, count, start, step)
    middle = real_part(diagonal(full))
    rows, columns = (numbers(a.b, a.shape.dimensions, d) for d in (1, 2))
    made = rows.equals(columns).where(along_rows(middle.astype(a.element_type), a), made)
    return [made, middle, beside, taus, filled(a.b, 0, ElementType.S32, (size,))]


def hermitian(a: Expression, *, lower: bool) -> Expression:
    """The Hermitian matrix of a triangle. Imaginary parts of the diagonal are ignored."""
    rows, columns = (numbers(a.b, a.shape.dimensions, d) for d in (1, 2))
    kept = (rows > columns if lower else rows < columns).where(a, 0)
    middle = rows.equals(columns).where(real_part(a).astype(a.element_type), 0)
    return kept + conjugate(transposed(kept)) + middle
