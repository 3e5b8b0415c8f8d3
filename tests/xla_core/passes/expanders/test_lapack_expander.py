"""LAPACK's routines as loops: their residuals on matrices of several shapes, in the units of `xla accuracy`."""

from __future__ import annotations

import functools
import zlib

import numpy as np
import pytest
from xla_conformance.accuracy.linear_algebra.cases import PROBLEMS

import xla_core as xla
from xla_core.hlo import ElementType, HloModule, Opcode
from xla_core.passes import create_pass

TYPES = (ElementType.F32, ElementType.F64, ElementType.C64, ElementType.C128)
BOUND = 10.0  # n eps, the bound of backends
ROUTINES = [name for name in PROBLEMS if name not in ("cholesky", "triangular-solve")]


def _cases() -> list[object]:
    """All routines in all types. One in twenty is not slow."""
    cases = []
    for name in ROUTINES:
        for t in TYPES:
            marks = [] if zlib.crc32(f"{name} {t}".encode()) % 20 == 0 else [pytest.mark.slow]
            cases.append(pytest.param(name, t, id=f"{name}-{t}", marks=marks))
    return cases


@functools.cache
def _client() -> xla.Client:
    return xla.Client("cpu")


def _expanded(text: str) -> HloModule:
    module = xla.parse(text)
    create_pass("lapack-expander").run(module)
    assert not [i for c in module.computations for i in c.instructions if i.opcode == Opcode.CUSTOM_CALL]
    return module


@pytest.mark.parametrize(("routine", "element_type"), _cases())
def test_residuals_are_within_the_bound(routine: str, element_type: ElementType) -> None:
    eps = float(np.finfo(element_type.dtype).eps)
    for n in (0, 1, 2, 5):
        for trial in PROBLEMS[routine](element_type, n):
            results = [np.asarray(r) for r in _client().compile(_expanded(trial.program))(*trial.arguments)]
            for what, residual in trial.residuals(*results).items():
                assert residual <= BOUND * max(n, 1) * eps, (what, n)
            for what, (found, expected) in trial.facts(*results).items():
                assert found == expected, (what, n)


@pytest.mark.slow
@pytest.mark.parametrize("routine", ROUTINES)
def test_large_matrices_are_within_the_bound(routine: str) -> None:
    t, n = ElementType.F32, 60
    for trial in PROBLEMS[routine](t, n):
        results = [np.asarray(r) for r in _client().compile(_expanded(trial.program))(*trial.arguments)]
        for what, residual in trial.residuals(*results).items():
            assert residual <= BOUND * n * float(np.finfo(t.dtype).eps), what


@pytest.mark.parametrize("target", ["Eigh", "Qr"])
def test_calls_of_accelerators_are_expanded_too(target: str) -> None:
    a = np.random.default_rng(3).standard_normal((3, 4, 4)).astype(np.float32)
    a = a + a.swapaxes(1, 2)
    second = "f32[3,4]"
    text = f"""HloModule m
ENTRY main {{
  a = f32[3,4,4] parameter(0)
  ROOT r = (f32[3,4,4], {second}) custom-call(a), custom_call_target="{target}"
}}"""
    found = [np.asarray(r) for r in _client().compile(_expanded(text))(a)]
    wanted = [np.asarray(r) for r in xla.evaluate(xla.parse(text), a)]
    np.testing.assert_allclose(found[1], wanted[1], atol=1e-5)
    np.testing.assert_allclose(np.abs(found[0]), np.abs(wanted[0]), atol=1e-5)


@pytest.mark.parametrize("letter", ["s", "c"])
def test_eigenvalues_and_vectors_of_general_matrices_are_in_the_order_and_phase_of_lapack(letter: str) -> None:
    rng, count = np.random.default_rng(5), 12
    a = rng.standard_normal((count, 4, 4)).astype(np.float32)
    if letter == "c":
        a = a + 1j * rng.standard_normal(a.shape).astype(np.float32)
    kind, values = ("f32", "f32[12,4], f32[12,4]") if letter == "s" else ("c64", "c64[12,4]")
    text = f"""HloModule m
ENTRY e {{
  a = {kind}[12,4,4] parameter(0)
  ROOT r = ({values}, c64[12,4,4], c64[12,4,4], s32[12]) custom-call(a), custom_call_target="lapack_{letter}geev_ffi",
    api_version=API_VERSION_TYPED_FFI, backend_config={{compute_left = 86 : ui8, compute_right = 86 : ui8}}
}}"""
    *found, left, right, _ = [np.asarray(r) for r in _client().compile(_expanded(text))(a)]
    w = found[0] + 1j * found[1] if letter == "s" else found[0]
    for here, x, y, matrix in zip(w, left, right, a, strict=True):
        np.testing.assert_allclose(matrix @ y, y * here, atol=2e-5)
        np.testing.assert_allclose(x.conj().T @ matrix, here[:, None] * x.conj().T, atol=2e-5)
        for vectors in (x, y):
            pivots = np.take_along_axis(vectors, np.abs(vectors).argmax(0)[None], 0)
            np.testing.assert_allclose(pivots.imag, 0, atol=1e-6)
        if letter == "s":
            first = np.flatnonzero(here.imag > 0)
            np.testing.assert_array_equal(here[first + 1], here[first].conj())
            assert 2 * len(first) == np.count_nonzero(here.imag)
    assert letter == "c" or np.count_nonzero(w.imag)


def test_other_calls_stay() -> None:
    text = """HloModule m
ENTRY main {
  x = f32[4] parameter(0)
  ROOT r = f32[4] custom-call(x), custom_call_target="acme_scale"
}"""
    assert not create_pass("lapack-expander").run(xla.parse(text))


def test_a_target_without_lapack_runs_its_calls() -> None:
    text = """HloModule m
ENTRY main {
  a = f32[5,3] parameter(0)
  f = (f32[5,3], f32[3]) custom-call(a), custom_call_target="lapack_sgeqrf_ffi"
  ROOT r = f32[5,3] get-tuple-element(f), index=0
}"""
    a = np.random.default_rng(4).standard_normal((5, 3)).astype(np.float32)
    (got,) = xla.Client("template").compile(text)(a)
    (wanted,) = xla.evaluate(xla.parse(text), a)
    np.testing.assert_allclose(np.asarray(got), wanted, atol=1e-5)


@pytest.mark.parametrize("uplo", ["L", "U"])
def test_a_matrix_that_is_not_positive_keeps_the_pivot_that_says_so(uplo: str) -> None:
    text = f"""HloModule m
ENTRY e {{
  a = f32[3,3] parameter(0)
  ROOT r = (f32[3,3], s32[]) custom-call(a), custom_call_target="lapack_spotrf_ffi", api_version=API_VERSION_TYPED_FFI,
    backend_config={{uplo = {ord(uplo)} : ui8}}
}}
"""
    a = np.array([[4, 2, 2], [2, -3, 1], [2, 1, 5]], np.float32)
    for found, expected in zip(xla.evaluate(_expanded(text), a), xla.evaluate(xla.parse(text), a), strict=True):
        np.testing.assert_array_equal(found, expected)
