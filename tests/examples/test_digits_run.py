"""The digits example from end to end."""

from __future__ import annotations

from importlib.metadata import entry_points
from pathlib import Path

import pytest

import xla_core as xla
from tests.examples.test_digits_export import load


def require(backend: str) -> None:
    if backend not in {entry.name for entry in entry_points(group="xla_core.backends")}:
        pytest.skip(f"the {backend} backend is not installed")


@pytest.mark.slow
def test_training_reaches_the_goal(tmp_path: Path) -> None:
    require("cpu")
    curve = tmp_path / "curve.png"
    assert load("run").main(["--backend", "cpu", "--output", str(curve)]) == 0
    pytest.importorskip("matplotlib")
    assert curve.read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_two_epochs_on_an_emulated_gpu() -> None:
    """A step takes a second there."""
    require("gpu")
    run = load("run")
    texts = {name: (run.HERE / f"{name}.mlir").read_text() for name in ("init", "train_step", "predict")}
    with xla.Client("gpu") as client:
        trainer = run.Trainer(client, {name: client.compile(text) for name, text in texts.items()})
        curve = run.train(trainer, 2)
        assert curve[-1]["accuracy"] > 0.9
        assert run.check_one_step(trainer, texts["train_step"])
