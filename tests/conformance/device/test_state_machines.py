"""Hypothesis' state machines as the suite runs them."""

from __future__ import annotations

import pytest
from hypothesis import strategies as st
from hypothesis.internal.conjecture import providers
from hypothesis.stateful import RuleBasedStateMachine, rule
from xla_conformance.device.state_machines import run_machine


def _steps(start: int) -> list[int]:
    taken: list[int] = []

    class Steps(RuleBasedStateMachine):
        @rule(number=st.integers(0, 1 << 20))
        def step(self, number: int) -> None:
            taken.append(number)

    run_machine(Steps, start, examples=5, steps=20)
    return taken


def test_the_start_decides_the_steps() -> None:
    assert _steps(0) == _steps(0) != _steps(1)


def test_no_source_is_parsed_to_choose_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    def parse(module: object) -> None:
        raise AssertionError(f"it parses {module}")

    monkeypatch.setattr(providers, "constants_from_module", parse)
    monkeypatch.setattr(providers, "_seen_modules", set())
    monkeypatch.setattr(providers, "_sys_modules_len", None)
    assert _steps(2)


def test_a_failure_of_a_step_is_that_of_the_machine() -> None:
    class Wrong(RuleBasedStateMachine):
        @rule()
        def fail(self) -> None:
            raise ValueError("wrong")

    with pytest.raises(ValueError, match="wrong"):
        run_machine(Wrong, 0, examples=5, steps=20)
