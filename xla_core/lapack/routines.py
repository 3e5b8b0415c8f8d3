"""Evaluates the LAPACK custom calls that JAX emits on CPUs (`lapack_spotrf_ffi` and so on), one matrix at a time.

The routines follow LAPACK's documentation and compute in float64 or complex128 with numpy. Where a result is not unique
(signs of eigenvectors), any valid one is returned.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from xla_core.hlo.evaluation.environment import Value
from xla_core.hlo.evaluation.evaluation_context import EvaluationContext
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.ops.custom_calls import register_custom_call
from xla_core.hlo.ops.numerics import widen
from xla_core.hlo.table.backend_config import parse_backend_config
from xla_core.lapack.schur import complex_schur, eigenvalues_of_blocks, real_schur
from xla_core.lapack.signatures import SIGNATURES, TARGETS

Attributes = Mapping[str, Any]
Routine = Callable[..., Sequence[Any]]
"""(attributes, matrices that may be overwritten) -> the results for one matrix."""


def _flag(attributes: Attributes, name: str) -> str:
    return chr(attributes[name])


# -- reflectors --------------------------------------------------------------------------------------------------------


def _reflector(x: np.ndarray) -> tuple[complex, np.ndarray, complex]:
    """Returns (tau, v, beta) with v[0] = 1 and (I - tau v v^H)^H x = (beta, 0, ...), beta real. (LAPACK: larfg)"""
    alpha, v = x[0], x.copy()
    v[0] = 1
    if not np.any(x[1:]) and alpha.imag == 0:
        return 0, v, alpha
    beta = -np.copysign(np.linalg.norm(x), alpha.real)
    v[1:] /= alpha - beta
    return (beta - alpha) / beta, v, beta


def _reflect(matrix: np.ndarray, tau: complex, v: np.ndarray) -> None:
    """Computes (I - tau v v^H) matrix in place."""
    matrix -= tau * np.outer(v, v.conj() @ matrix)


def _reflect_right(matrix: np.ndarray, tau: complex, v: np.ndarray) -> None:
    """Computes matrix (I - tau v v^H) in place."""
    matrix -= tau * np.outer(matrix @ v, v.conj())


def _vector(a: np.ndarray, i: int, rows: int) -> np.ndarray:
    """Returns v of the i-th reflector of a QR factorization."""
    v = np.zeros(rows, a.dtype)
    v[i], v[i + 1 :] = 1, a[i + 1 : rows, i]
    return v


# -- factorizations ----------------------------------------------------------------------------------------------------


def _potrf(attributes: Attributes, a: np.ndarray) -> Sequence[Any]:
    lower = _flag(attributes, "uplo") == "L"
    c = a if lower else a.T.conj()
    info = 0
    for j in range(len(c)):
        pivot = c[j, j].real - np.vdot(c[j, :j], c[j, :j]).real
        c[j, j] = pivot
        if not pivot > 0:
            info = j + 1
            break
        c[j, j] = np.sqrt(pivot)
        c[j + 1 :, j] = (c[j + 1 :, j] - c[j + 1 :, :j] @ c[j, :j].conj()) / c[j, j]
    return c if lower else c.T.conj(), info


def _largest(sizes: np.ndarray) -> int:
    """Returns the index of the largest element, as BLAS's amax does: a NaN counts only if it comes first."""
    return 0 if np.isnan(sizes[0]) else int(np.nanargmax(sizes))


def _getrf(attributes: Attributes, a: np.ndarray) -> Sequence[Any]:
    pivots, info = np.zeros(min(a.shape), np.int32), 0
    for j in range(len(pivots)):
        sizes = np.abs(a[j:, j].real) + np.abs(a[j:, j].imag)
        pivot = j + _largest(sizes)
        pivots[j] = pivot + 1
        a[[j, pivot]] = a[[pivot, j]]
        if a[j, j] == 0:
            info = info or j + 1
            continue
        a[j + 1 :, j] /= a[j, j]
        a[j + 1 :, j + 1 :] -= np.outer(a[j + 1 :, j], a[j, j + 1 :])
    return a, pivots, info


def _geqrf(attributes: Attributes, a: np.ndarray) -> Sequence[Any]:
    a, _, tau = _geqp3(attributes, a, np.ones(a.shape[1]))
    return a, tau


