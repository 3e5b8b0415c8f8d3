"""The committed benchmark programs and their inputs."""

from __future__ import annotations

import dataclasses
import json
import zlib
from pathlib import Path
from typing import Any

import ml_dtypes  # noqa: F401  (registers bfloat16 with numpy)
import numpy as np

import xla_core
from xla_core.cli.programs import random_arguments
from xla_core.errors import NotFoundError

PROGRAMS = Path(__file__).resolve().parent / "programs"
Array = np.ndarray[Any, np.dtype[Any]]


@dataclasses.dataclass(frozen=True)
class ArraySpec:
    """An input: uniform in [low, high)."""

    shape: tuple[int, ...]
    dtype: str
    low: float
    high: float

    def make(self, random: np.random.Generator) -> Array:
        dtype = np.dtype(self.dtype)
        if dtype.kind in "iu":
            return random.integers(int(self.low), int(self.high), self.shape, dtype=dtype)
        return np.asarray(random.uniform(self.low, self.high, self.shape).astype(dtype))


@dataclasses.dataclass(frozen=True)
class Benchmark:
    """A program and the specifications of its inputs, or None for random arrays of its parameters' shapes."""

    name: str
    group: str
    path: Path
    arguments: tuple[ArraySpec, ...] | None = None

    @property
    def text(self) -> str:
        return self.path.read_text(encoding="utf-8")

    def inputs(self) -> list[Array]:
        """Makes the inputs, which are the same in each run."""
        seed = zlib.crc32(self.name.encode())
        if self.arguments is None:
            return random_arguments(xla_core.parse(self.text, file=str(self.path)).parameter_shapes, seed)
        random = np.random.default_rng(seed)
        return [spec.make(random) for spec in self.arguments]


def load(directory: Path = PROGRAMS) -> list[Benchmark]:
    """Loads all programs of `directory`/manifest.json, in its order; without this file, every .mlir file.

    Raises NotFoundError for a directory without programs.
    """
    file = directory / "manifest.json"
    if not file.is_file():
        paths = sorted(directory.glob("*.mlir"))
        if not paths:
            what = "holds no .mlir files" if directory.is_dir() else "is not a directory"
            raise NotFoundError(
                f"{directory} {what}", hint="--programs takes a directory of StableHLO programs, *.mlir"
            )
        return [Benchmark(path.stem, "own", path) for path in paths]
    manifest = json.loads(file.read_text(encoding="utf-8"))
    return [
        Benchmark(
            name,
            entry["group"],
            directory / f"{name}.mlir",
            tuple(ArraySpec(tuple(shape), *rest) for shape, *rest in entry["arguments"]),
        )
        for name, entry in manifest.items()
    ]
