"""The command `xla conform`."""

from __future__ import annotations

import json
import re
import shlex
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from xla_conformance.actions import _naming
from xla_conformance.results import State
from xla_conformance.stablehlo.suite import cases, find_tests, run_case

from xla_core.cli import main


def test_the_command_writes_a_report(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    code = main(["conform", "--backend", "template", "-k", "test_probe_answers", "--report", str(tmp_path)])
    captured = capfd.readouterr()
    assert code == 0, captured.out + captured.err
    assert (
        "template passes (quick, simulated, with fallback, of a selection: -k 'test_probe_answers'): 1 test passes"
        in captured.out
    )
    stored = json.loads((tmp_path / "report.json").read_text())
    assert stored["conforms"] is None, "a selection"
    assert stored["passes"] is True
    assert stored["selection"] == "-k 'test_probe_answers'"
    assert stored["environment"]["device"]
    assert (tmp_path / "junit.xml").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--backend", "nothing"], "there is no backend named 'nothing'"),
        (["--backend", "template", "--profile", "slow"], "there is no profile 'slow'"),
        (["--backend", "template", "--stablehlo-tests", "nowhere"], "nowhere is not a directory"),
        (["--evaluator"], "--evaluator goes with --stablehlo-tests"),
        (["--evaluator", "--backend", "template", "--stablehlo-tests", "."], "and not with --backend"),
        (["--evaluator", "--support-matrix", "--stablehlo-tests", "."], "exclude each other"),
        (["--evaluator", "--support-matrix", "-n", "2"], "in one process"),
        (["--coverage", "--verify", "."], "--verify and --coverage exclude each other"),
        (["--verify", "nowhere"], "there is no folder nowhere"),
        (["--compare", "nowhere", "."], "there is no report nowhere"),
        (["--backend", "template", "--waivers", "nowhere"], "there is no file of waivers nowhere"),
        (["--evaluator", "--support-matrix", "--profile", "full"], "in one process"),
        (["--backend", "template", "--set", "speed=high", "-k", "test_probe_answers"], "no field 'speed'"),
        (["--backend", "template", "--set", "speed", "-k", "test_probe_answers"], "--set speed has no value"),
        (["--backend", "template", "--set", "donate=[0]", "-k", "test_probe_answers"], "takes options of the backend"),
        (["--backend", "template", "--set", "speed=high", "--coverage"], "not with --coverage"),
    ],
)
def test_what_the_command_refuses(words: list[str], said: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["conform", *words]) == 2
    assert said in capfd.readouterr().err


def test_exit_code_of_a_wrong_backend(
    put_backend: Callable[[str, str], str], capfd: pytest.CaptureFixture[str]
) -> None:
    source = "@hookimpl\ndef xla_backend():\n    return spec(description='')\n"
    assert main(["conform", "--backend", put_backend("silent", source), "-k", "test_spec_says"]) == 1
    assert "one line" in capfd.readouterr().out


WRONG_NEGATE = """
class Kernel(HloKernel):
    def _run(self, stream, arguments):
        super()._run(stream, arguments)
        if "negate" in self.name:
            print("negate runs", flush=True)
            stream.executor.ram.block(arguments[-1].handle)[:1] ^= 1

put(kernel=Kernel)
"""


WRONG_AFTER_ABS = """
ran = []

class Kernel(HloKernel):
    def _run(self, stream, arguments):
        super()._run(stream, arguments)
        ran.extend(["abs"] * ("abs" in self.name))
        if ran and "negate" in self.name:
            stream.executor.ram.block(arguments[-1].handle)[:1] ^= 1

put(kernel=Kernel)
"""


WARNS = """
import warnings

class Device(TemplateExecutor):
    def __init__(self, *arguments):
        super().__init__(*arguments)
        warnings.warn("the firmware is old [1.2]", RuntimeWarning)

put(executor=Device)
"""


