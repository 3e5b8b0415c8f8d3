"""Tests that share a program: their order, and what becomes of them if it ends its process."""

from __future__ import annotations

from xla_conformance.results import Result, State
from xla_conformance.runner.groups import Groups

LOST = Result("a", State.CRASH, 1.0, "its process ended with code 3")


def result(id: str, state: State = State.PASS) -> Result:
    return Result(id, state, 0.1, "")


def test_the_tests_of_a_group_are_one_after_another() -> None:
    groups = Groups({"a": "one", "c": "one", "b": "two"})
    assert groups.arranged(["a", "b", "plain", "c"]) == ["a", "c", "b", "plain"]
    assert groups.are_together("a", "c")
    assert not groups.are_together("a", "b")
    assert not groups.are_together("plain", "")


def test_a_split_group_runs_alone() -> None:
    groups = Groups({"a": "one", "b": "one"})
    groups.split(["a", "b"], LOST)
    assert not groups.are_together("a", "b")


def test_a_test_that_is_wrong_alone_explains_the_program() -> None:
    groups = Groups({"a": "one", "b": "one"})
    groups.split(["a", "b"], LOST)
    judged = [groups.judged(result("a", State.CRASH)), groups.judged(result("b"))]
    assert [r.state for r in judged] == [State.CRASH, State.PASS]


def test_if_each_is_right_alone_the_last_has_the_programs_result() -> None:
    groups = Groups({"a": "one", "b": "one"})
    groups.split(["a", "b"], LOST)
    judged = [groups.judged(result("b")), groups.judged(result("a"))]
    assert [(r.id, r.state) for r in judged] == [("b", State.PASS), ("a", State.CRASH)]
    assert "code 3" in judged[1].message
