"""StableHLO's own test files (`xla conform --stablehlo-tests DIR`), a part of a file a test, run by the backend."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from xla_conformance.plugin import not_supported
from xla_conformance.stablehlo_suite import Case, cases, run_case, suite_files
from xla_core import Client, CompileOptions
from xla_core.hlo import HloModule


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    directory = metafunc.config.getoption("xla_stablehlo_tests")
    files = suite_files(Path(directory)) if directory else []
    metafunc.parametrize("case", [case for file in files for case in cases(file)], ids=lambda case: case.name)


def test_stablehlo(client: Client, case: Case) -> None:
    def run(module: HloModule, arrays: list[np.ndarray]) -> Sequence[np.ndarray]:
        return [np.asarray(r) for r in client.compile(module)(*arrays)]

    def run_parallel(
        modules: list[HloModule], arrays: list[list[np.ndarray]], partitions: int
    ) -> Sequence[Sequence[np.ndarray]]:
        if len(modules) > len(client.devices):
            not_supported(f"it needs {len(modules)} devices, there are {len(client.devices)}")
        if any(module is not modules[0] for module in modules):
            not_supported("its devices run different programs")
        options = CompileOptions(num_replicas=len(modules) // partitions, num_partitions=partitions)
        executable = client.compile(modules[0], options)
        rows = [
            [client.buffer_from_host(array, device) for array in row]
            for device, row in zip(executable.devices, arrays, strict=True)
        ]
        return [[np.asarray(r) for r in results] for results in executable.execute_sharded(rows)]

    outcome = run_case(case, run, run_parallel)
    assert outcome.passed, outcome.detail
