"""Decomposes elementwise ops into add, multiply, divide, compare, select, shifts and conversions."""

from __future__ import annotations

import numpy as np

from xla_core.hlo.decompositions.mulhi import decompose_mulhi
from xla_core.hlo.decompositions.stochastic_convert import decompose_stochastic_convert
from xla_core.hlo.element_type import ElementType
from xla_core.hlo.instruction import HloInstruction
from xla_core.hlo.opcode import Opcode
from xla_core.passes.legalization.rules import decomposition
from xla_core.passes.rewriter import Builder

__all__: list[str] = []


def _is_pred(i: HloInstruction) -> bool:
    return i.shape.element_type is ElementType.PRED


def _has_sign(x: HloInstruction) -> bool:
    """Whether the element type has zero and negative numbers."""
    kind = x.shape.element_type
    return kind.is_signed or (kind.is_floating and kind.has_zero)


def _of_bits(b: Builder, bits: int, x: HloInstruction) -> HloInstruction:
    """The integer constant of x's type with these bits; bits beyond the type's width are ignored."""
    kind = x.shape.element_type
    bits &= (1 << kind.bit_width) - 1
    return b.constant(bits - (1 << kind.bit_width) if kind.is_signed and bits >> kind.bit_width - 1 else bits, x.shape)


@decomposition(Opcode.SUBTRACT)
def _subtract(i: HloInstruction, b: Builder) -> HloInstruction | None:
    return (
        b.add(Opcode.ADD, i.operand(0), b.add(Opcode.NEGATE, i.operand(1))) if i.shape.element_type.has_zero else None
    )


@decomposition(Opcode.NEGATE)
def _negate(i: HloInstruction, b: Builder) -> HloInstruction | None:
    x = i.operand(0)
    kind = x.shape.element_type
    if kind.is_complex:  # multiplying by -1 would give NaN for infinities
        return b.add(Opcode.COMPLEX, *(b.add(Opcode.NEGATE, b.add(part, x)) for part in (Opcode.REAL, Opcode.IMAG)))
    if not kind.has_zero:
        return None
    return b.add(Opcode.MULTIPLY, x, _of_bits(b, -1, x) if kind.is_integral else b.constant(-1, x.shape))


@decomposition(Opcode.MINIMUM)
def _minimum(i: HloInstruction, b: Builder) -> HloInstruction | None:
    x, y = i.operands
    if _is_pred(i):
        return b.add(Opcode.AND, x, y)
    if x.shape.element_type.is_complex:
        return None
    if x.shape.element_type.is_integral:
        return b.add(Opcode.SELECT, b.compare(x, y, "LT"), x, y)
    if not x.shape.element_type.has_zero:
        smaller = b.add(Opcode.SELECT, b.compare(x, y, "LT"), x, y)
        return b.add(Opcode.SELECT, b.compare(x, x, "NE"), x, smaller)
    return b.add(Opcode.NEGATE, b.add(Opcode.MAXIMUM, b.add(Opcode.NEGATE, x), b.add(Opcode.NEGATE, y)))


@decomposition(Opcode.MAXIMUM)
def _maximum(i: HloInstruction, b: Builder) -> HloInstruction | None:
    x, y = i.operands
    if _is_pred(i):
        return b.add(Opcode.OR, x, y)
    if x.shape.element_type.is_complex:
        return None
    larger = b.add(Opcode.SELECT, b.compare(x, y, "GT"), x, y)
    if x.shape.element_type.is_integral:
        return larger
    # The result is NaN if an operand is NaN, and the maximum of 0 and -0 is 0.
    if x.shape.element_type.has_zero:
        zeros = b.add(Opcode.AND, b.compare(x, y, "EQ"), b.compare(x, b.constant(0, x.shape), "EQ"))
        larger = b.add(Opcode.SELECT, zeros, b.add(Opcode.ADD, x, y), larger)
    return b.add(Opcode.SELECT, b.compare(x, x, "NE"), x, larger)


@decomposition(Opcode.ABS)
def _abs(i: HloInstruction, b: Builder) -> HloInstruction | None:
    x = i.operand(0)
    if x.shape.element_type.is_complex:
        return None
    if not _has_sign(x):
        return x
    zero = b.constant(0, x.shape)
    return b.add(Opcode.SELECT, b.compare(x, zero, "GT"), x, b.add(Opcode.SUBTRACT, zero, x))


