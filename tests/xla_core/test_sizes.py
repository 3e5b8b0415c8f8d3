"""Arithmetic on sizes."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from xla_core.sizes import ceil_div, power_above, power_below, round_up

SIZES = st.integers(1, 10**12)


@settings(deadline=None)
@given(st.integers(0, 10**12), SIZES)
def test_quotients_and_multiples_are_rounded_up(size: int, of: int) -> None:
    assert (ceil_div(size, of) - 1) * of < size <= ceil_div(size, of) * of
    assert round_up(size, of) == ceil_div(size, of) * of


@settings(deadline=None)
@given(SIZES)
def test_powers_of_two_around_a_number(number: int) -> None:
    assert power_below(number) <= number < 2 * power_below(number)
    assert power_above(number) // 2 < number <= power_above(number)
    assert power_above(power_below(number)) == power_below(number)
