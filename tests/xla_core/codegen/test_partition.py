"""How nests of loops are divided into units of work."""

from __future__ import annotations

import math

from hypothesis import given, settings
from hypothesis import strategies as st

from xla_core.codegen.partition import TILE_SIDE, Partition
from xla_core.target import ParallelModel

MODEL = ParallelModel(units=64, row_elements=1024, grain_elements=64)

NESTS = st.lists(st.integers(1, 5000), min_size=2, max_size=4)


def test_a_single_loop_has_a_unit_for_each_iteration() -> None:
    assert Partition.into_elements(1000, MODEL) == Partition((1000,), 1, 1000, 1000, grain=64)
    assert Partition.into_elements(1024, MODEL).grain == 4 * 64  # no rest is left for LLVM's vectors
    assert Partition.into_elements(0, MODEL).count == 0


def test_as_many_outer_loops_are_divided_as_make_units_enough() -> None:
    assert Partition.into_rows([100, 100, 10], MODEL).prefix == 1
    assert Partition.into_rows([10, 10, 10], MODEL).prefix == 2
    assert Partition.into_rows([10, 10, 10], MODEL).count == 100


def test_few_long_rows_are_divided_into_chunks() -> None:
    divided = Partition.into_rows([4, 1 << 20], MODEL)
    assert (divided.prefix, divided.chunks, divided.count) == (1, 16, 64)
    assert divided.chunk % 64 == 0


def test_rows_stay_whole_where_a_value_is_computed_once_in_each() -> None:
    divided = Partition.into_rows([4, 1 << 20], MODEL, 1)
    assert (divided.prefix, divided.chunks, divided.count) == (1, 1, 4)


def test_tiles_are_squares_of_two_loops() -> None:
    assert Partition.into_tiles([3, 100, 64], across=1).count == 3 * 4 * 2
    assert Partition.into_tiles([3, 100, 64], across=0).count == 100 * 1 * 2
    assert TILE_SIDE == 32


def test_one_unit_has_all_loops() -> None:
    assert Partition.whole([3, 7]) == Partition((3, 7), 0, 7, 1)
    assert Partition.whole([3, 7]).chunks == 1


@settings(deadline=None)
@given(NESTS, st.sampled_from([64, 512]))
def test_chunks_cover_the_last_loop_and_are_no_longer_than_wanted(extents: list[int], longest: int) -> None:
    divided = Partition.into_chunks(extents, MODEL, longest)
    assert divided.prefix == len(extents) - 1
    assert (divided.chunks - 1) * divided.chunk < extents[-1] <= divided.chunks * divided.chunk
    assert divided.chunk <= longest
    assert divided.count == math.prod(extents[:-1]) * divided.chunks


@settings(deadline=None)
@given(NESTS)
def test_units_cover_all_rows(extents: list[int]) -> None:
    divided = Partition.into_rows(extents, MODEL)
    assert divided.count == math.prod(extents[: divided.prefix]) * divided.chunks
    assert divided.chunks * divided.chunk >= extents[-1]
