"""What elementwise ops mean for complex numbers, by formulas on their parts.

complex64 is computed in f64, where its intermediate results neither overflow nor cancel, and rounded once; what has a
cancellation of its own (near branch points and unit modulus) has a formula that avoids it. Branch cuts and the signs of
zeros are C99's. (Kahan, Branch cuts for complex elementary functions, 1987.)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from xla_core.codegen.llvm.builder import Value
from xla_core.codegen.llvm.ir_array import Complex, ElementValue
from xla_core.codegen.llvm.math import MathEmitter

__all__ = ["COMPLEX_OPS", "complex_function", "divide", "is_infinite", "modulus", "rescaled"]

ComplexOp = Callable[..., ElementValue]
"""(math emitter, complex operands) -> complex or real value."""

COMPLEX_OPS: dict[str, ComplexOp] = {}


def _op(*opcodes: str) -> Callable[[ComplexOp], ComplexOp]:
    """Registers an op that is computed in its own precision."""

    def register(function: ComplexOp) -> ComplexOp:
        for opcode in opcodes:
            COMPLEX_OPS[opcode] = function
        return function

    return register


_Function = TypeVar("_Function", bound=ComplexOp)


def complex_function(opcode: str) -> Callable[[_Function], _Function]:
    """Registers a function that is computed in f64."""

    def register(function: _Function) -> _Function:
        def emit(m: MathEmitter, *operands: Complex) -> ElementValue:
            narrow = operands[0].real.type == "float"
            saved, m.b.fast_math = m.b.fast_math, ""
            wide = [Complex(*(m.b.cast("fpext", part, "double") for part in x)) for x in operands]
            result = function(m, *wide)
            m.b.fast_math = saved
            if not narrow:
                return result
            if isinstance(result, Complex):
                return Complex(*(m.b.cast("fptrunc", part, "float") for part in result))
            return m.b.cast("fptrunc", result, "float")

        COMPLEX_OPS[opcode] = emit
        return function  # of f64 operands: what the other formulas call

    return register


@_op("add")
def _add(m: MathEmitter, x: Complex, y: Complex) -> Complex:
    return Complex(m.b.fadd(x.real, y.real), m.b.fadd(x.imag, y.imag))


@_op("subtract")
def _subtract(m: MathEmitter, x: Complex, y: Complex) -> Complex:
    return Complex(m.b.fsub(x.real, y.real), m.b.fsub(x.imag, y.imag))


@_op("multiply")
def _multiply(m: MathEmitter, x: Complex, y: Complex) -> Complex:
    """The second product of each part is rounded, the first is not (as XLA's CPU backend does)."""
    b = m.b
    real = m.fma(x.real, y.real, b.fneg(b.fmul(x.imag, y.imag)))
    imag = m.fma(x.imag, y.real, b.fmul(x.real, y.imag))
    return Complex(real, imag)


@_op("negate")
def _negate(m: MathEmitter, x: Complex) -> Complex:
    return Complex(m.b.fneg(x.real), m.b.fneg(x.imag))


def _either(m: MathEmitter, first: Value, x: Complex, y: Complex) -> Complex:
    """X where `first` holds or x has a NaN, else y."""
    first = m.b.or_(first, m.b.fcmp("uno", x.real, x.imag))
    return Complex(m.b.select(first, x.real, y.real), m.b.select(first, x.imag, y.imag))


def _precedes(m: MathEmitter, x: Complex, y: Complex) -> Value:
    """Whether x is not after y in the order of real, then imaginary parts; false beside a NaN."""
    b = m.b
    ordered = b.and_(b.fcmp("ord", x.imag, y.imag), b.fcmp("olt", x.real, y.real))
    return b.or_(ordered, b.and_(b.fcmp("oeq", x.real, y.real), b.fcmp("ole", x.imag, y.imag)))


@_op("maximum")
def _maximum(m: MathEmitter, x: Complex, y: Complex) -> Complex:
    return _either(m, _precedes(m, y, x), x, y)


@_op("minimum")
def _minimum(m: MathEmitter, x: Complex, y: Complex) -> Complex:
    return _either(m, _precedes(m, x, y), x, y)


@complex_function("divide")
def divide(m: MathEmitter, x: Complex, y: Complex) -> Complex:
    """Smith's quotient, by the larger part of the divisor; zero and infinite divisors apart."""
    b = m.b
    swap = b.fcmp("olt", m.abs(y.real), m.abs(y.imag))
    large, small = b.select(swap, y.imag, y.real), b.select(swap, y.real, y.imag)
    ratio = b.fdiv(small, large)
    below = b.fadd(large, b.fmul(small, ratio))
    first, second = b.select(swap, x.imag, x.real), b.select(swap, x.real, x.imag)
    real = b.fdiv(b.fadd(first, b.fmul(second, ratio)), below)
    imag = b.fdiv(
        b.fsub(b.select(swap, b.fmul(x.imag, ratio), x.imag), b.select(swap, x.real, b.fmul(x.real, ratio))), below
    )
    zero = m.equal(large, 0.0)
    size = m.abs(y.real)
    real = b.select(zero, b.fdiv(x.real, size), real)
    imag = b.select(zero, b.fdiv(x.imag, size), imag)
    infinite = b.or_(m.equal(m.abs(y.real), float("inf")), m.equal(m.abs(y.imag), float("inf")))
    finite = b.and_(m.less(m.abs(x.real), float("inf")), m.less(m.abs(x.imag), float("inf")))
    vanishes = b.and_(infinite, finite)
    real, imag = m.choose(vanishes, 0.0, real), m.choose(vanishes, 0.0, imag)
    return _quotient_of_infinity(m, x, y, Complex(real, imag))


def _quotient_of_infinity(m: MathEmitter, x: Complex, y: Complex, quotient: Complex) -> Complex:
    """The quotient, but for an infinity by a finite number, which is infinite. (C's Annex G.5.1)"""
    b = m.b
    bounded = b.and_(m.less(m.abs(y.real), float("inf")), m.less(m.abs(y.imag), float("inf")))
    zero = b.and_(m.equal(y.real, 0.0), m.equal(y.imag, 0.0))
    recovered = b.and_(is_infinite(m, x), b.and_(bounded, b.not_(zero)))
    u, v = (m.with_sign(m.choose(m.equal(m.abs(part), float("inf")), 1.0, m.constant(0.0, part)), part) for part in x)
    real = b.fadd(b.fmul(u, y.real), b.fmul(v, y.imag))
    imag = b.fsub(b.fmul(v, y.real), b.fmul(u, y.imag))
    return Complex(
        b.select(recovered, m.mul(real, float("inf")), quotient.real),
        b.select(recovered, m.mul(imag, float("inf")), quotient.imag),
    )


@complex_function("abs")
def modulus(m: MathEmitter, x: Complex) -> Value:
    """The modulus: the larger part times sqrt(1 + ratio^2); infinite beside a NaN too."""
    b = m.b
    real, imag = m.abs(x.real), m.abs(x.imag)
    swap = b.fcmp("olt", real, imag)
    large, small = b.select(swap, imag, real), b.select(swap, real, imag)
    ratio = b.fdiv(small, m.choose(m.equal(large, 0.0), 1.0, large))
    result = b.fmul(large, m.sqrt(m.fma(ratio, ratio, m.constant(1.0, real))))
    infinite = b.or_(m.equal(real, float("inf")), m.equal(imag, float("inf")))
    return m.choose(infinite, float("inf"), result)


def rescaled(m: MathEmitter, x: Complex, step: int) -> tuple[Complex, Value]:
    """(x times r^step, 1 / r), so that a root of that order is scaled back exactly. R is 1, but another power of two
    where x is so large that its modulus could overflow, or so small that it has few bits.
    """
    b = m.b
    size = b.intrinsic("maximum", m.abs(x.real), m.abs(x.imag))
    huge, tiny = m.greater(size, 2.0**1000), m.less(size, 2.0**-960)
    scale = m.choose(huge, 2.0 ** (-4 * step), m.choose(tiny, 2.0 ** (50 * step), m.constant(1.0, size)))
    back = m.choose(huge, 2.0**4, m.choose(tiny, 2.0**-50, m.constant(1.0, size)))
    return Complex(b.fmul(x.real, scale), b.fmul(x.imag, scale)), back


def is_infinite(m: MathEmitter, x: Complex) -> Value:
    """Whether a part is infinite."""
    return m.b.or_(m.equal(m.abs(x.real), float("inf")), m.equal(m.abs(x.imag), float("inf")))


@complex_function("sign")
def _sign(m: MathEmitter, x: Complex) -> Complex:
    zero = m.b.and_(m.equal(x.real, 0.0), m.equal(x.imag, 0.0))
    x, _ = rescaled(m, x, 1)
    size = modulus(m, x)
    return Complex(m.choose(zero, 0.0, m.b.fdiv(x.real, size)), m.choose(zero, 0.0, m.b.fdiv(x.imag, size)))
