"""Elementary functions as straight-line LLVM IR, which loops around them vectorize."""

from xla_core.codegen.llvm.math.emitter import MATH, MathEmitter

__all__ = ["MATH", "MathEmitter"]
