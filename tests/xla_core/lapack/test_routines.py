"""LAPACK's routines in the evaluator on matrices that aren't finite: values that LAPACK doesn't touch stay."""

from __future__ import annotations

import numpy as np
import pytest

import xla_core as xla

LU = """HloModule m

ENTRY main {
  p0 = f32[4,4] parameter(0)
  ROOT r = (f32[4,4], s32[4], s32[]) custom-call(p0), custom_call_target="lapack_sgetrf_ffi",
    api_version=API_VERSION_TYPED_FFI, backend_config={}
}
"""

QR = """HloModule m

ENTRY main {
  p0 = f32[4,4] parameter(0)
  qr = (f32[4,4], f32[4]) custom-call(p0), custom_call_target="lapack_sgeqrf_ffi",
    api_version=API_VERSION_TYPED_FFI, backend_config={}
  factors = f32[4,4] get-tuple-element(qr), index=0
  tau = f32[4] get-tuple-element(qr), index=1
  ROOT q = f32[4,4] custom-call(factors, tau), custom_call_target="lapack_sorgqr_ffi",
    api_version=API_VERSION_TYPED_FFI, backend_config={}
}
"""


@pytest.fixture
def matrix():
    return np.random.default_rng(0).standard_normal((4, 4)).astype(np.float32)


def test_a_nan_is_no_pivot_unless_it_comes_first(matrix):
    """As BLAS's amax compares."""
    matrix[:, 0] = [1, 3, np.nan, 2]
    _, pivots, info = xla.evaluate(xla.parse(LU), matrix)
    assert pivots[0] == 2
    assert info == 0
    matrix[:, 0] = [np.nan, 1, 2, 3]
    assert xla.evaluate(xla.parse(LU), matrix)[1][0] == 1


def test_columns_of_q_before_a_nan_are_finite(matrix):
    """As LAPACK's org2r makes them: a reflector changes no column before its own."""
    matrix[2, 1] = np.nan
    (q,) = xla.evaluate(xla.parse(QR), matrix)
    assert np.isfinite(q[:, 0]).all()
    assert np.isnan(q[:, 1:]).all()
    first = matrix[:, 0] / np.linalg.norm(matrix[:, 0])
    np.testing.assert_allclose(np.abs(q[:, 0]), np.abs(first), rtol=1e-5)
