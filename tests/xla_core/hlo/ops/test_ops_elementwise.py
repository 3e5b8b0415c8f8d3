"""Elementwise ops against numpy in float64, exact integer arithmetic in Python, and tables of special values."""

from __future__ import annotations

import math

import ml_dtypes
import numpy as np
import pytest
import scipy.special
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.xla_core.hlo.ops.ops_testing import bounds, run
from xla_core.hlo import ElementType

FLOATS = [t for t in ElementType if t.is_array and t.is_floating]
pytestmark = pytest.mark.filterwarnings("ignore:(overflow|invalid value):RuntimeWarning")

INTEGERS = [t for t in ElementType if t.is_array and t.is_integral]
NAN, INF = float("nan"), float("inf")


def wrapped(value: int, t: ElementType) -> int:
    value &= (1 << t.bit_width) - 1
    return value - (1 << t.bit_width) if t.is_signed and value >> (t.bit_width - 1) else value


def truncated(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


EXACT = {
    "add": lambda a, b, t: a + b,
    "subtract": lambda a, b, t: a - b,
    "multiply": lambda a, b, t: a * b,
    "divide": lambda a, b, t: truncated(a, b) if b else -1,
    "remainder": lambda a, b, t: a - truncated(a, b) * b if b else a,
    "maximum": lambda a, b, t: max(a, b),
    "minimum": lambda a, b, t: min(a, b),
    "and": lambda a, b, t: a & b,
    "or": lambda a, b, t: a | b,
    "xor": lambda a, b, t: a ^ b,
    "mulhi": lambda a, b, t: (a * b) >> t.bit_width,
    "shift-left": lambda a, b, t: a << (b % (1 << t.bit_width)) if b % (1 << t.bit_width) < t.bit_width else 0,
    "shift-right-logical": lambda a, b, t: (a % (1 << t.bit_width)) >> min(b % (1 << t.bit_width), t.bit_width),
    "shift-right-arithmetic": lambda a, b, t: (
        wrapped(a, ElementType(f"s{t.bit_width}")) >> min(b % (1 << t.bit_width), t.bit_width - 1)
    ),
}


@pytest.mark.parametrize("opcode", EXACT)
@pytest.mark.parametrize("t", INTEGERS, ids=str)
def test_integers(opcode: str, t: ElementType) -> None:
    low, high = bounds(t)
    rng = np.random.default_rng(7)
    some = [
        low,
        low + 1,
        -1 if low else high - 1,
        0,
        1,
        2,
        3 if high > 3 else 1,
        high - 1,
        high,
        t.bit_width % (high + 1),
    ]
    some = sorted({v for v in some if low <= v <= high})
    pairs = [(a, b) for a in some for b in some]
    pairs += [(int(a), int(b)) for a, b in rng.integers(low, high, (50, 2), np.uint64 if high > 2**63 else np.int64)]
    a, b = (np.array([p[i] for p in pairs], np.uint64 if high > 2**63 else np.int64).astype(t.dtype) for i in (0, 1))
    expected = [wrapped(EXACT[opcode](x, y, t), t) for x, y in pairs]
    assert [int(v) for v in run(opcode, a, b)] == expected


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_power_of_integers(data: st.DataObject) -> None:
    t = data.draw(st.sampled_from([ElementType.S8, ElementType.S32, ElementType.U64, ElementType.S4]))
    low, high = bounds(t)
    base, exponent = data.draw(st.integers(low, high)), data.draw(st.integers(max(low, -5), min(high, 70)))
    result = run("power", np.array([base]).astype(t.dtype), np.array([exponent]).astype(t.dtype))
    if exponent >= 0:
        assert int(result[0]) == wrapped(base**exponent, t)
    else:
        assert int(result[0]) == (1 if base == 1 else (-1) ** exponent if base == -1 else 0)


@pytest.mark.parametrize("t", INTEGERS, ids=str)
def test_bits_of_integers(t: ElementType) -> None:
    low, high = bounds(t)
    values = [low, low + 1, 0, 1, high, high // 2, high - 1]
    x = np.array(values, np.uint64 if high > 2**63 else np.int64).astype(t.dtype)
    bits = [v % (1 << t.bit_width) for v in values]
    assert [int(v) for v in run("popcnt", x)] == [wrapped(v.bit_count(), t) for v in bits]
    assert [int(v) for v in run("count-leading-zeros", x)] == [wrapped(t.bit_width - v.bit_length(), t) for v in bits]
    assert [int(v) for v in run("not", x)] == [wrapped(~v, t) for v in values]
    assert [int(v) for v in run("negate", x)] == [wrapped(-v, t) for v in values]
    assert [int(v) for v in run("abs", x)] == [wrapped(abs(v), t) for v in values]
    assert [int(v) for v in run("sign", x)] == [(v > 0) - (v < 0) for v in values]


def test_pred() -> None:
    a, b = np.array([False, False, True, True]), np.array([False, True, False, True])
    for opcode, expected in {
        "add": a | b,
        "multiply": a & b,
        "and": a & b,
        "or": a | b,
        "xor": a ^ b,
        "maximum": a | b,
        "minimum": a & b,
        "power": a | ~b,
    }.items():
        np.testing.assert_array_equal(run(opcode, a, b), expected, err_msg=opcode)
    np.testing.assert_array_equal(run("compare", a, b, direction="LT"), ~a & b)
    np.testing.assert_array_equal(run("not", a), ~a)


# -- floats --------------------------------------------------------------------------------------------------------

UNARY = {
    "exponential": np.exp,
    "exponential-minus-one": np.expm1,
    "log": np.log,
    "log-plus-one": np.log1p,
    "logistic": lambda x: 1 / (1 + np.exp(-x)),
    "sqrt": np.sqrt,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "cbrt": np.cbrt,
    "sine": np.sin,
    "cosine": np.cos,
    "tan": np.tan,
    "tanh": np.tanh,
    "erf": np.vectorize(math.erf),
    "erfc": np.vectorize(math.erfc),
    "erf-inv": scipy.special.erfinv,
    "acos": np.arccos,
    "acosh": np.arccosh,
    "asin": np.arcsin,
    "asinh": np.arcsinh,
    "atan": np.arctan,
    "atanh": np.arctanh,
    "cosh": np.cosh,
    "sinh": np.sinh,
    "floor": np.floor,
    "ceil": np.ceil,
    "round-nearest-even": np.rint,
    "negate": np.negative,
    "abs": np.abs,
}


@pytest.mark.parametrize("opcode", UNARY)
@pytest.mark.parametrize("t", [t for t in FLOATS if t.bit_width <= 16 and t is not ElementType.F8E8M0FNU], ids=str)
def test_functions_of_every_small_float(opcode: str, t: ElementType) -> None:
    """Every value of the type; the result is as near to the exact one as any value of the type is."""
    width = t.dtype.itemsize
    count = 1 << (t.bit_width if t.bit_width < 8 else 8 * width)
    every = np.arange(count, dtype=f"u{width}").view(t.dtype)
    with np.errstate(all="ignore"):
        exact = UNARY[opcode](every.astype(np.float64))
    result = run(opcode, every)
    assert result.dtype == t.dtype
    values = result.astype(np.float64)
    finite = np.isfinite(exact) & np.isfinite(values)
    steps = np.unique(every.astype(np.float64)[np.isfinite(every.astype(np.float64))])
    place = np.clip(np.searchsorted(steps, exact[finite]), 1, len(steps) - 1)
    best = np.minimum(np.abs(exact[finite] - steps[place - 1]), np.abs(exact[finite] - steps[place]))
    error = np.abs(values[finite] - exact[finite])
    np.testing.assert_array_less(error, best * (1 + 1e-12) + 1e-300)
    if t.dtype in (np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16), np.dtype(ml_dtypes.float8_e5m2)):
        np.testing.assert_array_equal(np.isnan(values), np.isnan(exact))


@pytest.mark.parametrize("opcode", UNARY)
def test_functions_of_float32(opcode: str) -> None:
    rng = np.random.default_rng(3)
    x = np.concatenate([rng.normal(size=500), rng.normal(size=500) * 1e3, 10.0 ** rng.uniform(-40, 38, 500)])
    x = np.concatenate([x, -x, [0.0, -0.0, INF, -INF, NAN, 1.0, -1.0, 1e-45, 3.4e38]]).astype(np.float32)
    with np.errstate(all="ignore"):
        exact = UNARY[opcode](x.astype(np.float64)).astype(np.float32)
    np.testing.assert_array_equal(run(opcode, x), exact)


# The C library's erfc is off by up to 1.7 ULP, and so is its inverse. `xla accuracy` checks them against their bounds.
@pytest.mark.parametrize("opcode", [name for name in UNARY if name not in ("erfc", "erf-inv")])
def test_functions_of_float64(opcode: str) -> None:
    mpmath = pytest.importorskip("mpmath")
    names = {
        "exponential": "exp",
        "exponential-minus-one": "expm1",
        "log-plus-one": "log1p",
        "sine": "sin",
        "cosine": "cos",
    }
    special = {
        "logistic": lambda x: 1 / (1 + mpmath.exp(-x)),
        "rsqrt": lambda x: 1 / mpmath.sqrt(x),
        "cbrt": lambda x: mpmath.cbrt(abs(x)) * (1 if x >= 0 else -1),
    }
    if opcode in ("floor", "ceil", "round-nearest-even", "negate", "abs"):
        pytest.skip("exact in numpy")
    with mpmath.workprec(120):
        function = special.get(opcode) or getattr(mpmath, names.get(opcode, opcode))
        domain = {"acos": (-1, 1), "asin": (-1, 1), "atanh": (-1, 1), "acosh": (1, 50), "log": (0, 50), "sqrt": (0, 50)}
        low, high = domain.get(opcode, (-0.99 if opcode == "log-plus-one" else 0.01 if opcode == "rsqrt" else -20, 20))
        x = np.random.default_rng(5).uniform(low, high, 200)
        exact = np.array([float(function(mpmath.mpf(float(v)))) for v in x])
    assert (np.abs(run(opcode, x) - exact) <= np.spacing(np.abs(exact))).all()


BINARY = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "divide": np.divide,
    "power": np.power,
    "atan2": np.arctan2,
    "remainder": np.fmod,
}
SPECIAL = [0.0, -0.0, 1.0, -1.0, 2.0, -2.5, 0.5, 3.0, INF, -INF, NAN, 1e-3, 1e30, -7.0]


