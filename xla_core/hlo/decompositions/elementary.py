"""Decomposes real and complex elementary functions by the formulas that the LLVM emitter uses too."""

from __future__ import annotations

from xla_core.elementary import COMPLEX_ARITHMETIC, COMPLEX_FUNCTIONS, FUNCTIONS, Pair
from xla_core.hlo.decompositions.hlo_arithmetic import HloArithmetic
from xla_core.hlo.ir.builder import Builder
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.element_type import ElementType

_OWN_PRECISION = frozenset({ElementType.F32, ElementType.F64})
_COMPLEX = {**COMPLEX_ARITHMETIC, **COMPLEX_FUNCTIONS}

OPCODES = tuple(dict.fromkeys((*FUNCTIONS, *_COMPLEX)))
"""The opcodes, on real or complex operands, that have a formula."""


def decompose_elementary(instruction: HloInstruction, b: Builder) -> HloInstruction | None:
    """Adds the formula's instructions; returns None where no formula covers the operand's element type.

    f32 and f64 are computed in their own type, complex numbers in the type of their parts, and narrower floats in f32.
    Errors are within the tolerances that conformance allows a backend.
    """
    shape = instruction.operand(0).shape
    kind = shape.element_type
    if kind.is_complex:
        formula = _COMPLEX.get(instruction.opcode)
        if formula is None:
            return None
        pairs = [Pair(b.add(Opcode.REAL, o), b.add(Opcode.IMAG, o)) for o in instruction.operands]
        result = formula(HloArithmetic(b, pairs[0].real.shape), *pairs)
        return b.add(Opcode.COMPLEX, *result) if isinstance(result, Pair) else result
    formula = FUNCTIONS.get(instruction.opcode) if kind.is_floating else None
    if formula is None:
        return None
    computed = shape.with_element_type(kind if kind in _OWN_PRECISION else ElementType.F32)
    operands = [b.convert(o, computed) for o in instruction.operands]
    return b.convert(formula(HloArithmetic(b, computed), *operands), instruction.shape)
