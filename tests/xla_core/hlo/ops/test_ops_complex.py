"""Elementwise ops of complex numbers against Python's functions, and tables of special values."""

from __future__ import annotations

import cmath

import numpy as np
import pytest

from tests.xla_core.hlo.ops.ops_testing import run

pytestmark = pytest.mark.filterwarnings("ignore:(overflow|invalid value):RuntimeWarning")
NAN, INF = float("nan"), float("inf")

COMPLEX = {
    "exponential": cmath.exp,
    "log": cmath.log,
    "sqrt": cmath.sqrt,
    "sine": cmath.sin,
    "cosine": cmath.cos,
    "tan": cmath.tan,
    "tanh": cmath.tanh,
    "acos": cmath.acos,
    "asin": cmath.asin,
    "atan": cmath.atan,
    "acosh": cmath.acosh,
    "asinh": cmath.asinh,
    "atanh": cmath.atanh,
    "cosh": cmath.cosh,
    "sinh": cmath.sinh,
    "rsqrt": lambda z: 1 / cmath.sqrt(z),
    "cbrt": lambda z: cmath.exp(cmath.log(z) / 3),
    "logistic": lambda z: 1 / (1 + cmath.exp(-z)),
}


@pytest.mark.parametrize("opcode", COMPLEX)
@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_functions_of_complex(opcode: str, dtype: type) -> None:
    rng = np.random.default_rng(11)
    z = (rng.normal(size=200) * 3 + 1j * rng.normal(size=200) * 3).astype(dtype)
    # Both sides of the branch cuts, which the sign of zero tells apart.
    z[:6] = [complex(-2, 0.0), complex(-2, -0.0), complex(2, 0.0), complex(2, -0.0), complex(0.0, 3), complex(-0.0, -3)]
    expected = np.array([COMPLEX[opcode](complex(v)) for v in z])
    np.testing.assert_allclose(run(opcode, z), expected, rtol=3e-7 if dtype == np.complex64 else 2e-15)


def test_complex_near_zero() -> None:
    mpmath = pytest.importorskip("mpmath")
    z = np.array([1e-9 + 2e-9j, -3e-12 + 1e-5j, 1e-20j, 0.3 - 0.2j, -0.5 + 1e-8j, 2 + 3j])
    with mpmath.workprec(200):
        expm1 = np.array([complex(mpmath.exp(mpmath.mpc(v)) - 1) for v in z])
        log1p = np.array([complex(mpmath.log(1 + mpmath.mpc(v))) for v in z])
    for opcode, expected in (("exponential-minus-one", expm1), ("log-plus-one", log1p)):
        result = run(opcode, z)
        np.testing.assert_allclose(result.real, expected.real, rtol=1e-14, atol=1e-300)
        np.testing.assert_allclose(result.imag, expected.imag, rtol=1e-14, atol=1e-300)


def test_complex_arithmetic() -> None:
    rng = np.random.default_rng(2)
    a, b = ((rng.normal(size=50) + 1j * rng.normal(size=50)).astype(np.complex64) for _ in range(2))
    wide_a, wide_b = a.astype(np.complex128), b.astype(np.complex128)
    product = run("multiply", a, b)  # one product of each part is rounded, the other only with the sum
    np.testing.assert_array_equal(product.real, (wide_a.real * b.real - a.imag * b.imag).astype(np.float32))
    np.testing.assert_array_equal(product.imag, (wide_a.imag * b.real + a.real * b.imag).astype(np.float32))
    np.testing.assert_allclose(product, wide_a * wide_b, rtol=1e-6)
    np.testing.assert_array_equal(run("divide", a, b), (wide_a / wide_b).astype(np.complex64))
    np.testing.assert_allclose(run("power", a, b), wide_a**wide_b, rtol=1e-6)
    np.testing.assert_array_equal(run("abs", a), np.abs(wide_a).astype(np.float32))
    np.testing.assert_array_equal(run("real", a), a.real)
    np.testing.assert_array_equal(run("imag", a), a.imag)
    np.testing.assert_array_equal(run("complex", a.real, a.imag), a)
    np.testing.assert_allclose(run("sign", a), wide_a / np.abs(wide_a), rtol=1e-6)
    np.testing.assert_array_equal(run("compare", a, a, direction="EQ"), np.ones(50, bool))


def test_complex_division_by_zero_and_infinity() -> None:
    a = np.array([1 + 2j, 1 + 1j, complex(INF, 1), 0j])
    b = np.array([0j, complex(INF, INF), 1 + 1j, 0j])
    result = run("divide", a, b)
    assert np.isinf(result[0].real)
    assert np.isinf(result[0].imag)
    assert result[1] == 0
    assert np.isinf(result[2].real)
    assert np.isnan(result[3].real)
