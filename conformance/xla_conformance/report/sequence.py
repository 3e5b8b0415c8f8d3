"""Tests that pass and were wrong in the run before: what its report knows of how to see that again."""

from __future__ import annotations

import dataclasses
import shutil
from collections.abc import Sequence
from pathlib import Path

from xla_conformance.report.failure import SEQUENCE, command_of
from xla_conformance.results import Result, Run, State
from xla_conformance.runner.process import folder_name

_FOLDER = "sequences"


def with_sequences(run: Run, before: Run, folder: Path) -> list[Result]:
    """Returns the results of a run of some tests. One that passes says so if it was wrong in the run `before`.

    It writes the tests that ran before it in its process into the report's folder, for a command that runs them again.
    """
    if _conditions(run) != _conditions(before):
        return run.results
    of_seed = [result for result in before.results if "seed" not in result.properties]  # others are of later rounds
    wrong = {result.id: result for result in of_seed if result.state.is_wrong}
    return [
        _with_sequence(result, before, wrong[result.id], folder)
        if result.state is State.PASS and result.id in wrong
        else result
        for result in run.results
    ]


def remove_sequences(folder: Path) -> None:
    """Removes the files that earlier runs have written."""
    shutil.rmtree(folder / _FOLDER, ignore_errors=True)


def _conditions(run: Run) -> tuple[object, ...]:
    """What else may be the reason for another result."""
    return (run.backend, run.seed, *(run.environment.get(key) for key in ("settings", "runner", "backend_version")))


def _with_sequence(result: Result, before: Run, wrong: Result, folder: Path) -> Result:
    tests = _sequence(before.results, wrong)
    text = "passes now, and was wrong in the report before. So it depends on chance, or on what ran beside it."
    if len(tests) > 1:
        file = folder / _FOLDER / f"{folder_name(result.id)}.txt"
        file.parent.mkdir(exist_ok=True)
        file.write_text("".join(f"{test}\n" for test in tests))
        command = command_of(before, wrong, [f"@{file}"])
        text = (
            "passes now, and was wrong in the report before. So it depends on what ran before it, or on chance. "
            f"What its process ran, up to it: {command}"
        )
    return dataclasses.replace(result, properties={**result.properties, SEQUENCE: text})


def _sequence(results: Sequence[Result], wrong: Result) -> list[str]:
    """Returns the tests that ran in the process of a wrong one until its program ended, in their order."""
    process = wrong.properties.get("process")
    number = next(n for n, result in enumerate(results) if result.id == wrong.id)
    ran = [r.id for r in results[: number + 1] if process is not None and r.properties.get("process") == process]
    return [*(ran or [wrong.id]), *wrong.properties.get("beside", ())]