@decomposition(Opcode.SIGN)
def _sign(i: HloInstruction, b: Builder) -> HloInstruction | None:
    x = i.operand(0)
    if x.shape.element_type.is_complex:
        return None
    one = b.constant(1, x.shape)
    if not x.shape.element_type.has_zero:  # the result is 1 or NaN
        return b.add(Opcode.SELECT, b.compare(x, x, "EQ"), one, x)
    zero = b.constant(0, x.shape)
    if not _has_sign(x):
        return b.add(Opcode.SELECT, b.compare(x, zero, "EQ"), zero, one)
    below = b.add(Opcode.SELECT, b.compare(x, zero, "LT"), b.add(Opcode.NEGATE, one), x)
    return b.add(Opcode.SELECT, b.compare(x, zero, "GT"), one, below)


@decomposition(Opcode.NOT)
def _not(i: HloInstruction, b: Builder) -> HloInstruction | None:
    x = i.operand(0)
    if _is_pred(i):
        return b.compare(x, b.constant(False, x.shape), "EQ")
    return b.add(Opcode.ADD, b.add(Opcode.NEGATE, x), _of_bits(b, -1, x))


@decomposition(Opcode.OR)
def _or(i: HloInstruction, b: Builder) -> HloInstruction | None:
    x, y = i.operands
    return b.add(Opcode.NOT, b.add(Opcode.AND, b.add(Opcode.NOT, x), b.add(Opcode.NOT, y)))


@decomposition(Opcode.AND)
def _and(i: HloInstruction, b: Builder) -> HloInstruction | None:
    x, y = i.operands
    return b.add(Opcode.SELECT, x, y, b.constant(False, y.shape)) if _is_pred(i) else None


@decomposition(Opcode.XOR)
def _xor(i: HloInstruction, b: Builder) -> HloInstruction | None:
    x, y = i.operands
    if _is_pred(i):
        return b.compare(x, y, "NE")
    return b.add(Opcode.AND, b.add(Opcode.OR, x, y), b.add(Opcode.NOT, b.add(Opcode.AND, x, y)))


@decomposition(Opcode.SHIFT_RIGHT_ARITHMETIC)
def _shift_right_arithmetic(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """Shifts in the highest bit, for unsigned integers too."""
    x, n = i.operands
    kind = x.shape.element_type
    if kind.is_signed:
        negative = b.compare(x, b.constant(0, x.shape), "LT")
    else:
        negative = b.compare(x, _of_bits(b, 1 << kind.bit_width - 1, x), "GE")
    flipped = b.add(Opcode.NOT, b.add(Opcode.SHIFT_RIGHT_LOGICAL, b.add(Opcode.NOT, x), n))
    return b.add(Opcode.SELECT, negative, flipped, b.add(Opcode.SHIFT_RIGHT_LOGICAL, x, n))


decomposition(Opcode.MULHI)(decompose_mulhi)
decomposition(Opcode.STOCHASTIC_CONVERT)(decompose_stochastic_convert)


@decomposition(Opcode.CLAMP)
def _clamp(i: HloInstruction, b: Builder) -> HloInstruction | None:
    low, x, high = i.operands
    low, high = (b.broadcast(v, x.shape.dimensions) if v.shape.rank < x.shape.rank else v for v in (low, high))
    return b.add(Opcode.MINIMUM, b.add(Opcode.MAXIMUM, x, low), high)


@decomposition(Opcode.IS_FINITE)
def _is_finite(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """Tests |x| < infinity, or that x is not NaN if the type has no infinity."""
    x = i.operand(0)
    if not x.shape.element_type.has_infinity:
        return b.compare(x, x, "EQ")
    return b.compare(b.add(Opcode.ABS, x), b.constant(np.inf, x.shape), "LT")


@decomposition(Opcode.POPCNT)
def _popcnt(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """Adds the counts of adjacent groups of 1, 2, 4, ... bits."""
    x = i.operand(0)
    width = x.shape.element_type.bit_width
    shift = 1
    while shift < width:
        mask = _of_bits(b, sum(((1 << shift) - 1) << k for k in range(0, width, 2 * shift)), x)
        high = b.add(Opcode.SHIFT_RIGHT_LOGICAL, x, b.constant(shift, x.shape))
        x = b.add(Opcode.ADD, b.add(Opcode.AND, x, mask), b.add(Opcode.AND, high, mask))
        shift *= 2
    return x


@decomposition(Opcode.COUNT_LEADING_ZEROS)
def _clz(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """Sets all bits below the highest set bit, then counts the bits that are clear."""
    x = i.operand(0)
    shift = 1
    while shift < x.shape.element_type.bit_width:
        x = b.add(Opcode.OR, x, b.add(Opcode.SHIFT_RIGHT_LOGICAL, x, b.constant(shift, x.shape)))
        shift *= 2
    return b.add(Opcode.POPCNT, b.add(Opcode.NOT, x))
