"""Raises HLO to StableHLO."""

from __future__ import annotations

from xla_core.stablehlo.translate.raising import (  # imported for the rules that they add
    calls,
    collectives,
    contraction,
    data,
    decomposed,
    elementwise,
    host_transfer,
    random,
    reduction,
)
from xla_core.stablehlo.translate.raising.module import from_hlo, raised_entry

__all__ = [
    "calls",
    "collectives",
    "contraction",
    "data",
    "decomposed",
    "elementwise",
    "from_hlo",
    "host_transfer",
    "raised_entry",
    "random",
    "reduction",
]
