"""Errors of the elementary functions in units of the last place, against float64 and mpmath."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
import scipy.special
from xla_conformance.accuracy.bounds import bound

from tests.xla_core.codegen.llvm.kernels import Loaded, array, fuse, host_abi
from xla_core.codegen.llvm import LoopAbi
from xla_core.hlo.values.element_type import ElementType as T

_erf = np.vectorize(math.erf, otypes=[np.float64])
_erfc = np.vectorize(math.erfc, otypes=[np.float64])

# opcode: (numpy in float64, mpmath's name, where it is defined)
FUNCTIONS: dict[str, tuple[Callable[[np.ndarray], np.ndarray], str, tuple[float, float]]] = {
    "exponential": (np.exp, "exp", (-np.inf, np.inf)),
    "exponential-minus-one": (np.expm1, "expm1", (-np.inf, np.inf)),
    "log": (np.log, "log", (0, np.inf)),
    "log-plus-one": (np.log1p, "log1p", (-1, np.inf)),
    "logistic": (lambda x: 1 / (1 + np.exp(-x)), "logistic", (-np.inf, np.inf)),
    "tanh": (np.tanh, "tanh", (-np.inf, np.inf)),
    "sine": (np.sin, "sin", (-np.inf, np.inf)),
    "cosine": (np.cos, "cos", (-np.inf, np.inf)),
    "tan": (np.tan, "tan", (-np.inf, np.inf)),
    "atan": (np.arctan, "atan", (-np.inf, np.inf)),
    "asin": (np.arcsin, "asin", (-1, 1)),
    "acos": (np.arccos, "acos", (-1, 1)),
    "sinh": (np.sinh, "sinh", (-np.inf, np.inf)),
    "cosh": (np.cosh, "cosh", (-np.inf, np.inf)),
    "asinh": (np.arcsinh, "asinh", (-np.inf, np.inf)),
    "acosh": (np.arccosh, "acosh", (1, np.inf)),
    "atanh": (np.arctanh, "atanh", (-1, 1)),
    "cbrt": (np.cbrt, "cbrt", (-np.inf, np.inf)),
    "rsqrt": (lambda x: 1 / np.sqrt(x), "rsqrt", (0, np.inf)),
    "erf": (_erf, "erf", (-np.inf, np.inf)),
    "erfc": (_erfc, "erfc", (-np.inf, 1e4)),  # mpmath overflows beyond
    "erf-inv": (lambda x: np.copysign(scipy.special.erfinv(x), x), "erfinv", (-1, 1)),  # scipy loses the sign of -0
}


def limit_of(opcode: str, element_type: str) -> float:
    """The documented bound, in ULP."""
    limit = bound("real", opcode.replace("-", "_"), element_type, "emitter")
    assert limit is not None
    return limit


def points(dtype: type, domain: tuple[float, float], count: int) -> np.ndarray:
    """Makes bit patterns of all exponents, denormals, numbers around 0 and 1, hundreds, and huge angles."""
    rng = np.random.default_rng(1)
    bits = np.uint32 if dtype == np.float32 else np.uint64
    limits = np.finfo(dtype)
    values = np.concatenate(
        [
            rng.integers(0, np.iinfo(bits).max, count, bits).view(dtype),
            rng.uniform(-2, 2, count).astype(dtype),
            rng.uniform(-110, 110, count).astype(dtype),
            (1 + rng.uniform(-1e-3, 1e-3, count)).astype(dtype),
            (10.0 ** rng.uniform(-9, 9, count) * rng.choice([-1, 1], count)).astype(dtype),
            np.array([limits.tiny, limits.smallest_subnormal, limits.max, -limits.max, 1, -1, 0.5], dtype),
        ]
    )
    values = np.abs(values) if domain[0] == 0 else values
    return values[np.isfinite(values) & (values > domain[0]) & (values < domain[1])]


def native(opcode: str, t: T, *operands: np.ndarray, abi: LoopAbi | None = None) -> np.ndarray:
    shapes = [array(t, len(o)) for o in operands]
    return Loaded(fuse(lambda c, *p: c.add(opcode, *p), *shapes), abi)(*operands)[0]


def ulps_of_f32(got: np.ndarray, exact: np.ndarray) -> np.ndarray:
    """Errors against float64 values; what rounds to infinity must be infinite."""
    limits = np.finfo(np.float32)
    with np.errstate(all="ignore"):
        exponent = np.clip(np.frexp(exact)[1] - 1, limits.minexp, limits.maxexp - 1)
        unit = np.ldexp(1.0, exponent - limits.nmant)
        over = np.abs(exact) >= float(limits.max) + np.ldexp(1.0, limits.maxexp - 2 - limits.nmant)
        error = np.abs(got.astype(np.float64) - exact) / unit
    return np.where(over, np.where(np.isinf(got), 0, np.inf), np.where(np.isnan(error), np.inf, error))


def check_f32(opcode: str, count: int, abi: LoopAbi | None = None, allowed: float | None = None) -> None:
    reference, _, domain = FUNCTIONS[opcode]
    x = points(np.float32, domain, count)
    with np.errstate(all="ignore"):
        error = ulps_of_f32(native(opcode, T.F32, x, abi=abi), reference(x.astype(np.float64)))
    worst = int(np.argmax(error))
    assert error[worst] <= (allowed or limit_of(opcode, "f32")), (
        f"{opcode}({x[worst]!r}) is off by {error[worst]:.3f} ULP"
    )


@pytest.mark.parametrize("opcode", FUNCTIONS)
def test_f32(opcode: str) -> None:
    check_f32(opcode, 20_000)


@pytest.mark.slow
@pytest.mark.parametrize("opcode", FUNCTIONS)
def test_f32_on_ten_million_points(opcode: str) -> None:
    check_f32(opcode, 2_000_000)


@pytest.mark.parametrize("opcode", FUNCTIONS)
def test_f32_without_fma(opcode: str) -> None:
    host = host_abi()
    abi = LoopAbi(host.triple, host.cpu, host.features, vector_width=256, has_fma=False)
    check_f32(opcode, 2_000, abi, allowed=3.0)


@pytest.mark.parametrize("opcode", FUNCTIONS)
def test_f64(opcode: str) -> None:
    mpmath = pytest.importorskip("mpmath")
    _, name, domain = FUNCTIONS[opcode]
    x = points(np.float64, domain, 60)
    got = native(opcode, T.F64, x)
    special = {
        "logistic": lambda v: 1 / (1 + mpmath.exp(-v)),
        "rsqrt": lambda v: 1 / mpmath.sqrt(v),
        "cbrt": lambda v: mpmath.sign(v) * mpmath.cbrt(abs(v)),
    }
    function = special.get(name) or getattr(mpmath, name)
    limits = np.finfo(np.float64)
    with mpmath.workprec(200):
        for value, result in zip(x, got, strict=True):
            exact = function(mpmath.mpf(float(value)))
            if abs(exact) > mpmath.mpf(float(limits.max)):
                assert np.isinf(result), f"{opcode}({value!r})"
                continue
            exponent = max(mpmath.frexp(exact)[1] - 1, limits.minexp) if exact else limits.minexp
            error = abs(mpmath.mpf(float(result)) - exact) / mpmath.mpf(2) ** (exponent - limits.nmant)
            assert error <= limit_of(opcode, "f64"), f"{opcode}({value!r}) is off by {float(error):.3f} ULP"


@pytest.mark.parametrize("opcode", ["sine", "cosine", "tan"])
def test_f64_next_to_multiples_of_half_pi(opcode: str) -> None:
    """The numbers that are hardest to reduce: some 60 digits of the quotient's fraction are 0 or 1."""
    mpmath = pytest.importorskip("mpmath")
    x = np.array([6381956970095103.0 * 2.0**797, 7.656365554517797e59, 3.48449143727041e41, 2.604693137843693e238])
    with mpmath.workprec(1500):
        for value, result in zip(x, native(opcode, T.F64, x), strict=True):
            exact = getattr(mpmath, FUNCTIONS[opcode][1])(mpmath.mpf(float(value)))
            assert abs(mpmath.mpf(float(result)) / exact - 1) < mpmath.mpf(2) ** -51


