"""Rewrites programs for a target's capabilities. Decompositions are imported when an instruction needs one."""

from xla_core.passes.legalization.legalize import LegalityChecker, Legalization, legalize, unsupported_instructions
from xla_core.passes.legalization.registry import decomposition, decompositions_of, register_decomposition

__all__ = [
    "LegalityChecker",
    "Legalization",
    "decomposition",
    "decompositions_of",
    "legalize",
    "register_decomposition",
    "unsupported_instructions",
]
