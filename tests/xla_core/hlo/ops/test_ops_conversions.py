"""Ops that convert between element types: they round once and to the nearest, saturate, or keep the bits."""

from __future__ import annotations

import math

import ml_dtypes
import numpy as np
import pytest

from tests.xla_core.hlo.ops.ops_testing import bounds, run
from xla_core.errors import InvalidArgumentError
from xla_core.hlo import ElementType, Shape

FLOATS = [t for t in ElementType if t.is_array and t.is_floating]
pytestmark = pytest.mark.filterwarnings("ignore:(overflow|invalid value):RuntimeWarning")
INTEGERS = [t for t in ElementType if t.is_array and t.is_integral]
NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize("source", [ElementType.F32, ElementType.F64, ElementType.BF16, ElementType.F16], ids=str)
@pytest.mark.parametrize("target", INTEGERS, ids=str)
def test_float_to_integer_saturates(source: ElementType, target: ElementType) -> None:
    values = [0.0, -0.7, 0.7, 1.9, -1.9, 3.0, 100.0, -100.0, 3e4, 1e9, -1e9, 1e18, 1e19, 1e30, -1e30, INF, -INF, NAN]
    x = np.array(values).astype(source.dtype)
    low, high = bounds(target)
    expected = []
    for v in x.astype(np.float64):
        expected.append(0 if math.isnan(v) else high if v >= high else low if v <= low else int(v))
    result = run("convert", x, shape=Shape.array(target, x.shape))
    assert [int(v) for v in result] == expected


def test_integer_to_float_rounds_once() -> None:
    """Integers at and just above a tie of bf16. A conversion through float64 would round them to the tie."""
    tie = (1 << 62) + (1 << 54)
    x = np.array([tie, tie + 1, -tie, -tie - 1, 5], np.int64)
    result = run("convert", x, shape=Shape.array(ElementType.BF16, x.shape)).astype(np.float64)
    up = float((1 << 62) + (1 << 55))
    np.testing.assert_array_equal(result, [2.0**62, up, -(2.0**62), -up, 5])


@pytest.mark.parametrize("target", FLOATS, ids=str)
def test_small_integers_to_float(target: ElementType) -> None:
    x = np.array([1, 2, 4], np.int8)
    result = run("convert", x, shape=Shape.array(target, x.shape))
    assert result.dtype == target.dtype
    np.testing.assert_array_equal(result.astype(np.float64), [1, 2, 4])


def test_convert_between_floats_rounds_once() -> None:
    """1 + 2^-8 + 2^-40 is just above a tie of bf16 that float32 cannot tell from it."""
    x = np.array([1 + 2**-8 + 2**-40, 1 + 2**-8, 1 + 3 * 2**-8, -(1 + 2**-8 + 2**-40)])
    result = run("convert", x, shape=Shape.array(ElementType.BF16, x.shape))
    np.testing.assert_array_equal(result.astype(np.float64), [1 + 2**-7, 1, 1 + 2**-6, -(1 + 2**-7)])


def test_convert_others() -> None:
    x = np.array([0.0, -0.0, NAN, 2.0], np.float32)
    np.testing.assert_array_equal(run("convert", x, shape=Shape.array(ElementType.PRED, (4,))), [0, 0, 1, 1])
    z = np.array([1 + 2j, -3.5 + 0j], np.complex64)
    np.testing.assert_array_equal(run("convert", z, shape=Shape.array(ElementType.F32, (2,))), [1, -3.5])
    np.testing.assert_array_equal(run("convert", x[3:], shape=Shape.array(ElementType.C64, (1,))), [2 + 0j])
    big = np.array([300, -1, 128], np.int32)
    np.testing.assert_array_equal(run("convert", big, shape=Shape.array(ElementType.S8, (3,))), [44, -1, -128])
    np.testing.assert_array_equal(run("convert", big, shape=Shape.array(ElementType.U4, (3,))).astype(int), [12, 15, 0])


