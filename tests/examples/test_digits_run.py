"""The digits example from end to end on the CPU backend."""

from __future__ import annotations

from importlib.metadata import entry_points
from pathlib import Path

import pytest

from tests.examples.test_digits_export import load


@pytest.mark.slow
def test_training_reaches_the_goal(tmp_path: Path) -> None:
    if "cpu" not in {entry.name for entry in entry_points(group="xla_core.backends")}:
        pytest.skip("the CPU backend is not installed")
    curve = tmp_path / "curve.png"
    assert load("run").main(["--backend", "cpu", "--output", str(curve)]) == 0
    pytest.importorskip("matplotlib")
    assert curve.read_bytes().startswith(b"\x89PNG")
