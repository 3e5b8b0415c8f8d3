"""The entries of the StableHLO op table, a file an op group: rule and lowering side by side."""

from __future__ import annotations

from xla_core.stablehlo.ops import (
    chlo,
    chlo_structured,
    contraction,
    control_flow,
    data_movement,
    deprecated,
    distribution,
    dynamism,
    elementwise,
    indexing,
    linalg,
    quantization,
    reduction,
    rng,
)

__all__ = [
    "chlo",
    "chlo_structured",
    "contraction",
    "control_flow",
    "data_movement",
    "deprecated",
    "distribution",
    "dynamism",
    "elementwise",
    "indexing",
    "linalg",
    "quantization",
    "reduction",
    "rng",
]
