"""Properties of factorizations that don't depend on the signs, phases and bases that an algorithm chooses.

Each check returns numbers, in units of n * eps * (the matrix's largest singular value, or 1 for unitary factors).
"""

from __future__ import annotations

import numpy as np

Array = np.ndarray


def _adjoint(a: Array) -> Array:
    return np.conj(np.swapaxes(a, -1, -2))


def _error(difference: Array, like: Array, scale: Array | float = 1.0) -> float:
    n = max(1, *difference.shape[-2:])
    unit = n * float(np.finfo(like.dtype).eps) * float(max(np.max(np.abs(scale), initial=0.0), 1e-30))
    return float(np.max(np.abs(difference), initial=0.0)) / unit


def _unitary(u: Array) -> float:
    return _error(_adjoint(u).astype(np.complex128) @ u - np.eye(u.shape[-1]), u)


def singular_values(a: Array, s: Array, u: Array | None = None, vh: Array | None = None) -> list[float]:
    """A = U S V^H, with U and V of orthonormal columns; S is what numpy has for A in double precision, in its order."""
    wide = np.linalg.svd(a.astype(np.result_type(a, np.float64)), compute_uv=False)
    errors = [_error((s - wide)[..., None], a, wide)]
    if u is None or vh is None:
        return errors
    k = s.shape[-1]
    product = (u[..., :k].astype(np.complex128) * s[..., None, :]) @ vh[..., :k, :]
    return [*errors, _error(product - a, a, wide), _unitary(u), _unitary(_adjoint(vh))]


def hermitian_eigen(a: Array, v: Array, w: Array) -> list[float]:
    """A V = V diag(w) with V unitary, and w ascending."""
    wide = np.linalg.eigvalsh(a.astype(np.result_type(a, np.float64)))
    residual = a.astype(np.complex128) @ v - v * w[..., None, :].astype(np.float64)
    return [_error((w - wide)[..., None], a, wide), _error(residual, a, wide), _unitary(v)]


def eigen(a: Array, w: Array, left: Array | None = None, right: Array | None = None) -> list[float]:
    """A R = R diag(w) and L^H A = diag(w) L^H, with columns of length 1; the sum of w is the trace."""
    trace = np.trace(a.astype(np.complex128), axis1=-2, axis2=-1)
    norm = np.linalg.norm(a.astype(np.complex128), 2, axis=(-2, -1)) if a.size else 0.0
    errors = [_error((w.sum(-1) - trace)[..., None, None] / max(a.shape[-1], 1), a, norm)]
    for matrix, vectors, values in ((a, right, w), (_adjoint(a), left, np.conj(w))):
        if vectors is None:
            continue
        residual = matrix.astype(np.complex128) @ vectors - vectors * values[..., None, :].astype(np.complex128)
        lengths = np.linalg.norm(vectors.astype(np.complex128), axis=-2, keepdims=True)
        errors += [_error(residual, a, norm), _error(lengths - 1, a)]
    return errors


def schur(a: Array, t: Array, z: Array) -> list[float]:
    """A = Z T Z^H with Z unitary; below its diagonal T has 2 by 2 blocks where it is real, and nothing else."""
    norm = np.linalg.norm(a.astype(np.complex128), 2, axis=(-2, -1))
    product = z.astype(np.complex128) @ t @ _adjoint(z)
    below = np.tril(t, -2 if t.dtype.kind == "f" else -1)
    return [_error(product - a, a, norm), _unitary(z), _error(below, a, norm)]
