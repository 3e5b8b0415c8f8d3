"""Rows and choices by the combinations of values that they have."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import pytest
from xla_conformance.ops.choices import Choice, Group
from xla_conformance.ops.combinations import Combinations, Missing

COUNTS = (5, 4, 4, 3, 2, 2)
AXES = {"a": (1, 2, 3), "b": ("x", "y"), "c": (Group(4, 5), 6), "d": (True, False), "e": ("one",)}


def _met(rows: Sequence[Sequence[int]], strength: int) -> set[tuple[tuple[int, int], ...]]:
    return {found for row in rows for found in itertools.combinations(enumerate(row), strength)}


def _rows(strength: int, seed: int = 0, before: Sequence[Sequence[int]] = ()) -> list[list[int]]:
    missing = Missing(COUNTS, strength, np.random.default_rng(seed))
    for row in before:
        missing.take(row)
    rows = []
    while missing.count:
        rows.append(missing.best({}))
        missing.take(rows[-1])
    return rows


@pytest.mark.parametrize(("strength", "most"), [(1, 5), (2, 26), (3, 110)])
def test_rows_are_added_until_all_combinations_are_there(strength: int, most: int) -> None:
    rows = _rows(strength)
    axes = [[(axis, n) for n in range(count)] for axis, count in enumerate(COUNTS)]
    wanted = {c for some in itertools.combinations(axes, strength) for c in itertools.product(*some)}
    assert _met(rows, strength) == wanted
    assert len(rows) <= most
    assert Missing(COUNTS, strength, np.random.default_rng(0)).total == len(wanted)


def test_rows_depend_on_the_seed_alone() -> None:
    assert _rows(3) == _rows(3) != _rows(3, seed=1)


def test_combinations_of_given_rows_are_not_missing() -> None:
    given = _rows(2)
    added = _rows(3, before=given)
    assert len(added) < len(_rows(3))
    assert len(_met([*given, *added], 3)) == Missing(COUNTS, 3, np.random.default_rng(0)).total
    assert _rows(3, before=_rows(3)) == []


def test_a_row_has_the_allowed_numbers_and_many_combinations() -> None:
    missing = Missing((2, 3, 3), 3, np.random.default_rng(0))
    for row in itertools.product((0, 1), (0, 1, 2), (0, 1)):
        missing.take(row)
    row = missing.best({0: [0], 2: [0, 2]})
    assert (row[0], row[2]) == (0, 2)
    assert missing.count == 2 * 3


def test_a_number_that_is_not_on_an_axis_is_in_no_combination() -> None:
    missing = Missing((2, 2, 2), 3, np.random.default_rng(0))
    missing.take([0, -1, 0])
    assert missing.count == missing.total == 8


def test_choices_have_members_of_groups_in_turns() -> None:
    combinations = Combinations(AXES, 3, np.random.default_rng(0))
    choices = list(combinations.complete())
    assert combinations.count == combinations.total == 2 * 3 * 2 * 2 + 3 * 2 * 2 + 2 * 2 * 2
    assert {c.c for c in choices} == {4, 5, 6}
    assert {c.e for c in choices} == {"one"}


def test_a_choice_has_given_values_and_allowed_ones() -> None:
    combinations = Combinations(AXES, 2, np.random.default_rng(0))
    choice = combinations.best({"a": [1, 2], "b": [1]}, c=5)
    assert (choice.b, choice.c) == ("y", 5)
    assert choice.a in (2, 3)
    assert combinations.values(Choice({**choice.values, "a": 9})) >= {("b", 1), ("c", 0), ("e", 0)}
    assert combinations.numbers({"c": (4, 5, 6), "a": (2,)}) == {"c": [0, 1], "a": [1]}
