"""The data of the suite's failures."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from xla_conformance.bits import require_bits
from xla_conformance.device.arrays import require_same_bits
from xla_conformance.device.patterns import require_bytes
from xla_conformance.failures import Failure
from xla_conformance.ops.comparison import Expected, check

from xla_core.hlo import Tolerance

MODULE = "HloModule m\n\nENTRY e {\n  x = f32[2] parameter(0)\n  ROOT y = f32[2] negate(x)\n}\n"


def test_a_wrong_element_is_shown_with_its_operands() -> None:
    x = np.float32([1, 2])
    operands = [x, np.float32(3), np.zeros((2, 3))]
    with pytest.raises(Failure) as caught:
        check("negate is wrong.", [x], [Expected(-x)], module=MODULE, arguments=[-x], operands=lambda number: operands)
    failure = caught.value
    assert failure.sentence == "negate is wrong. 2 of 2 elements are wrong."
    assert (failure.index, failure.number, failure.module) == ((1,), 0, MODULE)
    assert (failure.got, failure.wanted) == ("2.0 (0x40000000)", "-2.0 (0xc0000000)")
    assert failure.operands == ["2.0 (0x40000000)", "3.0 (0x40400000)", "float64[2, 3]"]
    assert failure.ulp
    assert str(failure).endswith("Result 0 at [1]: got 2.0 (0x40000000), wanted -2.0 (0xc0000000).")


def test_only_floats_have_an_error_in_units_in_the_last_place() -> None:
    x = np.int32([1, -2_000_000_000])
    with pytest.raises(Failure) as caught:
        check("reverse is wrong.", [x], [Expected(x[::-1])])
    assert (caught.value.got, caught.value.ulp) == ("1", None)


def test_a_wrong_type_has_no_element() -> None:
    with pytest.raises(Failure) as caught:
        require_bits("negate is wrong.", [np.zeros(2)], [np.zeros(3)], promise="")
    assert str(caught.value) == "negate is wrong. Result 0 is float64[2], not float64[3]."
    assert caught.value.operands == []


def test_results_that_are_missing() -> None:
    with pytest.raises(Failure, match="There are 0 results, 1 are expected"):
        require_bits("negate is wrong.", [], [np.zeros(3)], promise="")


def test_results_within_a_tolerance_need_not_have_the_bits() -> None:
    got, wanted = np.float32([1, 2, np.nan]), np.float32([1, 2.001, -np.nan])
    within = [Tolerance(rtol=1e-2), None]
    require_bits("negate is wrong.", [got, got], [wanted, got], promise="", tolerances=within)
    with pytest.raises(Failure) as caught:
        require_bits("negate is wrong.", [got], [wanted + 1], promise="", tolerances=within)
    assert str(caught.value).startswith("negate is wrong. 2 of 3 elements are wrong. Result 0 at [")
    assert caught.value.ulp
    with pytest.raises(Failure, match=r"2 of 3 elements are wrong. Result 1 at \[1\]"):
        require_bits("negate is wrong.", [got, got], [wanted, wanted], promise="", tolerances=within)


@pytest.mark.parametrize(
    "compare",
    [
        lambda got, wanted: require_bits("late.", [got], [wanted], promise="", tolerances=[Tolerance()]),
        lambda got, wanted: require_bits("late.", [got], [wanted], promise=""),
        lambda got, wanted: require_same_bits("late.", got, wanted, promise=""),
        lambda got, wanted: require_bytes("late.", got, wanted, promise=""),
        lambda got, wanted: check("late.", [got], [Expected(wanted)]),
    ],
    ids=["tolerance", "bits", "same bits", "bytes", "rule"],
)
def test_a_late_copy_changes_no_message(compare: Callable[[np.ndarray, np.ndarray], None]) -> None:
    """The array has the expected values only after the comparison."""
    got, wanted = np.zeros(4, np.uint8), np.arange(1, 5, dtype=np.uint8)
    with pytest.raises(Failure) as caught:
        compare(got, wanted)
    before = str(caught.value)
    got[:] = wanted
    assert str(caught.value) == before
    assert "got 0, wanted" in before
