"""Batches of two matrices, and distances between matrices."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from xla_core.hlo import ElementType

Array = np.ndarray
T = ElementType


def random(t: T, *shape: int, seed: int = 0) -> Array:
    generator = np.random.default_rng([seed, *shape])
    values: Any = generator.standard_normal(shape)
    if t.is_complex:
        values = values + 1j * generator.standard_normal(shape)
    return np.asarray(values).astype(t.dtype)


def hermitian(t: T, n: int, seed: int = 0) -> Array:
    a = random(t, 2, n, n, seed=seed)
    return np.asarray((a + adjoint(a)) / 2)


def positive(t: T, n: int, seed: int = 0) -> Array:
    a = random(t, 2, n, n, seed=seed)
    return np.asarray(a @ adjoint(a) + np.eye(n, dtype=t.dtype)).astype(t.dtype)


def triangular(t: T, n: int, *, lower: bool) -> Array:
    """Makes triangular matrices whose diagonal dominates the other elements."""
    a = random(t, 2, n, n) / max(n, 1) + 2 * np.eye(n, dtype=t.dtype)
    return np.asarray(np.tril(a) if lower else np.triu(a)).astype(t.dtype)


def adjoint(a: Array) -> Array:
    return np.asarray(np.conj(a).swapaxes(-1, -2))


def long(a: Array) -> Array:
    return a.astype(np.clongdouble if a.dtype.kind == "c" else np.longdouble)


def norm(a: Array) -> float:
    """Returns the largest Frobenius norm of the batch."""
    return float(np.sqrt(np.max(np.sum(np.abs(a) ** 2, axis=(-2, -1)), initial=0.0)))


def product(*factors: Array) -> Array:
    return np.asarray(functools.reduce(np.matmul, map(long, factors)))


def apart(x: Array, y: Array, *scales: Array) -> float:
    """Returns |x - y| divided by the product of the norms of `scales`."""
    scale = float(np.prod([norm(s) for s in scales]))
    distance = norm(x - y)
    return distance / scale if distance else 0.0


def unitary(q: Array) -> float:
    """Returns the norm of Q^H Q - I, which is 0 for orthonormal columns."""
    return norm(product(adjoint(q), q) - np.eye(q.shape[-1]))
