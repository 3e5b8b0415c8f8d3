"""next_after: the next representable number."""

from __future__ import annotations

import math
from typing import Any

import ml_dtypes

from xla_core.hlo.element_type import ElementType
from xla_core.stablehlo.special_functions.expressions import Expression, select

__all__ = ["next_after"]


def next_after(x: Expression, y: Expression) -> Expression:
    """The next representable number from x toward y: y if they are equal, NaN if either is NaN."""
    element_type = x.element_type
    if element_type is ElementType.F8E8M0FNU:
        result = _next_power(x, y)
    elif element_type.bit_width <= 8:
        result = _by_step(x, y)
    else:
        result = _by_bits(x, y)
    result = select(x.equal(y), y, result)
    return select(x.is_nan() | y.is_nan(), math.nan, result)


def _by_bits(x: Expression, y: Expression) -> Expression:
    """Handles IEEE formats of 16 bits and more: a step away from 0 adds one to the bits, a step toward 0 takes one."""
    width = x.element_type.bit_width
    bits = ElementType(f"u{width}")
    x_bits, y_bits = x.bitcast(bits), y.bitcast(bits)
    sign = 1 << (width - 1)
    magnitude, y_magnitude = x_bits & (sign - 1), y_bits & (sign - 1)
    x_sign, y_sign = x_bits & sign, y_bits & sign
    down = (magnitude > y_magnitude) | x_sign.differs(y_sign)
    stepped = x_bits + select(down, x_bits.like((1 << width) - 1), 1)
    return select(magnitude.equal(0), y_sign | 1, stepped).bitcast(x.element_type)


def _by_step(x: Expression, y: Expression) -> Expression:
    """Handles formats of up to 8 bits: adds or subtracts the spacing at x in f32, which is exact.

    Some of these formats have no -0, and some have a width that no integer type has, so their bits can't be counted.
    """
    element_type = x.element_type
    finfo: Any = ml_dtypes.finfo  # its stub has no types
    limits = finfo(element_type.dtype)
    least, eps = float(limits.smallest_subnormal), float(limits.eps)
    a, b = x.convert(ElementType.F32), y.convert(ElementType.F32)
    size = abs(a)
    power = (size.bitcast(ElementType.U32) & 0x7F800000).bitcast(ElementType.F32)
    away = size.equal(0.0) | (b > a).equal(a > 0.0)
    below = select(size.equal(power), power * (eps / 2), power * eps)
    moved = select(away, size + (power * eps).maximum(least), size - below.maximum(least))
    moved = select(size.equal(math.inf), float(limits.max), moved)
    negative = select(a.equal(0.0), b, a) < 0.0
    return select(negative, -moved, moved).convert(element_type)


def _next_power(x: Expression, y: Expression) -> Expression:
    """Handles f8E8M0FNU, which has only exponent bits: the next number is the next power of two."""
    bits = x.bitcast(ElementType.U8)
    return (bits + select(y > x, bits.like(1), 255)).bitcast(x.element_type)