def _geqp3(attributes: Attributes, a: np.ndarray, given: np.ndarray) -> Sequence[Any]:
    """Moves the columns whose number in `given` is not zero to the front, and pivots the others by their remaining
    norm.
    """
    order = np.argsort(given == 0, kind="stable")
    fixed, pivots = int(np.count_nonzero(given)), order + 1
    a = np.ascontiguousarray(a[:, order])
    tau = np.zeros(min(a.shape), a.dtype)
    for i in range(len(tau)):
        if i >= fixed:
            best = i + _largest(np.linalg.norm(a[i:, i:], axis=0))
            a[:, [i, best]], pivots[[i, best]] = a[:, [best, i]], pivots[[best, i]]
        tau[i], v, beta = _reflector(a[i:, i])
        _reflect(a[i:, i + 1 :], tau[i].conj(), v)
        a[i, i], a[i + 1 :, i] = beta, v[1:]
    return a, pivots, tau


def _orgqr(attributes: Attributes, a: np.ndarray, tau: np.ndarray) -> Sequence[Any]:
    q = np.eye(*a.shape, dtype=a.dtype)
    for i in reversed(range(len(tau))):  # earlier reflectors don't change column i (LAPACK: org2r)
        _reflect(q[i:, i:], tau[i], _vector(a, i, len(a))[i:])
    return (q,)


def _ormqr(attributes: Attributes, a: np.ndarray, tau: np.ndarray, c: np.ndarray) -> Sequence[Any]:
    left, adjoint = attributes["left"], attributes["transpose"]
    order: Iterable[int] = range(len(tau))
    rows = c.shape[0] if left else c.shape[1]
    for i in order if left == adjoint else reversed(range(len(tau))):
        apply = _reflect if left else _reflect_right
        apply(c, tau[i].conj() if adjoint else tau[i], _vector(a, i, rows))
    return (c,)


def _gehrd(attributes: Attributes, a: np.ndarray) -> Sequence[Any]:
    low, high = attributes["low"], attributes["high"]
    tau = np.zeros(max(len(a) - 1, 0), a.dtype)
    for i in range(low - 1, high - 1):
        tau[i], v, beta = _reflector(a[i + 1 : high, i])
        _reflect_right(a[:high, i + 1 : high], tau[i], v)
        _reflect(a[i + 1 : high, i + 1 :], tau[i].conj(), v)
        a[i + 1, i], a[i + 2 : high, i] = beta, v[1:]
    return a, tau, 0


def _sytrd(attributes: Attributes, a: np.ndarray) -> Sequence[Any]:
    """Reads one triangle of the matrix and the real part of its diagonal.

    The upper form is computed as the lower form of the matrix with rows and columns reversed.
    """
    if _flag(attributes, "uplo") == "U":
        parts = _sytrd({"uplo": ord("L")}, a[::-1, ::-1].copy())
        return parts[0][::-1, ::-1], *(p[::-1] for p in parts[1:4]), 0
    full = np.tril(a, -1) + np.tril(a, -1).T.conj() + np.diag(np.diagonal(a).real)
    tau, beside = np.zeros(max(len(a) - 1, 0), a.dtype), np.zeros(max(len(a) - 1, 0))
    for i in range(len(tau)):
        tau[i], v, beta = _reflector(full[i + 1 :, i])
        inner = full[i + 1 :, i + 1 :]
        _reflect(inner, tau[i].conj(), v)
        _reflect_right(inner, tau[i], v)
        beside[i] = beta.real
        a[i + 1, i], a[i + 2 :, i] = beta, v[1:]
    diagonal = np.diagonal(full).real
    np.fill_diagonal(a, diagonal)
    return a, diagonal, beside, tau, 0


# -- solving -----------------------------------------------------------------------------------------------------------


def _trsm(attributes: Attributes, a: np.ndarray, b: np.ndarray) -> Sequence[Any]:
    side, uplo, trans, diag = (_flag(attributes, name) for name in ("side", "uplo", "trans_x", "diag"))
    t = np.tril(a) if uplo == "L" else np.triu(a)
    if diag == "U":
        np.fill_diagonal(t, 1)
    t = {"N": t, "T": t.T, "C": t.T.conj()}[trans]
    if side == "R":
        return (_substitute(t.T, b.T, lower=(uplo == "L") != (trans == "N")).T,)
    return (_substitute(t, b, lower=(uplo == "L") == (trans == "N")),)


def _substitute(t: np.ndarray, b: np.ndarray, *, lower: bool) -> np.ndarray:
    x = b.copy()
    for i in range(len(t)) if lower else reversed(range(len(t))):
        known = slice(0, i) if lower else slice(i + 1, None)
        x[i] = (x[i] - t[i, known] @ x[known]) / t[i, i]
    return x


