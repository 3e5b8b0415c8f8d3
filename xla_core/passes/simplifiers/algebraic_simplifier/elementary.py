"""Rules for powers, roots, exponentials and logarithms."""

from __future__ import annotations

from xla_core.hlo.instruction import HloInstruction
from xla_core.hlo.opcode import Opcode
from xla_core.passes.patterns import is_all, uniform_value
from xla_core.passes.rewriter import Builder
from xla_core.passes.simplifiers.algebraic_simplifier.rule_table import rule

__all__: list[str] = []


@rule(Opcode.POWER)
def power_by_constant(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """X ** 0 -> 1, x ** 1 -> x, x ** 2 -> x * x, x ** 3 -> x * x * x, x ** -1 -> 1 / x"""
    x, y = i.operands
    value, element_type = uniform_value(y), i.shape.element_type
    if value is None or element_type.is_complex or x.shape.element_type is not element_type:
        return None
    exponent = float(value)
    if exponent == 0:
        return b.constant(1, i.shape)
    if exponent == 1:
        return x
    if exponent == 2:
        return b.add(Opcode.MULTIPLY, x, x)
    if exponent == 3:
        return b.add(Opcode.MULTIPLY, b.add(Opcode.MULTIPLY, x, x), x)
    if exponent == -1 and element_type.is_floating:
        return b.add(Opcode.DIVIDE, b.constant(1, i.shape), x)
    return None


@rule(Opcode.POWER, fast=True)
def power_by_half(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """X ** 0.5 -> sqrt(x), x ** -0.5 -> rsqrt(x), x ** -2 -> 1 / (x * x)"""
    x, y = i.operands
    if i.shape.element_type.is_complex or not i.shape.element_type.is_floating:
        return None
    if is_all(y, 0.5):
        return b.add(Opcode.SQRT, x)
    if is_all(y, -0.5):
        return b.add(Opcode.RSQRT, x)
    return b.add(Opcode.DIVIDE, b.constant(1, i.shape), b.add(Opcode.MULTIPLY, x, x)) if is_all(y, -2) else None


@rule(Opcode.LOG, Opcode.EXPONENTIAL, Opcode.LOG_PLUS_ONE, Opcode.EXPONENTIAL_MINUS_ONE, fast=True)
def inverse_functions(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """log(exp(x)) -> x, and the like"""
    inverse = {
        Opcode.LOG: Opcode.EXPONENTIAL,
        Opcode.EXPONENTIAL: Opcode.LOG,
        Opcode.LOG_PLUS_ONE: Opcode.EXPONENTIAL_MINUS_ONE,
        Opcode.EXPONENTIAL_MINUS_ONE: Opcode.LOG_PLUS_ONE,
    }
    x = i.operands[0]
    return x.operands[0] if x.opcode == inverse[i.opcode] and not i.shape.element_type.is_complex else None


@rule(Opcode.SQRT, fast=True)
def root_of_square(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """sqrt(x * x) -> |x|"""
    x = i.operands[0]
    if x.opcode != Opcode.MULTIPLY or x.operands[0] is not x.operands[1] or i.shape.element_type.is_complex:
        return None
    return b.add(Opcode.ABS, x.operands[0])
