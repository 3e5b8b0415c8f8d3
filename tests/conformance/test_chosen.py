"""Tests that no -k and no --test chooses are not made, and all others are."""

from __future__ import annotations

import pytest
from xla_conformance.chosen import may_be_chosen
from xla_conformance.ops import generate
from xla_conformance.ops.elementwise import value_cases

OPS, VALUES = "test_ops.py::test_op", "test_ops_values.py::test_values"
ABS = f"{OPS}[abs-f32-O0]"


@pytest.mark.parametrize(
    "expression",
    [
        *("test_op", "test_ops", "TEST_OPS.PY", "test_op[abs", "[abs-f32", "[ABS", "op[abs-f32-rank.1", "[a", "["),
        *("f32", "rank.3", "abs or test_loading", "f32 and (test_loading or [abs)", "not test_loading"),
        *("not f32", "not [abs-f32", "not (f32 and [abs)", "test_op and not [abs-f32", "joint"),
        *(
            "test_op[abs-f32]]",
            "(",
            "and",
            "test_loading or",
            "(a or b) and (c or d) and (e or f) and (g or h) and (i or j) and (k or l)",
        ),
    ],
)
def test_what_may_match_is_made(expression: str) -> None:
    assert may_be_chosen(OPS, "abs-", expression)


@pytest.mark.parametrize(
    "expression",
    [
        *("test_loading", "test_op[negate", "[negate-f32", "test_values[abs", "values[abs", "test_ops_values"),
        *(
            "f32 and test_loading",
            "test_streams or test_op[add",
            "not test_op",
            "test_op[ab-",
            "test_op[abs[",
            "not (test_op or f32)",
        ),
    ],
)
def test_what_matches_nothing_is_not_made(expression: str) -> None:
    assert not may_be_chosen(OPS, "abs-", expression)


def test_a_file_has_its_functions() -> None:
    assert may_be_chosen(VALUES, "abs-", "test_ops")
    assert may_be_chosen(VALUES, "abs-", "test_ops_values and test_values[abs")


def test_tests_may_be_named_with_and_without_their_file() -> None:
    assert may_be_chosen(OPS, "abs-", tests=[ABS])
    assert may_be_chosen(OPS, "abs-", tests=["test_streams.py::test_x", "test_op[abs-f32-O0]"])
    assert not may_be_chosen(OPS, "add-", tests=[ABS])
    assert not may_be_chosen(VALUES, "abs-", tests=[ABS])
    assert not may_be_chosen(OPS, "abs-", "test_loading", [ABS])


def test_names_of_cases_are_as_chosen_takes_them() -> None:
    for case in (*generate(), *value_cases()):
        assert case.name.startswith(f"{case.opcode}-"), case.name
        assert "test_" not in case.name, case.name
        assert "[" not in case.name, case.name
