"""StableHLO's tests of programs on several devices, and tests of different programs on each device."""

from __future__ import annotations

import numpy as np
import pytest

import xla_core as xla

suite = pytest.importorskip("xla_conformance.stablehlo.suite")
parallel = pytest.importorskip("xla_conformance.stablehlo.parallel")

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


@pytest.fixture(params=["evaluator", "cpu"])
def run_case(request, devices):
    """Runs a case on the evaluator, or on the devices."""

    def run(module, arrays):
        return [np.asarray(r) for r in devices.compile(module)(*arrays)]

    def run_parallel(programs):
        partitions = programs.partitions
        options = xla.CompileOptions(num_replicas=len(programs.names) // partitions, num_partitions=partitions)
        program = parallel.one_program(programs)
        executable = devices.compile(program.module, options)
        for value in programs.infeed:
            devices.transfer_to_infeed(tuple(value), executable.devices[0])
        rows = executable.execute_sharded(program.arguments)
        return program.results([[np.asarray(r) for r in results] for results in rows])

    if request.param == "evaluator":
        return suite.run_case
    return lambda case: suite.run_case(case, run, run_parallel)


@pytest.mark.skipif(TESTS is None, reason="StableHLO's tests are not here; set STABLEHLO_TESTS")
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_parallel(run_case, case):
    outcome = run_case(case)
    assert outcome.passed, outcome.detail


def one_case(tmp_path, source):
    file = tmp_path / "parallel.mlir"
    file.write_text(source)
    (case,) = suite.cases(file)
    return case


def test_devices_that_run_different_programs(run_case, tmp_path):
    case = one_case(
        tmp_path,
        """\
func.func @send(%x: tensor<2xi64>, %token: !stablehlo.token) -> !stablehlo.token {
  %0 = "stablehlo.send"(%x, %token) {channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>,
    is_host_transfer = false} : (tensor<2xi64>, !stablehlo.token) -> !stablehlo.token
  func.return %0 : !stablehlo.token
}
func.func @recv(%token: !stablehlo.token) -> (tensor<2xi64>, !stablehlo.token) {
  %0:2 = "stablehlo.recv"(%token) {channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>,
    is_host_transfer = false} : (!stablehlo.token) -> (tensor<2xi64>, !stablehlo.token)
  func.return %0#0, %0#1 : tensor<2xi64>, !stablehlo.token
}
func.func @main() {
  %x = stablehlo.constant dense<[3, 4]> : tensor<2xi64>
  %token = stablehlo.after_all : !stablehlo.token
  %r:3 = "interpreter.run_parallel"(%x, %token, %token) {programs = [[@send], [@recv]]} :
    (tensor<2xi64>, !stablehlo.token, !stablehlo.token) -> (!stablehlo.token, tensor<2xi64>, !stablehlo.token)
  check.expect_eq_const %r#1, dense<[3, 4]> : tensor<2xi64>
  func.return
}
""",
    )
    outcome = run_case(case)
    assert outcome.passed, outcome.detail
    assert outcome.checks == 1


def test_an_infeed(run_case, tmp_path):
    case = one_case(
        tmp_path,
        """\
func.func @main() {
  %token = stablehlo.after_all : !stablehlo.token
  %r:3 = "interpreter.run_parallel"(%token) {infeed = [@first, @second], programs = [[@take]]} :
    (!stablehlo.token) -> (tensor<2xi64>, tensor<2xi64>, !stablehlo.token)
  check.expect_eq_const %r#0, dense<[1, 2]> : tensor<2xi64>
  check.expect_eq_const %r#1, dense<[3, 4]> : tensor<2xi64>
  func.return
}
func.func @take(%token: !stablehlo.token) -> (tensor<2xi64>, tensor<2xi64>, !stablehlo.token) {
  %a:2 = "stablehlo.infeed"(%token) {infeed_config = ""} : (!stablehlo.token) -> (tensor<2xi64>, !stablehlo.token)
  %b:2 = "stablehlo.infeed"(%a#1) {infeed_config = ""} : (!stablehlo.token) -> (tensor<2xi64>, !stablehlo.token)
  func.return %a#0, %b#0, %b#1 : tensor<2xi64>, tensor<2xi64>, !stablehlo.token
}
func.func @first() -> tensor<2xi64> {
  %0 = stablehlo.constant dense<[1, 2]> : tensor<2xi64>
  func.return %0 : tensor<2xi64>
}
func.func @second() -> tensor<2xi64> {
  %0 = stablehlo.constant dense<[3, 4]> : tensor<2xi64>
  func.return %0 : tensor<2xi64>
}
""",
    )
    outcome = run_case(case)
    assert outcome.passed, outcome.detail
    assert outcome.checks == 2


def test_programs_on_a_grid_of_replicas_and_partitions(run_case, tmp_path):
    case = one_case(
        tmp_path,
        """\
func.func @left(%x: tensor<f32>) -> (tensor<ui32>, tensor<f32>) {
  %0 = stablehlo.replica_id : tensor<ui32>
  %1 = stablehlo.negate %x : tensor<f32>
  func.return %0, %1 : tensor<ui32>, tensor<f32>
}
func.func @right() -> tensor<ui32> {
  %0 = stablehlo.partition_id : tensor<ui32>
  func.return %0 : tensor<ui32>
}
func.func @main() {
  %x = stablehlo.constant dense<2.5> : tensor<f32>
  %y = stablehlo.constant dense<-1.0> : tensor<f32>
  %r:6 = "interpreter.run_parallel"(%x, %y) {programs = [[@left, @right], [@right, @left]]} :
    (tensor<f32>, tensor<f32>) ->
    (tensor<ui32>, tensor<f32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<f32>)
  check.expect_eq_const %r#0, dense<0> : tensor<ui32>
  check.expect_eq_const %r#1, dense<-2.5> : tensor<f32>
  check.expect_eq_const %r#2, dense<1> : tensor<ui32>
  check.expect_eq_const %r#3, dense<0> : tensor<ui32>
  check.expect_eq_const %r#4, dense<1> : tensor<ui32>
  check.expect_eq_const %r#5, dense<1.0> : tensor<f32>
  func.return
}
""",
    )
    outcome = run_case(case)
    assert outcome.passed, outcome.detail
    assert outcome.checks == 6
