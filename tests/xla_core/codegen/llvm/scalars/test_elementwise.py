"""Every elementwise op of every element type against the evaluator."""

from __future__ import annotations

import re

import numpy as np
import pytest

from tests.xla_core.codegen.llvm.kernels import Loaded, array, assert_same, check, fuse, random_array, scalar
from xla_core.codegen.llvm import may_share_buffer
from xla_core.hlo.evaluator import evaluate_computation
from xla_core.hlo.ir.computation import HloComputation
from xla_core.hlo.values.element_type import ElementType as T

INTEGERS = [t for t in T if t.is_integral]
FLOATS = [t for t in T if t.is_floating]
STANDARD = [T.BF16, T.F16, T.F32, T.F64]
COMPLEX = [T.C64, T.C128]


def samples(t: T) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of operands: special values with each other, then random ones."""
    if t is T.PRED:
        special = np.array([False, True])
    elif t.is_integral:
        bits = t.bit_width
        low, high = (-(1 << bits - 1) if t.is_signed else 0), (1 << bits - t.is_signed) - 1
        special = np.unique(np.clip(np.array([low, low + 1, -1, 0, 1, 2, 3, 7, high - 1, high], object), low, high))
        special = special.astype(np.int64 if t.is_signed else np.uint64).astype(t.dtype)
    elif t.is_complex:
        special = np.array([0, 1, -1, 1j, 2 - 3j], t.dtype)
    else:
        with np.errstate(all="ignore"):
            special = np.array([0.0, -0.0, 1, -1, 0.5, 1.5, 2.5, -2.5, np.inf, -np.inf, np.nan, 1e-3, 1e5]).astype(
                t.dtype
            )
    a, b = np.meshgrid(special, special)
    shape = array(t, 300)
    return (
        np.concatenate([a.ravel(), random_array(shape, 1)]),
        np.concatenate([b.ravel(), random_array(shape, 2)]),
    )


def compare_all(opcodes: list[str], t: T, arity: int, tolerance: float) -> None:
    """One kernel computes all ops."""
    operands = samples(t)[:arity]
    shapes = [array(t, len(o)) for o in operands]
    instruction = fuse(lambda c, *p: [c.add(opcode, *p) for opcode in opcodes], *shapes)
    expected = evaluate_computation(instruction.attribute("calls"), list(operands))
    for opcode, got, want in zip(opcodes, Loaded(instruction)(*operands), expected, strict=True):
        try:
            assert_same(got, np.asarray(want), tolerance)
        except AssertionError as error:
            raise AssertionError(f"{opcode} of {t}: {error}") from error


@pytest.mark.parametrize("t", INTEGERS, ids=str)
def test_integer_ops(t: T) -> None:
    compare_all(
        ["add", "subtract", "multiply", "divide", "remainder", "maximum", "minimum", "and", "or", "xor"], t, 2, 0
    )
    compare_all(["shift-left", "shift-right-arithmetic", "shift-right-logical", "power"], t, 2, 0)
    compare_all(["not", "negate", "abs", "sign", "popcnt", "count-leading-zeros"], t, 1, 0)


def test_pred_ops() -> None:
    compare_all(["add", "multiply", "maximum", "minimum", "and", "or", "xor"], T.PRED, 2, 0)
    compare_all(["not"], T.PRED, 1, 0)


@pytest.mark.parametrize("t", FLOATS, ids=str)
def test_exact_float_ops(t: T) -> None:
    compare_all(["add", "subtract", "multiply", "divide", "maximum", "minimum"], t, 2, 0)
    unary = ["negate", "abs", "sign", "floor", "ceil", "round-nearest-even", "round-nearest-afz", "is-finite"]
    compare_all(unary if t is not T.F8E8M0FNU else ["is-finite"], t, 1, 0)


@pytest.mark.parametrize("t", STANDARD, ids=str)
def test_remainder(t: T) -> None:
    compare_all(["remainder"], t, 2, 0)


@pytest.mark.parametrize("t", [T.PRED, *INTEGERS, *STANDARD, T.F8E8M0FNU], ids=str)
def test_compare(t: T) -> None:
    a, b = samples(t)
    shape = array(t, len(a))
    directions = ["EQ", "NE", "LT", "LE", "GT", "GE"]
    check(lambda c, x, y: [c.add("compare", x, y, direction=d) for d in directions], shape, shape, arguments=[a, b])
    if t.is_floating:
        check(
            lambda c, x, y: [c.add("compare", x, y, direction=d, type="TOTALORDER") for d in directions],
            shape,
            shape,
            arguments=[a, b],
        )


@pytest.mark.parametrize("t", [T.S8, T.U32, T.S64, *STANDARD], ids=str)
def test_select_and_clamp(t: T) -> None:
    a, b = samples(t)
    shape = array(t, len(a))
    low, high = np.asarray(-1 if not t.is_unsigned else 1).astype(t.dtype), np.asarray(2).astype(t.dtype)
    check(
        lambda c, x, y, lo, hi: [
            c.add("clamp", lo, x, hi),
            c.add("select", c.add("compare", x, y, direction="LT"), x, y),
        ],
        shape,
        shape,
        array(t),
        array(t),
        arguments=[a, b, low, high],
        tolerance=0,
    )


@pytest.mark.parametrize("t", COMPLEX, ids=str)
def test_complex_arithmetic(t: T) -> None:
    a, b = random_array(array(t, 200), 1), random_array(array(t, 200), 2)
    shape = array(t, 200)
    tolerance = 1e-5 if t is T.C64 else 1e-13
    binary = ["add", "subtract", "multiply", "divide", "power"]
    check(lambda c, x, y: [c.add(o, x, y) for o in binary], shape, shape, arguments=[a, b], tolerance=tolerance)
    check(
        lambda c, x: [c.add("real", x), c.add("imag", x), c.add("abs", x), c.add("negate", x), c.add("sign", x)],
        shape,
        arguments=[a],
        tolerance=tolerance,
    )
    check(lambda c, x: c.add("complex", c.add("imag", x), c.add("real", x)), shape, arguments=[a], tolerance=0)


@pytest.mark.parametrize("t", COMPLEX, ids=str)
def test_complex_order(t: T) -> None:
    nan = float("nan")
    values = np.array([0, 1, -1, 1j, -1j, 1 + 2j, 1 - 2j, complex(nan, 1), complex(1, nan), complex(nan, nan)], t.dtype)
    a, b = (v.ravel() for v in np.meshgrid(values, values))
    check(
        lambda c, x, y: [c.add("maximum", x, y), c.add("minimum", x, y)],
        array(t, len(a)),
        array(t, len(b)),
        arguments=[a, b],
        tolerance=0,
    )


@pytest.mark.parametrize("t", COMPLEX, ids=str)
@pytest.mark.parametrize("size", [1.0, 1e-30, 1e30, 1e-300, 1e300])
def test_complex_atan2(t: T, size: float) -> None:
    """Against mpmath: at every size, of real numbers too, and where |x + i y| and |x - i y| are near each other."""
    mpmath = pytest.importorskip("mpmath")
    if t is T.C64 and not 1e-38 < size < 1e38:
        pytest.skip("beyond f32")
    random = np.random.default_rng(0)
    y, x = (random.uniform(-1, 1, 60) + 1j * random.uniform(-1, 1, 60) for _ in range(2))
    y[:10], x[:10] = y[:10].real, x[:10].real
    y[10:20].imag *= 1e-9
    x[20:30] *= 1e-6
    y, x = (y * size).astype(t.dtype), (x * size).astype(t.dtype)
    instruction = fuse(lambda c, y, x: c.add("atan2", y, x), array(t, 60), array(t, 60))
    (got,) = Loaded(instruction)(y, x)

    def exact(y: complex, x: complex) -> complex:
        y, x = mpmath.mpc(y), mpmath.mpc(x)
        return complex(mpmath.mpc(0, -1) * mpmath.log((x + mpmath.mpc(0, 1) * y) / mpmath.sqrt(x * x + y * y)))

    with mpmath.workdps(60):
        want = np.array([exact(complex(a), complex(b)) for a, b in zip(y, x, strict=True)])
    eps = np.finfo(t.dtype).eps
    assert np.max(np.abs(got - want) / np.abs(want)) < 8 * eps


def test_atan2_where_the_quotient_is_not_finite() -> None:
    """Zero over zero, the poles y = i x and y = -i x, and infinities have no angle."""
    y = np.array([0, 1j, -1j, complex(np.inf, 0), 1], np.complex64)
    x = np.array([0, 1, 1, 1, complex(0, np.inf)], np.complex64)
    (got,) = Loaded(fuse(lambda c, y, x: c.add("atan2", y, x), array(T.C64, 5), array(T.C64, 5)))(y, x)
    assert np.isnan(got.real).all()
    assert np.isnan(got.imag).all()


def test_power_of_exponents() -> None:
    """A result that is too small for f8e8m0fnu becomes its least number, because the type has no zero."""
    values = np.array([2.0**-127, 2.0**-60, 0.5, 1, 2, 2.0**60, 2.0**125], T.F8E8M0FNU.dtype)
    a, b = (v.ravel() for v in np.meshgrid(values, values))
    check(lambda c, x, y: c.add("power", x, y), array(T.F8E8M0FNU, 49), array(T.F8E8M0FNU, 49), arguments=[a, b])
    check(lambda c, x: c.add("imag", x), array(T.F8E8M0FNU, 7), arguments=[values])
    check(lambda c, x: c.add("erfc", x), array(T.F8E8M0FNU, 7), arguments=[values])


@pytest.mark.parametrize("bits", [(5, 10), (8, 7), (4, 3), (2, 1), (8, 23), (5, 0), (11, 52)])
@pytest.mark.parametrize("t", STANDARD, ids=str)
def test_reduce_precision(t: T, bits: tuple[int, int]) -> None:
    exponent, mantissa = bits
    values = samples(t)[0]
    check(
        lambda c, x: c.add("reduce-precision", x, exponent_bits=exponent, mantissa_bits=mantissa),
        array(t, len(values)),
        arguments=[values],
        tolerance=0,
    )


@pytest.mark.parametrize("t", STANDARD, ids=str)
def test_stochastic_convert_compares_all_random_bits(t: T) -> None:
    """Random bits just below, at and above the fraction differ in the last place only."""
    fractions = np.array([0.5, 0.25, 0.75, 1.5, -2.5, 3.125, np.nan, np.inf, -np.inf, 0, 100, 0.3])
    bits = np.dtype(f"u{t.dtype.itemsize}")
    x = np.repeat(fractions.astype(t.dtype), 3)
    wide = np.nan_to_num(x.astype(np.float64), posinf=0, neginf=0)
    scaled = [int(np.ldexp(abs(v) % 1, 8 * bits.itemsize)) for v in wide]
    random = np.array([(n + i % 3 - 1) % (1 << 8 * bits.itemsize) for i, n in enumerate(scaled)], bits)
    check(
        lambda c, v, r: c.add("stochastic-convert", v, r, shape=array(T.S16, len(x))),
        array(t, len(x)),
        array(T.from_numpy(bits), len(x)),
        arguments=[x, random],
        tolerance=0,
    )


def test_map_inlines_its_computation() -> None:
    body = HloComputation("square_plus")
    x, y = body.parameter(0, array(T.F32)), body.parameter(1, array(T.F32))
    body.add("add", body.add("multiply", x, x), y)
    check(lambda c, a, b: c.add("map", a, b, dimensions=(0,), to_apply=body), array(T.F32, 70), array(T.F32, 70))


def test_deep_chains_need_no_recursion() -> None:
    def chain(c, x):
        for _ in range(5000):
            x = c.add("negate", x)
        return x

    values = random_array(array(T.F32, 16))
    (got,) = Loaded(fuse(chain, array(T.F32, 16)), opt_level=0)(values)
    np.testing.assert_array_equal(got, values)


def test_equal_producers_are_emitted_once() -> None:
    loaded = Loaded(
        fuse(lambda c, x: (lambda e: c.add("add", e, c.add("multiply", e, e)))(c.add("sqrt", x)), array(T.F32, 16))
    )
    assert loaded.text.count("call float @llvm.sqrt") == 1


def test_in_place() -> None:
    shape = array(T.F32, 1000)
    instruction = fuse(lambda c, x, y: c.add("add", c.add("multiply", x, x), y), shape, shape)
    assert may_share_buffer(instruction, 0, 0)
    x, y = random_array(shape, 1), random_array(shape, 2)
    (got,) = Loaded(instruction, aliasing={(0, 0)})(x, y)
    np.testing.assert_array_equal(got, x * x + y)
    shifted = fuse(lambda c, x: c.add("reverse", x, dimensions=(0,)), shape)
    assert not may_share_buffer(shifted, 0, 0)
    narrow = fuse(lambda c, x: c.add("convert", x, shape=array(T.F16, 1000)), shape)
    assert not may_share_buffer(narrow, 0, 0)


def test_contiguous_loops_are_vectors() -> None:
    def gelu(c, x):
        half = c.add("broadcast", scalar(c, 0.5), shape=x.shape, dimensions=())
        return c.add("multiply", c.add("multiply", x, half), c.add("tanh", c.add("exponential", x)))

    loaded = Loaded(fuse(gelu, array(T.F32, 1024)))
    assert " x float>" in loaded.compiled.ir()
    assert not re.search(r"call \w+ @(?!llvm)", loaded.compiled.ir())
