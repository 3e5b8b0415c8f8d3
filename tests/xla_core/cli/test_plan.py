"""`xla plan`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from xla_core.hlo import ElementType
from xla_core.target import Capabilities, TargetConfig

MODULE = "HloModule m\n\nENTRY e {{\n  x = {0}[4] parameter(0)\n  ROOT y = {0}[4] {1}(x)\n}}\n"


@pytest.fixture
def poor_backend(toy_backend: str, toy: Any, monkeypatch: pytest.MonkeyPatch) -> str:
    types = [ElementType.F32, ElementType.PRED]
    few = Capabilities.all_of(types, opcodes=["add", "multiply", "divide", "compare", "select", "broadcast"])
    monkeypatch.setattr(toy.ToyCompiler, "target_config", TargetConfig(name="toy", capabilities=few))
    return toy_backend


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    written = []
    for name, kind, opcode in (("double", "f32", "negate"), ("gate", "f32", "logistic"), ("wave", "f64", "sine")):
        written.append(tmp_path / f"{name}.hlo")
        written[-1].write_text(MODULE.format(kind, opcode))
    return written


def test_it_lists_what_to_add(xla: Callable[..., Any], poor_backend: str, files: list[Path]) -> None:
    done = xla("plan", "--backend", poor_backend, *files)
    assert done.code == 0, done.err
    assert "toy runs 1 of 3 programs without fallback." in done.out
    rows = [line.split() for line in done.out.splitlines()]
    assert ["1", "exponential", "of", "f32", "logistic", "gate", "2"] in rows
    assert ["2", "sine", "of", "f64", "wave", "3"] in rows
    assert "With these 2 additions it runs 3 of 3." in done.out


def test_the_plan_as_json(xla: Callable[..., Any], poor_backend: str, files: list[Path]) -> None:
    plan = json.loads(xla("plan", "--backend", poor_backend, "--json", *files).out)
    assert plan["backend"] == "toy"
    assert plan["runs"] == [str(files[0])]
    added = {
        "opcode": "exponential",
        "element_type": "f32",
        "kind": "op",
        "detail": "",
        "needed_by": ["logistic"],
    }
    assert plan["steps"][0] == {"add": [added], "unlocks": [str(files[1])]}


def test_a_backend_that_runs_all_of_them(xla: Callable[..., Any], toy_backend: str, files: list[Path]) -> None:
    done = xla("plan", "--backend", toy_backend, *files)
    assert done.code == 0
    assert done.out == "toy runs 3 of 3 programs without fallback.\n"


def test_wrong_files_and_backends_are_errors(xla: Callable[..., Any], toy_backend: str, tmp_path: Path) -> None:
    assert xla("plan", "--backend", toy_backend).code == 2
    assert "cannot read" in xla("plan", "--backend", toy_backend, tmp_path / "none.mlir").err
    (tmp_path / "bad.mlir").write_text("func.func @main() {")
    done = xla("plan", "--backend", toy_backend, tmp_path / "bad.mlir")
    assert done.code == 2
    assert "bad.mlir:1" in done.err
    assert xla("plan", "--backend", "nothing", tmp_path / "bad.mlir").code == 2
