"""Elementwise ops of complex numbers: formulas on pairs of values."""

from __future__ import annotations

from collections.abc import Callable

from xla_core.codegen.llvm.ir.module import Value
from xla_core.codegen.llvm.loops.ir_array import Complex, ElementValue
from xla_core.codegen.llvm.scalars.math import MathEmitter
from xla_core.elementary import COMPLEX_ARITHMETIC, COMPLEX_FUNCTIONS, WIDENED_FUNCTIONS, Pair
from xla_core.hlo.table.opcode import Opcode

ComplexOp = Callable[..., ElementValue]
"""(math emitter, complex operands) -> complex or real value."""


def _in_own_precision(opcode: str) -> ComplexOp:
    formula = COMPLEX_ARITHMETIC[opcode]

    def emit(m: MathEmitter, *operands: Complex) -> ElementValue:
        return Complex(*formula(m, *(Pair(*x) for x in operands)))

    return emit


def _in_f64(opcode: str) -> ComplexOp:
    """Computes in f64, in which intermediate results of a complex64 neither overflow nor cancel, and rounds once."""
    plain = COMPLEX_FUNCTIONS[opcode]
    widened = WIDENED_FUNCTIONS.get(opcode, plain)

    def emit(m: MathEmitter, *operands: Complex) -> ElementValue:
        narrow = operands[0].real.type == "float"
        formula = widened if narrow else plain
        result = m.exactly(formula, *(Pair(m.widen(x.real), m.widen(x.imag)) for x in operands))
        if isinstance(result, Value):
            return m.narrow(result) if narrow else result
        return Complex(*(m.narrow(part) if narrow else part for part in result))

    return emit


COMPLEX_OPS: dict[Opcode, ComplexOp] = {Opcode(opcode): _in_own_precision(opcode) for opcode in COMPLEX_ARITHMETIC}
COMPLEX_OPS.update({Opcode(opcode): _in_f64(opcode) for opcode in COMPLEX_FUNCTIONS})
