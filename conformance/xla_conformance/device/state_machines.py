"""Runs Hypothesis' state machines."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, errors, settings
from hypothesis import seed as seeded
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test


def run_machine(machine: type[RuleBasedStateMachine], start: int, examples: int, steps: int) -> None:
    """Runs a machine, whose steps depend on `start`.

    Hypothesis only chooses the steps; a fault that doesn't come again is a failure too.
    """
    options = settings(
        max_examples=examples,
        stateful_step_count=steps,
        deadline=None,
        database=None,
        phases=(Phase.generate,),
        report_multiple_bugs=False,
        print_blob=False,
        suppress_health_check=list(HealthCheck),
    )
    try:
        with _without_constants_of_source():
            run_state_machine_as_test(seeded(start)(machine), settings=options)
    except errors.FlakyFailure as flaky:
        raise flaky.exceptions[0] from None


@contextlib.contextmanager
def _without_constants_of_source() -> Iterator[None]:
    """Lets Hypothesis draw no constants that it finds in the source of the process's modules.

    It parses the modules of editable installations for them, which takes seconds, and the steps would depend on their
    source.
    """
    providers: Any = sys.modules.get("hypothesis.internal.conjecture.providers")
    with pytest.MonkeyPatch.context() as patch:
        if hasattr(providers, "_get_local_constants"):  # older versions look for none
            patch.setattr(providers, "_get_local_constants", lambda: providers._local_constants)
        yield