@pytest.mark.parametrize("opcode", BINARY)
@pytest.mark.parametrize("t", [ElementType.F16, ElementType.BF16, ElementType.F32, ElementType.F64], ids=str)
def test_binary_floats(opcode: str, t: ElementType) -> None:
    a, b = np.meshgrid(np.array(SPECIAL).astype(t.dtype), np.array(SPECIAL).astype(t.dtype))
    with np.errstate(all="ignore"):
        exact = BINARY[opcode](a.astype(np.float64), b.astype(np.float64)).astype(t.dtype)
    result = run(opcode, a, b)
    if t is ElementType.F64:
        np.testing.assert_allclose(result, exact, rtol=3e-16)
    else:
        np.testing.assert_array_equal(result.astype(np.float64), exact.astype(np.float64))
    kept = ~np.isnan(exact.astype(np.float64))
    np.testing.assert_array_equal(
        np.signbit(result.astype(np.float64))[kept], np.signbit(exact.astype(np.float64))[kept], err_msg="sign of zero"
    )


@pytest.mark.parametrize(("opcode", "sign"), [("multiply", 1), ("divide", -1)])
def test_powers_of_two(opcode: str, sign: int) -> None:
    """Exponents add up. The type has no zero: what is too small is the least number; what is too large is NaN."""
    kind = ml_dtypes.float8_e8m0fnu
    a, b = np.meshgrid(np.arange(-127, 128), np.arange(-127, 128))
    exponents = a + sign * b
    expected = np.where(exponents > 127, np.nan, 2.0 ** np.maximum(exponents, -127))
    result = run(opcode, (2.0**a).astype(kind), (2.0**b).astype(kind))
    np.testing.assert_array_equal(result.astype(np.float64), expected)


