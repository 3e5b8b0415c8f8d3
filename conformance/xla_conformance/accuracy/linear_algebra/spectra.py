"""Spectra: eigenvalues of Hermitian and of general matrices, singular values, Schur forms."""

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
    product,
    random,
    unitary,
)
from xla_conformance.accuracy.linear_algebra.problems import Problem, Trial, info_is, ints, lapack_call, rectangles
from xla_core.hlo import ElementType

Array = np.ndarray
T = ElementType


def _syevd(t: T, n: int) -> Iterator[Trial]:
    a = hermitian(t, n)
    for uplo in "LU":
        text = lapack_call("syevd", t, [a], [(t, a.shape), (T(t.component), (2, n)), ints(2)], mode="V", uplo=uplo)

        def residuals(v: Array, w: Array, info: Array) -> Mapping[str, float]:
            return {
                "A V - V W": apart(product(a, v), long(v) * w[:, None, :], a),
                "V^H V - I": unitary(v),
            }

        def facts(v: Array, w: Array, info: Array) -> Mapping[str, tuple[Any, Any]]:
            return {"ascending": (bool(np.all(np.diff(w) >= 0)), True), **info_is(0, 0)(info)}

        yield Trial(text, [a], residuals, facts)


def _svd(routine: str, t: T, n: int) -> Iterator[Trial]:
    if not n:
        return
    for m, k in rectangles(n):
        for mode in "AS":
            a, least = random(t, 2, m, k), min(m, k)
            columns, rows = (least, least) if mode == "S" else (m, k)
            results = [(t, a.shape), (T(t.component), (2, least)), (t, (2, m, columns)), (t, (2, rows, k)), ints(2)]
            text = lapack_call(routine, t, [a], results, mode=mode)

            def residuals(
                _: Array, s: Array, u: Array, vt: Array, info: Array, a: Array = a, least: int = least
            ) -> Mapping[str, float]:
                made = product(u[..., :least] * s[:, None, :], vt[..., :least, :])
                return {
                    "U S V^H - A": apart(made, a, a),
                    "U^H U - I": unitary(u),
                    "V^H V - I": unitary(adjoint(vt)),
                }

            def facts(_: Array, s: Array, *rest: Array) -> Mapping[str, tuple[Any, Any]]:
                ordered = bool(np.all(np.diff(s) <= 0) and np.all(s >= 0))
                return {"descending": (ordered, True), **info_is(0, 0)(*rest)}

            yield Trial(text, [a], residuals, facts)


def _geev(t: T, n: int) -> Iterator[Trial]:
    """Eigenvectors have norm 1; the residual is that of each pair, relative to the matrix."""
    a, c = random(t, 2, n, n), t if t.is_complex else T(t.complex)
    values = [(t, (2, n))] if t.is_complex else [(t, (2, n))] * 2
    results = [*values, (c, a.shape), (c, a.shape), ints(2)]
    text = lapack_call("geev", t, [a], results, compute_left="V", compute_right="V")

    def residuals(*made: Array) -> Mapping[str, float]:
        w = made[0] if t.is_complex else made[0] + 1j * made[1].astype(c.dtype)
        left, right, _ = made[-3:]
        return {
            "A V - V W": apart(product(a, right), long(right) * w[:, None, :], a),
            "U^H A - W U^H": apart(product(adjoint(left), a), w[..., None] * adjoint(long(left)), a),
            "|V| - 1": float(np.max(np.abs(np.sum(np.abs(long(right)) ** 2, axis=-2) - 1), initial=0.0)),
        }

    yield Trial(text, [a], residuals, info_is(0, 0))


def _gees(t: T, n: int) -> Iterator[Trial]:
    a = random(t, 2, n, n)
    values = [(t, (2, n))] if t.is_complex else [(t, (2, n))] * 2
    text = lapack_call("gees", t, [a], [(t, a.shape), (t, a.shape), *values, ints(2), ints(2)], mode="V", sort="N")

    def residuals(form: Array, z: Array, *rest: Array) -> Mapping[str, float]:
        return {"Z T Z^H - A": apart(product(z, form, adjoint(z)), a, a), "Z^H Z - I": unitary(z)}

    def facts(form: Array, z: Array, *rest: Array) -> Mapping[str, tuple[Any, Any]]:
        triangular = not np.any(np.tril(form, -1 if t.is_complex else -2))
        return {"triangular": (triangular, True), **info_is(0, 0)(*rest)}

    yield Trial(text, [a], residuals, facts)


PROBLEMS: dict[str, Problem] = {
    "syevd": _syevd,
    "gesdd": functools.partial(_svd, "gesdd"),
    "gesvd": functools.partial(_svd, "gesvd"),
    "geev": _geev,
    "gees": _gees,
}
