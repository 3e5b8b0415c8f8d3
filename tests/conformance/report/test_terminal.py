"""The report on a terminal."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest
from rich.console import Console
from xla_conformance.actions import explain
from xla_conformance.promises import PROMISES
from xla_conformance.report.document import to_json
from xla_conformance.report.failure import lines_of
from xla_conformance.report.page import page
from xla_conformance.report.terminal import has_no_verdict, is_right, print_report, verdict
from xla_conformance.results import Result, Run, State

from tests.conformance.report.runs import FAILURE, RESULTS, run_of, whole_run
from xla_core.errors import InvalidArgumentError


def test_verdicts() -> None:
    assert verdict(whole_run()).startswith("chip conforms at the level everything (quick, simulated): ")
    assert "does not conform (quick, simulated): 2 of 5 tests are wrong, 1 not supported" in verdict(run_of(*RESULTS))
    some = run_of(*RESULTS[:3])
    some.selection = "-k 'dot'"
    expected = "chip passes (quick, simulated, of a selection: -k 'dot'): 2 tests pass, 1 not supported, in 2 s."
    assert verdict(some) == expected
    assert is_right(some)
    some = run_of(*RESULTS)
    some.selection = "-k 'dot'"
    expected = (
        "chip does not pass (quick, simulated, of a selection: -k 'dot'): 2 of 5 tests are wrong, 1 not supported."
    )
    assert verdict(some) == expected
    ended = dataclasses.replace(run_of(*RESULTS[:3]), selection="-k 'dot'", problem="Ctrl-C", not_run=2)
    assert "does not pass (quick, simulated, of a selection: -k 'dot'): not all tests ran" in verdict(ended)
    assert verdict(run_of()) == "No test was chosen."
    assert verdict(Run("chip", "quick", problem="no pytest")) == "The suite could not run on 'chip'."


def test_few_tests_that_pass_are_no_conformance() -> None:
    few = run_of(*RESULTS[:3])
    assert few.passes
    assert not is_right(few)
    assert "it reaches no level" in verdict(few)


def test_a_full_disk_is_no_verdict() -> None:
    run = run_of(*RESULTS[:3], Result("test_loading.py::test_files", State.SUITE_ERROR))
    assert not is_right(run)
    assert has_no_verdict(run)
    assert verdict(run) == "There is no verdict on chip: this machine had no room for the files of 1 of 4 tests."
    assert not has_no_verdict(run_of(*RESULTS, *run.results))


def test_a_run_that_did_not_end_is_not_right() -> None:
    run = dataclasses.replace(whole_run(), not_run=3, problem="the total time of 5 s is over")
    assert not is_right(run)
    assert "3 not run" in verdict(run)


def shown(run: Run, capsys: pytest.CaptureFixture[str]) -> str:
    print_report(Console(width=120, highlight=False), run)
    return capsys.readouterr().out


def test_table(capsys: pytest.CaptureFixture[str]) -> None:
    out = shown(run_of(*RESULTS), capsys)
    head, *rows = (line.split() for line in out.splitlines()[:4])
    assert head == ["group", "pass", "fail", "crash", "not", "supported", "seconds"]
    assert {row[0]: row[1:] for row in rows} == {
        "loading": ["1", "0", "0", "0", "0.5"],
        "streams": ["0", "0", "1", "0", "1.0"],
        "ops": ["1", "1", "0", "1", "0.3"],
    }
    assert "chip on fire" in out


def test_a_failure_says_what_to_look_at(capsys: pytest.CaptureFixture[str]) -> None:
    out = shown(run_of(*RESULTS), capsys)
    assert "FAIL ops: test_op[exp-f32]" in out
    assert "result 0 at [3]: got 1.5, wanted 1.25, 12 ULP apart" in out
    assert "operands there: 2.0 (0x40000000)" in out
    assert "ROOT y = f32[4] exponential(x)" in out
    alone = "xla conform --backend chip --profile quick --seed 0 --test 'test_ops.py::test_op[exp-f32]'"
    assert f"alone: {alone}" in out


def test_a_waiver_has_no_command(capsys: pytest.CaptureFixture[str]) -> None:
    out = shown(run_of(Result("waivers::test_ops.py::test_op[tanh*", State.FAIL, message="it expired")), capsys)
    assert "it expired" in out
    assert "alone:" not in out


def test_a_failure_has_the_contracts_words(capsys: pytest.CaptureFixture[str]) -> None:
    id, promise = next(iter(PROMISES.items()))
    wrong = Result("test_streams.py::test_order", State.FAIL, message="late.", properties={"promises": [id]})
    said = f"the contract ({id}) says of {promise.sentence.member}: {promise.sentence.text}"
    assert " ".join(said.split()) in " ".join(shown(run_of(wrong), capsys).split())


def test_no_sentence_is_guessed(capsys: pytest.CaptureFixture[str]) -> None:
    """A test may name several, and an exception such as a full disk's says nothing of them."""
    first, second, *_ = PROMISES
    several = Result("test_streams.py::test_a", State.FAIL, message="late.", properties={"promises": [first, second]})
    raised = Result(
        "test_streams.py::test_b",
        State.FAIL,
        message="OSError: no room",
        properties={"promises": [first]},
        failure={"promise": ""},
    )
    assert "the contract (" not in shown(run_of(several, raised), capsys)


