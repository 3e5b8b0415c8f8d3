"""Whole programs, as StableHLO text, with the ranges of their arguments.

Those of `manifest.json` were exported by JAX; those of `own.json` were written for the suite.
"""

from __future__ import annotations

import dataclasses
import importlib.resources
import json
import zlib

import ml_dtypes  # noqa: F401  (registers bfloat16 with numpy)
import numpy as np

__all__ = ["PROGRAMS", "Program"]


@dataclasses.dataclass(frozen=True)
class Program:
    """`ranges` has a (dimensions, dtype, low, high) for each argument: uniform in [low, high).

    `rtol` and `atol` are how much floating-point results may differ from the reference evaluator's; they depend on how
    the program propagates rounding errors. `profile` is the smallest one that runs it.
    """

    name: str
    ranges: tuple[tuple[tuple[int, ...], str, float, float], ...]
    rtol: float
    atol: float
    profile: str = "quick"

    @property
    def text(self) -> str:
        return importlib.resources.files(__package__).joinpath(f"{self.name}.mlir").read_text()

    def arguments(self, seed: int = 0) -> list[np.ndarray]:
        """The arguments, the same arrays each time for one seed."""
        random = np.random.default_rng([seed, zlib.crc32(self.name.encode())])
        return [_array(random, *r) for r in self.ranges]


def _array(random: np.random.Generator, dimensions: tuple[int, ...], name: str, low: float, high: float) -> np.ndarray:
    dtype = np.dtype(name)
    if dtype.kind in "biu":
        return np.asarray(random.integers(int(low), int(high), dimensions).astype(dtype))
    return np.asarray(random.uniform(low, high, dimensions).astype(dtype))


def _load() -> tuple[Program, ...]:
    folder = importlib.resources.files(__package__)
    manifest = {}
    for file in ("manifest.json", "own.json"):
        manifest.update(json.loads(folder.joinpath(file).read_text()))
    return tuple(
        Program(
            name,
            tuple((tuple(dimensions), dtype, low, high) for dimensions, dtype, low, high in entry["arguments"]),
            entry["rtol"],
            entry["atol"],
            entry.get("profile", "quick"),
        )
        for name, entry in manifest.items()
    )


PROGRAMS = _load()
