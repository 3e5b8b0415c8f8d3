"""Runs cases in batches, each one program, and finds the cases to blame where a program fails."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Literal

import numpy as np

from xla_conformance.ahead_of_time.cases import Case
from xla_conformance.ahead_of_time.machine import Machine, NoProgramError
from xla_conformance.failures import Failure
from xla_conformance.ops.contexts import Context, Placed, place
from xla_conformance.ops.joint import join
from xla_conformance.results import Result, State
from xla_conformance.runner.explanation import explain, save_failure
from xla_conformance.runner.process import folder_name
from xla_core.errors import UnimplementedError, XlaError

TOGETHER = 48
"""The most cases in one program. Level 2 is for one program of four, as it takes longer to compile."""


@dataclasses.dataclass(frozen=True)
class Batch:
    """Cases of one program, and its optimization level."""

    cases: Sequence[Case]
    level: Literal[0, 2]


def batches_of(cases: Iterable[Case]) -> Iterator[Batch]:
    """Divides cases among programs. Whole programs, and those whose arrays are dynamic or aliased, stay alone."""
    plain: list[Case] = []
    alone: list[Case] = []
    for case in cases:
        (plain if _may_be_joined(case) else alone).append(case)
    for number, start in enumerate(range(0, len(plain), TOGETHER)):
        yield Batch(plain[start : start + TOGETHER], 0 if number % 4 else 2)
    for case in alone:
        yield Batch([case], 2)


def _may_be_joined(case: Case) -> bool:
    if not case.may_be_joined:
        return False
    module = case.module()
    shapes = [*module.parameter_shapes, *module.result_shape.leaves()]
    return all(s.is_array and not s.is_dynamic for s in shapes) and not module.input_output_aliases


def run_batch(machine: Machine, artifacts: Path, batch: Batch) -> list[Result]:
    """Runs the program of a batch. Where it can't be compiled or fails, runs its halves.

    The programs and arrays of wrong results are written to folders in `artifacts`.

    Raises:
        NoProgramError: the backend's files are no C program.
    """
    cases, start = batch.cases, time.monotonic()
    try:
        placed = [
            place(case.module(), Context(level=batch.level), case.arguments())
            if case.may_be_joined
            else Placed(case.module(), case.arguments(), Context(level=batch.level))
            for case in cases
        ]
        joined = join(placed) if len(placed) > 1 else Placed(placed[0].module.clone(), placed[0].arguments, Context())
        results = machine.run(joined.module, joined.arguments, batch.level)
    except NoProgramError:
        raise
    except XlaError as error:
        if len(cases) > 1:
            half = len(cases) // 2
            parts = (Batch(cases[:half], batch.level), Batch(cases[half:], batch.level))
            return [result for part in parts for result in run_batch(machine, artifacts, part)]
        state = State.NOT_SUPPORTED if isinstance(error, UnimplementedError) else State.FAIL
        return [_result(cases[0], state, time.monotonic() - start, error, artifacts)]
    seconds = (time.monotonic() - start) / len(cases)
    found = []
    for case, one in zip(cases, placed, strict=True):
        count = len(one.module.result_shape.array_leaves())
        found.append(_compared(case, one, results[:count], seconds, artifacts))
        results = results[count:]
    return found


def _compared(case: Case, placed: Placed, results: Sequence[np.ndarray], seconds: float, artifacts: Path) -> Result:
    try:
        case.check(results, placed.module, placed.arguments)
    except Failure as failure:
        return _result(case, State.FAIL, seconds, failure, artifacts)
    return Result(case.id, State.PASS, seconds, properties=dict(case.properties))


def _result(case: Case, state: State, seconds: float, error: Failure | XlaError, artifacts: Path) -> Result:
    explained = explain(error)
    failure = explained.failure
    if isinstance(error, Failure):
        name = folder_name(case.id)
        failure = {**failure, "folder": name, "files": save_failure(error, artifacts / name)}
    return Result(case.id, state, seconds, explained.sentence, dict(case.properties), explained.details, failure)
