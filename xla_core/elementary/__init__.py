"""Formulas of elementary functions, shared by the LLVM emitter and by legalization.

Each formula consists of data (`coefficients`) and straight-line arithmetic on f32 or f64 values (`Arithmetic`), without
branches or calls, so that loops around it vectorize. The LLVM emitter writes the formulas as LLVM IR; legalization
writes them as HLO for a target that lacks the function.
"""

from xla_core.elementary import (  # importing these fills the tables
    complex_elementary,
    complex_hyperbolic,
    complex_inverse,
    complex_power,
    exponential,
    inverse_error,
    logarithm,
    special,
    trigonometric,
)
from xla_core.elementary.arithmetic import Arithmetic, V
from xla_core.elementary.complex_arithmetic import (
    COMPLEX_ARITHMETIC,
    COMPLEX_FUNCTIONS,
    WIDENED_FUNCTIONS,
    Pair,
)
from xla_core.elementary.functions import FUNCTIONS

__all__ = [
    "COMPLEX_ARITHMETIC",
    "COMPLEX_FUNCTIONS",
    "FUNCTIONS",
    "WIDENED_FUNCTIONS",
    "Arithmetic",
    "Pair",
    "V",
    "complex_elementary",
    "complex_hyperbolic",
    "complex_inverse",
    "complex_power",
    "exponential",
    "inverse_error",
    "logarithm",
    "special",
    "trigonometric",
]