def test_what_depends_on_a_wrong_op_is_named_only(capsys: pytest.CaptureFixture[str]) -> None:
    wrong = [
        Result(
            "test_ops.py::test_op[tanh-bf16]",
            State.FAIL,
            properties={
                "opcode": "tanh",
                "element_type": "bf16",
                "runs_as": ["convert bf16", "convert f32", "tanh f32"],
            },
        ),
        Result(
            "test_ops.py::test_op[convert-f32]",
            State.FAIL,
            failure=FAILURE,
            properties={"opcode": "convert", "element_type": "f32", "runs_as": ["convert f32"]},
        ),
    ]
    out = shown(run_of(*wrong), capsys)
    assert "FAIL ops: test_op[convert-f32]" in out
    assert "FAIL ops: test_op[tanh-bf16]" not in out
    assert "1 more wrong test had a program compiled to convert, which is wrong itself: test_op[tanh-bf16]" in " ".join(
        out.split()
    )


def test_causes_come_first_and_a_few_of_each_group(capsys: pytest.CaptureFixture[str]) -> None:
    counts = {"ops": 7, "transfers": 9, "streams": 3, "events": 1}
    wrong = [
        Result(f"test_{group}.py::test_{number}", State.FAIL, failure=FAILURE)
        for group, count in counts.items()
        for number in range(count)
    ]
    out = shown(run_of(*wrong), capsys)
    groups = [line.split()[1].rstrip(":") for line in out.splitlines() if line.startswith("FAIL ")]
    assert groups == ["events"] + ["streams"] * 3 + ["transfers"] * 5 + ["ops"] * 5
    assert "... and 6 more: 4 of transfers, 2 of ops; the report's folder has them all" in out
    assert out.count("HLO:") == 3
    assert "Only the first 3 failures show their HLO; --explain ID shows that of any." in out


def test_the_html_page_has_the_same_order() -> None:
    wrong = [Result(f"test_{group}.py::test_it", State.FAIL) for group in ("ops", "streams", "loading")]
    text = page(to_json(run_of(*wrong)))
    places = [text.index(f"<code>{result.id}</code>") for result in wrong]
    assert places == sorted(places, reverse=True)


def test_the_html_page_leads_on_as_the_terminal_does() -> None:
    """It has the sentence of the contract, and the commands that find the wrong pass and run the test alone."""
    failure = {"promise": "event.ready-after-work", "files": ["argument_0.npy", "minimal.mlir"], "folder": "it"}
    text = page(to_json(run_of(Result("test_ops.py::test_it", State.FAIL, failure=failure))))
    assert "the contract (event.ready-after-work) says of Event: It becomes ready once all work before" in text
    assert "<pre>xla bisect --backend chip failures/it/minimal.mlir --input failures/it</pre>" in text
    assert "--test test_ops.py::test_it</pre>" in text


def test_levels_are_scored(capsys: pytest.CaptureFixture[str]) -> None:
    out = shown(whole_run(select=State.NOT_SUPPORTED), capsys)
    assert "runtime: reached" in out
    assert "primitive ops, 9" in out
    assert "next: `select`" in out
    assert "chip conforms at the level runtime" in out


