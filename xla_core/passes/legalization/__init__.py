"""Rewriting a program into what a target can run."""

from xla_core.passes.legalization import (
    complex_numbers,
    convolution,
    elementary,
    elementwise,
    fourier,
    integer_power,
    remainder,
    rounding,
    sorting,
    structured,
)
from xla_core.passes.legalization.legalize import LegalityChecker, Legalization, legalize, unsupported_instructions
from xla_core.passes.legalization.registry import DECOMPOSITIONS, decomposition, register_decomposition
from xla_core.passes.legalization.structured import use_expander

__all__ = [
    "DECOMPOSITIONS",
    "LegalityChecker",
    "Legalization",
    "complex_numbers",
    "convolution",
    "decomposition",
    "elementary",
    "elementwise",
    "fourier",
    "integer_power",
    "legalize",
    "register_decomposition",
    "remainder",
    "rounding",
    "sorting",
    "structured",
    "unsupported_instructions",
    "use_expander",
]
