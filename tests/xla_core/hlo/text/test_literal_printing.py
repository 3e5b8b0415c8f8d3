"""Literals as text: nesting, and numbers with as few digits as give the same bits back."""

from __future__ import annotations

import warnings

import ml_dtypes
import numpy as np
import pytest

from xla_core.hlo import ElementType, HloComputation, Literal, Shape


def _text(array: np.ndarray) -> str:
    literal = Literal(array, Shape.of(array))
    return str(HloComputation("c").constant(literal)).partition("constant(")[2].removesuffix(")")


@pytest.mark.parametrize(
    ("values", "text"),
    [
        (np.float32(0.1), "0.1"),
        (np.array([0.1, 1 / 3, -0.0, 16777217], np.float32), "{0.1, 0.333333343, -0, 16777216}"),
        (np.array([0.1, 1 / 3, np.inf, -np.inf]), "{0.1, 0.33333333333333331, inf, -inf}"),
        (np.array([0.1, 3], ml_dtypes.bfloat16), "{0.1001, 3}"),
        (np.array([1 / 3 + 2j], np.complex64), "{(0.333333343, 2)}"),
        (np.array([-128, 127], np.int8), "{-128, 127}"),
        (np.array([2**64 - 1], np.uint64), "{18446744073709551615}"),
        (np.array(True), "true"),
        (np.array([True, False]), "{1, 0}"),
    ],
)
def test_numbers(values: np.ndarray, text: str) -> None:
    assert _text(np.asarray(values)) == text


def test_nans_among_numbers_keep_their_bits() -> None:
    bits = np.array([0x3F800000, 0x7FC00000, 0xFFC00000, 0x7FC00001], np.uint32)
    assert _text(bits.view(np.float32)) == "{1, nan, -nan, nan(0x400001)}"


def test_signaling_nans_print_without_a_warning() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert _text(np.array([0x7F800001, 0x3F800000], np.uint32).view(np.float32)) == "{nan(0x1), 1}"


@pytest.mark.parametrize(
    ("dimensions", "text"),
    [
        ((0,), "{}"),
        ((2, 0), "{ {}, {} }"),
        ((2, 1), "{ {0}, {1} }"),
        ((2, 2), "{ { 0, 1 }, { 2, 3 } }"),
        ((1, 1, 1, 2), "{ { /*i0=0*/ { /*i1=0*/ { 0, 1 } } } }"),
    ],
)
def test_nesting(dimensions: tuple[int, ...], text: str) -> None:
    assert _text(np.arange(np.prod(dimensions), dtype=np.int32).reshape(dimensions)) == text


@pytest.mark.parametrize("element", [ElementType.F32, ElementType.F8E4M3FN, ElementType.S32, ElementType.C64])
def test_a_repeated_element_prints_like_a_copy(element: ElementType) -> None:
    array = np.broadcast_to(np.asarray(1.5).astype(element.dtype), (2, 3))
    assert _text(array) == _text(array.copy())
