"""Which values have the same bits, and the failures for the others."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from xla_conformance.bits import require_bits, same_bits
from xla_conformance.failures import Failure


def test_nans_and_zeros_differ_by_their_bits() -> None:
    words = np.array([0x7FC00000, 0x7FC00001, 0x00000000, 0x80000000], np.uint32)
    floats = words.view(np.float32)
    assert same_bits(floats, floats).all()
    assert same_bits(floats, floats[[1, 0, 3, 2]]).tolist() == [False] * 4
    numbers = floats[[0, 2]] + 1j * floats[[2, 2]]
    assert same_bits(numbers, numbers.conj()).tolist() == [False, False]


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
@pytest.mark.parametrize("dimensions", [(), (0, 2), (3, 2)])
def test_both_parts_of_a_number_count(dtype: type, dimensions: tuple[int, ...]) -> None:
    number = np.full(dimensions, complex(np.nan, -0.0), dtype)
    for other in (complex(np.nan, 0.0), complex(1.0, -0.0)):
        assert (same_bits(number, np.full(dimensions, other, dtype)) == np.zeros(dimensions, bool)).all()
    assert same_bits(number, number.copy(order="F")).shape == dimensions
    assert same_bits(number, number.copy(order="F")).all()


def test_integers_of_few_bits_are_compared_by_value() -> None:
    values = np.array([-3, 2], ml_dtypes.int4)
    assert same_bits(values, (values.view(np.uint8) & 0x0F).view(ml_dtypes.int4)).all()


def test_a_truth_value_is_a_byte_of_0_or_1() -> None:
    got, wanted = np.array([0, 1, 255], np.uint8).view(np.bool_), np.array([False, True, True])
    assert same_bits(got, wanted).tolist() == [True, True, False]
    assert same_bits(got[2].reshape(()), wanted[2].reshape(())).shape == ()
    with pytest.raises(Failure, match=r"1 of 3 elements is wrong. Result 0 at \[2\]: got True \(0xff\)"):
        require_bits("Bits.", [got], [wanted], promise="")


def test_a_failure_names_the_first_wrong_element() -> None:
    right = np.arange(6, dtype=np.float32).reshape(2, 3)
    wrong = right.copy()
    wrong[1, 1:] = 0
    with pytest.raises(Failure, match=r"Sums. 2 of 6 elements are wrong. Result 1 at \[1,1\]: got 0.0") as caught:
        require_bits("Sums.", [right, wrong], [right, right], module="HloModule m", arguments=[right], promise="")
    assert caught.value.module == "HloModule m"
    with pytest.raises(Failure, match=r"Result 0 is float32\[2, 3\], not float64\[2, 3\]"):
        require_bits("Sums.", [right], [right.astype(np.float64)], promise="")
    with pytest.raises(Failure, match="There are 1 results, 2 are expected"):
        require_bits("Sums.", [right], [right, right], promise="")


def test_elements_that_no_kernel_has_written_are_said_to_be() -> None:
    expected = np.arange(6, dtype=np.float32)
    got = expected.copy()
    got[4:].view(np.uint8)[:] = 0xA7
    with pytest.raises(
        Failure, match=r"^No kernel has written 2 of 6 elements of result 0, which .* A kernel writes its results\."
    ):
        require_bits("A kernel writes its results.", [got], [expected], promise="")
    got[0] = 1
    with pytest.raises(Failure) as caught:
        require_bits("A kernel writes its results.", [got], [expected], promise="")
    assert "No kernel" not in str(caught.value)