def test_a_failure_is_found_again_and_explained(
    put_backend: Callable[[str, str], str], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    backend = put_backend("negating", WRONG_NEGATE)
    words = ["conform", "--backend", backend, "--report", str(tmp_path / "report")]
    assert main([*words, "-k", "test_op[negate-f or test_op[abs-f32"]) == 1
    first = capfd.readouterr().out
    before = json.loads((tmp_path / "report" / "report.json").read_text())
    wrong = [r for r in before["results"] if r["state"] == "FAIL"]
    assert {r["properties"]["opcode"] for r in wrong} == {"negate"}
    assert f"alone: {wrong[0]['command']}" in first
    assert (tmp_path / "report" / "failures" / wrong[0]["failure"]["folder"] / "module.hlo").exists()

    assert main([*words, "--lf"]) == 1
    again = json.loads((tmp_path / "report" / "report.json").read_text())
    assert {r["id"] for r in again["results"]} == {r["id"] for r in wrong}
    assert again["selection"] == "--lf"

    capfd.readouterr()
    assert main([*words, "--explain", wrong[0]["id"]]) == 0
    told = capfd.readouterr().out
    for part in (
        wrong[0]["message"],
        "negate(",
        "got ",
        "wanted ",
        "operands there:",
        "printed:\n  negate runs",
        "argument_0.npy",
    ):
        assert part in told
    assert re.search(r"\n  runs_as: .*negate f", told)
    assert main([*words, "--explain", "no such test"]) == 2
    assert "has no test 'no such test'" in capfd.readouterr().err
    count = sum("test_op[negate-f" in r["id"] for r in again["results"])
    assert main([*words, "--explain", "test_op[negate-f"]) == 2
    assert f"matches {count} tests, of which {len(wrong)} are wrong" in capfd.readouterr().err

    for named in (wrong[0]["id"], wrong[0]["id"].partition("::")[2]):  # a failure is printed with its name alone
        assert main([*words, "--test", named]) == 1
        alone = json.loads((tmp_path / "report" / "report.json").read_text())
        assert [r["id"] for r in alone["results"]] == [wrong[0]["id"]]
    assert main([*words, "--test", "test_op[negate]"]) == 2
    assert "--test takes the id or the name of one test" in capfd.readouterr().err


def test_a_failure_that_depends_on_the_tests_before_it(
    put_backend: Callable[[str, str], str], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    backend = put_backend("forgetful", WRONG_AFTER_ABS)
    words = ["conform", "--backend", backend, "--report", str(tmp_path / "report")]
    assert main([*words, "-k", "test_op[negate-s8 or test_op[abs-s8"]) == 1
    stored = json.loads((tmp_path / "report" / "report.json").read_text())
    last = [r for r in stored["results"] if r["state"] == "FAIL"][-1]["id"]
    capfd.readouterr()

    assert main([*words, "--test", last]) == 0
    told = capfd.readouterr().out
    assert f"{last.partition('::')[2]} passes now, and was wrong in the report before" in told
    command = re.search(r"What its process ran, up to it: xla (.*)", told)
    assert command is not None
    assert main([*words, "--explain", last]) == 0
    assert command[0] in capfd.readouterr().out

    for _ in range(2):  # the file that it names stays
        assert main(shlex.split(command[1])) == 1
        assert f"FAIL ops: {last.partition('::')[2]}" in capfd.readouterr().out
    assert main([*words, "--test", "@nowhere"]) == 2
    assert "the tests of nowhere can't be read" in capfd.readouterr().err
    empty = tmp_path / "empty"
    empty.write_text("\n")
    assert main([*words, "--test", f"@{empty}"]) == 2
    assert f"{empty} names no test" in capfd.readouterr().err.replace("\n", "")
    assert (tmp_path / "report" / "sequences").exists()
    assert main([*words, "-k", "test_probe_answers"]) == 0
    assert not (tmp_path / "report" / "sequences").exists(), "a new run is about other tests"


def test_the_last_report_is_that_of_the_last_run_wherever_it_wrote(
    put_backend: Callable[[str, str], str], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    backend = put_backend("negating", WRONG_NEGATE)
    words = ["conform", "--backend", backend]
    assert main([*words, "-k", "test_op[abs-f32"]) == 0
    assert main([*words, "-k", "test_op[negate-f32", "--report", str(tmp_path / "report")]) == 1
    wrong = [
        r for r in json.loads((tmp_path / "report" / "report.json").read_text())["results"] if r["state"] == "FAIL"
    ]
    capfd.readouterr()

    assert main([*words, "--explain", wrong[0]["id"]]) == 0
    assert str(tmp_path / "report" / "failures") in capfd.readouterr().out
    assert main([*words, "--lf"]) == 1  # and this report is in the cache
    assert main([*words, "--explain", wrong[0]["id"]]) == 0
    assert str(tmp_path / "cache") in capfd.readouterr().out
    assert main([*words, "-k", "test_op[abs-f32", "--report", str(tmp_path / "report")]) == 0
    (tmp_path / "report" / "report.json").unlink()
    assert main([*words, "--explain", wrong[0]["id"]]) == 0, "where the folder is gone, the last report in the cache"


def test_warnings_of_the_backend_are_shown(
    put_backend: Callable[[str, str], str], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    backend = put_backend("warning", WARNS)
    words = ["conform", "--backend", backend, "-k", "test_op[abs-f32", "--report", str(tmp_path)]
    assert main(words) == 0
    assert "warning: the firmware is old [1.2]\n" in capfd.readouterr().out
    assert json.loads((tmp_path / "report.json").read_text())["environment"]["warnings"] == [
        "the firmware is old [1.2]"
    ]
    assert "the firmware is old [1.2]" in (tmp_path / "index.html").read_text()


OPENS_LATER = """
class Device(TemplateExecutor):
    def __init__(self, *arguments):
        super().__init__(*arguments)
        if not os.path.exists({mended!r}):
            os.abort()

put(executor=Device)
"""


def test_after_a_device_that_did_not_open_the_tests_of_loading_run(
    put_backend: Callable[[str, str], str], tmp_path: Path
) -> None:
    mended, report = tmp_path / "mended", tmp_path / "report"
    words = ["conform", "--backend", put_backend("later", OPENS_LATER.format(mended=str(mended)))]
    words += ["--report", str(report)]
    assert main([*words, "-k", "test_op[abs-f32"]) == 1
    for code in (1, 0):
        assert main([*words, "--lf", "-k", "not fork"]) == code
        mended.touch()
    results = json.loads((report / "report.json").read_text())["results"]
    assert len(results) > 10
    assert {r["group"] for r in results} == {"loading"}


def test_a_wrong_waiver_is_no_last_failure(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    waivers = tmp_path / "waivers.toml"
    waivers.write_text('[[waiver]]\ntests = "*"\nreason = "none"\nlink = "none"\nexpires = 2999-12-31\n')
    words = ["conform", "--backend", "template"]
    assert main([*words, "-k", "test_op[abs-f32", "--waivers", str(waivers)]) == 1
    assert main([*words, "--lf"]) == 2
    assert "no test was wrong in the last report" in capfd.readouterr().err


def test_last_failures_need_a_report(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["conform", "--backend", "template", "--lf"]) == 2
    assert "there is no last report" in capfd.readouterr().err


def test_coverage(capfd: pytest.CaptureFixture[str]) -> None:
    code, out = main(["conform", "--coverage"]), capfd.readouterr().out
    assert code == 0, out
    assert "0 sentences of the contract that no test names." in out
    wanted = "0 values of attributes, element types, sizes and operand counts that no case of an op meets."
    assert wanted in " ".join(out.split())


STABLEHLO = """\
func.func @right() {
  %x = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %y = stablehlo.add %x, %x : tensor<2xf32>
  check.expect_eq_const %y, dense<[2.0, 4.0]> : tensor<2xf32>
  func.return
}

// -----

func.func @wrong() {
  %x = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %y = stablehlo.multiply %x, %x : tensor<2xf32>
  check.expect_eq_const %y, dense<[1.0, 5.0]> : tensor<2xf32>
  func.return
}

// -----

func.func @refused(%x: tensor<2xf32>, %y: tensor<3xf32>) -> tensor<2xf32> {
  // expected-error@+1 {{op requires the same shape for all operands and results}}
  %z = "stablehlo.add"(%x, %y) : (tensor<2xf32>, tensor<3xf32>) -> tensor<2xf32>
  func.return %z : tensor<2xf32>
}
"""

# 1.9 ** 0.5 = 1.3784048752090222; the nearest float32 is 1.3784049, the one after it 1.378405
DISABLED = """\
// RUN-DISABLED(inaccurate) stablehlo-translate --interpret %s
func.func @main() {
  %x = stablehlo.constant dense<[1.9, 4.0]> : tensor<2xf32>
  %y = stablehlo.sqrt %x : tensor<2xf32>
  check.expect_eq_const %y, dense<[0x3FB06F93, 2.0]> : tensor<2xf32>
  func.return
}
"""

CHLO = """\
func.func @square(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y = chlo.square %x : tensor<2xf32> -> tensor<2xf32>
  func.return %y : tensor<2xf32>
}
"""


@pytest.fixture
def stablehlo_tests(tmp_path: Path) -> Path:
    folder = tmp_path / "tests" / "interpret"
    folder.mkdir(parents=True)
    (folder / "add.mlir").write_text(STABLEHLO)
    (folder / "sqrt.mlir").write_text(DISABLED)
    chlo = tmp_path / "tests" / "chlo"
    chlo.mkdir()
    (chlo / "square.mlir").write_text(CHLO)
    return tmp_path / "tests"


@pytest.mark.parametrize("on", [["--backend", "template"], ["--evaluator"]], ids=lambda words: words[-1].strip("-"))
def test_stablehlos_own_files(
    on: list[str], stablehlo_tests: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    words = ["conform", *on, "--stablehlo-tests", str(stablehlo_tests)]
    assert main([*words, "--report", str(tmp_path)]) == 1
    out = capfd.readouterr().out
    assert "FAIL stablehlo: test_stablehlo[interpret/add.mlir:1]" in out
    stored = json.loads((tmp_path / "report.json").read_text())
    counts = dict.fromkeys((state.value for state in State), 0) | {"PASS": 3, "FAIL": 1, "FILE_WRONG": 1}
    assert stored["groups"] == {"stablehlo": counts}
    found = stored["stablehlo"]
    zeros = {"file wrong": 0, "not supported": 0}
    assert found["folders"]["interpret"] == {"files": 2, "cases": 4, "pass": 2, "wrong": 1, **zeros, "file wrong": 1}
    assert found["ops"]["stablehlo.add"] == {"files": 1, "cases": 2, "pass": 2, "wrong": 0, **zeros}
    assert found["ops"]["stablehlo.multiply"] == {"files": 1, "cases": 1, "pass": 0, "wrong": 1, **zeros}
    assert found["disabled"] == {"interpret/sqrt.mlir": {"why": "inaccurate", "state": "FILE_WRONG"}}
    alone = "--evaluator" in on  # CHLO's cases are compared with the evaluator, so there with nothing
    assert found["ran"] == int(alone)
    assert ("1 of the passing cases only ran" in out) == alone
    (proof,) = found["files_wrong"].values()
    assert "in float64 the element [0] is 1.3784048" in proof
    rows = {line.split()[0]: line.split()[1:] for line in out.splitlines() if line.startswith("stablehlo.")}
    assert rows["stablehlo.sqrt"] == ["1", "1", "0", "0", "1", "0"]
    assert "| stablehlo.add | 1 | 2 | 2 | 0 | 0 | 0 |" in (tmp_path / "stablehlo.md").read_text()


@pytest.mark.parametrize(
    ("expression", "names"),
    [
        ("interpret/add.mlir:2", ["interpret/add.mlir:2"]),
        ("chlo or sqrt", ["chlo/square.mlir:0", "interpret/sqrt.mlir:0"]),
        ("multiply", []),  # names of ops are no part
    ],
)
def test_a_selection_of_stablehlos_files(
    expression: str, names: list[str], stablehlo_tests: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    words = ["--evaluator", "--stablehlo-tests", str(stablehlo_tests), "-k", expression]
    code = main(["conform", *words, "--report", str(tmp_path)])
    printed = capfd.readouterr()
    if not names:
        assert code == 2
        assert "matches no test" in printed.err
        assert '-k "interpret and reduce"' in printed.err
        return
    assert code == 0
    stored = json.loads((tmp_path / "report.json").read_text())
    assert [result["id"].partition("::")[2] for result in stored["results"]] == [f"test_stablehlo[{n}]" for n in names]
    assert f"evaluator passes (quick, of a selection: -k '{expression}')" in printed.out


def test_a_folder_without_test_files(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "readme.txt").write_text("nothing here")
    for on in (["--evaluator"], ["--backend", "template"]):
        assert main(["conform", *on, "--stablehlo-tests", str(tmp_path)]) == 2
        printed = capfd.readouterr()
        assert f"no test files in {tmp_path}" in printed.err
        assert "*.mlir" in printed.err
        assert "conform" not in printed.out


@pytest.mark.parametrize("command", ["conform", "accuracy"])
@pytest.mark.parametrize("expression", ["(tanh and", "tanh f32", "and", "not", "a or )", "()", "a & b", "(" * 10_000])
def test_an_invalid_expression_is_refused(command: str, expression: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert main([command, "--backend", "template", "-k", expression]) == 2
    printed = capfd.readouterr()
    assert f"INVALID_ARGUMENT: -k {expression!r} is not a valid expression" in printed.err
    assert 'words joined by "and", "or", "not"' in printed.err


def test_the_hint_names_parts_that_a_file_has() -> None:
    folder = find_tests()
    if folder is None:
        pytest.skip("StableHLO's test files are not here")
    assert '"interpret/compare.mlir:7"' in _naming(True)
    assert len(cases(folder / "interpret" / "compare.mlir")) > 7


def test_only_rounding_differences_prove_a_file_wrong(tmp_path: Path) -> None:
    file = tmp_path / "sqrt.mlir"
    for wrong in ("1.4", "0x3FB06F92", "0x7FC00000"):  # far off; right (the evaluator is right too); NaN
        file.write_text(DISABLED.replace("0x3FB06F93", wrong))
        (case,) = cases(file)
        outcome = run_case(case, run=lambda module, arrays: [np.float32([1.3784052, 2.0])])
        assert not outcome.passed
        assert not outcome.proof


WORDS = ["conform", "--backend", "template", "-k", "test_probe_answers"]


def test_a_cache_that_cannot_be_written_costs_no_results(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    assert main(WORDS) == 0
    out = capfd.readouterr().out
    assert "1 test passes" in out
    (made,) = tmp_path.glob("xla-report-*")
    assert f"so the report will be in {made}" in out
    assert (made / "report.json").is_file()


def test_a_folder_that_cannot_be_made_is_refused_before_the_tests(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    assert main([*WORDS, "--report", str(tmp_path / "file" / "report")]) == 2
    printed = capfd.readouterr()
    assert printed.out == ""
    assert "Not a directory" in printed.err


def test_the_verdict_is_printed_before_the_report_is_written(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "report.json").mkdir()  # so that it can't be written
    assert main([*WORDS, "--report", str(tmp_path)]) == 2
    printed = capfd.readouterr()
    assert "template passes" in printed.out
    assert "report.json" in printed.err
