"""Formulas of CHLO's ops that depend on the element type. They are imported when one is lowered."""

from __future__ import annotations

import math
from typing import Any

import ml_dtypes
import numpy as np

from xla_core.elementary.expression import Expression, select
from xla_core.hlo.decompositions.hlo_arithmetic import HloArithmetic
from xla_core.hlo.element_type import ElementType
from xla_core.hlo.instruction import HloInstruction
from xla_core.hlo.opcode import Opcode
from xla_core.hlo.shape import Shape

__all__ = [
    "AnyType",
    "asin_acos_kernel",
    "conj",
    "is_inf",
    "is_neg_inf",
    "is_pos_inf",
    "next_after",
    "square",
]

Value = Expression[HloInstruction]


class AnyType(HloArithmetic):
    """Emits elementwise HLO ops on arrays of any element type, whose kind is its name."""

    def kind(self, x: HloInstruction) -> str:
        return x.shape.element_type.value

    def number(self, value: float, kind: str) -> HloInstruction:
        element_type = ElementType(kind)
        array = np.asarray(value).astype(element_type.dtype)
        return self.b.constant(array, self._shape.with_element_type(element_type))


def _element_type(x: Value) -> ElementType:
    return x.value.shape.element_type


def _bitcast(x: Value, element_type: ElementType) -> Value:
    """Reinterprets the bits as another type of the same width."""
    assert isinstance(x.m, AnyType)
    shape = x.value.shape.with_element_type(element_type)
    return Expression(x.m, x.m.b.add(Opcode.BITCAST_CONVERT, x.value, shape=shape))


def _convert(x: Value, element_type: ElementType) -> Value:
    assert isinstance(x.m, AnyType)
    return Expression(x.m, x.m.b.convert(x.value, Shape(element_type)))


def square(x: Value) -> Value:
    """Computes the square; of a complex a + bi, (a - b)(a + b) + 2ab i, which cancels less than a^2 - b^2."""
    if not _element_type(x).is_complex:
        return x * x
    a, b = x.op("real"), x.op("imag")
    real = select(abs(a).equal(abs(b)) & abs(a).op("is-finite"), 0.0, (a - b) * (a + b))
    return real.op("complex", 2.0 * (a * b))


def conj(x: Value) -> Value:
    return x.op("real").op("complex", -x.op("imag")) if _element_type(x).is_complex else x


def asin_acos_kernel(z: Value) -> Value:
    """Computes the w with asin(z) = atan2(re z, re w) + sign(im z) (im w) i."""
    arc = z.op("asin")
    a, b = arc.op("real"), abs(arc.op("imag"))
    return (b.cosh() * a.cos()).op("complex", b)


def is_inf(x: Value) -> Value:
    return abs(x).equal(math.inf)


def is_pos_inf(x: Value) -> Value:
    return x.equal(math.inf)


def is_neg_inf(x: Value) -> Value:
    return x.equal(-math.inf)


def next_after(x: Value, y: Value) -> Value:
    """The next representable number from x toward y: y if they are equal, NaN if either is NaN."""
    element_type = _element_type(x)
    if element_type is ElementType.F8E8M0FNU:
        result = _next_power(x, y)
    elif element_type.bit_width <= 8:
        result = _by_step(x, y)
    else:
        result = _by_bits(x, y)
    result = select(x.equal(y), y, result)
    return select(x.is_nan() | y.is_nan(), math.nan, result)


def _by_bits(x: Value, y: Value) -> Value:
    """Handles IEEE formats of 16 bits and more: a step away from 0 adds one to the bits, a step toward 0 takes one."""
    width = _element_type(x).bit_width
    bits = ElementType(f"u{width}")
    x_bits, y_bits = _bitcast(x, bits), _bitcast(y, bits)
    sign = 1 << (width - 1)
    magnitude, y_magnitude = x_bits & (sign - 1), y_bits & (sign - 1)
    x_sign, y_sign = x_bits & sign, y_bits & sign
    down = (magnitude > y_magnitude) | x_sign.differs(y_sign)
    stepped = x_bits + select(down, x_bits.like((1 << width) - 1), 1)
    return _bitcast(select(magnitude.equal(0), y_sign | 1, stepped), _element_type(x))


def _by_step(x: Value, y: Value) -> Value:
    """Handles formats of up to 8 bits: adds or subtracts the spacing at x in f32, which is exact.

    Some of these formats have no -0, and some have a width that no integer type has, so their bits can't be counted.
    """
    element_type = _element_type(x)
    finfo: Any = ml_dtypes.finfo  # its stub has no types
    limits = finfo(element_type.dtype)
    least, eps = float(limits.smallest_subnormal), float(limits.eps)
    a, b = _convert(x, ElementType.F32), _convert(y, ElementType.F32)
    size = abs(a)
    power = _bitcast(_bitcast(size, ElementType.U32) & 0x7F800000, ElementType.F32)
    away = size.equal(0.0) | (b > a).equal(a > 0.0)
    below = select(size.equal(power), power * (eps / 2), power * eps)
    moved = select(away, size + (power * eps).maximum(least), size - below.maximum(least))
    moved = select(size.equal(math.inf), float(limits.max), moved)
    negative = select(a.equal(0.0), b, a) < 0.0
    return _convert(select(negative, -moved, moved), element_type)


def _next_power(x: Value, y: Value) -> Value:
    """Handles f8E8M0FNU, which has only exponent bits: the next number is the next power of two."""
    bits = _bitcast(x, ElementType.U8)
    return _bitcast(bits + select(y > x, bits.like(1), 255), _element_type(x))
