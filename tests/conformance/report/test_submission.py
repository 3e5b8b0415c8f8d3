"""A report's folder as a submission."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from xla_conformance.report.document import from_json
from xla_conformance.report.files import hashes, write_report
from xla_conformance.report.submission import problems_of
from xla_conformance.results import Result, State
from xla_conformance.runner import collect_tests

from tests.conformance.report.runs import whole_run
from xla_core.cli import main
from xla_core.hlo import OPS

WAIVER = {
    "tests": "test_ops.py::test_op[tanh-*]",
    "reason": "a bug",
    "link": "https://x.example/1",
    "expires": "2999-01-01",
}


@pytest.fixture
def submission(tmp_path: Path) -> Path:
    write_report(whole_run(), tmp_path)
    return tmp_path


def test_every_test_of_the_suite_must_be_there(submission: Path, capfd: pytest.CaptureFixture[str]) -> None:
    told = problems_of(submission)
    assert any("tests of the suite are missing: " in problem for problem in told)
    assert any("tests are not of the suite: " in problem for problem in told)
    document = json.loads((submission / "report.json").read_text())
    run = from_json(document)
    by_op = sorted(map(str, OPS), key=len, reverse=True)
    run.results = [
        Result(id, State.PASS, properties={} if opcode is None else {"opcode": opcode})
        for id in sorted(collect_tests("quick", 0))
        for opcode in [next((o for o in by_op if id.partition("test_op[")[2].startswith(f"{o}-")), None)]
    ]
    write_report(run, submission)
    assert main(["conform", "--verify", str(submission)]) == 0
    assert "chip conforms at the level everything (quick)" in capfd.readouterr().out.replace("\n", " ")


@pytest.mark.slow
def test_full_has_every_test_of_quick() -> None:
    assert collect_tests("quick", 0) < collect_tests("full", 0)


def forge(submission: Path, change: Callable[[dict[str, Any]], None]) -> list[str]:
    """Changes report.json and makes its hash right."""
    file = submission / "report.json"
    document = json.loads(file.read_text())
    change(document)
    file.write_text(json.dumps(document))
    (submission / "manifest.json").write_text(json.dumps({"files": hashes(submission)}))
    return problems_of(submission)


def _fail(document: dict[str, Any]) -> None:
    document["results"][0]["state"] = "FAIL"


def _waive(document: dict[str, Any]) -> None:
    document["results"][0]["state"] = "WAIVED"


def _claim(document: dict[str, Any]) -> None:
    document["conforms"] = "inference"


def _forget(document: dict[str, Any]) -> None:
    del document["environment"]["device"]


def _old(document: dict[str, Any]) -> None:
    document["environment"]["suite_version"] = "0.0.9"


def _of_another_core(document: dict[str, Any]) -> None:
    document["environment"]["core_version"] = "0.0.9"


def _select(document: dict[str, Any]) -> None:
    document["selection"] = "-k tanh"


def _twice(document: dict[str, Any]) -> None:
    document["results"].append(document["results"][0])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (_fail, "conforms does not follow from the results"),
        (_waive, "is waived, and no waiver covers it"),
        (_claim, "conforms does not follow from the results"),
        (_forget, "the environment lacks device"),
        (_old, "it was made by version 0.0.9 of the suite"),
        (_of_another_core, "it was made by version 0.0.9 of xla-core"),
        (_select, "only a selection of the tests ran"),
        (_twice, "a test has two results"),
    ],
)
def test_a_forged_one(submission: Path, change: Callable[[dict[str, Any]], None], said: str) -> None:
    assert any(said in problem for problem in forge(submission, change))


def test_a_changed_file(submission: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with (submission / "junit.xml").open("a") as file:
        file.write(" ")
    (submission / "more").write_text("")
    (submission / "badge.svg").unlink()
    assert problems_of(submission) == [
        "badge.svg is listed in manifest.json and missing",
        "more is not listed in manifest.json",
        "junit.xml was changed: its hash is another",
    ]
    assert main(["conform", "--verify", str(submission)]) == 1
    assert "3 problems" in capfd.readouterr().out


@pytest.mark.parametrize("name", ["junit.xml", "index.html", "badge.svg"])
def test_a_file_that_shows_something_else(submission: Path, name: str) -> None:
    file = submission / name
    shown = file.read_text()
    file.write_text(shown.replace("chip", "ship"))
    (submission / "manifest.json").write_text(json.dumps({"files": hashes(submission)}))
    assert f"{name} does not show what report.json says" in problems_of(submission)


def test_a_page_with_the_changes_since_an_earlier_report(submission: Path) -> None:
    document = json.loads((submission / "report.json").read_text())
    write_report(from_json(document), submission, document)
    assert "Since the earlier report" in (submission / "index.html").read_text()
    assert not any("report.json says" in problem for problem in problems_of(submission))


def test_waivers(tmp_path: Path) -> None:
    run = dataclasses.replace(whole_run(tanh=State.WAIVED), waivers=[WAIVER])
    write_report(run, tmp_path)
    assert not any("waive" in problem for problem in problems_of(tmp_path))
    write_report(dataclasses.replace(run, waivers=[WAIVER | {"expires": "2020-01-01"}]), tmp_path)
    assert "expired on 2020-01-01" in problems_of(tmp_path)[0]


def test_waived_results_are_said_where_the_level_is(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    write_report(dataclasses.replace(whole_run(tanh=State.WAIVED), waivers=[WAIVER]), tmp_path)
    assert "core ops, quick, simulated, 1 waived" in (tmp_path / "badge.svg").read_text()
