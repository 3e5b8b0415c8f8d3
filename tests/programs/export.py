"""Writes text/, expected/ and manifest.json from sources/. Needs JAX: `python -m tests.programs.export [NAME ...]`."""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import sys
from pathlib import Path
from typing import Any

# Every bfloat16 operation rounds, as the program says; XLA may otherwise keep float32 between two of them.
os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} --xla_allow_excess_precision=false"

import jax
import numpy as np

from tests.programs.sources.registry import SOURCES, Source

DIRECTORY = Path(__file__).resolve().parent
ROOT = DIRECTORY.parents[1]
KINDS = ("networks", "training", "control", "indexing", "arrays", "numerics", "random")


def main(names: list[str]) -> None:
    jax.config.update("jax_platforms", "cpu")
    for kind in KINDS:
        importlib.import_module(f"tests.programs.sources.{kind}")
    (DIRECTORY / "text").mkdir(exist_ok=True)
    (DIRECTORY / "expected").mkdir(exist_ok=True)
    path = DIRECTORY / "manifest.json"
    known = json.loads(path.read_text())["programs"] if names else {}
    for source in SOURCES:
        if not names or source.name in names:
            known[source.name] = write(source)
            print(f"{source.kind}/{source.name}")
    programs = {source.name: known[source.name] for source in SOURCES if source.name in known}
    entries = ",\n".join(f" {json.dumps(name)}: {json.dumps(entry)}" for name, entry in programs.items())
    path.write_text(f'{{"jax": "{jax.__version__}", "programs": {{\n{entries}\n}}}}\n')


def write(source: Source) -> dict[str, Any]:
    """Exports and runs one program; returns its entry in the manifest."""
    with jax.enable_x64(True) if source.x64 else contextlib.nullcontext():
        (DIRECTORY / "text" / f"{source.name}.mlir").write_text(text_of(source))
        inputs = [spec.make(f"{source.name}/{index}") for index, spec in enumerate(source.arguments)]
        results = [np.asarray(leaf) for leaf in jax.tree.leaves(jax.jit(source.function)(*inputs))]
    stored = {f"r{index}": _storable(result) for index, result in enumerate(results)}
    np.savez_compressed(DIRECTORY / "expected" / f"{source.name}.npz", allow_pickle=False, **stored)
    return {
        "kind": source.kind,
        "arguments": [[list(spec.shape), spec.dtype, spec.low, spec.high] for spec in source.arguments],
        "results": [result.dtype.name for result in results],
        "rtol": source.rtol,
        "atol": source.atol,
    }


def text_of(source: Source) -> str:
    """The StableHLO text, with locations relative to the repository."""
    limit = "jax_traceback_in_locations_limit"
    before = getattr(jax.config, limit)
    shapes = [jax.ShapeDtypeStruct(spec.shape, np.dtype(spec.dtype)) for spec in source.arguments]
    jitted = jax.jit(source.function, donate_argnums=source.donate, keep_unused=True)
    try:
        jax.config.update(limit, max(source.frames, 1))
        text: str = jitted.trace(*shapes).lower(lowering_platforms=("cpu",)).as_text(debug_info=source.frames > 0)
    finally:  # tests of other programs run in this process too
        jax.config.update(limit, before)
    # JAX's own setting for this outlives its reset: JAX caches the names of files.
    return text.replace(f'"{ROOT}/', '"')


def _storable(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """`array`, or its bits where numpy's file format does not know the type (bfloat16, float8)."""
    return array if array.dtype.isbuiltin == 1 else array.view(f"u{array.dtype.itemsize}")


if __name__ == "__main__":
    main(sys.argv[1:])
