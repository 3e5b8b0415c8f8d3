"""Rounds of the profile stress: other seeds until the time is over."""

from __future__ import annotations

from xla_conformance.report.failure import command_of
from xla_conformance.results import Result, Run, State
from xla_conformance.runner import Limits, run_rounds

LIMITS = Limits(test=60, stage=60, total=3600)


def rounds(*made: Run) -> Run:
    """Runs rounds that end as given."""
    left = list(made)

    def run(seed: int, limits: Limits) -> Run:
        assert limits.total <= LIMITS.total
        following = left.pop(0)
        following.seed = seed
        return following

    return run_rounds(run, 7, LIMITS)


def passed() -> Run:
    return Run("acme", "stress", [Result("a", State.PASS), Result("b", State.PASS)], seconds=10)


def over(*results: Result) -> Run:
    """A round in which the time is over."""
    problem = "the total time is over"
    return Run("acme", "stress", list(results), seconds=5, problem=problem, not_run=2, timed_out=True)


def test_the_first_round_counts_and_later_ones_add_what_is_wrong() -> None:
    second = Run("acme", "stress", [Result("a", State.FAIL), Result("b", State.PASS), Result("c", State.CRASH)])
    whole = rounds(passed(), second, over(Result("a", State.FAIL), Result("d", State.PASS)))
    assert [(r.id, r.state.value) for r in whole.results] == [("a", "FAIL"), ("b", "PASS"), ("c", "CRASH")]
    assert whole.seeds == [7, 8, 9]
    assert whole.seconds == 15
    assert (whole.problem, whole.not_run) == ("", 0)
    assert "--seed 8" in command_of(whole, whole.results[0])


def test_the_last_round_need_not_end() -> None:
    assert rounds(passed(), passed(), over()).passes


def test_the_first_round_has_to_end() -> None:
    assert not rounds(over(Result("a", State.PASS))).passes


def test_a_round_that_is_interrupted_ends_the_run() -> None:
    interrupted = Run("acme", "stress", [], problem="it was interrupted", not_run=1)
    whole = rounds(passed(), interrupted, passed())
    assert whole.seeds == [7, 8]
    assert not whole.passes
