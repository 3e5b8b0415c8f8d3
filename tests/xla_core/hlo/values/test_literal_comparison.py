"""Distances in ULP against numpy's own spacing, for every floating type, and what a tolerance lets through."""

from __future__ import annotations

import numpy as np
import pytest

from xla_core.errors import InvalidArgumentError
from xla_core.hlo import ElementType
from xla_core.hlo.values.literal_comparison import Tolerance, compare_arrays, ulp_distance

FLOATS = [t for t in ElementType if t.is_array and t.is_floating]
SIGNED_FLOATS = [t for t in FLOATS if t is not ElementType.F8E8M0FNU]


@pytest.mark.parametrize("element", FLOATS, ids=str)
def test_neighbours_are_one_apart(element: ElementType) -> None:
    one = np.ones(1, element.dtype)
    above = np.nextafter(one, one + one)
    assert ulp_distance(above, one) == [1]
    assert ulp_distance(one, above) == [1]
    assert ulp_distance(one, one) == [0]


@pytest.mark.parametrize("element", SIGNED_FLOATS, ids=str)
def test_zero_lies_between_the_signs(element: ElementType) -> None:
    least = np.nextafter(np.zeros(1, element.dtype), np.ones(1, element.dtype))
    assert ulp_distance(least, -least) == [2]
    assert ulp_distance(np.zeros(1, element.dtype), -least) == [1]


def test_zeros_infinities_and_nans() -> None:
    a = np.float32([0.0, np.inf, np.nan, np.nan, np.inf, -np.inf])
    b = np.float32([-0.0, np.inf, np.nan, 1.0, np.finfo(np.float32).max, np.inf])
    distance = ulp_distance(a, b)
    assert list(distance[:5]) == [0, 0, 0, np.inf, 1]
    assert distance[5] > 1e9
    difference = compare_arrays(a, b, Tolerance(rtol=1, atol=np.inf))
    assert difference.wrong == 3


def test_doubles_far_apart_do_not_overflow() -> None:
    largest = np.finfo(np.float64).max
    assert ulp_distance(np.array([largest]), np.array([-largest]))[0] == pytest.approx(2.0**64, rel=1e-2)
    assert ulp_distance(np.array([1.0]), np.array([1.0 + 2**-52])) == [1]


def test_integers_and_booleans() -> None:
    a, b = np.array([-128, 0, 5], np.int8), np.array([127, 0, 4], np.int8)
    assert list(ulp_distance(a, b)) == [255, 0, 1]
    assert list(ulp_distance(np.array([True]), np.array([False]))) == [1]
    assert compare_arrays(a, b).wrong == 2


def test_complex() -> None:
    a = np.complex64([1 + 1j, complex(np.nan, 1), 1])
    b = np.complex64([1 + 1j, complex(np.nan, 1), 1 + 2**-23])
    assert list(ulp_distance(a, b)) == [0, 0, 1]
    assert ulp_distance(np.complex64([np.nan]), np.complex64([1])) == [np.inf]


def test_an_infinite_difference_within_the_tolerance_is_not_counted() -> None:
    a, b = np.float32([np.inf, np.finfo(np.float32).max, 1]), np.float32([np.inf, np.inf, 1.5])
    difference = compare_arrays(a, b, Tolerance(ulp=4, rtol=1))
    assert (difference.equal, difference.max_absolute) == (True, 0.5)
    assert compare_arrays(a, b).max_absolute == np.inf


def test_a_tolerance_says_what_it_lets_through() -> None:
    assert str(Tolerance()) == "equal"
    assert str(Tolerance(ulp=4, rtol=1e-3, scaled=1e-4)) == (
        "within 4 ULP, 0.001 of the element or 0.0001 of the largest element"
    )
    assert str(Tolerance(atol=0.5)) == "within 0.5"


def test_each_tolerance_alone_lets_through() -> None:
    expected = np.float32([100, 1e-3])
    actual = np.float32([100, 1.01e-3])
    assert not compare_arrays(actual, expected).equal
    for tolerance in (Tolerance(ulp=1e6), Tolerance(rtol=2e-2), Tolerance(atol=1e-4), Tolerance(scaled=1e-6)):
        assert compare_arrays(actual, expected, tolerance).equal
    for tolerance in (Tolerance(ulp=10), Tolerance(rtol=1e-3), Tolerance(atol=1e-6), Tolerance(scaled=1e-8)):
        difference = compare_arrays(actual, expected, tolerance)
        assert (difference.wrong, difference.index) == (1, (1,))
        assert "1 of 2 wrong, at [1] 0.00101 for 0.001" in str(difference)


def test_shape_and_type_are_no_question_of_tolerance() -> None:
    with pytest.raises(InvalidArgumentError, match=r"float32\[2\], expected float32\[3\]"):
        compare_arrays(np.zeros(2, np.float32), np.zeros(3, np.float32))
    with pytest.raises(InvalidArgumentError, match="float64"):
        compare_arrays(np.zeros(2), np.zeros(2, np.float32))
    assert compare_arrays(np.zeros((0, 3)), np.zeros((0, 3))).equal


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("element", FLOATS, ids=str)
def test_distances_of_any_bits_warn_of_nothing(element: ElementType) -> None:
    bits = np.dtype(f"u{element.byte_width}")
    values = np.arange(1 << min(element.bit_width, 16)).astype(bits) << max(element.bit_width - 16, 0)
    every = (values | (values >> 1)).view(element.dtype)
    assert not ulp_distance(every, every).any()