def test_functions_that_underflow_in_the_type_without_a_zero() -> None:
    """They are above 0, even where f64 isn't."""
    kind = ml_dtypes.float8_e8m0fnu
    small, large = (np.array([2.0**n], kind) for n in (-63, 125))
    for opcode, operands in (("power", (small, large)), ("atan2", (small, large)), ("erfc", (large,))):
        np.testing.assert_array_equal(run(opcode, *operands).astype(np.float64), 2.0**-127)
    for opcode, operands in (("subtract", (large, large)), ("remainder", (large, small)), ("floor", (small,))):
        np.testing.assert_array_equal(run(opcode, *operands).astype(np.float64), np.nan)  # exactly 0


def test_maximum_and_minimum() -> None:
    a = np.array([0.0, -0.0, NAN, 1.0, -INF, -0.0], np.float32)
    b = np.array([-0.0, 0.0, 1.0, NAN, INF, -0.0], np.float32)
    largest, smallest = run("maximum", a, b), run("minimum", a, b)
    np.testing.assert_array_equal(largest, [0, 0, NAN, NAN, INF, -0.0])
    np.testing.assert_array_equal(np.signbit(largest[[0, 1, 5]]), [False, False, True])
    np.testing.assert_array_equal(smallest, [0, 0, NAN, NAN, -INF, -0.0])
    assert np.signbit(smallest[[0, 1, 5]]).all()


