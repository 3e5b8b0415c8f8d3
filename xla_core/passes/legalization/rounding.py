"""Decompositions of what rounds: to whole numbers, and to formats of fewer bits."""

from __future__ import annotations

from xla_core.hlo.element_type import ElementType
from xla_core.hlo.instruction import HloInstruction
from xla_core.passes.legalization.registry import decomposition
from xla_core.passes.rewriter import Builder

__all__: list[str] = []

_FIELDS = {  # bits of exponent and mantissa, and the integer of that width
    ElementType.F16: (5, 10, ElementType.S16),
    ElementType.BF16: (8, 7, ElementType.S16),
    ElementType.F32: (8, 23, ElementType.S32),
    ElementType.F64: (11, 52, ElementType.S64),
}


def _compare(b: Builder, x: HloInstruction, y: HloInstruction, direction: str) -> HloInstruction:
    return b.add("compare", x, y, direction=direction)


def _like(b: Builder, value: float, x: HloInstruction) -> HloInstruction:
    return b.constant(value, x.shape)


@decomposition("floor", "ceil", "round-nearest-even", "round-nearest-afz")
def _round(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """By way of an integer; what is too large for a fraction is whole already."""
    x = i.operand(0)
    if x.shape.element_type not in _FIELDS:
        x = b.convert(x, x.shape.with_element_type(ElementType.F32))
    bits = _FIELDS[x.shape.element_type][1]
    integer = ElementType.S64 if bits > 30 else ElementType.S32
    whole = b.convert(b.convert(x, x.shape.with_element_type(integer)), x.shape)
    one, zero, half = _like(b, 1, x), _like(b, 0, x), _like(b, 0.5, x)
    up, down = b.add("add", whole, one), b.add("subtract", whole, one)
    if i.opcode == "floor":
        value = b.add("select", _compare(b, whole, x, "GT"), down, whole)
    elif i.opcode == "ceil":
        value = b.add("select", _compare(b, whole, x, "LT"), up, whole)
    else:
        size = b.add("abs", b.add("subtract", x, whole))
        away = b.add("select", _compare(b, x, zero, "LT"), down, up)
        beyond = _compare(b, size, half, "GE")
        if i.opcode == "round-nearest-even":
            twice = b.convert(b.convert(b.add("multiply", whole, half), x.shape.with_element_type(integer)), x.shape)
            even = _compare(b, b.add("add", twice, twice), whole, "EQ")
            beyond = b.add("or", _compare(b, size, half, "GT"), b.add("and", beyond, b.add("not", even)))
        value = b.add("select", beyond, away, whole)
    # Zeros keep the sign of x, as do NaN and what is too large to have a fraction.
    negative = b.add("and", _compare(b, value, zero, "EQ"), _compare(b, x, zero, "LT"))
    value = b.add("select", negative, _like(b, -0.0, x), value)
    large = _like(b, 2.0**bits, x)
    small = b.add("and", _compare(b, b.add("abs", x), large, "LT"), _compare(b, x, zero, "NE"))
    return b.convert(b.add("select", small, value, x), i.shape)


@decomposition("reduce-precision")
def _reduce_precision(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """On the bits: rounded to even at the last place that stays; too large is infinity, too small zero."""
    x = i.operand(0)
    if x.shape.element_type is ElementType.BF16:  # an f32 of fewer bits
        wide = b.convert(x, x.shape.with_element_type(ElementType.F32))
        return b.convert(b.clone(i, [wide], shape=wide.shape), i.shape)
    if x.shape.element_type not in _FIELDS:
        return None
    own_exponent, own_mantissa, integer = _FIELDS[x.shape.element_type]
    exponent_bits, mantissa_bits = i.attributes["exponent_bits"], i.attributes["mantissa_bits"]
    shape = x.shape.without_layout().with_element_type(integer)

    def number(value: int) -> HloInstruction:
        return b.constant(value, shape)

    sign_bit, infinity = 1 << own_exponent + own_mantissa, ((1 << own_exponent) - 1) << own_mantissa
    bits = b.add("bitcast-convert", x, shape=shape)
    sign = b.add("and", bits, number(-sign_bit))
    size = before = b.add("and", bits, number(sign_bit - 1))
    if mantissa_bits < own_mantissa:
        shift = own_mantissa - mantissa_bits
        last = b.add("and", b.add("shift-right-logical", size, number(shift)), number(1))
        size = b.add("add", size, b.add("add", last, number((1 << shift - 1) - 1)))
        size = b.add("and", size, number(-(1 << shift)))
    if exponent_bits < own_exponent:
        own_bias, bias = (1 << own_exponent - 1) - 1, (1 << exponent_bits - 1) - 1
        exponent = b.add("and", size, number(infinity))
        over = _compare(b, exponent, number((own_bias + bias) << own_mantissa), "GT")
        under = _compare(b, exponent, number((own_bias - bias) << own_mantissa), "LE")
        size = b.add("select", over, number(infinity), size)
        size = b.add("select", under, number(0), size)
    nan = before if mantissa_bits else number(infinity)
    size = b.add("select", _compare(b, before, number(infinity), "GT"), nan, size)
    return b.add("bitcast-convert", b.add("or", sign, size), shape=x.shape.without_layout())
