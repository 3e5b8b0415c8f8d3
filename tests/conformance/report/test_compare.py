"""Two reports compared."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from xla_conformance.report.compare import compare
from xla_conformance.report.document import to_json
from xla_conformance.report.files import write_report
from xla_conformance.results import State

from tests.conformance.report.runs import run_of, whole_run
from xla_core.cli import main


def test_regressions_and_what_was_mended() -> None:
    before = to_json(whole_run(sine=State.FAIL, tanh=State.NOT_SUPPORTED))
    run = whole_run(add=State.CRASH, cosine=State.NOT_SUPPORTED, tanh=State.FAIL)
    run.results[-1].properties["max_ulp"] = 4.0
    found = compare(before, to_json(run))
    assert [(id.partition("[")[2], was, now) for id, was, now, _ in found.regressions] == [
        ("tanh-f32]", "NOT_SUPPORTED", "FAIL"),
        ("add-f32]", "PASS", "CRASH"),
        ("cosine-f32]", "PASS", "NOT_SUPPORTED"),
    ]
    assert [(id, now) for id, _, now, _ in found.mended] == [("test_ops.py::test_op[sine-f32]", "PASS")]
    assert [(was, now) for _, was, now in found.errors if now > was] == [(1.0, 4.0)]
    assert found.new == []


def test_a_missing_test_is_a_regression_unless_it_was_not_chosen() -> None:
    whole = whole_run()
    some = run_of(*whole.results[:5])
    assert {r[2] for r in compare(to_json(whole), to_json(some)).regressions} == {"missing"}
    some.selection = "-k loading"
    assert compare(to_json(whole), to_json(some)).regressions == []


def test_reports_of_two_backends_are_said_to_be_so(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    a, b = tmp_path / "a", tmp_path / "b"
    write_report(whole_run(), a)
    write_report(dataclasses.replace(whole_run(), backend="slice"), b)
    assert main(["conform", "--compare", str(a), str(b)]) == 0
    assert "The reports are of two backends: chip, then slice." in capfd.readouterr().out
    assert main(["conform", "--compare", str(a), str(a)]) == 0
    assert "two backends" not in capfd.readouterr().out


def test_the_command(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    a, b = tmp_path / "a", tmp_path / "b"
    write_report(whole_run(), a)
    write_report(whole_run(add=State.FAIL), b)
    assert main(["conform", "--compare", str(a), str(b)]) == 1
    out = capfd.readouterr().out
    assert "PASS -> FAIL test_ops.py::test_op[add-f32]" in out
    assert "1 regression, 0 mended, 0 new tests; level everything -> none." in out
    assert main(["conform", "--compare", str(b), str(a / "report.json")]) == 0
