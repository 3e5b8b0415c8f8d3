"""Decompositions of elementwise ops, down to add, multiply, divide, compare, select, shifts and conversions."""

from __future__ import annotations

import numpy as np

from xla_core.hlo.decompositions.stochastic_convert import decompose_stochastic_convert
from xla_core.hlo.element_type import ElementType
from xla_core.hlo.instruction import HloInstruction
from xla_core.passes.legalization.registry import decomposition, register_decomposition
from xla_core.passes.rewriter import Builder

__all__: list[str] = []


def _is_pred(i: HloInstruction) -> bool:
    return i.shape.element_type is ElementType.PRED


def _compare(b: Builder, x: HloInstruction, y: HloInstruction, direction: str) -> HloInstruction:
    return b.add("compare", x, y, direction=direction)


def _like(b: Builder, value: float, x: HloInstruction) -> HloInstruction:
    return b.constant(value, x.shape)


@decomposition("subtract")
def _subtract(i: HloInstruction, b: Builder) -> HloInstruction | None:
    return b.add("add", i.operand(0), b.add("negate", i.operand(1)))


@decomposition("negate")
def _negate(i: HloInstruction, b: Builder) -> HloInstruction | None:
    x = i.operand(0)
    if x.shape.element_type.is_unsigned:
        ones = b.constant(np.iinfo(x.shape.dtype).max, x.shape)
        return b.add("multiply", x, ones)
    return b.add("multiply", x, _like(b, -1, x))


@decomposition("minimum")
def _minimum(i: HloInstruction, b: Builder) -> HloInstruction | None:
    x, y = i.operands
    if _is_pred(i):
        return b.add("and", x, y)
    if x.shape.element_type.is_integral:
        return b.add("select", _compare(b, x, y, "LT"), x, y)
    return b.add("negate", b.add("maximum", b.add("negate", x), b.add("negate", y)))


@decomposition("maximum")
def _maximum(i: HloInstruction, b: Builder) -> HloInstruction | None:
    x, y = i.operands
    if _is_pred(i):
        return b.add("or", x, y)
    if x.shape.element_type.is_integral:
        return b.add("select", _compare(b, x, y, "GT"), x, y)
    # NaN where either is; of zeros, the positive one.
    larger = b.add("select", _compare(b, x, y, "GT"), x, y)
    zeros = b.add("and", _compare(b, x, y, "EQ"), _compare(b, x, _like(b, 0, x), "EQ"))
    number = b.add("select", zeros, b.add("add", x, y), larger)
    return b.add("select", _compare(b, x, x, "NE"), x, number)


@decomposition("abs")
def _abs(i: HloInstruction, b: Builder) -> HloInstruction | None:
    x = i.operand(0)
    kind = x.shape.element_type
    if kind.is_unsigned:
        return x
    zero = _like(b, 0, x)
    return b.add("select", _compare(b, x, zero, "GT"), x, b.add("subtract", zero, x))


@decomposition("sign")
def _sign(i: HloInstruction, b: Builder) -> HloInstruction | None:
    x = i.operand(0)
    one, zero = _like(b, 1, x), _like(b, 0, x)
    if x.shape.element_type.is_unsigned:
        return b.add("select", _compare(b, x, zero, "EQ"), zero, one)
    below = b.add("select", _compare(b, x, zero, "LT"), b.add("negate", one), x)
    return b.add("select", _compare(b, x, zero, "GT"), one, below)


@decomposition("not")
def _not(i: HloInstruction, b: Builder) -> HloInstruction | None:
    x = i.operand(0)
    if _is_pred(i):
        return _compare(b, x, b.constant(False, x.shape), "EQ")
    ones = b.constant(np.iinfo(x.shape.dtype).max if x.shape.element_type.is_unsigned else -1, x.shape)
    return b.add("add", b.add("negate", x), ones)


@decomposition("or")
def _or(i: HloInstruction, b: Builder) -> HloInstruction | None:
    x, y = i.operands
    return b.add("not", b.add("and", b.add("not", x), b.add("not", y)))


