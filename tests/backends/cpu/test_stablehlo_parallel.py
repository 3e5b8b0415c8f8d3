"""StableHLO's own tests of programs that run on several devices at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

import xla_core as xla

suite = pytest.importorskip("xla_conformance.stablehlo_suite")

TESTS = suite.find_tests()
CASES = [
    case
    for file in (sorted((TESTS / "interpret").glob("*.mlir")) if TESTS is not None else [])
    for case in suite.cases(file)
    if "interpreter.run_parallel" in case.source
]


@pytest.fixture(scope="module")
def devices():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XLA_FLAGS", "--xla_force_host_platform_device_count=8")
        client = xla.Client("cpu")
        yield client
        client.close()


@pytest.mark.skipif(TESTS is None, reason="StableHLO's tests are not here; set STABLEHLO_TESTS")
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_parallel(devices, case):
    def run(module, arrays):
        return [np.asarray(r) for r in devices.compile(module)(*arrays)]

    def run_parallel(modules, arrays, partitions) -> Sequence[Sequence[np.ndarray]]:
        assert all(module is modules[0] for module in modules)
        options = xla.CompileOptions(num_replicas=len(modules) // partitions, num_partitions=partitions)
        executable = devices.compile(modules[0], options)
        return [[np.asarray(r) for r in results] for results in executable.execute_sharded(arrays)]

    outcome = suite.run_case(case, run, run_parallel)
    assert outcome.passed, outcome.detail
