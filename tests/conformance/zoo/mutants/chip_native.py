"""Faults of a code generator: fast-math flags and a wrong alignment in the LLVM IR of the CPU backend's kernels."""

from __future__ import annotations

from tests.conformance.zoo.mutant import Mutant
from tests.conformance.zoo.native_code import Rewriting, native_mutant, replaced

MUTANTS: list[Mutant] = []


def _flags(flags: str, operations: str) -> Rewriting:
    """Adds fast-math flags to operations."""
    return replaced(rf"= ({operations}) (?!{flags})", rf"= \1 {flags} ")


_SUMS, _EACH = "fadd|fsub|fmul", "fadd|fsub|fmul|fdiv|fneg"
_FLAGS = (
    ("contract", "Products and sums are contracted, which drops a rounding.", "contract", _SUMS, "one_op_after"),
    ("no-signed-zeros", "Operations ignore the sign of zeros.", "nsz", _EACH, "one_op_after or test_values[add-"),
    ("no-nans", "Operations have no NaNs.", "nnan", _EACH, "test_values[divide- or test_values[add-"),
    ("no-infinities", "Operations have no infinities.", "ninf", _EACH, "test_values[log- or test_values[log-plus-one-"),
    ("reciprocals", "Quotients are products with reciprocals.", "arcp", "fdiv", "[rsqrt- or [divide-"),
    ("reassociates", "Sums and products are reassociated.", "reassoc nsz", _SUMS, "test_values[subtract-"),
)
MUTANTS += [
    native_mutant(f"chip-{name}", fault, _flags(flags, operations), select=select)
    for name, fault, flags, operations, select in _FLAGS
]
MUTANTS.append(
    native_mutant(
        "chip-wrong-alignment",
        "Loads of vectors expect a larger alignment than arrays have.",
        replaced(r"(load <\d+ x \w+>, ptr [^,]+, align) \d+", r"\1 128"),
        optimized=True,
        select="[dot- or [negate-",
    )
)
