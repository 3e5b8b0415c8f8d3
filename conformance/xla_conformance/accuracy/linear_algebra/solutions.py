"""Systems of equations: triangular ones, and tridiagonal ones."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping

import numpy as np

from xla_conformance.accuracy.linear_algebra.matrices import adjoint, apart, product, random, triangular
from xla_conformance.accuracy.linear_algebra.problems import (
    Problem,
    Trial,
    custom_call,
    ints,
    lapack_call,
    nothing,
    program,
    registering,
)
from xla_core.hlo import ElementType

__all__ = ["PROBLEMS"]

Array = np.ndarray
T = ElementType
PROBLEMS: dict[str, Problem] = {}
_problem = registering(PROBLEMS)


@_problem("triangular-solve")
def _triangular_solve(t: T, n: int) -> Iterator[Trial]:
    for lower in (True, False):
        for left in (True, False):
            for op in ("NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"):
                for unit in (True, False):
                    a, b = triangular(t, n, lower=lower), random(t, 2, *((n, 3) if left else (3, n)), seed=1)
                    flags = f"left_side={left}, lower={lower}, unit_diagonal={unit}, transpose_a={op}"
                    text = program(f"triangular-solve(p0, p1), {_lowered(flags)}", [a, b], [(t, b.shape)])
                    yield Trial(text, [a, b], functools.partial(_solved, a, b, left, op, unit))


def _lowered(flags: str) -> str:
    return flags.replace("True", "true").replace("False", "false")


def _solved(a: Array, b: Array, left: bool, op: str, unit: bool, x: Array) -> Mapping[str, float]:
    matrix = a.copy()
    if unit:
        matrix[..., range(a.shape[-1]), range(a.shape[-1])] = 1
    matrix = {"N": matrix, "T": matrix.swapaxes(-1, -2), "A": adjoint(matrix)}[op[0]]
    return {"A X - B": apart(product(matrix, x) if left else product(x, matrix), b, matrix, x)}


@_problem("trsm")
def _trsm(t: T, n: int) -> Iterator[Trial]:
    for side in "LR":
        for uplo in "LU":
            for trans in "NTC":
                for diag in "NU":
                    a, b = triangular(t, n, lower=uplo == "L"), random(t, 2, *((n, 3) if side == "L" else (3, n)))
                    text = lapack_call(
                        "trsm", t, [a, b], [(t, b.shape)], side=side, uplo=uplo, trans_x=trans, diag=diag
                    )
                    op = {"N": "N", "T": "T", "C": "A"}[trans]
                    yield Trial(text, [a, b], functools.partial(_solved, a, b, side == "L", op, diag == "U"))


def _tridiagonal(t: T, n: int) -> tuple[list[Array], Array, Array]:
    """([low, diagonal, high], the matrix, right sides)."""
    low, d, high = (random(t, 2, n, seed=s) for s in (1, 2, 3))
    low[:, :1], high[:, n - 1 :] = 0, 0
    matrix = np.zeros((2, n, n), t.dtype)
    matrix[:, range(n), range(n)] = d
    matrix[:, range(1, n), range(n - 1)], matrix[:, range(n - 1), range(1, n)] = low[:, 1:], high[:, : n - 1]
    return [low, d, high], matrix, random(t, 2, n, 3, seed=4)


@_problem("gtsv")
def _gtsv(t: T, n: int) -> Iterator[Trial]:
    if not n:
        return
    diagonals, matrix, b = _tridiagonal(t, n)
    given = [*diagonals, b]
    text = lapack_call("gtsv", t, given, [*[(t, (2, n))] * 3, (t, b.shape), ints(2)])

    def residuals(low: Array, d: Array, high: Array, x: Array, info: Array) -> Mapping[str, float]:
        return {"A X - B": apart(product(matrix, x), b, matrix, x)}

    yield Trial(text, given, residuals, lambda *results: {"info": (results[-1].tolist(), [0, 0])})
    zero = [np.zeros_like(x) for x in diagonals]
    yield Trial(text, [*zero, b], nothing, lambda *results: {"info of zero": (results[-1].tolist(), [1, 1])})


@_problem("tridiagonal_solve_perturbed")
def _perturbed(t: T, n: int) -> Iterator[Trial]:
    if not n:
        return
    diagonals, matrix, b = _tridiagonal(t, n)
    text = custom_call("tridiagonal_solve_perturbed_ffi", [*diagonals, b], [(t, b.shape)])

    def residuals(x: Array) -> Mapping[str, float]:
        return {"A X - B": apart(product(matrix, x), b, matrix, x)}

    yield Trial(text, [*diagonals, b], residuals)
    zero = [np.zeros_like(x) for x in diagonals]
    yield Trial(text, [*zero, b], nothing, lambda x: {"finite where singular": (bool(np.isfinite(x).all()), True)})