@decomposition("and")
def _and(i: HloInstruction, b: Builder) -> HloInstruction | None:
    x, y = i.operands
    return b.add("select", x, y, b.constant(False, y.shape)) if _is_pred(i) else None


@decomposition("xor")
def _xor(i: HloInstruction, b: Builder) -> HloInstruction | None:
    x, y = i.operands
    if _is_pred(i):
        return _compare(b, x, y, "NE")
    return b.add("and", b.add("or", x, y), b.add("not", b.add("and", x, y)))


@decomposition("shift-right-arithmetic")
def _shift_right_arithmetic(i: HloInstruction, b: Builder) -> HloInstruction | None:
    x, n = i.operands
    if x.shape.element_type.is_unsigned:
        return None
    negative = _compare(b, x, _like(b, 0, x), "LT")
    flipped = b.add("not", b.add("shift-right-logical", b.add("not", x), n))
    return b.add("select", negative, flipped, b.add("shift-right-logical", x, n))


@decomposition("mulhi")
def _mulhi(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """Of halves, as if unsigned; then less the other operand for each that is negative."""
    x, y = i.operands
    half = x.shape.element_type.bit_width // 2
    if half < 4:
        return None
    width, mask = _like(b, half, x), _like(b, (1 << half) - 1, x)

    def halves(v: HloInstruction) -> tuple[HloInstruction, HloInstruction]:
        return b.add("shift-right-logical", v, width), b.add("and", v, mask)

    (high_x, low_x), (high_y, low_y) = halves(x), halves(y)
    carry, _ = halves(b.add("multiply", low_x, low_y))
    first, rest = halves(b.add("add", b.add("multiply", high_x, low_y), carry))
    second, _ = halves(b.add("add", b.add("multiply", low_x, high_y), rest))
    result = b.add("add", b.add("multiply", high_x, high_y), b.add("add", first, second))
    if x.shape.element_type.is_signed:
        zero = _like(b, 0, x)
        for one, other in ((x, y), (y, x)):
            less = b.add("select", _compare(b, one, zero, "LT"), other, zero)
            result = b.add("subtract", result, less)
    return result


register_decomposition("stochastic-convert", decompose_stochastic_convert)


@decomposition("clamp")
def _clamp(i: HloInstruction, b: Builder) -> HloInstruction | None:
    low, x, high = i.operands
    low, high = (b.broadcast(v, x.shape.dimensions) if v.shape.rank < x.shape.rank else v for v in (low, high))
    return b.add("minimum", b.add("maximum", x, low), high)


@decomposition("is-finite")
def _is_finite(i: HloInstruction, b: Builder) -> HloInstruction | None:
    x = i.operand(0)
    return _compare(b, b.add("abs", x), _like(b, np.inf, x), "LT")


@decomposition("popcnt")
def _popcnt(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """Counts in pairs, fours, and so on."""
    x = i.operand(0)
    width = x.shape.element_type.bit_width
    if width < 8:
        return None

    def constant(pattern: int) -> HloInstruction:
        value = np.array(pattern & ((1 << width) - 1), f"u{width // 8}").view(x.shape.dtype)
        return b.constant(value, x.shape)

    shift = 1
    while shift < width:
        block = sum(((1 << shift) - 1) << k for k in range(0, width, 2 * shift))
        mask = constant(block)
        high = b.add("shift-right-logical", x, _like(b, shift, x))
        x = b.add("add", b.add("and", x, mask), b.add("and", high, mask))
        shift *= 2
    return x


@decomposition("count-leading-zeros")
def _clz(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """Smears the highest bit down, then counts what is clear."""
    x = i.operand(0)
    shift = 1
    while shift < x.shape.element_type.bit_width:
        x = b.add("or", x, b.add("shift-right-logical", x, _like(b, shift, x)))
        shift *= 2
    return b.add("popcnt", b.add("not", x))
