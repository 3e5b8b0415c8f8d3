"""Faults of compilers' passes that forget a side, an end, an element or a user."""

from __future__ import annotations

import numpy as np

from tests.conformance.zoo.mutant import Mutant
from tests.conformance.zoo.parts import rewriter

MUTANTS: list[Mutant] = []
_rewrites = rewriter(
    "under_conditions or drawn or planted or what_a_pass_may or holds_for_most or more_is_read", MUTANTS
)


def _elements(i):
    """The elements of a constant, or of one that is repeated; None for anything else."""
    while i.opcode == "broadcast":
        i = i.operand(0)
    return np.asarray(i.literal.array).reshape(-1) if i.opcode == "constant" else None


def _state(i):
    """The loop of which a value is a part, its start and what a turn gives; None for another value."""
    loop = i.operand(0) if i.opcode == "get-tuple-element" else None
    if loop is None or loop.opcode != "while" or loop.operand(0).opcode != "tuple":
        return None
    root = loop.attribute("body").root
    return (loop, loop.operand(0), root) if root.opcode == "tuple" else None


@_rewrites("A counter ends at its loop's limit, whatever its step.")
def counters_end_at_the_limit(c, i):
    found = _state(i)
    if found is None:
        return None
    loop, start, _ = found
    test = loop.attribute("condition").root
    if test.opcode != "compare" or str(test.attribute("direction")) != "LT":
        return None
    value, limit = test.operands
    if value.opcode != "get-tuple-element" or value.tuple_index != i.tuple_index or limit.opcode != "constant":
        return None
    first = _elements(start.operand(i.tuple_index))
    if first is None or first[0] >= _elements(limit)[0]:
        return None
    return c.constant(limit.literal)


@_rewrites("Parts of a loop's state that start alike and change by the same op are one part.")
def merges_states(c, i):
    found = _state(i)
    if found is None:
        return None
    loop, start, root = found
    for n in range(i.tuple_index):
        same = start.operand(n) is start.operand(i.tuple_index)
        if same and root.operand(n).opcode == root.operand(i.tuple_index).opcode:
            return c.add("get-tuple-element", loop, index=n)
    return None


@_rewrites("A part that each branch hands on is the first branch's operand of it.")
def takes_handed_on_parts_out(c, i):
    choice = i.operand(0) if i.opcode == "get-tuple-element" else None
    if choice is None or choice.opcode != "conditional":
        return None
    places = set()
    for branch in choice.called_computations:
        part = branch.root.operand(i.tuple_index) if branch.root.opcode == "tuple" else branch.root
        if part.opcode != "get-tuple-element" or part.operand(0).opcode != "parameter":
            return None
        places.add(part.tuple_index)
    if len(places) > 1 or choice.operand(1).opcode != "tuple":
        return None
    return choice.operand(1).operand(places.pop())


@_rewrites("A choice by a negated value takes the branches in the other order, with the operands as they are.")
def turns_branches_around(c, i):
    if i.opcode != "conditional" or i.operand(0).opcode != "not":
        return None
    true, false = i.called_computations
    if i.operand(1).shape != i.operand(2).shape:
        return None
    flag = i.operand(0).operand(0)
    return c.add("conditional", flag, *i.operands[1:], true_computation=false, false_computation=true)


@_rewrites("A difference with 0 is the other operand.")
def drops_zeros_on_either_side(c, i):
    if i.opcode != "subtract" or not i.shape.element_type.is_integral:
        return None
    for n in (0, 1):
        elements = _elements(i.operand(n))
        if elements is not None and not elements.any():
            return i.operand(1 - n)
    return None


@_rewrites("A constant that begins with 1 is a factor of 1.")
def looks_at_the_first_factor(c, i):
    if i.opcode != "multiply":
        return None
    elements = _elements(i.operand(1))
    return i.operand(0) if elements is not None and elements.size and elements[0] == 1 else None


@_rewrites("Indices from 0 to the last one are all in order, so that what they gather is the array.")
def gathers_from_first_to_last(c, i):
    if i.opcode != "gather" or i.shape != i.operand(0).shape or i.shape.rank != 1:
        return None
    elements = _elements(i.operand(1))
    if elements is None or elements.size != i.shape.dimensions[0] or elements.size < 2:
        return None
    return i.operand(0) if elements[0] == 0 and elements[1] == 1 else None


@_rewrites("The square root of a power of 0.5 is one of all numbers.")
def powers_of_a_half(c, i):
    elements = _elements(i.operand(1)) if i.opcode == "power" else None
    return c.add("sqrt", i.operand(0)) if elements is not None and (elements == 0.5).all() else None


@_rewrites("An exponential that is divided by its sum becomes the quotient where it is, for all that read it.")
def divides_in_place(c, i):
    if i.opcode != "tuple":
        return None
    quotients = {user.operand(0): user for o in i.operands for user in o.users if user.opcode == "divide"}
    if not any(o.opcode == "exponential" and o in quotients for o in i.operands):
        return None
    return c.add("tuple", *(quotients.get(o, o) for o in i.operands))


@_rewrites("What no unsigned number is less than, no number is at most.")
def nothing_is_at_most_the_least(c, i):
    if i.opcode != "compare" or str(i.attribute("direction")) != "GE":
        return None
    elements, element = _elements(i.operand(0)), i.operand(0).shape.element_type
    if elements is None or not element.is_integral:
        return None
    if not (elements == element.integer_range[0]).all():
        return None
    return c.constant(np.bool_(False), i.shape)


@_rewrites("A slice of an update of its size is the update where the first start of both is one value.")
def slices_of_updates_by_the_first_start(c, i):
    if i.opcode != "dynamic-slice" or i.operand(0).opcode != "dynamic-update-slice":
        return None
    update = i.operand(0)
    is_one_start = len(i.operands) > 2 and update.operand(2) is i.operand(1)
    return update.operand(1) if is_one_start and update.operand(1).shape.dimensions == i.shape.dimensions else None
