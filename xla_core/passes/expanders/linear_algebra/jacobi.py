"""Eigenvalues of Hermitian matrices and singular values, by Jacobi's one-sided method.

A step makes pairs of columns orthogonal by rotations. The pairs of a step are disjoint. They change from step to step
as in a round-robin tournament, so that a sweep pairs each column with every other one. (Golub and Van Loan, Matrix
Computations, 8.6.3.)
"""

from __future__ import annotations

from collections.abc import Sequence

from xla_core.hlo.decompositions.expression import HloExpression
from xla_core.hlo.ir.builder import comparator
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.element_type import ElementType
from xla_core.passes.expanders.linear_algebra.matrices import (
    Expression,
    adjoint,
    along_columns,
    conjugate,
    diagonal,
    epsilon,
    filled,
    identity,
    join,
    largest,
    loop,
    padded,
    part,
    product,
    real_part,
    real_type,
    spread,
    squares,
    total,
)
from xla_core.passes.expanders.linear_algebra.reflectors import geqrf, hermitian, orgqr

_SWEEPS = 30
_HUGE = 1e9  # the square of a larger cotangent may overflow; adding 1 to it changes nothing


def syevd(source: HloInstruction, a: Expression, *, lower: bool) -> list[Expression]:
    """The eigenvectors, the eigenvalues in ascending order, and `info`.

    A multiple of the identity makes the matrix positive, so that its singular vectors are its eigenvectors.
    """
    size = a.shape.dimensions[0]
    full = hermitian(a, lower=lower)
    bound = largest(total(abs(full), 2), 1)
    scale = (bound > 0).where(bound, 1).astype(a.element_type)
    unit = identity(a.b, a.element_type, a.shape.dimensions)
    _, vectors = _orthogonalized(source, full / spread(scale, a.shape.dimensions) + unit + unit)
    values = total(real_part(conjugate(vectors) * product(full, vectors)), 1)
    values, vectors = _sorted(values, vectors, descending=False)
    return [vectors, values, filled(a.b, 0, ElementType.S32, (size,))]


def gesdd(source: HloInstruction, a: Expression, mode: str) -> list[Expression]:
    """The matrix, the singular values in descending order, u, the adjoint of v, and `info`.

    The mode is A for square u and v, S for as many columns as there are singular values, N for neither.
    """
    size, m, n = a.shape.dimensions
    info = filled(a.b, 0, ElementType.S32, (size,))
    tall = a if m >= n else adjoint(a)
    rows, count = max(m, n), min(m, n)
    bound = largest(abs(tall), 1, 2)
    scale = (bound > 0).where(bound, 1)
    turned, v = _orthogonalized(source, tall / spread(scale.astype(a.element_type), tall.shape.dimensions))
    values = total(squares(turned), 1).sqrt()
    values, both = _sorted(values, join(1, turned, v), descending=True)
    turned, v = part(both, 1, 0, rows), part(both, 1, rows, rows + count)
    values = values * spread(scale, values.shape.dimensions)
    if mode == "N":
        return [a, values, info]
    # The columns are orthogonal, so R is diagonal, and Q is u up to signs. Q is unitary where values are 0, too.
    factors, taus = geqrf(source, turned)
    u = orgqr(source, factors, taus, rows if mode == "A" else count)
    negative = real_part(diagonal(part(factors, 1, 0, count))) < 0
    signs = negative.where(filled(a.b, -1, a.element_type, (size, count)), 1)
    if mode == "A":
        signs = join(1, signs, filled(a.b, 1, a.element_type, (size, rows - count)))
    u = u * along_columns(signs, u)
    return [a, values, u, adjoint(v), info] if m >= n else [a, values, v, adjoint(u), info]


