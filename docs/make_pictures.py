"""Makes the pictures of the documentation: `python docs/make_pictures.py`. Needs Graphviz and matplotlib."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import xla_core as xla
from xla_core.analysis import assign_buffers, plot_memory_map
from xla_core.hlo import HloModule, to_dot

DOCS = Path(__file__).parent
IMAGES = DOCS / "images"


def optimized(text: str) -> HloModule:
    """The module as the CPU backend compiles it."""
    compiler = xla.Client("cpu").platform.compiler
    return compiler.run_hlo_passes(xla.parse(text), xla.CompileOptions())


def main() -> None:
    """Writes them all."""
    page = (DOCS / "how-a-program-becomes-a-run.md").read_text()
    program = re.search(r'title="predict.mlir"\n(.*?)```', page, re.DOTALL)
    assert program is not None
    graph = to_dot(optimized(program[1]))
    subprocess.run(["dot", "-Tsvg", "-o", str(IMAGES / "predict-fused.svg")], input=graph, text=True, check=True)

    step = (DOCS.parent / "examples" / "digits" / "train_step.mlir").read_text()
    plot_memory_map(assign_buffers(optimized(step)), IMAGES / "digits-memory.png")


if __name__ == "__main__":
    main()
