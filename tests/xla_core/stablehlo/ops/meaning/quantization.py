"""Quantized types, and what the specification's `quantize` and `dequantize` make of numbers, in float64."""

from __future__ import annotations

import dataclasses

import ml_dtypes
import numpy as np

from tests.xla_core.stablehlo.ops.meaning.programs import DTYPES, tensor


@dataclasses.dataclass(frozen=True)
class Q:
    """`!quant.uniform<storage<low:high>:expressed:axis, {scales:zero points}>`."""

    storage: str = "i8"
    scales: tuple[float, ...] = (0.5,)
    zeros: tuple[int, ...] = (0,)
    axis: int | None = None
    expressed: str = "f32"
    bounds: tuple[int, int] | None = None

    @property
    def dtype(self) -> np.dtype:
        """The type of the arrays that hold it: MLIR's u8 is ui8."""
        return np.dtype(DTYPES[self.signed_name])

    @property
    def signed_name(self) -> str:
        return "ui" + self.storage[1:] if self.storage.startswith("u") else self.storage

    @property
    def range(self) -> tuple[int, int]:
        info = ml_dtypes.iinfo(self.dtype)
        return self.bounds or (int(info.min), int(info.max))

    def __str__(self) -> str:
        bounds = f"<{self.bounds[0]}:{self.bounds[1]}>" if self.bounds else ""
        pairs = [f"{s}:{z}" for s, z in zip(self.scales, self.zeros, strict=True)]
        if self.axis is None:
            return f"!quant.uniform<{self.storage}{bounds}:{self.expressed}, {pairs[0]}>"
        return f"!quant.uniform<{self.storage}{bounds}:{self.expressed}:{self.axis}, {{{', '.join(pairs)}}}>"

    def type(self, *shape: int) -> str:
        return tensor(shape, str(self))

    def along(self, values: tuple[float, ...], rank: int) -> np.ndarray:
        if self.axis is None:
            return np.float64(values[0])
        return np.array(values, np.float64).reshape([-1 if d == self.axis else 1 for d in range(rank)])

    def value(self, stored: np.ndarray) -> np.ndarray:
        """The real values of a stored array."""
        rank = stored.ndim
        return (stored.astype(np.float64) - self.along(self.zeros, rank)) * self.along(self.scales, rank)

    def scaled(self, value: np.ndarray) -> np.ndarray:
        """Where a number lies on the axis of stored numbers, held within their range, not yet rounded."""
        rank = np.ndim(value)
        return np.clip(value / self.along(self.scales, rank) + self.along(self.zeros, rank), *self.range)

    def quantize(self, value: np.ndarray) -> np.ndarray:
        """The stored numbers: rounded to nearest, ties to even, after the zero point was added."""
        return np.rint(self.scaled(np.asarray(value, np.float64))).astype(np.int64).astype(self.dtype)

    def random(self, rng: np.random.Generator, *shape: int) -> np.ndarray:
        """Any stored numbers."""
        low, high = self.range
        return rng.integers(max(low, -(2**20)), min(high, 2**20), shape, endpoint=True).astype(self.dtype)


def nearest_storage(got: np.ndarray, value: np.ndarray, q: Q, slack: float | np.ndarray = 1e-3) -> None:
    """Asserts that stored numbers are the nearest to the exact values; ties (within `slack`) go either way."""
    assert got.dtype == q.dtype
    away = np.abs(got.astype(np.float64) - q.scaled(value))
    assert np.all(away <= 0.5 + slack), f"{away.max()} of a step away"
