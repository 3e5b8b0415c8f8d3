"""Trains a small convolutional network on handwritten digits from StableHLO text: it runs without JAX.

python examples/digits/run.py [--backend cpu] [--epochs 15] [--output out/digits.png]
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

import xla_core as xla

HERE = Path(__file__).resolve().parent
GOAL = 0.97
Array = np.ndarray[Any, np.dtype[Any]]

console = Console()


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns 0 if the network reached the goal and the checked step was right, else 1."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--backend", help="the backend; default: the installed one with the highest priority")
    parser.add_argument("--epochs", type=int, default=15)
    parser.add_argument("--output", type=Path, default=Path("out/digits.png"), help="where the learning curve goes")
    options = parser.parse_args(arguments)

    client = xla.Client(options.backend)
    console.print(f"Device [bold]{client.devices[0]}[/]")
    texts = {name: (HERE / f"{name}.mlir").read_text() for name in ("init", "train_step", "predict")}
    with console.status("Compiling"):
        programs = {name: client.compile(text) for name, text in texts.items()}
    print_reports(programs)

    trainer = Trainer(client, programs)
    curve = train(trainer, options.epochs)
    seconds = trainer.seconds / trainer.steps
    console.print(
        f"Held-out accuracy [bold]{curve[-1]['accuracy']:.2%}[/], {trainer.steps:,} steps of {seconds * 1e3:.2f} ms, "
        f"{trainer.batch / seconds:,.0f} images/s"
    )
    right = check_one_step(trainer, texts["train_step"])
    draw(curve, options.output)
    return 0 if right and curve[-1]["accuracy"] >= GOAL else 1


class Trainer:
    """The state of training, all of it on the device: donated to each step and replaced by its results."""

    def __init__(self, client: xla.Client, programs: dict[str, Any], seed: int = 0) -> None:
        signature = json.loads((HERE / "signature.json").read_text())
        self.client = client
        self.step_program, self.predict_program = programs["train_step"], programs["predict"]
        self.batch: int = signature["batch"]
        self.parameter_count = len(signature["parameters"])
        self.random = np.random.default_rng(seed)
        self.steps, self.seconds = 0, 0.0

        with np.load(HERE / "data" / "digits.npz") as data:
            images, labels = data["images"], data["labels"]
        held_out = np.arange(len(images)) % 5 == 0
        self.training_count = int(np.count_nonzero(~held_out))
        self.images = client.buffer_from_host(images[~held_out])
        self.labels = client.buffer_from_host(labels[~held_out])
        self.held_out_images = client.buffer_from_host(images[held_out])
        self.held_out_labels = labels[held_out]
        self.state = programs["init"].execute([client.buffer_from_host(np.array([0, seed], np.uint32))])

    def batches(self) -> list[Array]:
        """The image indices of one epoch, shuffled; the last, incomplete batch is left out."""
        order = self.random.permutation(self.training_count).astype(np.int32)
        count = self.training_count // self.batch
        return list(order[: count * self.batch].reshape(count, self.batch))

    def step(self, indices: Array) -> xla.Buffer:
        """Enqueues one step and returns its loss, which may not be computed yet."""
        inputs = [*self.state, self.images, self.labels, self.client.buffer_from_host(indices)]
        *self.state, loss = self.step_program.execute(inputs)
        self.steps += 1
        return loss

    def accuracy(self) -> float:
        """The fraction of held-out images that are recognized."""
        label, _ = self.predict_program.execute([*self.state[: self.parameter_count], self.held_out_images])
        return float(np.mean(np.asarray(label) == self.held_out_labels))


def train(trainer: Trainer, epochs: int) -> list[dict[str, float]]:
    """Returns mean loss and held-out accuracy after each epoch."""
    curve: list[dict[str, float]] = []
    columns = (
        TextColumn("Training"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("loss {task.fields[loss]:.4f}  held-out {task.fields[accuracy]:.2%}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console) as progress:
        per_epoch = trainer.training_count // trainer.batch
        bar = progress.add_task("train", total=epochs * per_epoch, loss=float("nan"), accuracy=0.0)
        for _ in range(epochs):
            start = time.perf_counter()
            losses = []
            for indices in trainer.batches():
                losses.append(trainer.step(indices))
                progress.advance(bar)
            loss = float(np.mean([np.asarray(loss) for loss in losses]))
            trainer.seconds += time.perf_counter() - start
            curve.append({"loss": loss, "accuracy": trainer.accuracy()})
            progress.update(bar, loss=loss, accuracy=curve[-1]["accuracy"])
    return curve


def check_one_step(trainer: Trainer, text: str) -> bool:
    """Takes one more step, and compares all of its results with the reference evaluator's."""
    indices = trainer.batches()[0]
    inputs = [np.array(buffer) for buffer in (*trainer.state, trainer.images, trainer.labels)] + [indices]
    expected = xla.evaluate(xla.parse(text), *inputs)
    loss = trainer.step(indices)
    results = [np.asarray(buffer) for buffer in (*trainer.state, loss)]
    worst = 0.0
    for got, want in zip(results, expected, strict=True):
        scale = max(float(np.max(np.abs(want))), 1e-6)
        worst = max(worst, float(np.max(np.abs(got.astype(np.float64) - want))) / scale)
    right = worst < 1e-3
    mark = "[green]agrees[/]" if right else "[bold red]DIFFERS[/]"
    console.print(f"One step {mark} with the reference evaluator (largest relative difference {worst:.0e})")
    return right


def print_reports(programs: dict[str, Any]) -> None:
    """Prints the compilation report of each program."""
    table = Table("", *programs, title="Compiled", title_justify="left")
    for column in table.columns[1:]:
        column.justify = "right"
    reports = [program.report for program in programs.values()]
    rows = (
        ("HLO instructions before", "instructions_before"),
        ("HLO instructions after", "instructions_after"),
        ("fusions", "fusions"),
        ("kernels", "kernels"),
        ("library calls", "library_calls"),
        ("bytes of temporaries", "temp_bytes"),
        ("the same without reuse", "temp_bytes_without_reuse"),
    )
    for label, field in rows:
        counts = [getattr(report, field) for report in reports]
        table.add_row(label, *(f"{sum(n.values()) if isinstance(n, dict) else n:,}" for n in counts))
    table.add_row("seconds to compile", *(f"{report.compile_seconds:.2f}" for report in reports))
    console.print(table)


def draw(curve: list[dict[str, float]], path: Path) -> None:
    """Writes the learning curve as a picture, if matplotlib is installed."""
    try:
        import matplotlib

        matplotlib.use("Agg")
        from matplotlib import pyplot
    except ImportError:
        console.print("No picture: matplotlib is not installed (pip install 'xla-core[pictures]')")
        return
    epochs = range(1, len(curve) + 1)
    figure, loss_axis = pyplot.subplots(figsize=(7, 4), layout="constrained")
    loss_axis.semilogy(epochs, [point["loss"] for point in curve], color="tab:blue")
    loss_axis.set(xlabel="epoch", title="Handwritten digits")
    loss_axis.set_ylabel("training loss", color="tab:blue")
    accuracy_axis = loss_axis.twinx()
    accuracy_axis.plot(epochs, [100 * point["accuracy"] for point in curve], color="tab:orange")
    accuracy_axis.set_ylabel("held-out accuracy, %", color="tab:orange")
    accuracy_axis.axhline(100 * GOAL, color="gray", linestyle=":", linewidth=1)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)
    console.print(f"Learning curve: {path}")


if __name__ == "__main__":
    sys.exit(main())
