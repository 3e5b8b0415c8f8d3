"""The tables of JAX's own tests."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

DOCS = Path(__file__).parents[2] / "docs"


def tables() -> ModuleType:
    spec = importlib.util.spec_from_file_location("jax_suite_tables", DOCS / "jax_suite_tables.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_failure_has_a_cause() -> None:
    assert "Not known" not in tables().causes()


def test_each_file_has_a_row_and_the_last_adds_them() -> None:
    rows, lines = tables().rows(), tables().summary().splitlines()[2:]
    assert [line.split("`")[1] for line in lines[:-1]] == [f"{name}_test" for name in rows]
    assert f"| {sum(row['ours']['passed'] for row in rows.values())} |" in lines[-1]