def _gtsv(attributes: Attributes, low: np.ndarray, d: np.ndarray, high: np.ndarray, b: np.ndarray) -> Sequence[Any]:
    """The first element of `low` and the last one of `high` are not part of the matrix."""
    dense = np.diag(d) + np.diag(low[1:], -1) + np.diag(high[:-1], 1)
    lu, pivots, info = _getrf(attributes, dense)
    for i, pivot in enumerate(pivots):
        b[[i, pivot - 1]] = b[[pivot - 1, i]]
    unit = np.tril(lu, -1) + np.eye(len(d))
    x = _substitute(np.triu(lu), _substitute(unit, b, lower=True), lower=False)
    low[1:-1], high[:-1] = np.diagonal(lu, 2), np.diagonal(lu, 1)
    return low, np.diagonal(lu), high, x, info


# -- spectra -----------------------------------------------------------------------------------------------------------


def _syevd(attributes: Attributes, a: np.ndarray) -> Sequence[Any]:
    try:
        values, vectors = np.linalg.eigh(a, "L" if _flag(attributes, "uplo") == "L" else "U")
    except np.linalg.LinAlgError:
        return a, np.zeros(len(a)), 1
    return vectors, values, 0


def _svd(attributes: Attributes, a: np.ndarray) -> Sequence[Any]:
    mode = _flag(attributes, "mode")
    try:
        u, values, vt = np.linalg.svd(a, full_matrices=mode != "S")
    except np.linalg.LinAlgError:
        return a, 0, 0, 0, 1
    return (a, values, u, vt, 0) if mode != "N" else (a, values, 0, 0, 0)


def _geev(attributes: Attributes, a: np.ndarray) -> Sequence[Any]:
    """A matrix with values that aren't finite is refused as in jaxlib: info is -4."""
    left = right = nothing = np.zeros(a.shape)
    if not np.isfinite(a).all():
        return *_split(a, nothing[0]), left, right, -4
    try:
        values, vectors = np.linalg.eig(a)
    except np.linalg.LinAlgError:
        return *_split(a, nothing[0]), left, right, 1
    if _flag(attributes, "compute_right") == "V":
        right = vectors
    if _flag(attributes, "compute_left") == "V":
        left = np.linalg.pinv(vectors).T.conj()
        left = left / np.linalg.norm(left, axis=0)
    return *_split(a, values), left, right, 0


def _split(a: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, ...]:
    """Returns eigenvalues as (values,) for complex matrices, and as (real, imaginary) for real ones, as LAPACK does."""
    return (values,) if a.dtype.kind == "c" else (values.real, values.imag)


def _gees(attributes: Attributes, a: np.ndarray) -> Sequence[Any]:
    schur = complex_schur if a.dtype.kind == "c" else real_schur
    if not np.all(np.isfinite(a)):
        return a, a, *_split(a, np.diagonal(a)), 0, 1
    t, z, converged = schur(a)
    values = (np.diagonal(t),) if a.dtype.kind == "c" else eigenvalues_of_blocks(t)
    return t, z, *values, 0, int(not converged)


# -- the targets -------------------------------------------------------------------------------------------------------

ROUTINES: Mapping[str, Routine] = {
    "potrf": _potrf,
    "getrf": _getrf,
    "geqrf": _geqrf,
    "geqp3": _geqp3,
    "orgqr": _orgqr,
    "ungqr": _orgqr,
    "ormqr": _ormqr,
    "unmqr": _ormqr,
    "trsm": _trsm,
    "syevd": _syevd,
    "heevd": _syevd,
    "gesdd": _svd,
    "gesvd": _svd,
    "geev": _geev,
    "gees": _gees,
    "gehrd": _gehrd,
    "sytrd": _sytrd,
    "hetrd": _sytrd,
    "gtsv": _gtsv,
}


def _batched(name: str, context: EvaluationContext, instruction: HloInstruction, values: list[Value]) -> Value:
    attributes = parse_backend_config(instruction.attribute("backend_config") or "")
    batch, _ = SIGNATURES[name].check(instruction, attributes)
    shapes = instruction.shape.tuple_shapes or (instruction.shape,)
    results = [np.zeros(s.dimensions, s.dtype) for s in shapes]
    for index in np.ndindex(*batch):
        matrices = [widen(v[index]).copy() for v in values]
        for result, made in zip(results, ROUTINES[name](attributes, *matrices), strict=True):
            result[index] = made
    return tuple(results) if instruction.shape.is_tuple else results[0]


for _target, (_name, _) in TARGETS.items():
    register_custom_call(_target)(functools.partial(_batched, _name))
