"""Rules for sums, products, quotients and signs."""

from __future__ import annotations

import math
from typing import Any

import ml_dtypes
import numpy as np

from xla_core.hlo.element_type import ElementType
from xla_core.hlo.instruction import HloInstruction
from xla_core.hlo.op_table import OPS, Trait
from xla_core.hlo.opcode import Opcode
from xla_core.passes.patterns import is_all, is_constant, is_total_order, uniform_value
from xla_core.passes.rewriter import Builder
from xla_core.passes.simplifiers.algebraic_simplifier.rule_table import rule

__all__: list[str] = []

_SYMMETRIC = [op.opcode for op in OPS.values() if {Trait.COMMUTATIVE, Trait.ASSOCIATIVE} <= op.traits]


def _is_exact(instruction: HloInstruction) -> bool:
    """Whether arithmetic of the element type (integer or pred) is associative and does not round."""
    return is_total_order(instruction.shape.element_type)


@rule(*_SYMMETRIC)
def constant_to_the_right(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """C op x -> x op c"""
    x, y = i.operands
    return b.add(i.opcode, y, x) if is_constant(x) and not is_constant(y) else None


@rule(*_SYMMETRIC)
def combine_constants(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """(x op c1) op c2 -> x op (c1 op c2), where the order of operations doesn't matter"""
    x, c2 = i.operands
    if x.opcode != i.opcode or not is_constant(c2) or not is_constant(x.operands[1]) or is_constant(x.operands[0]):
        return None
    if not _is_exact(i) and i.opcode not in (Opcode.MAXIMUM, Opcode.MINIMUM):
        return None
    return b.add(i.opcode, x.operands[0], b.add(i.opcode, x.operands[1], c2))


@rule(*(op.opcode for op in OPS.values() if Trait.IDEMPOTENT in op.traits))
def same_operands(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """op(x, x) -> x, for idempotent op"""
    return i.operands[0] if i.operands[0] is i.operands[1] else None


@rule(*(op.opcode for op in OPS.values() if Trait.PROJECTION in op.traits))
def projection(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """op(op(x)) -> op(x)"""
    x = i.operands[0]
    same = x.opcode == i.opcode and x.attributes == i.attributes and not i.shape.element_type.is_complex
    return x if same else None


# -- add, subtract, negate -------------------------------------------------------------------------------------------


@rule(Opcode.ADD)
def add_zero(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """X + 0 -> x; for floats only x + -0, since -0 + 0 is 0"""
    x, y = i.operands
    if is_all(y, -0.0 if i.shape.element_type.is_floating else 0):
        return x if not i.shape.element_type.is_complex else None
    return None


@rule(Opcode.ADD, fast=True)
def add_positive_zero(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """X + 0 -> x"""
    return i.operands[0] if uniform_value(i.operands[1]) == 0 else None


@rule(Opcode.ADD)
def add_negated(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """X + -y -> x - y; -x + y -> y - x"""
    x, y = i.operands
    if y.opcode == Opcode.NEGATE:
        return b.add(Opcode.SUBTRACT, x, y.operands[0])
    return b.add(Opcode.SUBTRACT, y, x.operands[0]) if x.opcode == Opcode.NEGATE else None


@rule(Opcode.ADD)
def add_subtracted(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """(x - y) + y -> x, for integers"""
    x, y = i.operands
    for left, right in ((x, y), (y, x)):
        if _is_exact(i) and left.opcode == Opcode.SUBTRACT and left.operands[1] is right:
            return left.operands[0]
    return None


@rule(Opcode.SUBTRACT)
def subtract_zero(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """X - 0 -> x"""
    return i.operands[0] if is_all(i.operands[1], 0) and not i.shape.element_type.is_complex else None


@rule(Opcode.SUBTRACT)
def subtract_self(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """X - x -> 0, for integers"""
    return b.constant(0, i.shape) if i.operands[0] is i.operands[1] and _is_exact(i) else None


@rule(Opcode.SUBTRACT)
def subtract_from_zero(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """0 - x -> -x; for floats -0 - x"""
    x, y = i.operands
    if i.shape.element_type.is_complex:
        return None
    return b.add(Opcode.NEGATE, y) if is_all(x, -0.0 if i.shape.element_type.is_floating else 0) else None


@rule(Opcode.SUBTRACT)
def subtract_negated(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """X - -y -> x + y"""
    return (
        b.add(Opcode.ADD, i.operands[0], i.operands[1].operands[0]) if i.operands[1].opcode == Opcode.NEGATE else None
    )


@rule(Opcode.SUBTRACT)
def subtract_constant(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """X - c -> x + -c"""
    x, y = i.operands
    value = uniform_value(y)
    if value is None or is_constant(x) or not (i.shape.element_type.is_integral or i.shape.element_type.is_floating):
        return None
    with np.errstate(all="ignore"):
        negated = np.negative(value)
    return b.add(Opcode.ADD, x, b.constant(negated, y.shape))


@rule(Opcode.SUBTRACT)
def subtract_part_of_sum(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """(x + y) - y -> x, for integers"""
    x, y = i.operands
    if not _is_exact(i) or x.opcode != Opcode.ADD or y not in x.operands:
        return None
    return x.operands[0] if x.operands[1] is y else x.operands[1]


@rule(Opcode.NEGATE)
def negate_negated(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """--x -> x"""
    return i.operands[0].operands[0] if i.operands[0].opcode == Opcode.NEGATE else None


@rule(Opcode.NEGATE)
def negate_difference(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """-(x - y) -> y - x, for integers: the floats' zero would change its sign"""
    x = i.operands[0]
    return (
        b.add(Opcode.SUBTRACT, x.operands[1], x.operands[0]) if x.opcode == Opcode.SUBTRACT and _is_exact(i) else None
    )


@rule(Opcode.NEGATE)
def negate_scaled(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """-(x * c) -> x * -c"""
    x = i.operands[0]
    if x.opcode != Opcode.MULTIPLY or x.user_count != 1 or not i.shape.element_type.is_floating:
        return None
    value = uniform_value(x.operands[1])
    return None if value is None else b.add(Opcode.MULTIPLY, x.operands[0], b.constant(-value, i.shape))


# -- multiply --------------------------------------------------------------------------------------------------------


@rule(Opcode.MULTIPLY)
def multiply_by_one(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """X * 1 -> x"""
    return i.operands[0] if is_all(i.operands[1], 1) and not i.shape.element_type.is_complex else None


@rule(Opcode.MULTIPLY)
def multiply_by_minus_one(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """X * -1 -> -x"""
    element_type = i.shape.element_type
    if not (element_type.is_signed or element_type.is_floating) or not is_all(i.operands[1], -1):
        return None
    return b.add(Opcode.NEGATE, i.operands[0])


@rule(Opcode.MULTIPLY)
def multiply_by_zero(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """X * 0 -> 0, for integers: infinity and NaN times 0 are NaN"""
    return i.operands[1] if _is_exact(i) and is_all(i.operands[1], 0) else None


@rule(Opcode.MULTIPLY, Opcode.DIVIDE)
def signs_cancel(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """-x * -y -> x * y, and for /; -x * c -> x * -c"""
    x, y = i.operands
    if not i.shape.element_type.is_floating or x.opcode != Opcode.NEGATE:
        return None
    if y.opcode == Opcode.NEGATE:
        return b.add(i.opcode, x.operands[0], y.operands[0])
    value = uniform_value(y)
    return None if value is None else b.add(i.opcode, x.operands[0], b.constant(-value, y.shape))


@rule(Opcode.MULTIPLY)
def product_of_absolutes(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """|x| * |x| -> x * x"""
    x, y = i.operands
    if x is not y or x.opcode != Opcode.ABS or x.operands[0].shape.element_type.is_complex:
        return None
    return b.add(Opcode.MULTIPLY, x.operands[0], x.operands[0])


@rule(Opcode.MULTIPLY, fast=True)
def combine_factors(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """(x * c1) * c2 -> x * (c1 * c2)"""
    x, c2 = i.operands
    if (
        x.opcode != Opcode.MULTIPLY
        or not is_constant(c2)
        or not is_constant(x.operands[1])
        or is_constant(x.operands[0])
    ):
        return None
    return b.add(Opcode.MULTIPLY, x.operands[0], b.add(Opcode.MULTIPLY, x.operands[1], c2))


@rule(Opcode.MULTIPLY, fast=True)
def product_of_exponentials(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """exp(x) * exp(y) -> exp(x + y)"""
    x, y = i.operands
    if x.opcode != Opcode.EXPONENTIAL or y.opcode != Opcode.EXPONENTIAL:
        return None
    return b.add(Opcode.EXPONENTIAL, b.add(Opcode.ADD, x.operands[0], y.operands[0]))


# -- divide, remainder -----------------------------------------------------------------------------------------------


@rule(Opcode.DIVIDE)
def divide_by_one(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """X / 1 -> x"""
    return i.operands[0] if is_all(i.operands[1], 1) and not i.shape.element_type.is_complex else None


@rule(Opcode.DIVIDE)
def divide_by_power_of_two(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """X / 2**n -> x * 2**-n for floats, x >> n for unsigned integers"""
    x, y = i.operands
    value, element_type = uniform_value(y), i.shape.element_type
    if value is None or not (element_type.is_floating or element_type.is_unsigned) or is_constant(x):
        return None
    if element_type.is_unsigned:
        divisor = int(value)
        if divisor <= 0 or divisor & (divisor - 1):
            return None
        return b.add(Opcode.SHIFT_RIGHT_LOGICAL, x, b.constant(divisor.bit_length() - 1, y.shape))
    return _by_reciprocal(i, b, exact=True)


def _by_reciprocal(i: HloInstruction, b: Builder, *, exact: bool) -> HloInstruction | None:
    x, y = i.operands
    value = uniform_value(y)
    if value is None or not math.isfinite(float(value)) or float(value) == 0:
        return None
    reciprocal = np.asarray(1.0 / float(value)).astype(value.dtype)
    with np.errstate(all="ignore"):
        tiny = float(np.abs(reciprocal)) < _smallest_normal(i.shape.element_type)
    is_power = abs(math.frexp(float(value))[0]) == 0.5
    if tiny or not math.isfinite(float(reciprocal)) or (exact and not is_power):
        return None
    return b.add(Opcode.MULTIPLY, x, b.constant(reciprocal, y.shape))


def _smallest_normal(element_type: ElementType) -> float:
    finfo: Any = ml_dtypes.finfo  # its stub has no types
    return float(finfo(element_type.dtype).smallest_normal)


@rule(Opcode.DIVIDE, fast=True)
def divide_by_constant(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """X / c -> x * (1 / c)"""
    return _by_reciprocal(i, b, exact=False) if i.shape.element_type.is_floating else None


@rule(Opcode.DIVIDE, fast=True)
def divide_by_root(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """X / sqrt(y) -> x * rsqrt(y); x / rsqrt(y) -> x * sqrt(y); x / exp(y) -> x * exp(-y)"""
    x, y = i.operands
    if y.opcode in (Opcode.SQRT, Opcode.RSQRT):
        return b.add(
            Opcode.MULTIPLY, x, b.add({Opcode.SQRT: Opcode.RSQRT, Opcode.RSQRT: Opcode.SQRT}[y.opcode], y.operands[0])
        )
    if y.opcode == Opcode.EXPONENTIAL:
        return b.add(Opcode.MULTIPLY, x, b.add(Opcode.EXPONENTIAL, b.add(Opcode.NEGATE, y.operands[0])))
    return None


@rule(Opcode.DIVIDE, fast=True)
def quotient_of_quotients(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """(x / y) / z -> x / (y * z); x / (y / z) -> (x * z) / y"""
    x, y = i.operands
    if not (i.shape.element_type.is_floating or i.shape.element_type.is_complex):
        return None
    if x.opcode == Opcode.DIVIDE:
        return b.add(Opcode.DIVIDE, x.operands[0], b.add(Opcode.MULTIPLY, x.operands[1], y))
    if y.opcode == Opcode.DIVIDE:
        return b.add(Opcode.DIVIDE, b.add(Opcode.MULTIPLY, x, y.operands[1]), y.operands[0])
    return None


@rule(Opcode.REMAINDER)
def remainder_by_power_of_two(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """X % 2**n -> x & (2**n - 1), for unsigned integers"""
    x, y = i.operands
    value = uniform_value(y)
    if value is None or not i.shape.element_type.is_unsigned:
        return None
    divisor = int(value)
    if divisor <= 0 or divisor & (divisor - 1):
        return None
    return b.add(Opcode.AND, x, b.constant(divisor - 1, y.shape))


@rule(Opcode.REMAINDER)
def remainder_by_one(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """X % 1 -> 0, for integers"""
    return b.constant(0, i.shape) if i.shape.element_type.is_integral and is_all(i.operands[1], 1) else None
