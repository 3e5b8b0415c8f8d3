"""The entries of the HLO op table, a file an op group. Importing this package fills the table."""

from __future__ import annotations

from xla_core.hlo.ops import (
    batch_norm,
    channels,
    collectives,
    contraction,
    control_flow,
    convolution,
    elementwise,
    indexing,
    lapack,
    linalg,
    movement,
    random,
    reduction,
    sorting,
    structure,
    top_k_calls,
    tridiagonal,
    window,
)

__all__ = [
    "batch_norm",
    "channels",
    "collectives",
    "contraction",
    "control_flow",
    "convolution",
    "elementwise",
    "indexing",
    "lapack",
    "linalg",
    "movement",
    "random",
    "reduction",
    "sorting",
    "structure",
    "top_k_calls",
    "tridiagonal",
    "window",
]
