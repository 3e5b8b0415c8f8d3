"""The support matrix: its cells, crashes, and that the documented matrix has the same ops."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from xla_conformance.subjects import EvaluatorSubject
from xla_conformance.support.cells import ANY, ELEMENT_TYPES, Cell, CellState, run_cell
from xla_conformance.support.matrix import SupportMatrix, measure_support

from xla_core.errors import UnimplementedError
from xla_core.hlo import HloModule
from xla_core.stablehlo import OPS

DATA = Path(__file__).parents[2] / "docs" / "data" / "support"


Change = Exception | Callable[[np.ndarray], np.ndarray]


class Subject:
    """Gives what `change` makes of the right results."""

    def __init__(self, change: Change) -> None:
        self.change = change

    def run_replicas(
        self,
        module: HloModule,
        rows: Sequence[Sequence[np.ndarray]],
        infeed: Sequence[tuple[np.ndarray, ...]] = (),
    ) -> list[list[np.ndarray]]:
        if isinstance(self.change, Exception):
            raise self.change
        right = EvaluatorSubject().run_replicas(module, rows, infeed)
        return [[np.asarray(self.change(r)) for r in row] for row in right]


@pytest.mark.parametrize(
    ("change", "state"),
    [
        (lambda r: r, CellState.PASS),
        (lambda r: r + 1, CellState.WRONG),
        (lambda r: r.astype(np.float64), CellState.WRONG),
        (UnimplementedError("no slices here"), CellState.UNSUPPORTED),
        (ValueError("oops"), CellState.ERROR),
    ],
)
def test_the_state_and_reason_of_a_cell(change: Change, state: CellState) -> None:
    cell = run_cell(Subject(change), "stablehlo.slice", "f32")
    assert cell.state is state, cell
    assert bool(cell.reason) == (state is not CellState.PASS)


@pytest.mark.parametrize(
    ("op", "column", "state"),
    [
        ("stablehlo.slice", "q8", CellState.PASS),
        ("stablehlo.slice", ANY, CellState.INVALID),
        ("stablehlo.partition_id", ANY, CellState.PASS),
        ("stablehlo.partition_id", "f32", CellState.INVALID),
        ("stablehlo.popcnt", "f32", CellState.INVALID),
        ("stablehlo.popcnt", "ui4", CellState.PASS),
        ("stablehlo.all_reduce", "bf16", CellState.PASS),
        ("stablehlo.infeed", "c64", CellState.PASS),
        ("stablehlo.rng", "f32", CellState.PASS),
        ("chlo.top_k", "f8E4M3FN", CellState.PASS),
    ],
)
def test_cells_of_the_evaluator(op: str, column: str, state: CellState) -> None:
    cell = run_cell(EvaluatorSubject(), op, column)
    assert cell.state is state, cell


def test_a_matrix_counts_and_is_written(tmp_path: Path) -> None:
    matrix = SupportMatrix("acme", {"a": {"f32": Cell(CellState.PASS), "i8": Cell(CellState.ERROR, "crashed")}})
    assert not matrix.is_right
    written = json.loads(matrix.write(tmp_path).read_text())
    assert written["ops"] == {"a": {"f32": "pass", "i8": "error"}}
    assert written["reasons"] == {"a": {"i8": "crashed"}}
    assert written["command"] == "xla conform --support-matrix --backend acme"


def test_a_run_in_another_process() -> None:
    matrix = measure_support("cpu", "stablehlo.dynamic_update_slice")
    assert set(matrix.cells) == {"stablehlo.dynamic_update_slice"}
    assert matrix.is_right
    assert matrix.counts()[CellState.PASS] == len(ELEMENT_TYPES)


def test_a_crash_fails_one_cell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        "import os, sys\n"
        "import xla_conformance.support.cells as cells\n"
        "run = cells.run_cell\n"
        "def crash(subject, name, column):\n"
        "    if (name, column) == ('stablehlo.popcnt', 'i8'): os._exit(139)\n"
        "    return run(subject, name, column)\n"
        "cells.run_cell = crash\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    cells = measure_support("evaluator", "stablehlo.popcnt").cells["stablehlo.popcnt"]
    assert cells["i8"].state is CellState.ERROR
    assert "139" in cells["i8"].reason
    assert cells["i16"].state is cells["i4"].state is CellState.PASS


@pytest.mark.parametrize("subject", ["evaluator", "cpu", "template"])
def test_what_is_documented_is_of_these_ops(subject: str) -> None:
    documented = json.loads((DATA / f"{subject}.json").read_text())
    assert documented["subject"] == subject
    assert set(documented["ops"]) == set(OPS)
    assert set(documented["types"]) == {*ELEMENT_TYPES, ANY}
