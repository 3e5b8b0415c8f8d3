"""Problems of linear algebra: programs, matrices, and what must hold of the results."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from xla_core.hlo import ElementType

__all__ = ["PROBLEMS", "Problem", "Trial"]

Array = np.ndarray
T = ElementType

Residuals = Callable[..., Mapping[str, float]]
Facts = Callable[..., Mapping[str, tuple[Any, Any]]]


def _nothing(*results: Array) -> Mapping[str, Any]:
    return {}


@dataclasses.dataclass(frozen=True)
class Trial:
    """A program and its arguments; residuals of its results, relative to norms; facts: what is, and what must be."""

    program: str
    arguments: Sequence[Array]
    residuals: Residuals
    facts: Facts = _nothing


Problem = Callable[[T, int], Iterator[Trial]]

PROBLEMS: dict[str, Problem] = {}


def _problem(name: str) -> Callable[[Problem], Problem]:
    def register(problem: Problem) -> Problem:
        PROBLEMS[name] = problem
        return problem

    return register


# -- programs ----------------------------------------------------------------------------------------------------------


def _type(t: T, shape: Sequence[int]) -> str:
    return f"{t.value}[{','.join(map(str, shape))}]"


def _program(op: str, operands: Sequence[Array], results: Sequence[tuple[T, Sequence[int]]]) -> str:
    lines = [f"  p{i} = {_type(T.from_numpy(o.dtype), o.shape)} parameter({i})" for i, o in enumerate(operands)]
    types = [_type(t, s) for t, s in results]
    result = f"({', '.join(types)})" if len(types) > 1 else types[0]
    body = "\n".join(lines)
    return f"HloModule m\n\nENTRY main {{\n{body}\n  ROOT r = {result} {op}\n}}\n"


def _letter(t: T) -> str:
    return {T.F32: "s", T.F64: "d", T.C64: "c", T.C128: "z"}[t]


def _call(
    routine: str,
    t: T,
    operands: Sequence[Array],
    results: Sequence[tuple[T, Sequence[int]]],
    **attributes: int | str | bool,
) -> str:
    """A LAPACK custom call, as JAX writes it. Attributes of one letter are its code."""
    names = {"orgqr": "ungqr", "ormqr": "unmqr", "syevd": "heevd", "sytrd": "hetrd"}
    routine = names.get(routine, routine) if t.is_complex else routine
    return _custom_call(f"lapack_{_letter(t)}{routine}_ffi", operands, results, **attributes)


def _custom_call(
    target: str, operands: Sequence[Array], results: Sequence[tuple[T, Sequence[int]]], **attributes: int | str | bool
) -> str:
    written = []
    for name, value in attributes.items():
        if isinstance(value, bool):
            written.append(f"{name} = {str(value).lower()}")
        elif isinstance(value, str):
            written.append(f"{name} = {ord(value)} : ui8")
        else:
            written.append(f"{name} = {value} : i32")
    names = ", ".join(f"p{i}" for i in range(len(operands)))
    config = f"backend_config={{{', '.join(written)}}}"
    op = f'custom-call({names}), custom_call_target="{target}", api_version=API_VERSION_TYPED_FFI, {config}'
    return _program(op, operands, results)


# -- matrices ----------------------------------------------------------------------------------------------------------


def _random(t: T, *shape: int, seed: int = 0) -> Array:
    random = np.random.default_rng([seed, *shape])
    values: Any = random.standard_normal(shape)
    if t.is_complex:
        values = values + 1j * random.standard_normal(shape)
    return np.asarray(values).astype(t.dtype)


def _hermitian(t: T, n: int, seed: int = 0) -> Array:
    a = _random(t, 2, n, n, seed=seed)
    return np.asarray((a + _adjoint(a)) / 2)


def _positive(t: T, n: int, seed: int = 0) -> Array:
    a = _random(t, 2, n, n, seed=seed)
    return np.asarray(a @ _adjoint(a) + np.eye(n, dtype=t.dtype)).astype(t.dtype)


def _triangular(t: T, n: int, *, lower: bool) -> Array:
    """With a diagonal that no other element outgrows."""
    a = _random(t, 2, n, n) / max(n, 1) + 2 * np.eye(n, dtype=t.dtype)
    return np.asarray(np.tril(a) if lower else np.triu(a)).astype(t.dtype)


def _adjoint(a: Array) -> Array:
    return np.asarray(np.conj(a).swapaxes(-1, -2))


def _long(a: Array) -> Array:
    return a.astype(np.clongdouble if a.dtype.kind == "c" else np.longdouble)


def _norm(a: Array) -> float:
    """The largest Frobenius norm of the batch."""
    return float(np.sqrt(np.max(np.sum(np.abs(a) ** 2, axis=(-2, -1)), initial=0.0)))


def _product(*factors: Array) -> Array:
    return np.asarray(functools.reduce(np.matmul, map(_long, factors)))


def _apart(x: Array, y: Array, *scales: Array) -> float:
    """|x - y| relative to the product of the norms."""
    scale = float(np.prod([_norm(s) for s in scales]))
    distance = _norm(x - y)
    return distance / scale if distance else 0.0


def _unitary(q: Array) -> float:
    """How far the columns are from orthonormal."""
    return _norm(_product(_adjoint(q), q) - np.eye(q.shape[-1]))


def _ints(*shape: int) -> tuple[T, tuple[int, ...]]:
    return T.S32, shape


# -- the ops -----------------------------------------------------------------------------------------------------------


@_problem("cholesky")
def _cholesky(t: T, n: int) -> Iterator[Trial]:
    a = _positive(t, n)
    for lower in (True, False):
        text = _program(f"cholesky(p0), lower={str(lower).lower()}", [a], [(t, a.shape)])

        def residuals(c: Array, lower: bool = lower) -> Mapping[str, float]:
            c = np.tril(c) if lower else _adjoint(np.triu(c))
            return {"L L^H - A": _apart(_product(c, _adjoint(c)), a, a)}

        yield Trial(text, [a], residuals)
    if n:
        bad = a.copy()
        bad[1, n - 1, n - 1] = -1
        text = _program("cholesky(p0), lower=true", [a], [(t, a.shape)])
        yield Trial(text, [bad], _nothing, lambda c: {"NaN where not definite": (bool(np.isnan(c[1]).any()), True)})


@_problem("triangular-solve")
def _triangular_solve(t: T, n: int) -> Iterator[Trial]:
    for lower in (True, False):
        for left in (True, False):
            for op in ("NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"):
                for unit in (True, False):
                    a, b = _triangular(t, n, lower=lower), _random(t, 2, *((n, 3) if left else (3, n)), seed=1)
                    flags = f"left_side={left}, lower={lower}, unit_diagonal={unit}, transpose_a={op}"
                    text = _program(f"triangular-solve(p0, p1), {_lowered(flags)}", [a, b], [(t, b.shape)])
                    yield Trial(text, [a, b], functools.partial(_solved, a, b, left, op, unit))


def _lowered(flags: str) -> str:
    return flags.replace("True", "true").replace("False", "false")


def _solved(a: Array, b: Array, left: bool, op: str, unit: bool, x: Array) -> Mapping[str, float]:
    matrix = a.copy()
    if unit:
        matrix[..., range(a.shape[-1]), range(a.shape[-1])] = 1
    matrix = {"N": matrix, "T": matrix.swapaxes(-1, -2), "A": _adjoint(matrix)}[op[0]]
    return {"A X - B": _apart(_product(matrix, x) if left else _product(x, matrix), b, matrix, x)}


# -- factorizations ----------------------------------------------------------------------------------------------------


@_problem("potrf")
def _potrf(t: T, n: int) -> Iterator[Trial]:
    a = _positive(t, n)
    for uplo in "LU":
        text = _call("potrf", t, [a], [(t, a.shape), _ints(2)], uplo=uplo)

        def residuals(c: Array, info: Array, uplo: str = uplo) -> Mapping[str, float]:
            c = np.tril(c) if uplo == "L" else _adjoint(np.triu(c))
            return {"L L^H - A": _apart(_product(c, _adjoint(c)), a, a)}

        yield Trial(text, [a], residuals, lambda c, info: {"info": (info.tolist(), [0, 0])})
    if n:
        bad = a.copy()
        bad[1, n // 2, n // 2] = -1
        at = n // 2 + 1
        text = _call("potrf", t, [a], [(t, a.shape), _ints(2)], uplo="L")
        yield Trial(text, [bad], _nothing, lambda c, info: {"info of an indefinite matrix": (info.tolist(), [0, at])})


def _rectangles(n: int) -> Iterator[tuple[int, int]]:
    yield n, n
    if n:
        yield n, max(n // 2, 1)
        yield max(n // 2, 1), n


@_problem("getrf")
def _getrf(t: T, n: int) -> Iterator[Trial]:
    for m, k in _rectangles(n):
        a, least = _random(t, 2, m, k), min(m, k)
        text = _call("getrf", t, [a], [(t, a.shape), _ints(2, least), _ints(2)])

        def residuals(lu: Array, pivots: Array, info: Array, a: Array = a, least: int = least) -> Mapping[str, float]:
            lower = np.tril(lu[..., :least], -1) + np.eye(a.shape[-2], least)
            upper = np.triu(lu[..., :least, :])
            permuted = a.copy()
            for matrix, rows in zip(permuted, pivots, strict=True):
                for i, other in enumerate(rows):
                    matrix[[i, other - 1]] = matrix[[other - 1, i]]
            return {"L U - P A": _apart(_product(lower, upper), permuted, lower, upper)}

        yield Trial(text, [a], residuals, lambda lu, pivots, info: {"info": (info.tolist(), [0, 0])})
    if n:
        singular = np.zeros((2, n, n), t.dtype)
        text = _call("getrf", t, [singular], [(t, singular.shape), _ints(2, n), _ints(2)])
        yield Trial(text, [singular], _nothing, lambda lu, pivots, info: {"info of zero": (info.tolist(), [1, 1])})


def _reflectors(factors: Array, tau: Array) -> Array:
    """The product of the reflections, from the vectors below the diagonal."""
    rows = factors.shape[-2]
    q = np.broadcast_to(np.eye(rows), (*factors.shape[:-2], rows, rows)).astype(_long(factors).dtype)
    for i in range(tau.shape[-1] - 1, -1, -1):
        v = _long(np.tril(factors, -1)[..., :, i])
        v[..., i] = 1
        q = q - _long(tau)[..., i, None, None] * (v[..., :, None] * (np.conj(v)[..., None, :] @ q))
    return np.asarray(q)


@_problem("geqrf, orgqr")
def _geqrf(t: T, n: int) -> Iterator[Trial]:
    for m, k in _rectangles(n):
        a, least = _random(t, 2, m, k), min(m, k)
        text = _call("geqrf", t, [a], [(t, a.shape), (t, (2, least))])

        def residuals(factors: Array, tau: Array, a: Array = a) -> Mapping[str, float]:
            q = _reflectors(factors, tau)
            return {"Q R - A": _apart(_product(q, np.triu(factors)), a, a), "Q^H Q - I": _unitary(q)}

        yield Trial(text, [a], residuals)
        if m < k or not n:
            continue
        factors, tau = _house(a)
        q = _reflectors(factors, tau)[..., :k]
        text = _call("orgqr", t, [factors, tau], [(t, a.shape)])
        yield Trial(text, [factors, tau], lambda made, q=q: {"Q": _norm(made - q), "Q^H Q - I": _unitary(made)})


def _house(a: Array) -> tuple[Array, Array]:
    """Reflections whose vectors lie below the diagonal of some matrix: any vectors, each with its 2 / |v|^2."""
    factors = a / np.asarray(max(a.shape[-2], 1), a.real.dtype)
    vectors = np.tril(factors, -1)
    tau = 2 / (1 + np.sum(np.abs(_long(vectors)) ** 2, axis=-2))
    return factors.astype(a.dtype), tau.astype(a.dtype)


@_problem("ormqr")
def _ormqr(t: T, n: int) -> Iterator[Trial]:
    if not n:
        return
    factors, tau = _house(_random(t, 2, n, n))
    q = _reflectors(factors, tau)
    for left in (True, False):
        c = _random(t, 2, *((n, 3) if left else (3, n)), seed=3)
        for adjoint in (True, False):
            text = _call("ormqr", t, [factors, tau, c], [(t, c.shape)], left=left, transpose=adjoint)
            op = _adjoint(q) if adjoint else q
            exact = _product(op, c) if left else _product(c, op)
            yield Trial(text, [factors, tau, c], lambda made, e=exact, c=c: {"Q C": _apart(made, e, c)})


@_problem("geqp3")
def _geqp3(t: T, n: int) -> Iterator[Trial]:
    for m, k in _rectangles(n):
        a, least, free = _random(t, 2, m, k), min(m, k), np.zeros((2, k), np.int32)
        text = _call("geqp3", t, [a, free], [(t, a.shape), _ints(2, k), (t, (2, least))])

        def residuals(factors: Array, pivots: Array, tau: Array, a: Array = a) -> Mapping[str, float]:
            permuted = np.take_along_axis(a, pivots[:, None, :].astype(np.int64) - 1, axis=-1)
            q = _reflectors(factors, tau)
            return {"Q R - A P": _apart(_product(q, np.triu(factors)), permuted, a)}

        def falls(factors: Array, pivots: Array, tau: Array) -> Mapping[str, tuple[Any, Any]]:
            sizes = np.abs(np.diagonal(factors, axis1=-2, axis2=-1)).astype(np.float64)
            ordered = bool(np.all(sizes[..., 1:] <= sizes[..., :-1] * 1.001))
            return {"the diagonal falls": (ordered, True)}

        yield Trial(text, [a, free], residuals, falls)


@_problem("gehrd")
def _gehrd(t: T, n: int) -> Iterator[Trial]:
    if not n:
        return
    a = _random(t, 2, n, n)
    text = _call("gehrd", t, [a], [(t, a.shape), (t, (2, n - 1)), _ints(2)], high=n, low=1)

    def residuals(factors: Array, tau: Array, info: Array) -> Mapping[str, float]:
        q = _below(factors, tau)
        return {"Q H Q^H - A": _apart(_product(q, np.triu(factors, -1), _adjoint(q)), a, a), "Q^H Q - I": _unitary(q)}

    yield Trial(text, [a], residuals)


def _below(factors: Array, tau: Array) -> Array:
    """Q of reflectors that begin below the diagonal."""
    q = np.broadcast_to(np.eye(factors.shape[-1]), factors.shape).astype(_long(factors).dtype)
    q[..., 1:, 1:] = _reflectors(factors[..., 1:, :-1], tau)
    return q


@_problem("sytrd")
def _sytrd(t: T, n: int) -> Iterator[Trial]:
    if not n:
        return
    a, part = _hermitian(t, n), T(t.component)
    results = [(t, a.shape), (part, (2, n)), (part, (2, n - 1)), (t, (2, n - 1)), _ints(2)]
    text = _call("sytrd", t, [a], results, uplo="L")

    def residuals(factors: Array, d: Array, e: Array, tau: Array, info: Array) -> Mapping[str, float]:
        q = _below(factors, tau)
        middle = np.zeros(a.shape, _long(a).dtype)
        middle[..., range(n), range(n)] = d
        middle[..., range(1, n), range(n - 1)] = middle[..., range(n - 1), range(1, n)] = e
        return {"Q T Q^H - A": _apart(_product(q, middle, _adjoint(q)), a, a), "Q^H Q - I": _unitary(q)}

    yield Trial(text, [a], residuals)


# -- solutions ---------------------------------------------------------------------------------------------------------


@_problem("trsm")
def _trsm(t: T, n: int) -> Iterator[Trial]:
    for side in "LR":
        for uplo in "LU":
            for trans in "NTC":
                for diag in "NU":
                    a, b = _triangular(t, n, lower=uplo == "L"), _random(t, 2, *((n, 3) if side == "L" else (3, n)))
                    text = _call("trsm", t, [a, b], [(t, b.shape)], side=side, uplo=uplo, trans_x=trans, diag=diag)
                    op = {"N": "N", "T": "T", "C": "A"}[trans]
                    yield Trial(text, [a, b], functools.partial(_solved, a, b, side == "L", op, diag == "U"))


def _tridiagonal(t: T, n: int) -> tuple[list[Array], Array, Array]:
    """([low, diagonal, high], the matrix, right sides)."""
    low, d, high = (_random(t, 2, n, seed=s) for s in (1, 2, 3))
    low[:, :1], high[:, n - 1 :] = 0, 0
    matrix = np.zeros((2, n, n), t.dtype)
    matrix[:, range(n), range(n)] = d
    matrix[:, range(1, n), range(n - 1)], matrix[:, range(n - 1), range(1, n)] = low[:, 1:], high[:, : n - 1]
    return [low, d, high], matrix, _random(t, 2, n, 3, seed=4)


@_problem("gtsv")
def _gtsv(t: T, n: int) -> Iterator[Trial]:
    if not n:
        return
    diagonals, matrix, b = _tridiagonal(t, n)
    given = [*diagonals, b]
    text = _call("gtsv", t, given, [*[(t, (2, n))] * 3, (t, b.shape), _ints(2)])

    def residuals(low: Array, d: Array, high: Array, x: Array, info: Array) -> Mapping[str, float]:
        return {"A X - B": _apart(_product(matrix, x), b, matrix, x)}

    yield Trial(text, given, residuals, lambda *results: {"info": (results[-1].tolist(), [0, 0])})
    zero = [np.zeros_like(x) for x in diagonals]
    yield Trial(text, [*zero, b], _nothing, lambda *results: {"info of zero": (results[-1].tolist(), [1, 1])})


@_problem("tridiagonal_solve_perturbed")
def _perturbed(t: T, n: int) -> Iterator[Trial]:
    if not n:
        return
    diagonals, matrix, b = _tridiagonal(t, n)
    text = _custom_call("tridiagonal_solve_perturbed_ffi", [*diagonals, b], [(t, b.shape)])

    def residuals(x: Array) -> Mapping[str, float]:
        return {"A X - B": _apart(_product(matrix, x), b, matrix, x)}

    yield Trial(text, [*diagonals, b], residuals)
    zero = [np.zeros_like(x) for x in diagonals]
    yield Trial(text, [*zero, b], _nothing, lambda x: {"finite where singular": (bool(np.isfinite(x).all()), True)})


# -- spectra -----------------------------------------------------------------------------------------------------------


@_problem("syevd")
def _syevd(t: T, n: int) -> Iterator[Trial]:
    a = _hermitian(t, n)
    for uplo in "LU":
        text = _call("syevd", t, [a], [(t, a.shape), (T(t.component), (2, n)), _ints(2)], mode="V", uplo=uplo)

        def residuals(v: Array, w: Array, info: Array) -> Mapping[str, float]:
            return {
                "A V - V W": _apart(_product(a, v), _long(v) * w[:, None, :], a),
                "V^H V - I": _unitary(v),
            }

        def facts(v: Array, w: Array, info: Array) -> Mapping[str, tuple[Any, Any]]:
            return {"ascending": (bool(np.all(np.diff(w) >= 0)), True), "info": (info.tolist(), [0, 0])}

        yield Trial(text, [a], residuals, facts)


def _svd(routine: str, t: T, n: int) -> Iterator[Trial]:
    if not n:
        return
    for m, k in _rectangles(n):
        for mode in "AS":
            a, least = _random(t, 2, m, k), min(m, k)
            columns, rows = (least, least) if mode == "S" else (m, k)
            results = [(t, a.shape), (T(t.component), (2, least)), (t, (2, m, columns)), (t, (2, rows, k)), _ints(2)]
            text = _call(routine, t, [a], results, mode=mode)

            def residuals(
                _: Array, s: Array, u: Array, vt: Array, info: Array, a: Array = a, least: int = least
            ) -> Mapping[str, float]:
                product = _product(u[..., :least] * s[:, None, :], vt[..., :least, :])
                return {
                    "U S V^H - A": _apart(product, a, a),
                    "U^H U - I": _unitary(u),
                    "V^H V - I": _unitary(_adjoint(vt)),
                }

            def facts(_: Array, s: Array, *rest: Array) -> Mapping[str, tuple[Any, Any]]:
                ordered = bool(np.all(np.diff(s) <= 0) and np.all(s >= 0))
                return {"descending": (ordered, True), "info": (rest[-1].tolist(), [0, 0])}

            yield Trial(text, [a], residuals, facts)


PROBLEMS["gesdd"] = functools.partial(_svd, "gesdd")
PROBLEMS["gesvd"] = functools.partial(_svd, "gesvd")


@_problem("geev")
def _geev(t: T, n: int) -> Iterator[Trial]:
    """Eigenvectors have norm 1; the residual is that of each pair, relative to the matrix."""
    a, c = _random(t, 2, n, n), t if t.is_complex else T(t.complex)
    values = [(t, (2, n))] if t.is_complex else [(t, (2, n))] * 2
    results = [*values, (c, a.shape), (c, a.shape), _ints(2)]
    text = _call("geev", t, [a], results, compute_left="V", compute_right="V")

    def residuals(*made: Array) -> Mapping[str, float]:
        w = made[0] if t.is_complex else made[0] + 1j * made[1].astype(c.dtype)
        left, right, _ = made[-3:]
        return {
            "A V - V W": _apart(_product(a, right), _long(right) * w[:, None, :], a),
            "U^H A - W U^H": _apart(_product(_adjoint(left), a), w[..., None] * _adjoint(_long(left)), a),
            "|V| - 1": float(np.max(np.abs(np.sum(np.abs(_long(right)) ** 2, axis=-2) - 1), initial=0.0)),
        }

    yield Trial(text, [a], residuals, lambda *made: {"info": (made[-1].tolist(), [0, 0])})


@_problem("gees")
def _gees(t: T, n: int) -> Iterator[Trial]:
    a = _random(t, 2, n, n)
    values = [(t, (2, n))] if t.is_complex else [(t, (2, n))] * 2
    text = _call("gees", t, [a], [(t, a.shape), (t, a.shape), *values, _ints(2), _ints(2)], mode="V", sort="N")

    def residuals(form: Array, z: Array, *rest: Array) -> Mapping[str, float]:
        return {"Z T Z^H - A": _apart(_product(z, form, _adjoint(z)), a, a), "Z^H Z - I": _unitary(z)}

    def facts(form: Array, z: Array, *rest: Array) -> Mapping[str, tuple[Any, Any]]:
        triangular = not np.any(np.tril(form, -1 if t.is_complex else -2))
        return {"triangular": (triangular, True), "info": (rest[-1].tolist(), [0, 0])}

    yield Trial(text, [a], residuals, facts)
