"""Systems of equations with triangular and tridiagonal matrices."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator, Mapping

import numpy as np

from xla_conformance.accuracy.linear_algebra.matrices import adjoint, apart, product, random, triangular
from xla_conformance.accuracy.linear_algebra.problems import (
    Problem,
    Trial,
    custom_call,
    info_is,
    ints,
    lapack_call,
    nothing,
    program,
)
from xla_core.hlo import ElementType

Array = np.ndarray
T = ElementType

_TRIANGULAR = tuple(itertools.product((True, False), (True, False), "NTA", (True, False)))
"""Each (lower, left_side, transpose_a, unit_diagonal)."""


def _residuals(a: Array, b: Array, x: Array, left: bool = True) -> Mapping[str, float]:
    return {"A X - B": apart(product(a, x) if left else product(x, a), b, a, x)}


def _system(t: T, n: int, lower: bool, left: bool, op: str, unit: bool) -> tuple[list[Array], Array]:
    """Makes [triangular matrices, right sides], and the matrices with the op and the unit diagonal applied."""
    a, b = triangular(t, n, lower=lower), random(t, 2, *((n, 3) if left else (3, n)), seed=1)
    matrix = a.copy()
    if unit:
        matrix[..., range(n), range(n)] = 1
    return [a, b], {"N": matrix, "T": matrix.swapaxes(-1, -2), "A": adjoint(matrix)}[op]


def _triangular_solve(t: T, n: int) -> Iterator[Trial]:
    names = {"N": "NO_TRANSPOSE", "T": "TRANSPOSE", "A": "ADJOINT"}
    for lower, left, op, unit in _TRIANGULAR:
        (a, b), matrix = _system(t, n, lower, left, op, unit)
        flags = f"left_side={left}, lower={lower}, unit_diagonal={unit}".lower()
        text = program(f"triangular-solve(p0, p1), {flags}, transpose_a={names[op]}", [a, b], [(t, b.shape)])
        yield Trial(text, [a, b], functools.partial(_residuals, matrix, b, left=left))


def _trsm(t: T, n: int) -> Iterator[Trial]:
    for lower, left, op, unit in _TRIANGULAR:
        (a, b), matrix = _system(t, n, lower, left, op, unit)
        letters = {"side": "RL"[left], "uplo": "UL"[lower], "trans_x": "C" if op == "A" else op, "diag": "NU"[unit]}
        text = lapack_call("trsm", t, [a, b], [(t, b.shape)], **letters)
        yield Trial(text, [a, b], functools.partial(_residuals, matrix, b, left=left))


def _tridiagonal(t: T, n: int) -> tuple[list[Array], Array]:
    """Makes [low, diagonal, high, right sides], and the matrices."""
    low, d, high = (random(t, 2, n, seed=s) for s in (1, 2, 3))
    low[:, :1], high[:, n - 1 :] = 0, 0
    matrix = np.zeros((2, n, n), t.dtype)
    matrix[:, range(n), range(n)] = d
    matrix[:, range(1, n), range(n - 1)], matrix[:, range(n - 1), range(1, n)] = low[:, 1:], high[:, : n - 1]
    return [low, d, high, random(t, 2, n, 3, seed=4)], matrix


def _zero_matrix(system: list[Array]) -> list[Array]:
    return [*map(np.zeros_like, system[:3]), system[3]]


def _gtsv(t: T, n: int) -> Iterator[Trial]:
    if not n:
        return
    system, matrix = _tridiagonal(t, n)
    b = system[3]
    text = lapack_call("gtsv", t, system, [*[(t, (2, n))] * 3, (t, b.shape), ints(2)])
    yield Trial(text, system, lambda *results: _residuals(matrix, b, results[3]), info_is(0, 0))
    yield Trial(text, _zero_matrix(system), nothing, info_is(1, 1, of="info of zero"))


def _perturbed(t: T, n: int) -> Iterator[Trial]:
    if not n:
        return
    system, matrix = _tridiagonal(t, n)
    b = system[3]
    text = custom_call("tridiagonal_solve_perturbed_ffi", system, [(t, b.shape)])
    yield Trial(text, system, functools.partial(_residuals, matrix, b))
    singular = _zero_matrix(system)
    yield Trial(text, singular, nothing, lambda x: {"finite where singular": (bool(np.isfinite(x).all()), True)})


PROBLEMS: dict[str, Problem] = {
    "triangular-solve": _triangular_solve,
    "trsm": _trsm,
    "gtsv": _gtsv,
    "tridiagonal_solve_perturbed": _perturbed,
}
