"""Raises HLO to StableHLO."""

from __future__ import annotations

from xla_core.stablehlo.translate.raising import (  # noqa: F401  imported for the rules that they add
    calls,
    collectives,
    contraction,
    data,
    decomposed,
    effects,
    one_to_one,
    reduction,
)
from xla_core.stablehlo.translate.raising.module import from_hlo, raised_entry

__all__ = ["from_hlo", "raised_entry"]