EDGES = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 2.0, -3.0, 0.5, -2.5, 1e300, -1e300, 5e-324])


@pytest.mark.parametrize("t", [T.F32, T.F64], ids=str)
@pytest.mark.parametrize("opcode", FUNCTIONS)
def test_edges(opcode: str, t: T) -> None:
    with np.errstate(all="ignore"):
        x = EDGES.astype(t.dtype)
        expected = FUNCTIONS[opcode][0](x.astype(np.float64)).astype(t.dtype)
        got = native(opcode, t, x)
    np.testing.assert_allclose(got, expected, rtol=1e-6 if t is T.F32 else 1e-13, atol=0)
    if opcode != "acosh":
        zeros = (got == 0) & (expected == 0)
        np.testing.assert_array_equal(np.signbit(got[zeros]), np.signbit(expected[zeros]))


@pytest.mark.parametrize("t", [T.F32, T.F64], ids=str)
@pytest.mark.parametrize(("opcode", "reference"), [("power", np.power), ("atan2", np.arctan2)])
def test_edges_of_two(opcode: str, reference: Callable[..., np.ndarray], t: T) -> None:
    with np.errstate(all="ignore"):
        a, b = (v.ravel().astype(t.dtype) for v in np.meshgrid(EDGES, EDGES))
        expected = reference(a, b)
        got = native(opcode, t, a, b)
    np.testing.assert_allclose(got, expected, rtol=1e-6 if t is T.F32 else 1e-13, atol=0)
    np.testing.assert_array_equal(np.signbit(got[expected == 0]), np.signbit(expected[expected == 0]))


