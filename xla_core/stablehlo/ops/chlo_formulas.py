"""Formulas of CHLO's ops that depend on the element type. They are imported when one is lowered."""

from __future__ import annotations

import math
from typing import Any

import ml_dtypes

from xla_core.hlo.decompositions.expression import Expression
from xla_core.hlo.element_type import ElementType
from xla_core.hlo.opcode import Opcode

__all__ = [
    "asin_acos_kernel",
    "conj",
    "is_inf",
    "is_neg_inf",
    "is_pos_inf",
    "next_after",
    "square",
]


def square(x: Expression) -> Expression:
    """Computes the square; of a complex a + bi, (a - b)(a + b) + 2ab i, which cancels less than a^2 - b^2."""
    if not x.element_type.is_complex:
        return x * x
    a, b = x.real(), x.imag()
    real = (abs(a).equals(abs(b)) & abs(a).op(Opcode.IS_FINITE)).where(0.0, (a - b) * (a + b))
    return real.op(Opcode.COMPLEX, 2.0 * (a * b))


def conj(x: Expression) -> Expression:
    return x.real().op(Opcode.COMPLEX, -x.imag()) if x.element_type.is_complex else x


def asin_acos_kernel(z: Expression) -> Expression:
    """Computes the w with asin(z) = atan2(re z, re w) + sign(im z) (im w) i."""
    arc = z.op(Opcode.ASIN)
    a, b = arc.real(), abs(arc.imag())
    return (b.cosh() * a.cos()).op(Opcode.COMPLEX, b)


def is_inf(x: Expression) -> Expression:
    return abs(x).equals(math.inf)


def is_pos_inf(x: Expression) -> Expression:
    return x.equals(math.inf)


def is_neg_inf(x: Expression) -> Expression:
    return x.equals(-math.inf)


def next_after(x: Expression, y: Expression) -> Expression:
    """The next representable number from x toward y: y if they are equal, NaN if either is NaN."""
    element_type = x.element_type
    if element_type is ElementType.F8E8M0FNU:
        result = _next_power(x, y)
    elif element_type.bit_width <= 8:
        result = _by_step(x, y)
    else:
        result = _by_bits(x, y)
    result = x.equals(y).where(y, result)
    return (x.is_nan() | y.is_nan()).where(math.nan, result)


def _by_bits(x: Expression, y: Expression) -> Expression:
    """Handles IEEE formats of 16 bits and more: a step away from 0 adds one to the bits, a step toward 0 takes one."""
    width = x.element_type.bit_width
    bits = ElementType(f"u{width}")
    x_bits, y_bits = x.bits(bits), y.bits(bits)
    sign = 1 << (width - 1)
    magnitude, y_magnitude = x_bits & (sign - 1), y_bits & (sign - 1)
    x_sign, y_sign = x_bits & sign, y_bits & sign
    down = (magnitude > y_magnitude) | x_sign.differs(y_sign)
    stepped = x_bits + down.where(x_bits.like((1 << width) - 1), 1)
    return magnitude.equals(0).where(y_sign | 1, stepped).bits(x.element_type)


def _by_step(x: Expression, y: Expression) -> Expression:
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
    moved = away.where(size + (power * eps).max(least), size - below.max(least))
    moved = size.equals(math.inf).where(float(limits.max), moved)
    negative = a.equals(0.0).where(b, a) < 0.0
    return negative.where(-moved, moved).astype(element_type)


def _next_power(x: Expression, y: Expression) -> Expression:
    """Handles f8E8M0FNU, which has only exponent bits: the next number is the next power of two."""
    bits = x.bits(ElementType.U8)
    return (bits + (y > x).where(bits.like(1), 255)).bits(x.element_type)
