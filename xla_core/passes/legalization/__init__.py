"""Rewrites programs for a target's capabilities. Decompositions are imported when an instruction needs one."""

from xla_core.passes.legalization.decompositions import decompositions_of
from xla_core.passes.legalization.legalize import LegalityChecker, Legalization, legalize, unsupported_instructions

__all__ = [
    "LegalityChecker",
    "Legalization",
    "decompositions_of",
    "legalize",
    "unsupported_instructions",
]
