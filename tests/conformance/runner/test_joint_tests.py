"""Tests that share a program: their order, and what becomes of them if it ends its process."""

from __future__ import annotations

from xla_conformance.results import Result, State
from xla_conformance.runner.joint_tests import JointTests

LOST = Result("a", State.CRASH, 1.0, "its process ended with code 3")


def result(id: str, state: State = State.PASS) -> Result:
    return Result(id, state, 0.1, "")


def test_the_tests_of_a_program_are_one_after_another() -> None:
    joint = JointTests({"a": "one", "c": "one", "b": "two"})
    assert joint.arranged(["a", "b", "plain", "c"]) == ["a", "c", "b", "plain"]
    assert joint.are_together("a", "c")
    assert not joint.are_together("a", "b")
    assert not joint.are_together("plain", "")


def test_the_tests_of_a_program_that_is_split_run_alone() -> None:
    joint = JointTests({"a": "one", "b": "one"})
    joint.split(["a", "b"], LOST)
    assert not joint.are_together("a", "b")


def test_a_test_that_is_wrong_alone_explains_the_program() -> None:
    joint = JointTests({"a": "one", "b": "one"})
    joint.split(["a", "b"], LOST)
    judged = [joint.judged(result("a", State.CRASH)), joint.judged(result("b"))]
    assert [r.state for r in judged] == [State.CRASH, State.PASS]


def test_if_each_is_right_alone_the_last_has_the_programs_result() -> None:
    joint = JointTests({"a": "one", "b": "one"})
    joint.split(["a", "b"], LOST)
    judged = [joint.judged(result("b")), joint.judged(result("a"))]
    assert [(r.id, r.state) for r in judged] == [("b", State.PASS), ("a", State.CRASH)]
    assert "code 3" in judged[1].message
