"""Checks in several processes have the same results, in the same order, as in one."""

from __future__ import annotations

import dataclasses

import pytest

pytest.importorskip("flint")
pytest.importorskip("scipy")

from xla_conformance.accuracy.processes import measure_each
from xla_conformance.accuracy.suite import all_checks, select
from xla_conformance.subjects import EVALUATOR

from xla_core.cli import main


def test_several_processes_find_the_same():
    checks = select(all_checks(), "tanh and f8e4m3fn or sign and c64 or ceil and bf16")
    rows = {}
    for jobs in (1, 2):
        found = dict(measure_each([EVALUATOR, "template"], checks, 100, None, jobs))
        assert sorted(found) == list(range(len(checks)))
        rows[jobs] = [[dataclasses.replace(row, seconds=0.0) for row in found[n]] for n in range(len(checks))]
    assert repr(rows[1]) == repr(rows[2])  # NaN among them
    assert [row.subject for row in rows[1][0]] == ["evaluator", "template"]


def test_the_command_keeps_the_order_of_checks(tmp_path):
    arguments = ["accuracy", "--evaluator", "--points", "10", "-j", "2", "-k", "floor and bf16 or ceil and bf16"]
    assert main([*arguments, "--report", str(tmp_path)]) == 0
    page = (tmp_path / "accuracy.md").read_text()
    assert page.index("`floor`") < page.index("`ceil`")


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_missing_platform_is_reported_once(jobs, capfd):
    assert main(["accuracy", "--backend", "nosuch", "-j", str(jobs), "-k", "floor and bf16"]) != 0
    said = capfd.readouterr().err
    assert "NOT_FOUND" in said
    assert "nosuch" in said
    assert "Traceback" not in said
    assert "INTERNAL" not in said
