"""Makes the pictures of the documentation: `python docs/make_pictures.py`. Needs Graphviz and matplotlib."""

from __future__ import annotations

import contextlib
import json
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import xla_core as xla
from xla_core.analysis import assign_buffers, plot_memory_map
from xla_core.hlo import HloModule, to_dot

DOCS = Path(__file__).parent
IMAGES = DOCS / "images"


def optimized(text: str) -> HloModule:
    """Returns the optimized module of the CPU backend."""
    compiler = xla.Client("cpu").platform.compiler
    return compiler.run_hlo_passes(xla.parse(text), xla.CompileOptions())


def accuracy_chart(path: Path) -> None:
    """Draws the largest error of each real function of f32, with a bar for the evaluator and one for the backend."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    data = json.loads((DOCS / "data" / "accuracy" / "real-f32" / "accuracy.json").read_text(encoding="utf-8"))
    rows = [r for r in data["rows"] if r["group"] == "real" and r["element_type"] == "f32"]
    errors = {(r["subject"], r["function"]): float(r["measured"]["error"]) for r in rows}
    subjects = list(dict.fromkeys(r["subject"] for r in rows))
    functions = [f for f in dict.fromkeys(r["function"] for r in rows) if errors[subjects[-1], f] > 0]
    figure, axes = pyplot.subplots(figsize=(7, 8), layout="constrained")
    height = 0.8 / len(subjects)
    for i, subject in enumerate(subjects):
        places = [n + (i - (len(subjects) - 1) / 2) * height for n in range(len(functions))]
        axes.barh(places, [errors[subject, f] for f in functions], height, label=subject)
    axes.set_yticks(range(len(functions)), functions, fontsize=8)
    axes.invert_yaxis()
    axes.axvline(0.5, color="gray", linewidth=0.8, linestyle=":", label="correctly rounded")
    axes.set_xlim(0, 4)
    axes.set_xlabel("largest error of f32, ULP")
    axes.legend(loc="upper right")
    figure.savefig(path, dpi=110)
    pyplot.close(figure)


def kernel_forms(folder: Path) -> None:
    """Draws the programs of the page of kernel forms, as its own function does: form-NAME.png for NAME.hlo."""
    page = (DOCS / "kernel-forms.md").read_text()
    blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    names: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as scratch, contextlib.chdir(scratch):
        exec(next(block for block in blocks if "def draw" in block), names)
        for name, text in re.findall(r'title="(\w+).hlo"\n(.*?)```', page, re.DOTALL):
            Path(f"{name}.hlo").write_text(text)
            names["draw"](name)
            shutil.copy(f"{name}.png", folder / f"form-{name}.png")


def timeline(path: Path) -> None:
    """Draws the run of the program of two branches in the page of the GPU backend, after a run that warms it up."""
    block = next(
        b for b in re.findall(r"```python\n(.*?)```", (DOCS / "gpu.md").read_text(), re.DOTALL) if "dot_b" in b
    )
    program = re.search(r'compile\("""(.*?)"""', block, re.DOTALL)
    assert program is not None
    client = xla.Client("gpu")
    branches = client.compile(program[1])
    operands = np.ones((300, 256), np.float32), np.ones((256, 300), np.float32)
    branches(*operands)
    client.synchronize()
    with xla.trace(path):
        branches(*operands)
        client.synchronize()


def main() -> None:
    """Writes all pictures."""
    kernel_forms(IMAGES)
    timeline(IMAGES / "timeline-branches.png")
    accuracy_chart(IMAGES / "accuracy-f32.png")
    page = (DOCS / "how-a-program-becomes-a-run.md").read_text()
    program = re.search(r'title="predict.mlir"\n(.*?)```', page, re.DOTALL)
    assert program is not None
    graph = to_dot(optimized(program[1]))
    subprocess.run(["dot", "-Tsvg", "-o", str(IMAGES / "predict-fused.svg")], input=graph, text=True, check=True)

    step = (DOCS.parent / "examples" / "digits" / "train_step.mlir").read_text()
    plot_memory_map(assign_buffers(optimized(step)), IMAGES / "digits-memory.png")


if __name__ == "__main__":
    main()
