"""Writes the benchmark programs, programs/*.mlir, from their JAX sources: `python -m benchmarks.export [NAME ...]`.

The texts are committed: running them needs no JAX.
"""

from __future__ import annotations

import json
import sys

import jax
import numpy as np

from benchmarks.sources import SOURCES
from benchmarks.suite import PROGRAMS


def text_of(name: str) -> str:
    """The StableHLO text of a program, without locations."""
    _, function, arguments = SOURCES[name]
    shapes = [jax.ShapeDtypeStruct(spec.shape, np.dtype(spec.dtype)) for spec in arguments]
    lowered = jax.jit(function, keep_unused=True).trace(*shapes).lower(lowering_platforms=("cpu",))
    text: str = lowered.as_text()
    return f"// Written by benchmarks/export.py with JAX {jax.__version__}.\n{text}"


def main(names: list[str]) -> None:
    jax.config.update("jax_platforms", "cpu")
    PROGRAMS.mkdir(exist_ok=True)
    lines = []
    for name, (group, _, arguments) in SOURCES.items():
        entry = {
            "group": group,
            "arguments": [[list(spec.shape), spec.dtype, spec.low, spec.high] for spec in arguments],
        }
        lines.append(f"  {json.dumps(name)}: {json.dumps(entry)}")
        if names and name not in names:
            continue
        (PROGRAMS / f"{name}.mlir").write_text(text_of(name))
        print(name)
    (PROGRAMS / "manifest.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
