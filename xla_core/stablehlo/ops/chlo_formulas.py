"""Lowers ops of CHLO by formulas. It is imported when the first such op is lowered."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import ml_dtypes

from xla_core.elementary import expression, special_functions
from xla_core.hlo.decompositions.expression import HloExpression, expressions
from xla_core.hlo.decompositions.hlo_arithmetic import HloArithmetic
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.element_type import ElementType
from xla_core.stablehlo.lower.context import LoweringContext


def _square(x: HloExpression) -> HloExpression:
    """Computes the square; of a complex a + bi, (a - b)(a + b) + 2ab i, which cancels less than a^2 - b^2."""
    if not x.element_type.is_complex:
        return x * x
    a, b = x.real(), x.imag()
    is_imaginary = abs(a).equals(abs(b)) & abs(a).op(Opcode.IS_FINITE)
    return is_imaginary.where(0.0, (a - b) * (a + b)).op(Opcode.COMPLEX, a * b * 2.0)


def _conj(x: HloExpression) -> HloExpression:
    return x.real().op(Opcode.COMPLEX, -x.imag()) if x.element_type.is_complex else x


def _asin_acos_kernel(z: HloExpression) -> HloExpression:
    """Computes the w with asin(z) = atan2(re z, re w) + sign(im z) (im w) i."""
    arc = z.op(Opcode.ASIN)
    a, b = arc.real(), abs(arc.imag())
    return (b.cosh() * a.cos()).op(Opcode.COMPLEX, b)


def _next_after(x: HloExpression, y: HloExpression) -> HloExpression:
    """Computes the next representable number from x toward y: y if they are equal, NaN if either is NaN."""
    element_type = x.element_type
    if element_type is ElementType.F8E8M0FNU:
        result = _next_power(x, y)
    elif element_type.bit_width <= 8:
        result = _by_step(x, y)
    else:
        result = _by_bits(x, y)
    result = x.equals(y).where(y, result)
    return (x.differs(x) | y.differs(y)).where(math.nan, result)


def _by_bits(x: HloExpression, y: HloExpression) -> HloExpression:
    """Handles IEEE formats of 16 bits and more: a step away from 0 adds one to the bits, a step toward 0 takes one."""
    width = x.element_type.bit_width
    x_bits, y_bits = x.bits(ElementType(f"u{width}")), y.bits(ElementType(f"u{width}"))
    sign = 1 << (width - 1)
    magnitude, y_magnitude = x_bits & (sign - 1), y_bits & (sign - 1)
    x_sign, y_sign = x_bits & sign, y_bits & sign
    down = (magnitude > y_magnitude) | x_sign.differs(y_sign)
    stepped = down.where(x_bits - 1, x_bits + 1)
    return magnitude.equals(0).where(y_sign | 1, stepped).bits(x.element_type)


def _by_step(x: HloExpression, y: HloExpression) -> HloExpression:
    """Handles formats of up to 8 bits: adds or subtracts the spacing at x in f32, which is exact.

    Some of these formats have no -0, and some have a width that no integer type has, so their bits can't be counted.
    """
    element_type = x.element_type
    finfo: Any = ml_dtypes.finfo  # its stub has no types
    limits = finfo(element_type.dtype)
    least, eps = float(limits.smallest_subnormal), float(limits.eps)
    a, b = x.astype(ElementType.F32), y.astype(ElementType.F32)
    size = abs(a)
    power = (size.bits(ElementType.U32) & 0x7F800000).bits(ElementType.F32)
    away = size.equals(0.0) | (b > a).equals(a > 0.0)
    below = size.equals(power).where(power * (eps / 2), power * eps)
    moved = away.where(size + (power * eps).maximum(least), size - below.maximum(least))
    moved = size.equals(math.inf).where(float(limits.max), moved)
    negative = a.equals(0.0).where(b, a) < 0.0
    return negative.where(-moved, moved).astype(element_type)


def _next_power(x: HloExpression, y: HloExpression) -> HloExpression:
    """Handles f8E8M0FNU, which has only exponent bits: the next number is the next power of two."""
    bits = x.bits(ElementType.U8)
    return (y > x).where(bits + 1, bits - 1).bits(x.element_type)


_OF_ANY_TYPE: dict[str, Callable[..., HloExpression]] = {
    "_asin_acos_kernel": _asin_acos_kernel,
    "conj": _conj,
    "is_inf": lambda x: abs(x).equals(math.inf),
    "is_neg_inf": lambda x: x.equals(-math.inf),
    "is_pos_inf": lambda x: x.equals(math.inf),
    "next_after": _next_after,
    "square": _square,
}


def lower(ctx: LoweringContext, name: str, operands: Sequence[HloInstruction]) -> HloInstruction:
    """Lowers an op by its formula.

    The formulas of `elementary.special_functions` compute types other than f32 and f64 in f32.
    """
    formula = _OF_ANY_TYPE.get(name)
    if formula is not None:
        return formula(*expressions(ctx, *operands)).i
    shape = operands[0].shape
    is_computed = shape.element_type in (ElementType.F32, ElementType.F64)
    computed = shape if is_computed else shape.with_element_type(ElementType.F32)
    m = HloArithmetic(ctx, computed)
    values = [expression.Expression(m, ctx.convert(o, computed)) for o in operands]
    return ctx.convert(getattr(special_functions, name)(*values).value, shape)
