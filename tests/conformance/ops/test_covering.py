"""Covering arrays of pairs."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from xla_conformance.ops.covering import covering_rows


def _pairs(rows: Sequence[Sequence[int]]) -> set[tuple[tuple[int, int], ...]]:
    return {pair for row in rows for pair in itertools.combinations(enumerate(row), 2)}


@given(st.lists(st.integers(1, 6), min_size=2, max_size=5))
def test_each_pair_is_in_a_row_and_no_row_is_there_twice(counts: list[int]) -> None:
    rows = [tuple(row) for row in covering_rows(counts)]
    assert _pairs(rows) == _pairs(list(itertools.product(*map(range, counts))))
    assert len(set(rows)) == len(rows)


@pytest.mark.parametrize(("counts", "most"), [((3, 3, 3, 3), 10), ((9, 4, 4, 4, 2, 2), 45), ((8, 8, 2), 66)])
def test_the_rows_are_few(counts: tuple[int, ...], most: int) -> None:
    assert len(list(covering_rows(counts))) <= most


def test_rows_that_are_not_possible_are_left_out() -> None:
    counts = (4, 3, 3)

    def possible(row: Sequence[int]) -> bool:
        return sum(row) % 3 != 0

    rows = list(covering_rows(counts, possible))
    assert all(map(possible, rows))
    assert _pairs(rows) == _pairs([row for row in itertools.product(*map(range, counts)) if possible(row)])


def test_pairs_that_no_greedy_row_has_are_in_rows_of_their_own() -> None:
    """One value goes with another one of a later axis alone."""
    counts = (3, 4, 3, 2)

    def possible(row: Sequence[int]) -> bool:
        return row[0] != 2 or row[1] == 3 or (row[3] == 1 and row[2] == 2)

    rows = list(covering_rows(counts, possible))
    assert _pairs(rows) == _pairs([row for row in itertools.product(*map(range, counts)) if possible(row)])


def test_there_may_be_no_possible_row() -> None:
    assert not list(covering_rows((2, 2), lambda row: False))
