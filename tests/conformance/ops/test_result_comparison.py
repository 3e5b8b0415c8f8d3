"""What counts as equal: bits, NaNs, zeros, the limit of overflow, accumulators."""

from __future__ import annotations

import numpy as np
import pytest
from xla_conformance.failures import Failure
from xla_conformance.ops.comparison import EXACT, Expected, Rule, check, expected_results, within
from xla_conformance.ops.fills import factors, with_one_product

from xla_core import parse
from xla_core.hlo import ElementType, HloModule, Shape

F32 = ElementType.F32
NAN, PAYLOAD = np.array([0x7FC00000, 0x7FC00001], np.uint32).view(np.float32)


def wrong(expected: Expected, got: float | np.floating) -> bool:
    return bool(expected.wrong(np.asarray([got], expected.value.dtype))[0])


def test_exact_compares_bits() -> None:
    zero = Expected(np.zeros(1, np.float32))
    assert wrong(zero, -0.0)
    assert not wrong(zero, 0.0)
    assert not wrong(Expected(np.array([NAN])), PAYLOAD)
    assert wrong(Expected(np.array([NAN]), nan_bits=True), PAYLOAD)
    assert wrong(Expected(np.zeros(1, np.complex64)), complex(0, -0.0))


def test_infinity_is_not_the_largest_number() -> None:
    largest = float(np.finfo(np.float32).max)
    assert wrong(within(np.array([largest]), Rule("ulp", 4), F32), np.inf)
    assert wrong(within(np.array([largest * 0.9]), Rule("ulp", 4), F32), np.inf)
    assert wrong(within(np.array([1e39]), Rule("ulp", 4), F32), largest)
    assert not wrong(within(np.array([largest * (1 + 2**-26)]), Rule("ulp", 4), F32), np.inf)  # rounded, it is either


def test_zeros_have_the_sign_of_the_result() -> None:
    tiny = within(np.array([-1e-60]), Rule("ulp", 4), F32)
    assert wrong(tiny, 0.0)
    assert not wrong(tiny, -0.0)


def test_denormals_are_not_flushed() -> None:
    assert wrong(within(np.array([1e-40]), Rule("ulp", 4), F32), 0.0)


def test_failure_has_the_element() -> None:
    with pytest.raises(Failure, match=r"1 of 3 elements is wrong. Result 0 at \[2\]") as caught:
        check("The device adds.", [np.array([1, 2, 4])], [Expected(np.array([1, 2, 3]))])
    assert caught.value.index == (2,)


@pytest.mark.parametrize("narrow", [np.float16, ElementType.BF16.dtype])
def test_factors_need_their_accumulator(narrow: np.dtype) -> None:
    """Sums of products are exact in f32 in any order, and mostly not in a narrower type."""
    shape, random = Shape(ElementType.BF16, (64, 100)), np.random.default_rng(1)
    a, b = (fill(shape, random).astype(np.float64) for fill in factors(100, F32))
    sums = np.cumsum(a * b, axis=1)
    assert np.array_equal(sums, sums.astype(np.float32))
    assert np.array_equal(np.cumsum(a[:, ::-1] * b[:, ::-1], axis=1)[:, -1], sums[:, -1])
    with np.errstate(over="ignore"):
        assert np.mean(sums[:, -1] != sums[:, -1].astype(narrow).astype(np.float64)) > 0.9


@pytest.mark.parametrize("full", [0, 1])
@pytest.mark.parametrize("element", [ElementType.F64, F32, ElementType.BF16, ElementType.F4E2M1FN, ElementType.C128])
def test_one_product_shows_all_bits_of_an_operand(element: ElementType, full: int) -> None:
    """Every result is a number of all bits times a power of two, in whichever operand the bits are."""
    random = np.random.default_rng(3)
    sides = with_one_product(factors(7, element), (element, element), element, ((0,), (1,)), full)
    wide = np.clongdouble if element.is_complex else np.longdouble
    left, right = (fill(Shape(element, sizes), random) for fill, sizes in zip(sides, ((6, 7), (7, 5)), strict=True))
    sums = left.astype(wide) @ right.astype(wide)
    assert (sums == sums.astype(element.dtype).astype(wide)).all()
    assert (sums != 0).all()
    bits = element.component.mantissa_bits - element.is_complex
    for part in (sums.real, sums.imag) if element.is_complex else (sums,):
        fraction, _ = np.frexp(part)
        assert (np.ldexp(fraction, bits + 1) % 2 == 1).all()


def test_a_type_without_nan_may_have_anything_in_its_place() -> None:
    """0 / 0 is no number, which f4e2m1fn can't say; 1 / 0 and -1 / 1 are compared."""

    def build(element_type: ElementType) -> HloModule:
        name = element_type.value
        x, y = f"x = {name}[3] parameter(0)", f"y = {name}[3] parameter(1)"
        return parse(f"HloModule m\nENTRY e {{\n  {x}\n  {y}\n  ROOT r = {name}[3] divide(x, y)\n}}\n")

    element = ElementType.F4E2M1FN
    arguments = [np.array(values, np.float32).astype(element.dtype) for values in ([0, 1, -1], [0, 0, 1])]
    (expected,) = expected_results(build, element, arguments, EXACT)
    assert expected.wrong(-expected.value).tolist() == [False, True, True]


@pytest.mark.filterwarnings("error")
def test_signaling_nans_warn_of_nothing() -> None:
    signaling = np.array([0x7FA0, 0x3F80], np.uint16).view(ElementType.BF16.dtype)
    for expected in (Expected(signaling), within(signaling.astype(np.float32), Rule("ulp", 1), ElementType.BF16)):
        assert expected.wrong(signaling[::-1].copy()).tolist() == [True, True]
        assert not expected.wrong(signaling).any()
