"""The domains of all ops. Importing this package fills `DOMAINS`."""

from __future__ import annotations

from xla_conformance.ops.domains import (
    contraction,
    control_flow,
    conversion,
    convolution,
    elementwise,
    hollow,
    indexing,
    linalg,
    matrices,
    movement,
    packed,
    random,
    reduction,
    sorting,
    structure,
    window,
)

__all__ = [
    "contraction",
    "control_flow",
    "conversion",
    "convolution",
    "elementwise",
    "hollow",
    "indexing",
    "linalg",
    "matrices",
    "movement",
    "packed",
    "random",
    "reduction",
    "sorting",
    "structure",
    "window",
]
