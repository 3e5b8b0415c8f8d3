"""The choice between ways to scatter windows, by a target's data."""

from __future__ import annotations

import pytest

import xla_core as xla
from xla_core.analysis.scatter_windows import ScatterWindows
from xla_core.target import ParallelModel

TEXT = """HloModule m
add {
  a = $T[] parameter(0)
  b = $T[] parameter(1)
  ROOT c = $T[] add(a, b)
}
ENTRY e {
  x = $T[$N] parameter(0)
  i = s32[20,1] parameter(1)
  u = $T[20] parameter(2)
  ROOT r = $T[$N] scatter(x, i, u), update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add
}
"""


def windows(element_type: str, size: int, **model: object) -> ScatterWindows:
    module = xla.parse(TEXT.replace("$T", element_type).replace("$N", str(size)))
    return ScatterWindows(module.entry.root, ParallelModel(**model))


@pytest.mark.parametrize(
    ("element_type", "size", "atomic_bits", "commutes"),
    [
        ("s64", 6, (32, 64), True),
        ("s64", 6, (32,), False),  # no atomic is so wide
        ("s16", 6, (32, 64), True),
        ("s16", 6, (64,), False),  # the last word has bytes behind the array
        ("s16", 5, (16, 32), True),
        ("f32", 6, (32, 64), False),
    ],
)
def test_updates_that_atomics_combine(element_type: str, size: int, atomic_bits: tuple[int, ...], commutes) -> None:
    assert windows(element_type, size, atomic_bits=atomic_bits).commutes(floats=False) == commutes


@pytest.mark.parametrize(("most", "are_few"), [(19, False), (20, True)])
def test_updates_that_one_thread_combines(most: int, are_few: bool) -> None:
    assert windows("f32", 6, serial_updates=most).are_few == are_few
