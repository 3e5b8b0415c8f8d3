"""cholesky and triangular_solve in every form, by what their results satisfy in double precision."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from tests.xla_core.stablehlo.ops.meaning.programs import DTYPES, main, type_of

TYPES = ["f32", "f64", "complex<f32>", "complex<f64>"]


def random(element: str, *shape: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=shape)
    if "complex" in element:
        x = x + 1j * rng.normal(size=shape)
    return x.astype(DTYPES[element])


def adjoint(a: np.ndarray) -> np.ndarray:
    return np.conj(np.swapaxes(a, -1, -2))


def eps(array: np.ndarray) -> float:
    return float(np.finfo(array.dtype).eps)


@pytest.mark.parametrize("shape", [(5, 5), (1, 1), (0, 0), (2, 3, 4, 4), (33, 33), (0, 3, 3)])
@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("element", TYPES)
def test_cholesky(run, element: str, lower: bool, shape: tuple[int, ...]) -> None:
    """L L^H is A; only the triangle that is named is read; of the other nothing is said, and we write zeros."""
    n = shape[-1]
    b = random(element, *shape)
    a = (b @ adjoint(b) + n * np.eye(n)).astype(b.dtype)
    given = np.tril(a) if lower else np.triu(a)
    given = given + (np.triu(np.full(shape, 1e3), 1) if lower else np.tril(np.full(shape, 1e3), -1)).astype(b.dtype)
    type = type_of(a)
    text = main([type], [f"%0 = stablehlo.cholesky %a0, lower = {str(lower).lower()} : {type}"], [("%0", type)])
    (got,) = run(text, given)
    factor = got.astype(np.complex128)
    factor = np.tril(factor) if lower else adjoint(np.triu(factor))
    residual = np.abs(factor @ adjoint(factor) - a)
    assert np.max(residual, initial=0) <= (n + 4) * eps(a) * np.max(np.abs(a), initial=0)
    diagonal = np.diagonal(got, axis1=-2, axis2=-1)
    assert np.all(diagonal.real > 0)
    assert np.all(diagonal.imag == 0)


@pytest.mark.parametrize("element", TYPES)
def test_cholesky_of_what_is_not_definite(run, element: str) -> None:
    a = np.stack([np.eye(3), -np.eye(3)]).astype(DTYPES[element])
    type = type_of(a)
    (got,) = run(main([type], [f"%0 = stablehlo.cholesky %a0, lower = true : {type}"], [("%0", type)]), a)
    np.testing.assert_array_equal(np.tril(got[0]), np.eye(3))
    assert np.all(np.isnan(got[1][np.tril_indices(3)]))


FORMS = list(itertools.product([True, False], [True, False], [True, False], ["NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"]))


@pytest.mark.parametrize("batch", [(), (2, 3)])
@pytest.mark.parametrize("element", TYPES)
def test_triangular_solve(run, element: str, batch: tuple[int, ...]) -> None:
    """All 24 forms in one program: op(A) X = B, or X op(A) = B; the other triangle is never read."""
    n, k = 6, 3
    a = random(element, *batch, n, n, seed=1) + 4 * np.eye(n)
    a = a.astype(DTYPES[element])
    left, right = random(element, *batch, n, k, seed=2), random(element, *batch, k, n, seed=3)
    types = [type_of(v) for v in (a, left, right)]
    lines, results = [], []
    for i, (left_side, lower, unit, transpose) in enumerate(FORMS):
        b = 1 if left_side else 2
        lines.append(
            f'%{i} = "stablehlo.triangular_solve"(%a0, %a{b}) {{left_side = {str(left_side).lower()}, lower = '
            f"{str(lower).lower()}, unit_diagonal = {str(unit).lower()}, transpose_a = #stablehlo<transpose {transpose}>}} "
            f": ({types[0]}, {types[b]}) -> {types[b]}"
        )
        results.append((f"%{i}", types[b]))
    outs = run(main(types, lines, results), a, left, right)
    for (left_side, lower, unit, transpose), x in zip(FORMS, outs, strict=True):
        t = (np.tril(a) if lower else np.triu(a)).astype(np.complex128)
        if unit:
            t = t - t * np.eye(n) + np.eye(n)
        t = {"NO_TRANSPOSE": t, "TRANSPOSE": np.swapaxes(t, -1, -2), "ADJOINT": adjoint(t)}[transpose]
        wide, b = x.astype(np.complex128), (left if left_side else right)
        product = t @ wide if left_side else wide @ t
        bound = np.abs(t) @ np.abs(wide) if left_side else np.abs(wide) @ np.abs(t)
        assert np.all(np.abs(product - b) <= 4 * n * eps(a) * bound), (left_side, lower, unit, transpose)


@pytest.mark.parametrize("shape", [((0, 0), (0, 3)), ((3, 3), (3, 0)), ((1, 1), (1, 1)), ((40, 40), (40, 5))])
def test_triangular_solve_of_odd_sizes(run, shape) -> None:
    a = (random("f64", *shape[0]) / 8 + 4 * np.eye(shape[0][0])).astype(np.float64)
    b = random("f64", *shape[1])
    types = [type_of(a), type_of(b)]
    line = (
        '%0 = "stablehlo.triangular_solve"(%a0, %a1) {left_side = true, lower = true, unit_diagonal = false, '
        f"transpose_a = #stablehlo<transpose NO_TRANSPOSE>}} : ({types[0]}, {types[1]}) -> {types[1]}"
    )
    (x,) = run(main(types, [line], [("%0", types[1])]), a, b)
    np.testing.assert_allclose(np.tril(a) @ x, b, atol=1e-13)
