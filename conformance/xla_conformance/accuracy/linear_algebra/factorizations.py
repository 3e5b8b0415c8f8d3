"""Factorizations: Cholesky's, LU, QR, and the reductions to Hessenberg and tridiagonal form."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from xla_conformance.accuracy.linear_algebra.matrices import (
    adjoint,
    apart,
    hermitian,
    long,
    norm,
    positive,
    product,
    random,
    unitary,
)
from xla_conformance.accuracy.linear_algebra.problems import (
    Problem,
    Trial,
    info_is,
    ints,
    lapack_call,
    nothing,
    program,
    rectangles,
)
from xla_core.hlo import ElementType

Array = np.ndarray
T = ElementType


def _cholesky_residuals(a: Array, lower: bool, c: Array, *info: Array) -> Mapping[str, float]:
    c = np.tril(c) if lower else adjoint(np.triu(c))
    return {"L L^H - A": apart(product(c, adjoint(c)), a, a)}


def _indefinite(a: Array, row: int) -> Array:
    """Makes the second matrix of a batch indefinite, so that the factorization stops at a row."""
    bad = a.copy()
    bad[1, row, row] = -1
    return bad


def _cholesky(t: T, n: int) -> Iterator[Trial]:
    a = positive(t, n)
    texts = [program(f"cholesky(p0), lower={lower}", [a], [(t, a.shape)]) for lower in ("true", "false")]
    for text, lower in zip(texts, (True, False), strict=True):
        yield Trial(text, [a], functools.partial(_cholesky_residuals, a, lower))
    if n:
        bad = _indefinite(a, n - 1)
        yield Trial(texts[0], [bad], nothing, lambda c: {"NaN where not definite": (bool(np.isnan(c[1]).any()), True)})


def _potrf(t: T, n: int) -> Iterator[Trial]:
    a = positive(t, n)
    texts = [lapack_call("potrf", t, [a], [(t, a.shape), ints(2)], uplo=uplo) for uplo in "LU"]
    for text, lower in zip(texts, (True, False), strict=True):
        yield Trial(text, [a], functools.partial(_cholesky_residuals, a, lower), info_is(0, 0))
    if n:
        facts = info_is(0, n // 2 + 1, of="info of an indefinite matrix")
        yield Trial(texts[0], [_indefinite(a, n // 2)], nothing, facts)


def _getrf(t: T, n: int) -> Iterator[Trial]:
    for m, k in rectangles(n):
        a, least = random(t, 2, m, k), min(m, k)
        text = lapack_call("getrf", t, [a], [(t, a.shape), ints(2, least), ints(2)])

        def residuals(lu: Array, pivots: Array, info: Array, a: Array = a, least: int = least) -> Mapping[str, float]:
            lower = np.tril(lu[..., :least], -1) + np.eye(a.shape[-2], least)
            upper = np.triu(lu[..., :least, :])
            permuted = a.copy()
            for matrix, rows in zip(permuted, pivots, strict=True):
                for i, other in enumerate(rows):
                    matrix[[i, other - 1]] = matrix[[other - 1, i]]
            return {"L U - P A": apart(product(lower, upper), permuted, lower, upper)}

        yield Trial(text, [a], residuals, info_is(0, 0))
    if n:
        singular = np.zeros((2, n, n), t.dtype)
        text = lapack_call("getrf", t, [singular], [(t, singular.shape), ints(2, n), ints(2)])
        yield Trial(text, [singular], nothing, info_is(1, 1, of="info of zero"))


def _reflectors(factors: Array, tau: Array) -> Array:
    """Computes the product of the reflections whose vectors are below the diagonal."""
    rows = factors.shape[-2]
    q = np.broadcast_to(np.eye(rows), (*factors.shape[:-2], rows, rows)).astype(long(factors).dtype)
    for i in range(tau.shape[-1] - 1, -1, -1):
        v = long(np.tril(factors, -1)[..., :, i])
        v[..., i] = 1
        q = q - long(tau)[..., i, None, None] * (v[..., :, None] * (np.conj(v)[..., None, :] @ q))
    return np.asarray(q)


def _geqrf(t: T, n: int) -> Iterator[Trial]:
    for m, k in rectangles(n):
        a, least = random(t, 2, m, k), min(m, k)
        text = lapack_call("geqrf", t, [a], [(t, a.shape), (t, (2, least))])

        def residuals(factors: Array, tau: Array, a: Array = a) -> Mapping[str, float]:
            q = _reflectors(factors, tau)
            return {"Q R - A": apart(product(q, np.triu(factors)), a, a), "Q^H Q - I": unitary(q)}

        yield Trial(text, [a], residuals)
        if m < k or not n:
            continue
        factors, tau = _house(a)
        q = _reflectors(factors, tau)[..., :k]
        text = lapack_call("orgqr", t, [factors, tau], [(t, a.shape)])
        yield Trial(text, [factors, tau], lambda made, q=q: {"Q": norm(made - q), "Q^H Q - I": unitary(made)})


def _house(a: Array) -> tuple[Array, Array]:
    """Makes reflections with arbitrary vectors, stored below the diagonal, and tau = 2 / |v|^2 for each."""
    factors = a / np.asarray(max(a.shape[-2], 1), a.real.dtype)
    vectors = np.tril(factors, -1)
    tau = 2 / (1 + np.sum(np.abs(long(vectors)) ** 2, axis=-2))
    return factors.astype(a.dtype), tau.astype(a.dtype)


def _ormqr(t: T, n: int) -> Iterator[Trial]:
    if not n:
        return
    factors, tau = _house(random(t, 2, n, n))
    q = _reflectors(factors, tau)
    for left in (True, False):
        c = random(t, 2, *((n, 3) if left else (3, n)), seed=3)
        for turned in (True, False):
            text = lapack_call("ormqr", t, [factors, tau, c], [(t, c.shape)], left=left, transpose=turned)
            op = adjoint(q) if turned else q
            exact = product(op, c) if left else product(c, op)
            yield Trial(text, [factors, tau, c], lambda made, e=exact, c=c: {"Q C": apart(made, e, c)})


def _geqp3(t: T, n: int) -> Iterator[Trial]:
    for m, k in rectangles(n):
        a, least, free = random(t, 2, m, k), min(m, k), np.zeros((2, k), np.int32)
        text = lapack_call("geqp3", t, [a, free], [(t, a.shape), ints(2, k), (t, (2, least))])

        def residuals(factors: Array, pivots: Array, tau: Array, a: Array = a) -> Mapping[str, float]:
            permuted = np.take_along_axis(a, pivots[:, None, :].astype(np.int64) - 1, axis=-1)
            q = _reflectors(factors, tau)
            return {"Q R - A P": apart(product(q, np.triu(factors)), permuted, a)}

        def falls(factors: Array, pivots: Array, tau: Array) -> Mapping[str, tuple[Any, Any]]:
            sizes = np.abs(np.diagonal(factors, axis1=-2, axis2=-1)).astype(np.float64)
            ordered = bool(np.all(sizes[..., 1:] <= sizes[..., :-1] * 1.001))
            return {"the diagonal falls": (ordered, True)}

        yield Trial(text, [a, free], residuals, falls)


def _gehrd(t: T, n: int) -> Iterator[Trial]:
    if not n:
        return
    a = random(t, 2, n, n)
    text = lapack_call("gehrd", t, [a], [(t, a.shape), (t, (2, n - 1)), ints(2)], high=n, low=1)

    def residuals(factors: Array, tau: Array, info: Array) -> Mapping[str, float]:
        q = _below(factors, tau)
        return {"Q H Q^H - A": apart(product(q, np.triu(factors, -1), adjoint(q)), a, a), "Q^H Q - I": unitary(q)}

    yield Trial(text, [a], residuals)


def _below(factors: Array, tau: Array) -> Array:
    """Computes Q for reflectors that begin below the diagonal."""
    q = np.broadcast_to(np.eye(factors.shape[-1]), factors.shape).astype(long(factors).dtype)
    q[..., 1:, 1:] = _reflectors(factors[..., 1:, :-1], tau)
    return q


def _sytrd(t: T, n: int) -> Iterator[Trial]:
    if not n:
        return
    a, part = hermitian(t, n), T(t.component)
    results = [(t, a.shape), (part, (2, n)), (part, (2, n - 1)), (t, (2, n - 1)), ints(2)]
    text = lapack_call("sytrd", t, [a], results, uplo="L")

    def residuals(factors: Array, d: Array, e: Array, tau: Array, info: Array) -> Mapping[str, float]:
        q = _below(factors, tau)
        middle = np.zeros(a.shape, long(a).dtype)
        middle[..., range(n), range(n)] = d
        middle[..., range(1, n), range(n - 1)] = middle[..., range(n - 1), range(1, n)] = e
        return {"Q T Q^H - A": apart(product(q, middle, adjoint(q)), a, a), "Q^H Q - I": unitary(q)}

    yield Trial(text, [a], residuals)


PROBLEMS: dict[str, Problem] = {
    "cholesky": _cholesky,
    "potrf": _potrf,
    "getrf": _getrf,
    "geqrf, orgqr": _geqrf,
    "ormqr": _ormqr,
    "geqp3": _geqp3,
    "gehrd": _gehrd,
    "sytrd": _sytrd,
}
