"""Rules for elementwise ops that are more than an equation between two formulas."""

from __future__ import annotations

import math
from typing import Any

import ml_dtypes
import numpy as np

from xla_core.hlo.ir.builder import Builder
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.attributes import MIRRORED_DIRECTION
from xla_core.hlo.table.op_table import OPS, Trait
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.element_type import ElementType
from xla_core.passes.patterns import is_all, is_constant, is_ordered, is_total_order, uniform_value
from xla_core.passes.simplifiers.algebraic_simplifier.rule_table import pair_rule, rule

_NEGATED = {"EQ": "NE", "NE": "EQ", "LT": "GE", "LE": "GT", "GT": "LE", "GE": "LT"}
_SYMMETRIC = [op.opcode for op in OPS.values() if {Trait.COMMUTATIVE, Trait.ASSOCIATIVE} <= op.traits]


@rule(*_SYMMETRIC)
def constant_to_the_right(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """`c op x` -> `x op c`"""
    x, y = i.operands
    return b.add(i.opcode, y, x) if is_constant(x) and not is_constant(y) else None


@rule(*_SYMMETRIC)
def combine_constants(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """(x op c1) op c2 -> x op (c1 op c2), where the order of operations doesn't matter"""
    x, c2 = i.operands
    if x.opcode != i.opcode or not is_constant(c2) or not is_constant(x.operands[1]) or is_constant(x.operands[0]):
        return None
    if not is_total_order(i.shape.element_type) and i.opcode not in (Opcode.MAXIMUM, Opcode.MINIMUM):
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


@rule(Opcode.DIVIDE)
def divide_by_power_of_two(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """`x / 2**n` -> `x * 2**-n` for floats, `x >> n` for unsigned integers"""
    x, y = i.operands
    value, element_type = uniform_value(y), i.shape.element_type
    if value is None or not (element_type.is_floating or element_type.is_unsigned) or is_constant(x):
        return None
    if element_type.is_unsigned:
        power = _log2(int(value))
        return None if power is None else b.add(Opcode.SHIFT_RIGHT_LOGICAL, x, b.constant(power, y.shape))
    return _by_reciprocal(i, b, exact=True)


def _log2(value: int) -> int | None:
    """The logarithm of a power of two, or None."""
    return value.bit_length() - 1 if value > 0 and not value & (value - 1) else None


def _by_reciprocal(i: HloInstruction, b: Builder, *, exact: bool) -> HloInstruction | None:
    x, y = i.operands
    value = uniform_value(y)
    if value is None or not math.isfinite(float(value)) or float(value) == 0:
        return None
    with np.errstate(all="ignore"):  # the reciprocal of a denormal number may be infinite
        reciprocal = np.asarray(1.0 / float(value)).astype(value.dtype)
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
    """`x / c` -> `x * (1 / c)`"""
    return _by_reciprocal(i, b, exact=False) if i.shape.element_type.is_floating else None


@rule(Opcode.REMAINDER)
def remainder_by_power_of_two(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """`x % 2**n` -> `x & (2**n - 1)`, for unsigned integers"""
    x, y = i.operands
    value = uniform_value(y)
    if value is None or not i.shape.element_type.is_unsigned or _log2(int(value)) is None:
        return None
    return b.add(Opcode.AND, x, b.constant(int(value) - 1, y.shape))


@pair_rule(Opcode.NOT, Opcode.COMPARE)
def not_compared(i: HloInstruction, x: HloInstruction, b: Builder) -> HloInstruction | None:
    """!(x < y) -> x >= y, where there is no NaN; !(x == y) -> x != y"""
    if x.user_count != 1:
        return None
    direction = x.attribute("direction")
    if direction not in ("EQ", "NE") and not is_ordered(x):
        return None
    return b.add(Opcode.COMPARE, *x.operands, **{**x.attributes, "direction": _NEGATED[direction]})


@rule(Opcode.COMPARE)
def compare_constant_to_the_right(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """`c < x` -> `x > c`"""
    x, y = i.operands
    if not is_constant(x) or is_constant(y):
        return None
    return b.add(Opcode.COMPARE, y, x, **{**i.attributes, "direction": MIRRORED_DIRECTION[i.attribute("direction")]})


@rule(Opcode.MAXIMUM, Opcode.MINIMUM)
def extreme_constants(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """max(x, least) -> x; max(x, greatest) -> greatest where there is no NaN; and for min"""
    x, y = i.operands
    element_type = i.shape.element_type
    identity = i.op.identity(element_type)
    if identity is None:
        return None
    if is_all(y, identity):
        return x
    absorbing = element_type.greatest if i.opcode == Opcode.MAXIMUM else element_type.least
    return y if absorbing is not None and is_total_order(element_type) and is_all(y, absorbing) else None


@rule(Opcode.REDUCE_PRECISION)
def redundant_precision(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """reduce-precision to the precision of the type, or of a reduce-precision that is the operand -> the operand"""
    x = i.operands[0]
    bits = (i.attribute("exponent_bits"), i.attribute("mantissa_bits"))
    if x.opcode == Opcode.REDUCE_PRECISION and bits == (x.attribute("exponent_bits"), x.attribute("mantissa_bits")):
        return x
    kind = i.shape.element_type
    is_whole = kind.bit_width >= 16 and bits[0] >= kind.exponent_bits and bits[1] >= kind.mantissa_bits
    return x if is_whole else None
