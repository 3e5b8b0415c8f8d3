"""Deterministic inputs: the same bits on every machine, Python and numpy version, so that only outputs are stored."""

from __future__ import annotations

import dataclasses
import zlib
from typing import Any

import ml_dtypes  # noqa: F401  (registers bfloat16 and the float8 types with numpy)
import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]


@dataclasses.dataclass(frozen=True)
class ArraySpec:
    """An input array: uniform in [low, high), from a seed.

    Integers are uniform over the same half-open range, booleans are fair coins, and complex numbers have both parts
    uniform. `dtype` is a numpy or ml_dtypes name ("float32", "bfloat16", "bool", ...).
    """

    shape: tuple[int, ...]
    dtype: str = "float32"
    low: float = -1.0
    high: float = 1.0

    def make(self, seed: str) -> Array:
        """Returns the array of this seed; C-contiguous."""
        dtype = np.dtype(self.dtype)
        count = int(np.prod(self.shape, dtype=np.int64))
        bits = _random_bits(count * (2 if dtype.kind == "c" else 1), zlib.crc32(seed.encode()))
        if dtype.kind == "b":
            values = (bits >> np.uint64(63)).astype(dtype)
        elif dtype.kind in "iu":
            span = np.uint64(int(self.high) - int(self.low))
            values = ((bits >> np.uint64(16)) % span).astype(dtype) + dtype.type(int(self.low))
        else:
            unit = (bits >> np.uint64(40)).astype(np.float64) * 2.0**-24
            reals = self.low + unit * (self.high - self.low)
            values = (reals[:count] + 1j * reals[count:] if dtype.kind == "c" else reals).astype(dtype)
        return values.reshape(self.shape)


def _random_bits(count: int, seed: int) -> np.ndarray[Any, np.dtype[np.uint64]]:
    """The splitmix64 sequence: `count` well-mixed 64-bit words."""
    with np.errstate(over="ignore"):
        state = np.uint64(seed) * np.uint64(0xD1342543DE82EF95) + np.arange(1, count + 1, dtype=np.uint64) * np.uint64(
            0x9E3779B97F4A7C15
        )
        state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return state ^ (state >> np.uint64(31))
