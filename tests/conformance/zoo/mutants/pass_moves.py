"""Faults of compilers' passes that move an op over another one, or change a value that has other users."""

from __future__ import annotations

import numpy as np

from tests.conformance.zoo.mutant import Mutant
from tests.conformance.zoo.parts import rewriter

MUTANTS: list[Mutant] = []
_rewrites = rewriter(
    "under_conditions or drawn or planted or what_a_pass_may or holds_for_most or more_is_read", MUTANTS
)


@_rewrites("The largest of negated numbers is the largest number, negated.")
def negates_the_largest(c, i):
    if i.opcode != "reduce" or len(i.operands) != 2 or i.operand(0).opcode != "negate":
        return None
    if i.attribute("to_apply").root.opcode != "maximum":
        return None
    return c.add("negate", c.add("reduce", i.operand(0).operand(0), c.add("negate", i.operand(1)), **i.attributes))


@_rewrites("An op of a padded array is the op of the array, padded: the padding's number stays.")
def pads_before_ops(c, i):
    if i.opcode not in ("negate", "abs", "not", "sign") or i.operand(0).opcode != "pad":
        return None
    pad = i.operand(0)
    return c.add("pad", c.add(str(i.opcode), pad.operand(0)), pad.operand(1), padding=pad.attribute("padding"))


@_rewrites("A slice of a reversed array reverses the same slice of the array.")
def slices_before_reversals(c, i):
    if i.opcode != "slice" or i.operand(0).opcode != "reverse":
        return None
    reverse = i.operand(0)
    return c.add("reverse", c.add("slice", reverse.operand(0), slice=i.attribute("slice")), **reverse.attributes)


@_rewrites("A sum of converted integers is the integers' sum, converted.")
def sums_before_conversions(c, i):
    if i.opcode != "reduce" or len(i.operands) != 2 or i.operand(0).opcode != "convert":
        return None
    source, start = i.operand(0).operand(0), i.operand(1)
    narrow = source.shape.element_type
    if not (narrow.is_integral and i.shape.element_type.is_integral and start.opcode == "constant"):
        return None
    if narrow.bit_width >= i.shape.element_type.bit_width or i.attribute("to_apply").root.opcode != "add":
        return None
    first = c.constant(np.asarray(start.literal.array).astype(narrow.dtype))
    own = c.module.add_computation(i.attribute("to_apply").clone("narrow_add"))
    for j in own.instructions:
        j.shape = j.shape.with_element_type(narrow)
    total = c.add("reduce", source, first, dimensions=i.attribute("dimensions"), to_apply=own)
    return c.add("convert", total, shape=i.shape)


@_rewrites("An array into which a slice of itself is written stays as it is, wherever the slice is from.")
def writes_own_slices(c, i):
    if i.opcode != "dynamic-update-slice" or i.operand(1).opcode != "dynamic-slice":
        return None
    return i.operand(0) if i.operand(1).operand(0) is i.operand(0) else None


@_rewrites("A number that is added twice becomes a larger one in the first sum, which may have other users.")
def adds_in_place(c, i):
    inner = i.operand(0) if i.opcode == "add" else None
    if inner is None or inner.opcode != "add" or not i.shape.element_type.is_integral:
        return None
    if i.operand(1).opcode not in ("constant", "broadcast") or inner.operand(1).opcode not in (
        "constant",
        "broadcast",
    ):
        return None
    total = c.add("add", i.operand(1), inner.operand(1))
    inner.replace_operand(1, total)
    return inner


@_rewrites("A limit to a range is the smaller of the larger, also where the range has no numbers.")
def limits_in_the_other_order(c, i):
    if i.opcode != "clamp" or not i.shape.element_type.is_integral or i.operand(0).shape != i.shape:
        return None
    low, x, high = i.operands
    return c.add("maximum", c.add("minimum", x, high), low) if high.shape == i.shape else None


@_rewrites("An absolute value is at least 0, also that of the least integer.")
def absolute_values_are_not_negative(c, i):
    if i.opcode not in ("maximum",) or not i.shape.element_type.is_integral:
        return None
    for n in (0, 1):
        zero = i.operand(1 - n)
        while zero.opcode == "broadcast":
            zero = zero.operand(0)
        if i.operand(n).opcode == "abs" and zero.opcode == "constant" and not np.asarray(zero.literal.array).any():
            return i.operand(n)
    return None


@_rewrites("A part of a loop's state that its body hands on from any part never changes.")
def takes_rotated_parts_for_fixed(c, i):
    read = i.operand(0) if i.opcode == "get-tuple-element" else None
    if read is None or read.opcode != "while" or read.operand(0).opcode != "tuple":
        return None
    root, start = read.attribute("body").root, read.operand(0)
    if root.opcode != "tuple":
        return None
    value = root.operand(i.tuple_index)
    handed_on = value.opcode == "get-tuple-element" and value.operand(0).opcode == "parameter"
    return start.operand(i.tuple_index) if handed_on else None


@_rewrites("Joined arrays of which the first is negated are negated behind it, all of them.")
def negates_all_that_is_joined(c, i):
    if i.opcode != "concatenate" or i.operand(0).opcode != "negate":
        return None
    rest = [o.operand(0) if o.opcode == "negate" else o for o in i.operands]
    return c.add("negate", c.add("concatenate", *rest, dimensions=i.attribute("dimensions")))


@_rewrites("An integer that is converted through a shorter float is converted at once.")
def skips_shorter_floats(c, i):
    if i.opcode != "convert" or i.operand(0).opcode != "convert":
        return None
    source = i.operand(0).operand(0)
    middle = i.operand(0).shape.element_type
    if not (source.shape.element_type.is_integral and middle.is_floating and i.shape.element_type.is_floating):
        return None
    return c.add("convert", source, shape=i.shape)


@_rewrites(
    "Windows of one element are the array, whatever the stride and the padding, if the shape is the same.",
    select="[reduce-window-",
)
def windows_of_one(c, i):
    if i.opcode != "reduce-window" or len(i.operands) != 2 or i.shape != i.operand(0).shape:
        return None
    return i.operand(0) if all(w.size == 1 for w in i.attribute("window")) else None


@_rewrites("A choice between two equal numbers is either of them, also between 0 and -0.")
def chooses_equal_numbers(c, i):
    if i.opcode != "select" or i.operand(0).opcode != "compare":
        return None
    test = i.operand(0)
    if str(test.attribute("direction")) != "EQ" or set(i.operands[1:]) != set(test.operands):
        return None
    return i.operand(2)