def test_rounding_and_sign() -> None:
    x = np.array([0.5, -0.5, 1.5, 2.5, -2.5, 0.49999997, -0.0, 8388609.0, INF, NAN], np.float32)
    np.testing.assert_array_equal(run("round-nearest-afz", x), [1, -1, 2, 3, -3, 0, 0, 8388609.0, INF, NAN])
    np.testing.assert_array_equal(run("round-nearest-even", x), [0, 0, 2, 2, -2, 0, 0, 8388609.0, INF, NAN])
    np.testing.assert_array_equal(run("sign", x), [1, -1, 1, 1, -1, 1, 0, 1, 1, NAN])
    assert np.signbit(run("sign", x)[6])
    np.testing.assert_array_equal(run("is-finite", x), [True] * 8 + [False] * 2)


def test_clamp_and_select() -> None:
    x = np.array([-5.0, 0.5, 5.0, NAN], np.float32)
    np.testing.assert_array_equal(run("clamp", np.float32(-1), x, np.float32(1)), [-1, 0.5, 1, NAN])
    low, high = np.array([0, 1, 2, 0], np.float32), np.array([1, 2, 1, NAN], np.float32)
    np.testing.assert_array_equal(run("clamp", low, x, high), [0, 1, 1, NAN])
    on = np.array([True, False, True, False])
    np.testing.assert_array_equal(run("select", on, x, low), [-5, 1, 5, 0])
    np.testing.assert_array_equal(run("select", np.asarray(True), x, low), x)


@pytest.mark.parametrize("t", [t for t in FLOATS if t.bit_width >= 8], ids=str)
def test_total_order(t: ElementType) -> None:
    """The order of the bits, read as sign and magnitude; F8E8M0FNU has no sign."""
    width = t.dtype.itemsize
    every = (
        np.arange(1 << 8, dtype=np.uint8) if width == 1 else np.random.default_rng(1).integers(0, 1 << 8, 256 * width)
    )
    every = every.astype(np.uint8).view(f"u{width}").view(t.dtype)
    raw = [int(v) for v in every.view(f"u{width}")]
    sign = 1 << (8 * width - (t is not ElementType.F8E8M0FNU))
    order = [(v if v < sign else sign - 1 - v) for v in raw]
    other = np.roll(every, 3)
    turned = np.roll(np.array(order, object), 3)
    result = run("compare", every, other, direction="LT", type="TOTALORDER")
    np.testing.assert_array_equal(result, [a < b for a, b in zip(order, turned, strict=True)])


def test_partial_order() -> None:
    a, b = np.array([NAN, 1.0, -0.0, NAN], np.float32), np.array([1.0, NAN, 0.0, NAN], np.float32)
    expected = {
        "EQ": [0, 0, 1, 0],
        "NE": [1, 1, 0, 1],
        "LT": [0] * 4,
        "LE": [0, 0, 1, 0],
        "GT": [0] * 4,
        "GE": [0, 0, 1, 0],
    }
    for direction, values in expected.items():
        np.testing.assert_array_equal(run("compare", a, b, direction=direction), np.array(values, bool))


def test_power_of_negative_bases_and_large_even_exponents() -> None:
    """The C library's function of long double computes -inf to the power -2^63 as infinity."""
    base = np.array([-np.inf, -np.inf, -2.0, -2.0, -0.5, -1.0])
    exponent = np.array([-(2.0**63), 2.0**63, -(2.0**63), 2.0**63, 2.0**63, 2.0**63])
    np.testing.assert_array_equal(run("power", base, exponent), [0, np.inf, 0, np.inf, 0, 1])


@settings(max_examples=40, deadline=None)
@given(st.lists(st.floats(width=32), min_size=1, max_size=8), st.lists(st.floats(width=32), min_size=1, max_size=8))
def test_float32_arithmetic_is_ieee(xs: list[float], ys: list[float]) -> None:
    n = min(len(xs), len(ys))
    a, b = np.array(xs[:n], np.float32), np.array(ys[:n], np.float32)
    with np.errstate(all="ignore"):
        for opcode, function in BINARY.items():
            if opcode in ("power", "atan2"):
                continue
            np.testing.assert_array_equal(run(opcode, a, b), function(a, b), err_msg=opcode)
