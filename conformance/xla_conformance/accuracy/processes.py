"""Runs checks in one process or in several."""

from __future__ import annotations

import contextlib
import multiprocessing
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed

import xla_core as xla
from xla_conformance.accuracy.frame import Check, Row
from xla_conformance.accuracy.suite import all_checks, measure
from xla_conformance.subjects import EVALUATOR, BackendSubject, EvaluatorSubject, Subject


def measure_each(
    platforms: Sequence[str | None], checks: Sequence[Check], points: int, column: str | None, jobs: int = 1
) -> Iterator[tuple[int, list[Row]]]:
    """Yields the number of each finished check, with a row for each platform. All platforms of a check run in the same
    process, one after the other, and share its exact values.

    Args:
        platforms: `EVALUATOR`, names of backends, or None for the default one.
        points, column: as `suite.measure` takes them.
        jobs: how many processes.

    Raises:
        XlaError: a platform isn't installed, or finds no device.
    """
    if jobs == 1:
        with contextlib.ExitStack() as stack:
            subjects = _subjects(platforms, stack)
            for number, check in enumerate(checks):
                yield number, _rows(subjects, check, points, column)
        return
    with contextlib.ExitStack() as stack:
        _subjects(platforms, stack)  # an unusable platform raises its error here, and not in each worker
    context = multiprocessing.get_context("spawn")  # a client's threads don't survive a fork
    with ProcessPoolExecutor(jobs, context, _start, (tuple(platforms),)) as pool:
        waiting = {pool.submit(_measure, check.name, points, column): n for n, check in enumerate(checks)}
        for done in as_completed(waiting):
            yield waiting[done], done.result()


def _subjects(platforms: Sequence[str | None], stack: contextlib.ExitStack) -> list[Subject]:
    return [
        EvaluatorSubject() if name == EVALUATOR else BackendSubject(stack.enter_context(xla.Client(name)))
        for name in platforms
    ]


def _rows(subjects: Sequence[Subject], check: Check, points: int, column: str | None) -> list[Row]:
    return [row for subject in subjects for row in measure(subject, [check], points, column)]


# -- in a worker -------------------------------------------------------------------------------------------------------

_worker_subjects: list[Subject] = []
_worker_checks: dict[str, Check] = {}


def _start(platforms: Sequence[str | None]) -> None:
    """Makes a worker's subjects, which live as long as the process."""
    _worker_subjects.extend(_subjects(platforms, contextlib.ExitStack()))
    _worker_checks.update((check.name, check) for check in all_checks())


def _measure(name: str, points: int, column: str | None) -> list[Row]:
    return _rows(_worker_subjects, _worker_checks[name], points, column)
