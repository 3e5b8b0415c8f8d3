"""Decompositions of elementary functions, real and complex, by the formulas that the LLVM emitter uses too.

f32 and f64 are computed in their own type, complex numbers in that of their parts, narrower floats in f32. Errors are
within those that a conforming backend may have.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xla_core.elementary import COMPLEX_ARITHMETIC, COMPLEX_FUNCTIONS, FUNCTIONS, Pair
from xla_core.hlo.element_type import ElementType
from xla_core.hlo.instruction import HloInstruction
from xla_core.passes.legalization.hlo_arithmetic import HloArithmetic
from xla_core.passes.legalization.registry import decomposition, register_decomposition
from xla_core.passes.rewriter import Builder, Rule

__all__: list[str] = []

_OWN_PRECISION = frozenset({ElementType.F32, ElementType.F64})


def _of_reals(formula: Callable[..., HloInstruction]) -> Rule:
    def rule(i: HloInstruction, b: Builder) -> HloInstruction | None:
        kind = i.operand(0).shape.element_type
        if not kind.is_floating:
            return None
        computed = i.operand(0).shape.with_element_type(kind if kind in _OWN_PRECISION else ElementType.F32)
        operands = [b.convert(o, computed) for o in i.operands]
        return b.convert(formula(HloArithmetic(b, computed), *operands), i.shape)

    return rule


def _of_complex_numbers(formula: Callable[..., Any]) -> Rule:
    def rule(i: HloInstruction, b: Builder) -> HloInstruction | None:
        if not i.operand(0).shape.element_type.is_complex:
            return None
        pairs = [Pair(b.add("real", o), b.add("imag", o)) for o in i.operands]
        result = formula(HloArithmetic(b, pairs[0].real.shape), *pairs)
        return b.add("complex", *result) if isinstance(result, Pair) else result

    return rule


@decomposition("tan")
def _tan(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """The quotient of sine and cosine, which the target has or whose decompositions share most."""
    x = i.operand(0)
    return None if x.shape.element_type not in _OWN_PRECISION else b.add("divide", b.add("sine", x), b.add("cosine", x))


for _opcode, _formula in FUNCTIONS.items():
    register_decomposition(_opcode, _of_reals(_formula))
for _opcode, _formula in {**COMPLEX_ARITHMETIC, **COMPLEX_FUNCTIONS}.items():
    register_decomposition(_opcode, _of_complex_numbers(_formula))
