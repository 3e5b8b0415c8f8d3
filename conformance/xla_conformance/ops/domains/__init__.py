"""The domains of all ops. Importing this package fills `DOMAINS`."""

from __future__ import annotations

from xla_conformance.ops.domains import (
    control_flow,
    conversion,
    convolution,
    dot,
    elementwise,
    hollow,
    indexing,
    linalg,
    matrices,
    movement,
    packed,
    ragged_dot,
    random,
    reduction,
    scaled_dot,
    sorting,
    structure,
    window,
)

__all__ = [
    "control_flow",
    "conversion",
    "convolution",
    "dot",
    "elementwise",
    "hollow",
    "indexing",
    "linalg",
    "matrices",
    "movement",
    "packed",
    "ragged_dot",
    "random",
    "reduction",
    "scaled_dot",
    "sorting",
    "structure",
    "window",
]
