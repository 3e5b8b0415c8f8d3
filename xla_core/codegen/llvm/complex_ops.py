"""What elementwise ops mean for complex numbers: the table, filled by the modules that say so."""

from __future__ import annotations

from xla_core.codegen.llvm import complex_elementary, complex_inverse  # noqa: F401  # they fill the table
from xla_core.codegen.llvm.complex_arithmetic import COMPLEX_OPS

__all__ = ["COMPLEX_OPS"]
