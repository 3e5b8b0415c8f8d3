"""Elementary functions as straight-line LLVM IR, which loops around them turn into vectors.

Each is data (`coefficients`) and a formula on f32 or f64 values. Without branches, calls or tables (but for f64's
largest angles), so that LLVM's loop vectorizer takes them like any arithmetic. Errors, as the tests measure them: f32
within 2.5 ULP, most within 1.5; f64 within 2.5.
"""

from xla_core.codegen.llvm.math.emitter import MATH, MathEmitter
from xla_core.codegen.llvm.math.exponential import expm1
from xla_core.codegen.llvm.math.logarithm import log1p
from xla_core.codegen.llvm.math.special import erf
from xla_core.codegen.llvm.math.trigonometric import atan2

__all__ = ["MATH", "MathEmitter", "atan2", "erf", "expm1", "log1p"]
