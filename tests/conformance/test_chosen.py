"""Tests that no -k and no --test chooses are not made, and all others are."""

from __future__ import annotations

import functools
import re

import pytest
from xla_conformance.chosen import may_be_chosen, passes_of
from xla_conformance.ops import OpCase, generate
from xla_conformance.ops.elementwise import value_cases
from xla_conformance.ops.names import words_of_cases, words_of_value_cases

from xla_core.hlo import Opcode

OPS, VALUES = "test_ops.py::test_op", "test_ops_values.py::test_values"
ABS = f"{OPS}[abs-f32-O0]"


def may_be(function: str, start: str, expression: str = "", tests: tuple[str, ...] | list[str] = ()) -> bool:
    words = functools.partial(words_of_cases if function == OPS else words_of_value_cases, Opcode(start[:-1]))
    return may_be_chosen(function, start, expression, tests, words=words)


@pytest.mark.parametrize(
    "expression",
    [
        *("test_op", "test_ops", "TEST_OPS.PY", "test_op[abs", "[abs-f32", "[ABS", "op[abs-f32-rank.1", "[a", "["),
        *(
            "f32",
            "turn.3",
            "O2",
            "kernels-fused",
            "mixed-layouts",
            "ops",
            "abs",
            "suite",
            "abs or test_loading",
            "f32 and (test_loading or [abs)",
            "not test_loading",
        ),
        *("not f32", "not [abs-f32", "not (f32 and [abs)", "test_op and not [abs-f32", "joint"),
        *(
            "test_op[abs-f32]]",
            "(",
            "and",
            "test_loading or",
            "(f8 or f6) and (f16 or f32) and (O0 or O2) and (s8 or u8) and (fused or alone) and (c64 or c128)",
        ),
    ],
)
def test_what_may_match_is_made(expression: str) -> None:
    assert may_be(OPS, "abs-", expression)


@pytest.mark.parametrize(
    "expression",
    [
        *("test_loading", "test_op[negate", "[negate-f32", "test_values[abs", "values[abs", "test_ops_values"),
        *(
            "f32 and test_loading",
            "loading",
            "reduce",
            "rank.3",
            "f32 and lhs.bfc",
            "stablehlo or streams",
            "not ops",
            "test_streams or test_op[add",
            "not test_op",
            "test_op[ab-",
            "test_op[abs[",
            "not (test_op or f32)",
        ),
    ],
)
def test_what_matches_nothing_is_not_made(expression: str) -> None:
    assert not may_be(OPS, "abs-", expression)


def test_a_file_has_its_functions() -> None:
    assert may_be(VALUES, "abs-", "test_ops")
    assert may_be(VALUES, "abs-", "test_ops_values and test_values[abs")


def test_tests_may_be_named_with_and_without_their_file() -> None:
    assert may_be(OPS, "abs-", tests=[ABS])
    assert may_be(OPS, "abs-", tests=["test_streams.py::test_x", "test_op[abs-f32-O0]"])
    assert not may_be(OPS, "add-", tests=[ABS])
    assert not may_be(VALUES, "abs-", tests=[ABS])
    assert not may_be(OPS, "abs-", "test_loading", [ABS])


def test_names_of_cases_are_as_chosen_takes_them() -> None:
    for case in (*generate(), *value_cases()):
        assert case.name.startswith(f"{case.opcode}-"), case.name
        assert "test_" not in case.name, case.name
        assert "[" not in case.name, case.name
        words = (words_of_cases if isinstance(case, OpCase) else words_of_value_cases)(case.opcode)
        parts = re.split(r"[\W\d_]+", case.name.lower())
        assert all(part in f"{case.opcode} {words}" for part in parts), case.name


@pytest.mark.parametrize("profile", ["full", "stress"])
def test_other_profiles_have_the_cases_of_quick(profile: str) -> None:
    assert set(passes_of("quick")) < set(passes_of(profile))
