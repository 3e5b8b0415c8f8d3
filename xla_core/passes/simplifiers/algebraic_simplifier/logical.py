"""Rules for logic, comparison and selection."""

from __future__ import annotations

from xla_core.hlo.element_type import ElementType
from xla_core.hlo.instruction import HloInstruction
from xla_core.hlo.opcode import Opcode
from xla_core.passes.patterns import is_all, is_constant, is_total_order
from xla_core.passes.rewriter import Builder
from xla_core.passes.simplifiers.algebraic_simplifier.rule_table import rule

__all__: list[str] = []

_MIRRORED = {"EQ": "EQ", "NE": "NE", "LT": "GT", "LE": "GE", "GT": "LT", "GE": "LE"}
_NEGATED = {"EQ": "NE", "NE": "EQ", "LT": "GE", "LE": "GT", "GT": "LE", "GE": "LT"}


def _is_ones(i: HloInstruction) -> bool:
    """Whether every bit of every element is set; for pred, whether every element is true."""
    element_type = i.shape.element_type
    return is_all(i, -1 if element_type.is_signed else (1 << element_type.bit_width) - 1)


@rule(Opcode.AND)
def and_constant(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """X & 0 -> 0; x & ~0 -> x"""
    x, y = i.operands
    if is_all(y, 0):
        return y
    return x if _is_ones(y) else None


@rule(Opcode.OR)
def or_constant(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """X | 0 -> x; x | ~0 -> ~0"""
    x, y = i.operands
    if is_all(y, 0):
        return x
    return y if _is_ones(y) else None


@rule(Opcode.XOR)
def xor_identities(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """X ^ 0 -> x; x ^ x -> 0; x ^ ~0 -> ~x; (x ^ y) ^ y -> x"""
    x, y = i.operands
    if is_all(y, 0):
        return x
    if x is y:
        return b.constant(0, i.shape)
    if _is_ones(y):
        return b.add(Opcode.NOT, x)
    if x.opcode == Opcode.XOR and y in x.operands:
        return x.operands[1] if x.operands[0] is y else x.operands[0]
    return None


@rule(Opcode.AND, Opcode.OR)
def with_its_complement(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """X & ~x -> 0; x | ~x -> ~0"""
    x, y = i.operands
    if (x.opcode == Opcode.NOT and x.operands[0] is y) or (y.opcode == Opcode.NOT and y.operands[0] is x):
        return b.constant(0, i.shape) if i.opcode == Opcode.AND else b.add(Opcode.NOT, b.constant(0, i.shape))
    return None


@rule(Opcode.AND, Opcode.OR)
def absorb(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """X & (x | y) -> x; x | (x & y) -> x; (x & y) & y -> x & y"""
    x, y = i.operands
    for left, right in ((x, y), (y, x)):
        if right.opcode in (Opcode.AND, Opcode.OR) and left in right.operands:
            return right if right.opcode == i.opcode else left
    return None


@rule(Opcode.NOT)
def not_negated(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """~~x -> x"""
    return i.operands[0].operands[0] if i.operands[0].opcode == Opcode.NOT else None


@rule(Opcode.NOT)
def not_compared(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """!(x < y) -> x >= y, where there is no NaN; !(x == y) -> x != y"""
    x = i.operands[0]
    if x.opcode != Opcode.COMPARE or x.user_count != 1:
        return None
    direction = x.attributes["direction"]
    if direction not in ("EQ", "NE") and not _is_ordered(x):
        return None
    return b.add(Opcode.COMPARE, *x.operands, **{**x.attributes, "direction": _NEGATED[direction]})


def _is_ordered(compare: HloInstruction) -> bool:
    return is_total_order(compare.operands[0].shape.element_type) or compare.attributes.get("type") == "TOTALORDER"


@rule(Opcode.SHIFT_LEFT, Opcode.SHIFT_RIGHT_LOGICAL, Opcode.SHIFT_RIGHT_ARITHMETIC)
def shift_by_zero(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """X << 0 -> x; 0 << x -> 0"""
    x, y = i.operands
    return x if is_all(y, 0) or is_all(x, 0) else None


# -- compare ---------------------------------------------------------------------------------------------------------


@rule(Opcode.COMPARE)
def compare_constant_to_the_right(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """C < x -> x > c"""
    x, y = i.operands
    if not is_constant(x) or is_constant(y):
        return None
    return b.add(Opcode.COMPARE, y, x, **{**i.attributes, "direction": _MIRRORED[i.attributes["direction"]]})


@rule(Opcode.COMPARE)
def compare_with_itself(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """X == x -> true, and the like, where there is no NaN"""
    if i.operands[0] is not i.operands[1] or not _is_ordered(i):
        return None
    return b.constant(i.attributes["direction"] in ("EQ", "LE", "GE"), i.shape)


@rule(Opcode.COMPARE)
def compare_with_limit(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """X < 0 -> false and x >= 0 -> true, for unsigned integers"""
    x, y = i.operands
    if not x.shape.element_type.is_unsigned or not is_all(y, 0) or i.attributes["direction"] not in ("LT", "GE"):
        return None
    return b.constant(i.attributes["direction"] == "GE", i.shape)


@rule(Opcode.COMPARE)
def compare_truth(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """X == true -> x; x != true -> !x; and for false"""
    x, y = i.operands
    direction = i.attributes["direction"]
    if x.shape.element_type is not ElementType.PRED or direction not in ("EQ", "NE"):
        return None
    for value in (True, False):
        if is_all(y, value):
            return x if (direction == "EQ") is value else b.add(Opcode.NOT, x)
    return None


@rule(Opcode.COMPARE)
def compare_shifted(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """X + c == d -> x == d - c, for integers"""
    x, y = i.operands
    if i.attributes["direction"] not in ("EQ", "NE") or x.opcode != Opcode.ADD or not x.shape.element_type.is_integral:
        return None
    if not is_constant(y) or not is_constant(x.operands[1]) or is_constant(x.operands[0]):
        return None
    return b.add(Opcode.COMPARE, x.operands[0], b.add(Opcode.SUBTRACT, y, x.operands[1]), **i.attributes)


# -- select ----------------------------------------------------------------------------------------------------------


@rule(Opcode.SELECT)
def select_known(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """select(true, x, y) -> x; select(false, x, y) -> y; select(p, x, x) -> x"""
    p, x, y = i.operands
    if x is y or is_all(p, True):
        return x
    return y if is_all(p, False) else None


@rule(Opcode.SELECT)
def select_negated(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """select(!p, x, y) -> select(p, y, x)"""
    p, x, y = i.operands
    return b.add(Opcode.SELECT, p.operands[0], y, x) if p.opcode == Opcode.NOT else None


@rule(Opcode.SELECT)
def select_truth(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """select(p, true, false) -> p; (p, false, true) -> !p; (p, x, false) -> p & x; (p, true, x) -> p | x"""
    p, x, y = i.operands
    if i.shape.element_type is not ElementType.PRED or p.shape.dimensions != i.shape.dimensions:
        return None
    if is_all(x, True):
        return p if is_all(y, False) else b.add(Opcode.OR, p, y)
    if is_all(y, False):
        return b.add(Opcode.AND, p, x)
    return b.add(Opcode.NOT, p) if is_all(x, False) and is_all(y, True) else None


@rule(Opcode.SELECT)
def select_twice(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """select(p, select(p, x, y), z) -> select(p, x, z); select(p, x, select(p, y, z)) -> select(p, x, z)"""
    p, x, y = i.operands
    if x.opcode == Opcode.SELECT and x.operands[0] is p:
        return b.add(Opcode.SELECT, p, x.operands[1], y)
    if y.opcode == Opcode.SELECT and y.operands[0] is p:
        return b.add(Opcode.SELECT, p, x, y.operands[2])
    return None


@rule(Opcode.SELECT)
def select_equal_constants(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """select(p, c, d) -> c, for constants of the same value"""
    _, x, y = i.operands
    if x.opcode == y.opcode == Opcode.CONSTANT and x.literal == y.literal:
        return x
    return None
