"""What a test that passes says of the run before it, in which it was wrong."""

from __future__ import annotations

from pathlib import Path

from xla_conformance.report.failure import SEQUENCE
from xla_conformance.report.sequence import with_sequences
from xla_conformance.results import Result, Run, State

_TEST = "test_ops.py::test_op[abs-f32]"


def _run(state: State, **properties: object) -> Run:
    return Run("chip", "stress", [Result(_TEST, state, properties=dict(properties))])


def test_a_test_that_was_wrong_with_the_same_seed(tmp_path: Path) -> None:
    (result,) = with_sequences(_run(State.PASS), _run(State.FAIL, process=1), tmp_path)
    assert "passes now, and was wrong in the report before" in result.properties[SEQUENCE]


def test_a_test_that_was_wrong_in_a_later_round_with_another_seed(tmp_path: Path) -> None:
    run = _run(State.PASS)
    assert with_sequences(run, _run(State.FAIL, process=1, seed=3), tmp_path) == run.results
