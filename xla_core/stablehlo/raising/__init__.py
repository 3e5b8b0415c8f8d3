"""HLO back to StableHLO: an op tree that any StableHLO compiler takes."""

from __future__ import annotations

from xla_core.stablehlo.raising import calls, collectives, contraction, data, host_transfer, reduction
from xla_core.stablehlo.raising.context import from_hlo

__all__ = ["from_hlo"]

del calls, collectives, contraction, data, host_transfer, reduction  # imported for the rules that they add
