"""StableHLO's own test files against the reference evaluator."""

from __future__ import annotations

import random
from pathlib import Path

import mpmath
import numpy as np
import pytest

from tests.xla_core.stablehlo.reading import stablehlo_tests
from xla_core.stablehlo import parse_text

suite = pytest.importorskip("xla_conformance.stablehlo.suite")

ROOT = suite.find_tests()
FILES = suite.suite_files(ROOT) if ROOT is not None else []
SAMPLE = sorted(random.Random(5).sample(FILES, min(150, len(FILES))))

# Files that expect what is wrong: the function, and the element (of the flat array) whose expectation proves it.
WRONG = {
    "testdata/sin_complex64_20_20.mlir": (mpmath.sin, 39),
    "testdata/cosh_float32_20_20_chlo.mlir": (mpmath.cosh, 228),
}


def check(path: Path) -> None:
    wrong = []
    for case in suite.cases(path):
        outcome = suite.run_case(case)
        if not outcome.passed and not (outcome.proof and f"{path.parent.name}/{path.name}" in WRONG):
            wrong.append(f"{case.name}: {outcome.detail} {outcome.proof}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.skipif(ROOT is None, reason="StableHLO's tests are not here: set STABLEHLO_TESTS to their folder")
@pytest.mark.parametrize("path", SAMPLE, ids=lambda p: p.stem)
def test_a_sample(path: Path):
    check(path)


@pytest.mark.slow
@pytest.mark.skipif(ROOT is None, reason="StableHLO's tests are not here: set STABLEHLO_TESTS to their folder")
@pytest.mark.parametrize("path", [f for f in FILES if f not in SAMPLE], ids=lambda p: p.stem)
def test_the_rest(path: Path):
    check(path)


@pytest.mark.parametrize("name", WRONG)
def test_files_that_are_wrong_are_further_from_the_exact_value(name: str) -> None:
    function, index = WRONG[name]
    path = stablehlo_tests() / name
    module = parse_text(path.read_text())
    operand, golden = (_returned_constant(module, f).reshape(-1)[index] for f in ("inputs", "expected"))
    with mpmath.workprec(200):
        if golden.dtype.kind == "c":
            exact = function(mpmath.mpc(float(operand.real), float(operand.imag)))
            off = [abs(mpmath.mpf(float(golden.real)) - exact.real), abs(mpmath.mpf(float(golden.imag)) - exact.imag)]
            nearest = [np.float32(float(exact.real)), np.float32(float(exact.imag))]
            least = [abs(mpmath.mpf(float(n)) - e) for n, e in zip(nearest, (exact.real, exact.imag), strict=True)]
        else:
            exact = function(mpmath.mpf(float(operand)))
            off = [abs(mpmath.mpf(float(golden)) - exact)]
            least = [abs(mpmath.mpf(float(np.float32(float(exact)))) - exact)]
        allowed = 0.001 if golden.dtype.kind == "c" else 3 * np.spacing(np.float32(golden))
        assert any(o - n > allowed for o, n in zip(off, least, strict=True)), "the nearest float would pass"
    (case,) = suite.cases(path)
    outcome = suite.run_case(case)
    assert not outcome.passed
    assert outcome.proof


def _returned_constant(module, function):
    block = module.functions[function].regions[0].block
    made = {op.results[0]: op.attributes["value"].array for op in block.ops if op.name == "stablehlo.constant"}
    return made[block.ops[-1].operands[0]]


def test_a_call_of_a_function_that_checks_is_checked(tmp_path: Path) -> None:
    source = """\
func.func private @check(%x: tensor<f32>) -> tensor<f32> {
  %y = stablehlo.add %x, %x : tensor<f32>
  check.expect_eq_const %y, dense<VALUE> : tensor<f32>
  func.return %y : tensor<f32>
}
func.func @main() {
  %x = stablehlo.constant dense<1.5> : tensor<f32>
  %y = func.call @check(%x) : (tensor<f32>) -> tensor<f32>
  check.expect_eq_const %y, dense<3.0> : tensor<f32>
  func.return
}
"""
    outcomes = []
    for value in ("3.0", "4.0"):
        file = tmp_path / "check.mlir"
        file.write_text(source.replace("VALUE", value))
        outcomes.append(suite.run_case(suite.cases(file)[0]))
    assert outcomes[0].passed
    assert outcomes[0].checks == 2
    assert not outcomes[1].passed


def test_a_probe_is_its_operand(tmp_path: Path) -> None:
    file = tmp_path / "probe.mlir"
    file.write_text("""\
func.func @main() {
  %x = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  %y = stablehlo.add %x, %x : tensor<2xi32>
  %p = interpreter.probe %y, probe_id = "p" : tensor<2xi32>
  %z = stablehlo.multiply %p, %x : tensor<2xi32>
  check.expect_serialized_eq %y, probe_id = "p" : tensor<2xi32>
  check.expect_eq_const %z, dense<[2, 8]> : tensor<2xi32>
  func.return
}
""")
    (case,) = suite.cases(file)
    outcome = suite.run_case(case)
    assert outcome.passed, outcome.detail
    assert outcome.checks == 2


@pytest.mark.parametrize(
    ("got", "want", "passes"),
    [(1.0009, 1.0, True), (1.0011, 1.0, False), (3 + 4.0009j, 3.0009 + 4j, True), (np.nan, np.nan, True)],
)
def test_a_custom_call_of_almost_eq_allows_a_thousandth(tmp_path: Path, got, want, passes) -> None:
    type = "tensor<complex<f64>>" if isinstance(want, complex) else "tensor<f64>"
    text = (
        f"({want.real}, {want.imag})" if isinstance(want, complex) else str(want).replace("nan", "0x7FF8000000000000")
    )
    file = tmp_path / "almost.mlir"
    file.write_text(f"""\
func.func @main() {{
  %x = stablehlo.constant dense<{text}> : {type}
  %y = stablehlo.multiply %x, %x : {type}
  %z = stablehlo.constant dense<{text}> : {type}
  stablehlo.custom_call @check.expect_almost_eq(%y, %z) {{has_side_effect = true}} : ({type}, {type}) -> ()
  func.return
}}
""")
    (case,) = suite.cases(file)
    outcome = suite.run_case(case, run=lambda module, arrays: [np.array(got, np.array(want).dtype)])
    assert outcome.passed is passes, outcome.detail


def test_the_evaluator_is_not_compared_with_itself(tmp_path: Path) -> None:
    file = tmp_path / "chlo" / "square.mlir"
    file.parent.mkdir()
    file.write_text("""\
func.func @square(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y = chlo.square %x : tensor<2xf32> -> tensor<2xf32>
  func.return %y : tensor<2xf32>
}
""")
    (case,) = suite.cases(file)
    alone = suite.run_case(case)
    assert (alone.passed, alone.checks, alone.detail) == (True, 0, "ran")
    other = suite.run_case(case, run=lambda module, arrays: [a * a for a in arrays])
    assert (other.passed, other.checks, other.detail) == (True, 1, "")
    wrong = suite.run_case(case, run=lambda module, arrays: [a + a for a in arrays])
    assert not wrong.passed
    assert "@square: result 0 is not the evaluator's" in wrong.detail
