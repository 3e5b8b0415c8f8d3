"""The entries of the StableHLO op table, a file an op group: rule and lowering side by side."""

from __future__ import annotations

from xla_core.stablehlo.ops import (
    contraction,
    control_flow,
    data_movement,
    elementwise,
    indexing,
    linalg,
    reduction,
)

__all__ = ["contraction", "control_flow", "data_movement", "elementwise", "indexing", "linalg", "reduction"]
