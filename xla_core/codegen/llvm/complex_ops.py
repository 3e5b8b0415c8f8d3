"""What elementwise ops mean for complex numbers, by formulas on their parts."""

from __future__ import annotations

from collections.abc import Callable

from xla_core.codegen.llvm.ir_array import Complex, ElementValue
from xla_core.codegen.llvm.math import MathEmitter

__all__ = ["COMPLEX_OPS"]

ComplexOp = Callable[..., ElementValue]
"""(math emitter, complex operands) -> complex or real value."""

COMPLEX_OPS: dict[str, ComplexOp] = {}


def _op(*opcodes: str) -> Callable[[ComplexOp], ComplexOp]:
    def register(function: ComplexOp) -> ComplexOp:
        for opcode in opcodes:
            COMPLEX_OPS[opcode] = function
        return function

    return register


@_op("add")
def _add(m: MathEmitter, x: Complex, y: Complex) -> Complex:
    return Complex(m.b.fadd(x.real, y.real), m.b.fadd(x.imag, y.imag))


@_op("subtract")
def _subtract(m: MathEmitter, x: Complex, y: Complex) -> Complex:
    return Complex(m.b.fsub(x.real, y.real), m.b.fsub(x.imag, y.imag))


@_op("multiply")
def _multiply(m: MathEmitter, x: Complex, y: Complex) -> Complex:
    b = m.b
    real = b.fsub(b.fmul(x.real, y.real), b.fmul(x.imag, y.imag))
    imag = b.fadd(b.fmul(x.real, y.imag), b.fmul(x.imag, y.real))
    return Complex(real, imag)


@_op("negate")
def _negate(m: MathEmitter, x: Complex) -> Complex:
    return Complex(m.b.fneg(x.real), m.b.fneg(x.imag))
