"""A whole run of the suite."""

from __future__ import annotations

import dataclasses
import functools
import time
from collections.abc import Callable, Collection, Sequence
from pathlib import Path

from xla_conformance.results import GROUPS, STABLEHLO_GROUP, Result, Run
from xla_conformance.runner.limits import Limits
from xla_conformance.runner.pool import Pool
from xla_conformance.runner.process import Suite
from xla_core.errors import AlreadyExistsError, InternalError, InvalidArgumentError, NotFoundError, UnavailableError

Progress = Callable[[int, Result], None]
"""Called after each test with the number of all tests and the result."""

_REFUSALS = {
    error.code.name: error for error in (NotFoundError, AlreadyExistsError, UnavailableError, InvalidArgumentError)
}


def run_suite(
    backend: str | None,
    profile: str = "quick",
    *,
    expression: str = "",
    only: Collection[str] | None = None,
    workers: int = 1,
    settings: Sequence[str] = (),
    stablehlo_tests: Path | None = None,
    evaluator: bool = False,
    seed: int = 0,
    limits: Limits | None = None,
    patience: float = 1.0,
    artifacts: Path | None = None,
    progress: Progress | None = None,
) -> Run:
    """Runs the suite on a backend. Whatever the backend does, this returns.

    Args:
        backend: its name; None for the default one.
        profile: "quick", "full" or "stress".
        expression: selects tests as pytest's -k does.
        only: the ids of the tests to run, or their names.
        workers: the number of processes that share the tests.
        settings: options of the backend, NAME=VALUE, for the programs of the tests.
        stablehlo_tests: run StableHLO's own test files of this folder instead of the suite's.
        evaluator: run StableHLO's files on the reference evaluator; no backend is loaded.
        seed: the seed of every random choice.
        limits: time limits; by default those of the profile, times `patience`.
        patience: the factor of the time limits within the tests.
        artifacts: a folder for the programs and arrays of failures.
        progress: called after each test.

    Raises:
        NotFoundError: there is no such backend.
        AlreadyExistsError: several distributions bring it.
        UnavailableError: the backend itself says that it can't be used here.
        InvalidArgumentError: it has no such option.
    """
    suite = Suite(
        backend or "",
        profile,
        seed,
        expression,
        (STABLEHLO_GROUP,) if stablehlo_tests is not None else GROUPS,
        stablehlo_tests=stablehlo_tests,
        artifacts=artifacts,
        settings=tuple(settings),
        patience=patience,
        opens="evaluator" if evaluator else "device",
    )
    return _run(suite, limits or Limits.of(profile, patience), workers, only, progress or (lambda total, result: None))


def _run(suite: Suite, limits: Limits, workers: int, only: Collection[str] | None, progress: Progress) -> Run:
    start = time.monotonic()
    pool = Pool(suite, limits, workers, only, progress)
    pool.run()
    results, problem, refusal = pool.results, pool.problem, pool.refusal
    if refusal is not None and refusal["refuses"]:
        raise _REFUSALS[refusal["code"]](refusal["message"], hint=refusal["hint"])
    if pool.failed_stage:
        problem = _without_device(pool.failed_stage)
        if refusal is not None and suite.stablehlo_tests is None and suite.backend:
            second = Pool(dataclasses.replace(suite, groups=("loading",), opens="nothing"), limits, 1, only, progress)
            second.run()
            results = [*results, *second.results]
    default = "evaluator" if suite.opens == "evaluator" else "the default backend"
    return Run(
        backend=pool.suite.backend or suite.backend or default,
        profile=suite.profile,
        results=results,
        seconds=time.monotonic() - start,
        problem=problem,
        environment=pool.environment | ({"patience": suite.patience} if suite.patience != 1 else {}),
        selection=suite.expression,
        seed=suite.seed,
        not_run=len(pool.not_run),
        timed_out=pool.timed_out,
    )


@functools.cache
def collect_tests(profile: str, seed: int) -> frozenset[str]:
    """Returns the ids of all tests of a profile. They depend on no backend.

    Raises:
        InternalError: the tests can't be collected.
    """
    suite = Suite("", profile, seed, groups=GROUPS, opens="nothing")
    pool = Pool(suite, Limits.of("quick"), 1, (), lambda total, result: None)
    pool.run()
    if pool.results or not pool.collected:
        told = "; ".join(r.message for r in pool.results)
        raise InternalError(f"the tests of profile {profile} can't be collected: {told}")
    return frozenset(pool.collected)


def _without_device(stage: str) -> str:
    what = {"start": "no process could load the suite", "open": "the backend or its device could not be opened"}
    return f"{what.get(stage, 'the tests could not be collected')}, so the other tests did not run"