def test_power_and_atan2_in_f32() -> None:
    rng = np.random.default_rng(2)
    x = np.exp(rng.uniform(-80, 80, 20_000)).astype(np.float32)
    y = rng.uniform(-40, 40, 20_000).astype(np.float32) / np.maximum(1, np.abs(np.log(x)) / 2)
    y = y.astype(np.float32)
    assert ulps_of_f32(native("power", T.F32, x, y), np.power(x.astype(np.float64), y)).max() <= 1
    a, b = (rng.standard_normal((2, 20_000)) * 10.0 ** rng.uniform(-20, 20, (2, 20_000))).astype(np.float32)
    assert ulps_of_f32(native("atan2", T.F32, a, b), np.arctan2(a.astype(np.float64), b)).max() <= 2


def test_atan2_of_denormal_numbers() -> None:
    step = 5e-324
    y, x = np.array([1.0, 2, 3, 5, 70]) * step, np.array([2.0, 1, 7, 9, 33]) * step
    exact = np.arctan2(y / step, x / step)
    np.testing.assert_allclose(native("atan2", T.F64, y, x), exact, rtol=4e-16, atol=0)


def test_power_in_f64() -> None:
    mpmath = pytest.importorskip("mpmath")
    rng = np.random.default_rng(3)
    x = np.concatenate([np.exp(rng.uniform(-300, 300, 300)), 1 + rng.uniform(-1e-3, 1e-3, 300)])
    y = rng.uniform(-1, 1, 600) * 700 / np.maximum(np.abs(np.log(x)), 1e-3)
    with mpmath.workprec(200):
        for a, b, result in zip(x, y, native("power", T.F64, x, y), strict=True):
            exact = mpmath.power(mpmath.mpf(float(a)), mpmath.mpf(float(b)))
            assert abs(mpmath.mpf(float(result)) - exact) <= abs(exact) * mpmath.mpf(2) ** -51


COMPLEX = {
    "exponential": np.exp,
    "exponential-minus-one": np.expm1,
    "log": np.log,
    "log-plus-one": np.log1p,
    "sqrt": np.sqrt,
    "rsqrt": lambda z: 1 / np.sqrt(z),
    "sine": np.sin,
    "cosine": np.cos,
    "tan": np.tan,
    "tanh": np.tanh,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
    "logistic": lambda z: 1 / (1 + np.exp(-z)),
    "cbrt": lambda z: np.exp(np.log(z) / 3),
}


@pytest.mark.parametrize("opcode", COMPLEX)
def test_complex(opcode: str) -> None:
    rng = np.random.default_rng(4)
    z = (rng.standard_normal(2000) + 1j * rng.standard_normal(2000)) * np.exp(rng.uniform(-3, 3, 2000))
    for t, limit in ((T.C64, 2e-7), (T.C128, 2e-14)):
        values = z.astype(t.dtype)
        exact = COMPLEX[opcode](values.astype(np.complex128))
        got = native(opcode, t, values).astype(np.complex128)
        assert np.max(np.abs(got - exact) / np.abs(exact)) < limit


@pytest.mark.parametrize("opcode", ["log", "sqrt", "asin", "acos", "atan", "acosh", "asinh", "atanh"])
def test_branch_cuts(opcode: str) -> None:
    """Points on both sides of each branch cut, by the sign of the zero."""
    parts = [2.0, -2.0, 0.5, -0.5]
    z = np.array(
        [complex(a, b) for a in parts for b in (0.0, -0.0)] + [complex(a, b) for a in (0.0, -0.0) for b in parts]
    )
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(native(opcode, T.C128, z), COMPLEX[opcode](z), rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("t", [T.BF16, T.F16], ids=str)
def test_sixteen_bit_floats_are_computed_in_f32(t: T) -> None:
    """Every value: at most one rounding from the exact result."""
    values = np.arange(1 << 16, dtype=np.uint16).view(t.dtype)
    values = values[np.isfinite(values.astype(np.float32))]
    with np.errstate(all="ignore"):
        for opcode in ("tanh", "exponential", "sine"):
            exact = FUNCTIONS[opcode][0](values.astype(np.float64))
            got = native(opcode, t, values)
            want = exact.astype(np.float32).astype(t.dtype)
            assert np.mean(got.view(np.uint16) == want.view(np.uint16)) > 0.999
