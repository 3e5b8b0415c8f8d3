"""The committed benchmark programs and their inputs."""

from __future__ import annotations

import dataclasses
import json
import zlib
from pathlib import Path
from typing import Any

import ml_dtypes  # noqa: F401  (registers bfloat16 with numpy)
import numpy as np

__all__ = ["PROGRAMS", "Array", "ArraySpec", "Benchmark", "load"]

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
    """A program and the specifications of its inputs."""

    name: str
    group: str
    path: Path
    arguments: tuple[ArraySpec, ...]

    @property
    def text(self) -> str:
        return self.path.read_text(encoding="utf-8")

    def inputs(self) -> list[Array]:
        """Makes the inputs, which are the same in each run."""
        random = np.random.default_rng(zlib.crc32(self.name.encode()))
        return [spec.make(random) for spec in self.arguments]


def load(directory: Path = PROGRAMS) -> list[Benchmark]:
    """Loads all programs of `directory`/manifest.json, in its order."""
    manifest = json.loads((directory / "manifest.json").read_text(encoding="utf-8"))
    return [
        Benchmark(
            name,
            entry["group"],
            directory / f"{name}.mlir",
            tuple(ArraySpec(tuple(shape), *rest) for shape, *rest in entry["arguments"]),
        )
        for name, entry in manifest.items()
    ]