def _sorted(values: Expression, vectors: Expression, *, descending: bool) -> tuple[Expression, Expression]:
    """Sorts the columns of matrices by real numbers."""
    b, whole = values.b, vectors.shape.dimensions
    keys = along_columns(values, vectors)
    types = (keys.element_type, vectors.element_type)
    order = comparator("GT" if descending else "LT", *types, module=b.hlo_module)
    both = b.add(Opcode.SORT, keys.i, vectors.i, dimensions=(2,), to_apply=order, is_stable=True)
    keys, vectors = (HloExpression(b, part) for part in b.elements(both))
    return part(keys, 1, 0, 1).reshape((whole[0], whole[2])), vectors


def _orthogonalized(source: HloInstruction, a: Expression) -> tuple[Expression, Expression]:
    """Returns (a v, v), where v is unitary and the columns of a v are orthogonal."""
    size, m, n = a.shape.dimensions
    half = max((n + 1) // 2, 1)
    unit = identity(a.b, a.element_type, (size, 2 * half, 2 * half))
    both = join(1, padded(a, 2, 2 * half - n), unit)
    tolerance = epsilon(a.element_type) * max(m, 10)

    def turn(_: Expression, values: Sequence[Expression]) -> Sequence[Expression]:
        left, right, worst = values
        left, right, found = _rotated(left, right, m)
        return *_next_pairs(left, right), worst.maximum(found)

    def sweep(_: Expression, values: Sequence[Expression]) -> Sequence[Expression]:
        left, right, worst = values
        return loop(source, 2 * half - 1, [left, right, worst.like(0)], turn)

    most = filled(a.b, 1, real_type(a.element_type), ())
    start = [part(both, 2, 0, half), part(both, 2, half, 2 * half), most]
    left, right, _ = loop(source, _SWEEPS, start, sweep, lambda values: values[2] > tolerance)
    both = part(join(2, left, right), 2, 0, n)
    # Rounding makes the columns of v longer or shorter with each rotation.
    length = total(squares(part(both, 1, m, m + n)), 1).sqrt()
    both = both / along_columns((length > 0).where(length, 1).astype(a.element_type), both)
    return part(both, 1, 0, m), part(both, 1, m, m + n)


def _rotated(left: Expression, right: Expression, rows: int) -> tuple[Expression, Expression, Expression]:
    """Makes each column of `left` orthogonal to that of `right` in the first rows; returns the largest cosine, too."""
    x, y = part(left, 1, 0, rows), part(right, 1, 0, rows)
    first, second, inner = total(squares(x), 1), total(squares(y), 1), total(conjugate(x) * y, 1)
    size, norm = abs(inner), first.sqrt() * second.sqrt()
    cosine = (norm > 0).where(size / (norm > 0).where(norm, 1), 0)
    turns = (norm > 0) & (size > 0)
    size = turns.where(size, 1)
    cotangent = (second - first) / (2 * size)
    steep = abs(cotangent)
    flat = (steep > _HUGE).where(0, steep)
    tangent = 1 / (steep + (steep > _HUGE).where(steep, (flat * flat + 1).sqrt()))
    tangent = turns.where((cotangent < 0).where(-tangent, tangent), 0)
    c = 1 / (tangent * tangent + 1).sqrt()
    kind, whole = left.element_type, left.shape.dimensions
    phase = conjugate(turns.where(inner, 1)) / size.astype(kind)
    cos, sin = (spread(v.astype(kind), whole, (0, 2)) for v in (c, tangent * c))
    other = right * spread(phase, whole, (0, 2))
    return cos * left - sin * other, sin * left + cos * other, largest(cosine, 0, 1)


def _next_pairs(left: Expression, right: Expression) -> tuple[Expression, Expression]:
    """Moves the columns to their places in the next round of a tournament; the first one stays."""
    half = left.shape.dimensions[2]
    if half == 1:
        return left, right
    return (
        join(2, part(left, 2, 0, 1), part(right, 2, 0, 1), part(left, 2, 1, half - 1)),
        join(2, part(right, 2, 1, half), part(left, 2, half - 1, half)),
    )
