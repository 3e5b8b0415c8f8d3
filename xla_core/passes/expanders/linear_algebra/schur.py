"""Schur forms a = z t z^H and eigenvectors of general matrices, by shifted QR steps on a Hessenberg matrix.

Each QR step has its own number of reflections, so the matrices of a batch are computed one after another. (Golub and
Van Loan, Matrix Computations, 7.4, 7.5; `xla_core.lapack.schur` is the same method in numpy.)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xla_core.hlo.decompositions.expression import HloExpression
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.element_type import ElementType
from xla_core.passes.expanders.linear_algebra.matrices import (
    Expression,
    adjoint,
    along_columns,
    conjugate,
    diagonal,
    element,
    epsilon,
    filled,
    identity,
    largest,
    loop,
    numbers,
    outer,
    padded,
    part,
    product,
    real_part,
    reversed_in,
    row,
    spread,
    squares,
    times,
    total,
    vector_times,
    window,
    with_row,
    with_window,
)
from xla_core.passes.expanders.linear_algebra.reflectors import gehrd, orgqr

_STEPS = 100  # QR steps for each eigenvalue
_INDEX = ElementType.S32


def schur(source: HloInstruction, a: Expression) -> list[Expression]:
    """(t, z, info) of matrices: triangular t of complex ones, 2x2 blocks on the diagonal of t of real ones."""
    return _for_each_matrix(source, [a], lambda x: _schur(source, *_hessenberg(source, x)))


def complex_from_real(source: HloInstruction, t: Expression, z: Expression) -> list[Expression]:
    """(t, z, info) of complex matrices, from the Schur form of real ones."""
    kind = ElementType.C64 if t.element_type is ElementType.F32 else ElementType.C128
    return _for_each_matrix(source, [t.astype(kind), z.astype(kind)], lambda *both: _schur(source, *both))


def _for_each_matrix(
    source: HloInstruction, given: Sequence[Expression], compute: Callable[..., Sequence[Expression]]
) -> list[Expression]:
    size, n, _ = given[0].shape.dimensions
    if size == 1:
        return list(compute(*given))
    b, kind = given[0].b, given[0].element_type
    results = [filled(b, 0, kind, (size, n, n)), filled(b, 0, kind, (size, n, n)), filled(b, 0, _INDEX, (size,))]

    def step(number: Expression, values: Sequence[Expression]) -> Sequence[Expression]:
        own, results = values[: len(given)], values[len(given) :]
        made = compute(*(window(x, 0, number, 1) for x in own))
        return *own, *(with_window(r, 0, number, m) for r, m in zip(results, made, strict=True))

    return loop(source, size, [*given, *results], step)[len(given) :]


def _hessenberg(source: HloInstruction, a: Expression) -> tuple[Expression, Expression]:
    """The Hessenberg form of a matrix, and its basis."""
    _, n, _ = a.shape.dimensions
    unit = identity(a.b, a.element_type, a.shape.dimensions)
    if n < 3:
        return a, unit
    factors, taus, _ = gehrd(source, a, low=1, high=n)
    q = orgqr(source, part(part(factors, 1, 1, n), 2, 0, n - 1), taus)
    rows, columns = (numbers(a.b, a.shape.dimensions, d) for d in (1, 2))
    inner = HloExpression(a.b, a.b.pad_in_dim(a.b.pad_in_dim(q.i, 1, 1, 0), 2, 1, 0))
    return (rows <= columns + 1).where(factors, 0), (rows > 0).where(inner, unit)


# -- the iteration -----------------------------------------------------------------------------------------------------


def _schur(source: HloInstruction, t: Expression, z: Expression) -> list[Expression]:
    """Makes a Hessenberg matrix triangular, from its last row up. A row and a column of zeros follow the last one."""
    b, (_, n, _) = t.b, t.shape.dimensions
    is_real = not t.element_type.is_complex
    bound = largest(abs(t), 1, 2)
    scale = spread((bound > 0).where(bound, 1).astype(t.element_type), t.shape.dimensions)

    def step(_: Expression, values: Sequence[Expression]) -> Sequence[Expression]:
        t, z, end, steps = values
        t, start = _active(t, end)
        ready = end - start <= (2 if is_real else 1)
        if is_real:
            is_pair = ready & (end - start).equals(2)
            for _again in range(2):  # a block with equal diagonal elements may have real eigenvalues
                t, z = _standardized(t, z, start, is_pair)
        exceptional = (steps % 10).equals(9)
        head = (_double_shift if is_real else _single_shift)(t, start, end, exceptional)
        t, z = _qr_step(source, t, z, head, start, end, ready)
        return t, z, ready.where(start, end), ready.where(0, steps + 1)

    whole, nothing = filled(b, n, _INDEX, ()), filled(b, 0, _INDEX, ())
    values = [padded(padded(t / scale, 1, 1), 2, 1), padded(z, 2, 1), whole, nothing]
    going = lambda values: (values[2] > 0) & (values[3] < _STEPS)  # noqa: E731
    t, z, end, _ = loop(source, _STEPS * n, values, step, going)
    t, z = part(part(t, 1, 0, n), 2, 0, n) * scale, part(z, 2, 0, n)
    info = (end > 0).where(filled(b, 1, _INDEX, ()), 0).reshape((1,))
    return [t, z, info]


def _active(t: Expression, end: Expression) -> tuple[Expression, Expression]:
    """Sets small subdiagonal elements to zero; returns the start of the last block before `end`, too."""
    rows, columns = (numbers(t.b, t.shape.dimensions, d) for d in (1, 2))
    sizes = abs(t)
    middle = total(rows.equals(columns).where(sizes, 0), 2)
    before = total(rows.equals(columns + 1).where(along_columns(middle, t), 0), 2)
    below = total(rows.equals(columns + 1).where(sizes, 0), 2)
    beside = middle + before
    most = spread(largest(sizes, 1, 2), beside.shape.dimensions)
    small = below <= (beside > 0).where(beside, most) * epsilon(t.element_type)
    places = numbers(t.b, small.shape.dimensions, 1)
    cut = small & (places < end)
    start = largest(cut.where(places, 0), 0, 1)
    on = rows.equals(columns + 1) & spread(cut, t.shape.dimensions, (0, 1))
    return on.where(0, t), start


def _corner(t: Expression, at: Expression) -> list[list[Expression]]:
    """The elements of a block of 2x2 on the diagonal, each s[1]."""
    block = window(window(t, 1, at, 2), 2, at, 2)
    return [[part(part(block, 1, i, i + 1), 2, j, j + 1).reshape((1,)) for j in range(2)] for i in range(2)]


def _vector(*elements: Expression) -> Expression:
    b = elements[0].b
    parts = [e.reshape((1, 1)).i for e in elements]
    return HloExpression(b, b.add(Opcode.CONCATENATE, *parts, dimensions=(1,)))


def _single_shift(t: Expression, start: Expression, end: Expression, exceptional: Expression) -> Expression:
    """The first column of t - shift, where the shift is the eigenvalue of the last corner nearest to its last element.

    (Wilkinson.)
    """
    (a, b), (c, d) = _corner(t, (end - 2).maximum(0))
    half = (a - d) / 2
    root = (half * half + b * c).sqrt()
    plus, minus = half + root, half - root
    far = (abs(plus) > abs(minus)).where(plus, minus)
    shift = d - abs(far).equals(0).where(0, b * c / abs(far).equals(0).where(1, far))
    extra = spread(exceptional, (1,), ()).where(abs(c).astype(c.element_type), 0)
    (x, _), (y, _) = _corner(t, start)
    return _vector(x - shift - extra, y)


def _double_shift(t: Expression, start: Expression, end: Expression, exceptional: Expression) -> Expression:
    """The first column of the product of t minus both eigenvalues of the last corner. (Francis.)"""
    (a, b), (c, d) = _corner(t, (end - 2).maximum(0))
    above = element(row(t, (end - 2).maximum(0)), (end - 3).maximum(0))
    special = spread(exceptional, (1,), ())
    size = abs(c) + abs(above)
    trace = special.where(size * 1.5, a + d)
    determinant = special.where(size * size, a * d - b * c)
    h = window(window(t, 1, start, 3), 2, start, 2) if t.shape.dimensions[1] > 2 else padded(t, 1, 1)
    p, q, r, s, u = (
        part(part(h, 1, i, i + 1), 2, j, j + 1).reshape((1,)) for i, j in ((0, 0), (0, 1), (1, 0), (1, 1), (2, 1))
    )
    return _vector(p * (p - trace) + q * r + determinant, r * (p + s - trace), r * u)


def _qr_step(
    source: HloInstruction,
    t: Expression,
    z: Expression,
    head: Expression,
    start: Expression,
    end: Expression,
    ready: Expression,
) -> tuple[Expression, Expression]:
    """Reflects rows and columns so that the first column is along `head`, and moves the bulge out at the end."""
    n, size = t.shape.dimensions[1] - 1, min(head.shape.dimensions[1], t.shape.dimensions[1])
    head = part(head, 1, 0, size)

    def turn(_: Expression, values: Sequence[Expression]) -> Sequence[Expression]:
        t, z, k, end, start, head = values
        inside = numbers(t.b, (1, size), 1) + k < end
        before = window(window(t, 1, k, size), 2, (k - 1).maximum(0), 1)
        is_first = k.equals(start)
        x = is_first.where(head, before.reshape((1, size)))
        v = _mirror(inside.where(x, 0))
        t, z = _turned(t, z, k, v)
        before = window(window(t, 1, k, size), 2, (k - 1).maximum(0), 1)
        cleared = (is_first | numbers(t.b, before.shape.dimensions, 1).equals(0)).where(before, 0)
        column = with_window(window(t, 2, (k - 1).maximum(0), 1), 1, k, cleared)
        return with_window(t, 2, (k - 1).maximum(0), column), z, k + 1, end, start, head

    first = ready.where(end, start)
    values = [t, z, first, end, start, head]
    t, z, *_ = loop(source, n, values, turn, lambda values: values[2] < values[3] - 1)
    return t, z


def _mirror(x: Expression) -> Expression:
    """The direction of the reflection that maps x to a multiple of the first unit vector; zero if x is one."""
    size = largest(abs(x), 1)
    places = numbers(x.b, x.shape.dimensions, 1)
    turns = (size > 0) & (largest((places > 0).where(abs(x), 0), 1) > 0)
    v = x / spread(turns.where(size, 1).astype(x.element_type), x.shape.dimensions)
    first = part(v, 1, 0, 1).reshape((1,))
    length = total(squares(v), 1).sqrt().astype(x.element_type)
    whole = abs(first).astype(x.element_type)
    phase = abs(first).equals(0).where(1, first / abs(first).equals(0).where(1, whole))
    v = places.equals(0).where(spread(first + phase * length, x.shape.dimensions), v)
    return spread(turns, x.shape.dimensions).where(v, 0)


def _turned(t: Expression, z: Expression, at: Expression, v: Expression) -> tuple[Expression, Expression]:
    """Applies the reflection along v to rows and columns of t and to columns of z, from number `at` on."""
    size = v.shape.dimensions[1]
    norm = total(squares(v), 1)
    factor = (norm > 0).where(2 / (norm > 0).where(norm, 1), 0).astype(v.element_type)
    across = conjugate(v) * spread(factor, v.shape.dimensions)
    rows = window(t, 1, at, size)
    t = with_window(t, 1, at, rows - outer(v, vector_times(across, rows)))
    columns = window(t, 2, at, size)
    t = with_window(t, 2, at, columns - outer(times(columns, v), across))
    columns = window(z, 2, at, size)
    return t, with_window(z, 2, at, columns - outer(times(columns, v), across))


def _standardized(t: Expression, z: Expression, at: Expression, active: Expression) -> tuple[Expression, Expression]:
    """Rotates a 2x2 block so that it is triangular or has equal diagonal elements. (LAPACK: dlanv2)"""
    (a, b), (c, d) = _corner(t, at)
    half = (a - d) / 2
    below = half * half + b * c
    is_split = below >= 0
    root = is_split.where(below, 0).sqrt()
    x, y = half + (half < 0).where(-root, root), c
    length = (x * x + y * y).sqrt()
    length = (length > 0).where(length, 1)
    sigma = b + c
    tau = (sigma * sigma + (a - d) * (a - d)).sqrt()
    tau = (tau > 0).where(tau, 1)
    cosine = ((abs(sigma) / tau + 1) / 2).sqrt()
    sine = -(half / (tau * cosine)) * (sigma < 0).where(filled(t.b, -1, t.element_type, (1,)), 1)
    acts = spread(active, (1,), ()) & c.differs(0) & (is_split | a.differs(d))
    cosine = acts.where(is_split.where(x / length, cosine), 1)
    sine = acts.where(is_split.where(y / length, sine), 0)
    turn = HloExpression(
        t.b, t.b.add(Opcode.CONCATENATE, _vector(cosine, -sine).i, _vector(sine, cosine).i, dimensions=(0,))
    ).reshape((1, 2, 2))
    rows = window(t, 1, at, 2)
    t = with_window(t, 1, at, product(adjoint(turn), rows))
    t = with_window(t, 2, at, product(window(t, 2, at, 2), turn))
    z = with_window(z, 2, at, product(window(z, 2, at, 2), turn))
    (a, b), (c, d) = _corner(t, at)
    mean = (a + d) / 2
    a, d = ((acts & ~is_split).where(mean, x) for x in (a, d))
    c = (acts & is_split).where(0, c)
    block = HloExpression(t.b, t.b.add(Opcode.CONCATENATE, _vector(a, b).i, _vector(c, d).i, dimensions=(0,)))
    inner = with_window(window(t, 1, at, 2), 2, at, block.reshape((1, 2, 2)))
    return with_window(t, 1, at, inner), z


# -- eigenvalues and eigenvectors --------------------------------------------------------------------------------------


def eigenvalues_of_blocks(t: Expression) -> tuple[Expression, Expression]:
    """The real and the imaginary parts of the eigenvalues of real Schur forms."""
    rows, columns = (numbers(t.b, t.shape.dimensions, d) for d in (1, 2))
    lower, upper = rows.equals(columns + 1), columns.equals(rows + 1)
    below, above = total(lower.where(t, 0), 1), total(upper.where(t, 0), 2)  # of the block that starts here
    first = abs(below).sqrt() * abs(above).sqrt()
    below, above = total(lower.where(t, 0), 2), total(upper.where(t, 0), 1)  # of the block that ends here
    return diagonal(t), first - abs(below).sqrt() * abs(above).sqrt()


def eigenvectors(source: HloInstruction, t: Expression, z: Expression, *, left: bool) -> Expression:
    """The right or the left eigenvectors of complex matrices from their Schur forms, with norm 1."""
    if left:
        vectors = reversed_in(_triangular_vectors(source, reversed_in(adjoint(t), 1, 2)), 1, 2)
    else:
        vectors = _triangular_vectors(source, t)
    vectors = product(z, vectors)
    length = total(squares(vectors), 1).sqrt()
    return vectors / along_columns((length > 0).where(length, 1).astype(t.element_type), vectors)


def _triangular_vectors(source: HloInstruction, t: Expression) -> Expression:
    """The eigenvectors of upper triangular matrices, with largest elements near 1, from the last element up."""
    size, n, _ = t.shape.dimensions
    values = diagonal(t)
    least = largest(abs(t), 1, 2) * epsilon(t.element_type)
    least = (least > 0).where(least, epsilon(t.element_type)).astype(t.element_type)

    def step(turn: Expression, state: Sequence[Expression]) -> Sequence[Expression]:
        vectors, t, values, least = state
        i = n - 2 - turn
        places = numbers(t.b, (size, n), 1)
        known = vector_times((places > i).where(row(t, i), 0), vectors)
        apart = values - spread(element(values, i), (size, n))
        bound = spread(least, (size, n))
        apart = (abs(apart) < real_part(bound)).where(bound, apart)
        new = (places > i).where(known / apart, row(vectors, i))
        grown = (places > i).where(abs(new), 0).maximum(1).astype(t.element_type)
        vectors = with_row(vectors, i, new)
        return vectors / along_columns(grown, vectors), t, values, least

    start = [identity(t.b, t.element_type, t.shape.dimensions), t, values, least]
    return loop(source, n - 1, start, step)[0]
