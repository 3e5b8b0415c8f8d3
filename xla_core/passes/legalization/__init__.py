"""Rewrites programs for a target's capabilities. Decompositions are imported when an instruction needs one."""

from xla_core.passes.legalization.decompositions import decompositions_of
from xla_core.passes.legalization.legalize import (
    LegalityChecker,
    Legalization,
    legalize,
    rewrite_unsupported,
    unsupported_instructions,
)
from xla_core.passes.legalization.unmet import NeedsFallbackError, Unmet

__all__ = [
    "LegalityChecker",
    "Legalization",
    "NeedsFallbackError",
    "Unmet",
    "decompositions_of",
    "legalize",
    "rewrite_unsupported",
    "unsupported_instructions",
]
