"""The entries of the HLO op table. Importing this package fills the table.

A file that calls `OpGroup(...).entry` is an op group: it has the entries, their shape rules and their evaluation. The
parts of large groups have files of their own: `*_shapes` has shape rules, which see shapes and attributes alone;
`*_evaluation`, `arithmetic`, `conversion`, `elementary`, `combining`, `sort_order` and `bit_generators` have the
evaluation, as functions of numpy arrays. All groups share `rules` and `numerics`. `custom_calls` is the registry of
custom calls.

Code here may use numpy, the modules of `xla_core.hlo` below the evaluator, and `xla_core.errors`. An evaluation reads
its operands and never writes to them; it runs computations through the `EvaluationContext` that it is given.
"""

from __future__ import annotations

from xla_core.hlo.ops import (
    batch_norm,
    channels,
    collectives,
    contraction,
    control_flow,
    convolution,
    dynamic_slices,
    elementwise,
    indexing,
    linalg,
    movement,
    random,
    reduction,
    sorting,
    structure,
    top_k_calls,
    window,
)

__all__ = [
    "batch_norm",
    "channels",
    "collectives",
    "contraction",
    "control_flow",
    "convolution",
    "dynamic_slices",
    "elementwise",
    "indexing",
    "linalg",
    "movement",
    "random",
    "reduction",
    "sorting",
    "structure",
    "top_k_calls",
    "window",
]
