"""StableHLO's own test files (`xla conform --stablehlo-tests DIR`). Each part of a file is a test."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from xla_conformance.claims import not_supported
from xla_conformance.stablehlo.parallel import ParallelPrograms, ParallelRun, evaluate_programs, one_program
from xla_conformance.stablehlo.program import Run, run_on_evaluator
from xla_conformance.stablehlo.suite import Case, cases, run_case, suite_files
from xla_core import Client, CompileOptions
from xla_core.hlo import HloModule


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    directory = metafunc.config.getoption("xla_stablehlo_tests")
    files = suite_files(Path(directory)) if directory else []
    metafunc.parametrize("case", [case for file in files for case in cases(file)], ids=lambda case: case.name)


@pytest.fixture(scope="session")
def runs(backend: str, open_client: Callable[[], Client]) -> Iterator[tuple[Run, ParallelRun]]:
    """Returns functions that run one program, and several at once, on the backend or else on the evaluator."""
    if not backend:
        yield run_on_evaluator, evaluate_programs
        return
    with open_client() as client:
        yield _run_on(client), _run_parallel_on(client)


def _run_on(client: Client) -> Run:
    def run(module: HloModule, arrays: list[np.ndarray]) -> Sequence[np.ndarray]:
        return [np.asarray(r) for r in client.compile(module)(*arrays)]

    return run


def _run_parallel_on(client: Client) -> ParallelRun:
    def run(programs: ParallelPrograms) -> Sequence[Sequence[np.ndarray]]:
        count = len(programs.names)
        if count > len(client.devices):
            not_supported(f"it needs {count} devices, there are {len(client.devices)}")
        if programs.infeed and count > 1:
            not_supported("several devices take from one infeed")
        program = one_program(programs)
        options = CompileOptions(num_replicas=count // programs.partitions, num_partitions=programs.partitions)
        executable = client.compile(program.module, options)
        for value in programs.infeed:
            client.transfer_to_infeed(tuple(value), executable.devices[0])
        rows = [
            [client.buffer_from_host(array, device) for array in row]
            for device, row in zip(executable.devices, program.arguments, strict=True)
        ]
        return program.results([[np.asarray(r) for r in results] for results in executable.execute_sharded(rows)])

    return run


def test_stablehlo(runs: tuple[Run, ParallelRun], case: Case, record_property: Callable[[str, object], None]) -> None:
    record_property("folder", case.file.parent.name)
    record_property("file", f"{case.file.parent.name}/{case.file.name}")
    record_property("ops", case.ops)
    if case.disabled:
        record_property("disabled", case.disabled)
    outcome = run_case(case, *runs)
    if outcome.proof:
        record_property("file_wrong", outcome.proof)
        return
    if outcome.passed and outcome.detail:
        record_property("passed_by", outcome.detail)
    assert outcome.passed, outcome.detail
