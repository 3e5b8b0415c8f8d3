"""Schur forms: a = z t z^H with unitary z and triangular t (real matrices: but for blocks of two on the diagonal).

By shifted QR steps on the active corner of a Hessenberg matrix. (Golub and Van Loan, Matrix Computations, 7.4, 7.5; the
form of the blocks is LAPACK's, dlanv2.)
"""

from __future__ import annotations

import numpy as np

__all__ = ["complex_schur", "eigenvalues_of_blocks", "real_schur"]

Array = np.ndarray

_STEPS = 100  # QR steps an eigenvalue


def complex_schur(a: Array) -> tuple[Array, Array, bool]:
    """(t, z, whether it converged) of a square complex matrix."""
    scale = _scale(a)
    t, z = _hessenberg(a / scale)
    end, steps = len(a), 0
    while end > 0 and steps < _STEPS:
        start = _active(t, end)
        if start == end - 1:
            end, steps = start, 0
            continue
        steps += 1
        _single_step(t, z, start, end, exceptional=steps % 10 == 0)
    return np.triu(t) * scale, z, end == 0


def real_schur(a: Array) -> tuple[Array, Array, bool]:
    """(t, z, whether it converged) of a square real matrix. Blocks of two have equal diagonal elements, and others of
    opposite signs: a pair of complex eigenvalues.
    """
    scale = _scale(a)
    t, z = _hessenberg(a / scale)
    end, steps = len(a), 0
    while end > 0 and steps < _STEPS:
        start = _active(t, end)
        if end - start <= 2:
            if end - start == 2:
                _standardize(t, z, start)
            end, steps = start, 0
            continue
        steps += 1
        _double_step(t, z, start, end, exceptional=steps % 10 == 0)
    for i in range(len(a)):
        t[i + 1 + (i + 1 < len(a) and t[i + 1, i] != 0) :, i] = 0
    return t * scale, z, end == 0


def eigenvalues_of_blocks(t: Array) -> tuple[Array, Array]:
    """(real parts, imaginary parts) of a real Schur form's eigenvalues."""
    below, above = np.diagonal(t, -1), np.diagonal(t, 1)
    size = np.sqrt(np.abs(below)) * np.sqrt(np.abs(above))
    imag = np.zeros(len(t))
    pairs = np.nonzero(below)[0]
    imag[pairs], imag[pairs + 1] = size[pairs], -size[pairs]
    return np.diagonal(t).copy(), imag


def _scale(a: Array) -> float:
    """A power of two about as large as the matrix, whose squares could overflow or vanish."""
    return float(2.0 ** np.clip(np.frexp(np.max(np.abs(a), initial=0.0))[1], -1000, 1000))


def _turn(t: Array, z: Array, first: int, v: Array) -> None:
    """T and z after the reflection along v on the rows and columns from `first`."""
    norm = np.vdot(v, v).real
    if norm == 0:
        return
    rows, across = slice(first, first + len(v)), 2 / norm * v.conj()
    t[rows] -= np.outer(v, across @ t[rows])
    t[:, rows] -= np.outer(t[:, rows] @ v, across)
    z[:, rows] -= np.outer(z[:, rows] @ v, across)


def _mirror(x: Array) -> Array:
    """The direction of the reflection that takes x to a multiple of the first unit vector."""
    size = np.max(np.abs(x))
    if not size > 0 or not np.any(x[1:]):
        return np.zeros_like(x)
    v: Array = x / size
    phase = v[0] / np.abs(v[0]) if v[0] != 0 else 1
    v[0] += phase * np.linalg.norm(v)
    return v


def _hessenberg(a: Array) -> tuple[Array, Array]:
    t, z = a.copy(), np.eye(len(a), dtype=a.dtype)
    for i in range(len(a) - 2):
        _turn(t, z, i + 1, _mirror(t[i + 1 :, i]))
        t[i + 2 :, i] = 0
    return t, z


def _active(t: Array, end: int) -> int:
    """Where the last block before `end` that doesn't fall apart begins."""
    for i in range(end - 1, 0, -1):
        beside = np.abs(t[i, i]) + np.abs(t[i - 1, i - 1])
        if np.abs(t[i, i - 1]) <= np.finfo(np.float64).eps * (beside if beside > 0 else np.max(np.abs(t))):
            t[i, i - 1] = 0
            return i
    return 0


def _single_step(t: Array, z: Array, start: int, end: int, *, exceptional: bool) -> None:
    """One QR step with the eigenvalue of the last corner that is nearest to its last element as shift. (Wilkinson.)"""
    shifts = np.linalg.eigvals(t[end - 2 : end, end - 2 : end])
    shift = shifts[np.argmin(np.abs(shifts - t[end - 1, end - 1]))]
    if exceptional:
        shift += np.abs(t[end - 1, end - 2])
    x = np.array([t[start, start] - shift, t[start + 1, start]])
    for k in range(start, end - 1):
        if k > start:
            x = t[k : k + 2, k - 1].copy()
        _turn(t, z, k, _mirror(x))
        if k > start:
            t[k + 1, k - 1] = 0


def _double_step(t: Array, z: Array, start: int, end: int, *, exceptional: bool) -> None:
    """One QR step with both eigenvalues of the last corner as shifts. (Francis.)"""
    corner = t[end - 2 : end, end - 2 : end]
    trace, determinant = corner[0, 0] + corner[1, 1], corner[0, 0] * corner[1, 1] - corner[0, 1] * corner[1, 0]
    if exceptional:
        size = np.abs(t[end - 1, end - 2]) + np.abs(t[end - 2, end - 3])
        trace, determinant = 1.5 * size, size * size
    h = t[start : start + 3, start : start + 2]
    x = np.array(
        [
            h[0, 0] * (h[0, 0] - trace) + h[0, 1] * h[1, 0] + determinant,
            h[1, 0] * (h[0, 0] + h[1, 1] - trace),
            h[1, 0] * h[2, 1],
        ]
    )
    for k in range(start, end - 1):
        if k > start:
            x = t[k : min(k + 3, end), k - 1].copy()
        _turn(t, z, k, _mirror(x[: end - k]))
        if k > start:
            t[k + 1 : min(k + 3, end), k - 1] = 0


def _standardize(t: Array, z: Array, i: int) -> None:
    """Turns the block of two at i: triangular, or with equal diagonal elements."""
    for _ in range(2):  # equal diagonal elements may turn out to have real eigenvalues
        (a, b), (c, d) = t[i : i + 2, i : i + 2]
        if c == 0:
            return
        half = (a - d) / 2
        below = half * half + b * c
        if below >= 0:
            x = np.array([half + np.copysign(np.sqrt(below), half), c])
            _rotate(t, z, i, x / np.linalg.norm(x))
            t[i + 1, i] = 0
            return
        if a == d:
            return
        sigma = b + c
        tau = np.hypot(sigma, a - d)
        cosine = np.sqrt((1 + np.abs(sigma) / tau) / 2)
        _rotate(t, z, i, np.array([cosine, -(half / (tau * cosine)) * np.copysign(1.0, sigma)]))
        t[i, i] = t[i + 1, i + 1] = (t[i, i] + t[i + 1, i + 1]) / 2


def _rotate(t: Array, z: Array, i: int, x: Array) -> None:
    """T and z in the basis whose i-th vector is x there."""
    turn = np.array([[x[0], -x[1]], [x[1], x[0]]])
    rows = slice(i, i + 2)
    t[rows] = turn.T @ t[rows]
    t[:, rows] = t[:, rows] @ turn
    z[:, rows] = z[:, rows] @ turn
