"""Schur forms: residuals, the form, eigenvalues against numpy's."""

from __future__ import annotations

import numpy as np
import pytest

from xla_core.lapack.schur import complex_schur, eigenvalues_of_blocks, real_schur

KINDS = {
    "random": lambda a: a,
    "symmetric": lambda a: a + a.T,
    "skew": lambda a: a - a.T,
    "whole numbers": np.round,
    "zero": np.zeros_like,
    "one Jordan block": lambda a: np.eye(len(a), k=1),
    "cycle": lambda a: np.roll(np.eye(len(a)), 1, axis=0),
    "tiny": lambda a: a * 1e-290,
    "huge": lambda a: a * 1e290,
}


def check(a, form, z):
    n, scale = max(len(a), 1), np.max(np.abs(a), initial=1e-290)
    a, form = a / scale, form / scale
    eps = np.finfo(np.float64).eps
    assert np.linalg.norm(z @ form @ z.conj().T - a) <= 10 * n * eps * np.linalg.norm(a)
    assert np.linalg.norm(z.conj().T @ z - np.eye(len(a))) <= 10 * n * eps


def near(values, wanted, scale):
    for value in wanted:
        assert np.min(np.abs(values - value)) <= 1e-9 * scale


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [0, 1, 2, 3, 6, 17])
def test_real(kind, n):
    for seed in range(5):
        a = KINDS[kind](np.random.default_rng(seed).standard_normal((n, n)))
        form, z, converged = real_schur(a)
        assert converged
        check(a, form, z)
        assert not np.any(np.tril(form, -2))
        below = np.diagonal(form, -1)
        assert not np.any((below[1:] != 0) & (below[:-1] != 0))
        for i in np.nonzero(below)[0]:
            assert form[i, i] == form[i + 1, i + 1]
            assert np.sign(form[i, i + 1]) * np.sign(form[i + 1, i]) < 0
        real, imag = eigenvalues_of_blocks(form)
        if kind not in ("one Jordan block", "whole numbers"):  # whose eigenvalues coincide
            near(real + 1j * imag, np.linalg.eigvals(a), np.max(np.abs(a), initial=1e-300) * n)


@pytest.mark.parametrize("n", [0, 1, 2, 3, 6, 17])
def test_complex(n):
    random = np.random.default_rng(n)
    a = random.standard_normal((n, n)) + 1j * random.standard_normal((n, n))
    form, z, converged = complex_schur(a)
    assert converged
    check(a, form, z)
    assert not np.any(np.tril(form, -1))
    near(np.diagonal(form), np.linalg.eigvals(a), n)