@pytest.mark.parametrize(
    ("source", "width"),
    [
        (source, width)
        for source in ElementType
        for width in (4, 8, 16, 32, 64)
        if source.is_array and not source.is_complex and source is not ElementType.PRED
        if max(width, source.bit_width) % min(width, source.bit_width) == 0
    ],
    ids=str,
)
def test_bitcast_convert_there_and_back(source: ElementType, width: int) -> None:
    target = ElementType(f"u{width}")
    ratio = max(1, width // source.bit_width)
    raw = np.random.default_rng(4).integers(
        0, 1 << min(source.bit_width, 8), (3, ratio * source.dtype.itemsize), np.uint8
    )
    x = raw.astype(source.dtype) if source.bit_width < 8 and source.is_integral else raw.view(source.dtype)
    if width > source.bit_width:
        shape: tuple[int, ...] = (3,)
    elif width == source.bit_width:
        shape = x.shape
    else:
        shape = (*x.shape, source.bit_width // width)
    there = run("bitcast-convert", x, shape=Shape.array(target, shape))
    assert there.shape == shape
    back = run("bitcast-convert", there, shape=Shape.of(x))
    assert back.tobytes() == x.tobytes()


def test_bitcast_convert_to_a_width_that_does_not_divide_is_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="32 and 6 bits each"):
        run("bitcast-convert", np.zeros(3, np.int32), shape=Shape.array(ElementType.F6E3M2FN, (3, 5)))


def test_bitcast_convert_is_little_endian() -> None:
    x = np.array([0x12345678], np.uint32)
    octets = run("bitcast-convert", x, shape=Shape.array(ElementType.U8, (1, 4)))
    np.testing.assert_array_equal(octets, [[0x78, 0x56, 0x34, 0x12]])
    nibbles = run("bitcast-convert", octets[0, :1], shape=Shape.array(ElementType.U4, (1, 2)))
    np.testing.assert_array_equal(nibbles.astype(int), [[8, 7]])


@pytest.mark.parametrize(
    ("exponent", "mantissa", "dtype"),
    [(5, 10, np.float16), (8, 7, ml_dtypes.bfloat16), (5, 2, ml_dtypes.float8_e5m2)],
)
def test_reduce_precision_is_rounding_to_the_format(exponent: int, mantissa: int, dtype: type) -> None:
    rng = np.random.default_rng(9)
    x = np.concatenate([rng.normal(size=300) * 10.0 ** rng.integers(-3, 8, 300), [0.0, -0.0, INF, -INF, NAN]])
    x = x.astype(np.float32)
    with np.errstate(over="ignore"):
        expected = x.astype(dtype).astype(np.float32)
    smallest = float(ml_dtypes.finfo(dtype).smallest_normal)
    expected = np.where(np.abs(x) < smallest, np.copysign(np.float32(0), x), expected) if exponent < 8 else expected
    result = run("reduce-precision", x, exponent_bits=exponent, mantissa_bits=mantissa)
    near = (np.abs(x) < smallest) & (np.abs(x) > smallest * 0.99)  # may round up to the smallest normal number
    np.testing.assert_array_equal(result[~near], expected[~near])


@pytest.mark.parametrize("dtype", [ml_dtypes.float8_e5m2, ml_dtypes.float8_e4m3, ml_dtypes.float8_e3m4])
def test_reduce_precision_of_small_floats(dtype: type) -> None:
    x = np.arange(256, dtype=np.uint8).view(dtype)
    wide = x.astype(np.float64)
    with np.errstate(invalid="ignore"):
        mantissa, exponent = np.frexp(wide)
        expected = np.ldexp(np.round(mantissa * 4) / 4, exponent)  # one bit of mantissa: 0.10 or 0.11
    result = run("reduce-precision", x, exponent_bits=8, mantissa_bits=1)
    np.testing.assert_array_equal(result.astype(np.float64), expected.astype(dtype).astype(np.float64))


def test_stochastic_convert() -> None:
    x = np.array([2.25, -2.25, 1e9, NAN, 3.0], np.float32)
    low = np.zeros(5, np.uint32)
    high = np.full(5, 0xFFFFFFFF, np.uint32)
    s8 = Shape.array(ElementType.S8, (5,))
    np.testing.assert_array_equal(run("stochastic-convert", x, low, shape=s8), [3, -3, 127, 0, 3])
    np.testing.assert_array_equal(run("stochastic-convert", x, high, shape=s8), [2, -2, 127, 0, 3])


def test_stochastic_convert_compares_all_random_bits() -> None:
    x, random = np.full(3, 0.5), np.array([2**63 - 1, 2**63, 2**63 + 1], np.uint64)
    np.testing.assert_array_equal(
        run("stochastic-convert", x, random, shape=Shape.array(ElementType.S8, (3,))), [1, 0, 0]
    )