LONG = "".join(
    [
        "HloModule m\n\nENTRY e {\n  x = f32[4] parameter(0)\n  z = f32[4] parameter(1)\n",
        *(f"  y{n} = f32[4] {'cosine' if n == 7 else 'negate'}({'x' if n < 30 else 'z'})\n" for n in range(60)),
        f"  ROOT t = ({', '.join(['f32[4]'] * 60)}) tuple({', '.join(f'y{n}' for n in range(60))})\n}}\n",
    ]
)


def test_of_a_long_program_the_part_with_the_wrong_result_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    failure = FAILURE | {"module": LONG, "result": 7}
    wrong = Result("test_ops.py::test_op[cos-f32]", State.FAIL, failure=failure)
    out = shown(run_of(wrong), capsys)
    assert "HLO of this result, 6 lines of 67:" in out
    assert "cosine(" in out
    assert "negate(" not in out
    whole = "\n".join(lines_of(run_of(), wrong))
    assert whole.count("negate(") == 59


def test_of_a_short_program_most_of_which_is_right_the_part_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    results = ", ".join(f"y{n}" for n in range(9))
    values = "".join(f"  y{n} = f32[4] {'cosine' if n == 7 else 'negate'}(x)\n" for n in range(9))
    types = ", ".join(["f32[4]"] * 9)
    module = (
        f"HloModule m\n\nENTRY e {{\n  x = f32[4] parameter(0)\n{values}  ROOT t = ({types}) tuple({results})\n}}\n"
    )
    wrong = Result("test_ops.py::test_op[cos-f32]", State.FAIL, failure=FAILURE | {"module": module, "result": 7})
    out = shown(run_of(wrong), capsys)
    assert "HLO of this result, 6 lines of 15:" in out
    assert "negate(" not in out


def test_a_long_program_that_is_no_hlo_is_cut(capsys: pytest.CaptureFixture[str]) -> None:
    failure = FAILURE | {"module": "module @m {\n" + "  stablehlo\n" * 98 + "}\n"}
    out = shown(run_of(Result("test_ops.py::test_op[exp-f32]", State.FAIL, failure=failure)), capsys)
    assert out.count("  stablehlo") == 39
    assert "... and 60 more lines" in out


def test_a_failure_names_the_command_that_finds_the_pass_or_the_instruction() -> None:
    failure = FAILURE | {"folder": "f", "files": ["module.hlo", "minimal.mlir", "argument_0.npy"]}
    result = Result("test_ops.py::test_op[exp-f32]", State.FAIL, failure=failure)
    folder = Path("out/failures/f")
    command = f"xla bisect --backend chip {folder / 'minimal.mlir'} --input {folder}"
    assert f"which pass or instruction: {command}" in list(lines_of(run_of(), result, folder=Path("out")))
    assert not any("bisect" in line for line in lines_of(run_of(), result, folder=Path("out"), brief=True))


def test_numbered_files_are_named_by_the_first_and_the_last() -> None:
    names = ["module.hlo", *(f"argument_{n}.npy" for n in range(12)), "result_0.npy", "result_1.npy", "expected_0.npy"]
    failure = FAILURE | {"folder": "f", "files": names}
    lines = lines_of(run_of(), Result("test_ops.py::test_op[exp-f32]", State.FAIL, failure=failure), folder=Path("out"))
    (told,) = [line for line in lines if line.startswith("data:")]
    listed = "module.hlo, argument_0.npy to argument_11.npy, result_0.npy, result_1.npy, expected_0.npy"
    assert told == f"data: {Path('out/failures/f')} ({listed})"


def test_a_part_of_a_name_explains_the_only_wrong_test(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = Result("test_ops.py::test_op[exp-f32-size.9]", State.FAIL, message="exp is wrong")
    run = run_of(Result("test_ops.py::test_op[exp-f32-size.8]", State.PASS), wrong)
    (tmp_path / "report.json").write_text(json.dumps(to_json(run)))
    explain(Console(), tmp_path, "exp-f32")
    out = capsys.readouterr().out
    assert out.startswith("FAIL test_ops.py::test_op[exp-f32-size.9]")
    assert "exp is wrong" in out

    right = run_of(*(dataclasses.replace(result, state=State.PASS) for result in run.results))
    (tmp_path / "report.json").write_text(json.dumps(to_json(right)))
    with pytest.raises(InvalidArgumentError, match=r"matches 2 tests: .*size\.8.*size\.9"):
        explain(Console(), tmp_path, "exp-f32")
