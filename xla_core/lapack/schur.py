"""Schur forms: a = z t z^H with unitary z and triangular t (for real matrices, with 2x2 blocks on the diagonal).

Shifted QR steps run on the active part of a Hessenberg matrix. (Golub and Van Loan, Matrix Computations, 7.4, 7.5; the
form of the blocks is that of LAPACK's dlanv2.)
"""

from __future__ import annotations

import numpy as np

Array = np.ndarray

_STEPS = 100  # QR steps for each eigenvalue


def complex_schur(a: Array) -> tuple[Array, Array, bool]:
    """Returns (t, z, whether the iteration converged) of a square complex matrix."""
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
    """Returns (t, z, whether the iteration converged) of a square real matrix.

    A 2x2 block stands for a pair of complex eigenvalues. Its diagonal elements are equal, and its other elements have
    opposite signs.
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
    """Returns (real parts, imaginary parts) of the eigenvalues of a real Schur form."""
    below, above = np.diagonal(t, -1), np.diagonal(t, 1)
    size = np.sqrt(np.abs(below)) * np.sqrt(np.abs(above))
    imag = np.zeros(len(t))
    pairs = np.nonzero(below)[0]
    imag[pairs], imag[pairs + 1] = size[pairs], -size[pairs]
    return np.diagonal(t).copy(), imag


def _scale(a: Array) -> float:
    """Returns a power of two near the largest element. Squares of the matrix divided by it don't over- or underflow."""
    return float(2.0 ** np.clip(np.frexp(np.max(np.abs(a), initial=0.0))[1], -1000, 1000))


def _turn(t: Array, z: Array, first: int, v: Array) -> None:
    """Applies the reflection along v in place to t and z, on the rows and columns from `first` on."""
    norm = np.vdot(v, v).real
    if norm == 0:
        return
    rows, across = slice(first, first + len(v)), 2 / norm * v.conj()
    t[rows] -= np.outer(v, across @ t[rows])
    t[:, rows] -= np.outer(t[:, rows] @ v, across)
    z[:, rows] -= np.outer(z[:, rows] @ v, across)


def _mirror(x: Array) -> Array:
    """Returns the direction of the reflection that maps x to a multiple of the first unit vector."""
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
    """Returns the start of the last unreduced block before `end`."""
    for i in range(end - 1, 0, -1):
        beside = np.abs(t[i, i]) + np.abs(t[i - 1, i - 1])
        if np.abs(t[i, i - 1]) <= np.finfo(np.float64).eps * (beside if beside > 0 else np.max(np.abs(t))):
            t[i, i - 1] = 0
            return i
    return 0


def _single_step(t: Array, z: Array, start: int, end: int, *, exceptional: bool) -> None:
    """Makes one QR step.

    The shift is the eigenvalue of the last 2x2 corner nearest to its last element. (Wilkinson.)
    """
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
    """Makes one QR step whose shifts are both eigenvalues of the last 2x2 corner. (Francis.)"""
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
    """Rotates the 2x2 block at i so that it is triangular or has equal diagonal elements."""
    for _ in range(2):  # a block with equal diagonal elements may have real eigenvalues
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
    """Changes the basis of t and z in place so that x is the i-th basis vector of the block."""
    turn = np.array([[x[0], -x[1]], [x[1], x[0]]])
    rows = slice(i, i + 2)
    t[rows] = turn.T @ t[rows]
    t[:, rows] = t[:, rows] @ turn
    z[:, rows] = z[:, rows] @ turn
