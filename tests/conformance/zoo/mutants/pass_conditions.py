"""Faults of compilers' passes that rewrite what they know, and leave out one of a rewrite's conditions."""

from __future__ import annotations

import numpy as np

from tests.conformance.zoo.mutant import Mutant
from tests.conformance.zoo.parts import rewriter

MUTANTS: list[Mutant] = []
_rewrites = rewriter("under_conditions or drawn or planted or what_a_pass_may or holds_for_most", MUTANTS)
_on_effects = rewriter("test_executables_effects", MUTANTS)


def _number(i):
    """The number that a constant is, or repeats; None for anything else."""
    while i.opcode == "broadcast":
        i = i.operand(0)
    return int(np.asarray(i.literal.array)) if i.opcode == "constant" and not i.shape.rank else None


@_rewrites("A part of a loop's state that a turn chooses itself for, or another value, never changes.")
def takes_what_is_chosen_for_fixed(c, i):
    if i.opcode != "while" or i.attribute("body").root.opcode != "tuple":
        return
    body = i.attribute("body")
    for n, value in enumerate(body.root.operands):
        if value.opcode == "select":
            for own in value.operands[1:]:
                if own.opcode == "get-tuple-element" and own.operand(0).opcode == "parameter" and own.tuple_index == n:
                    body.root.replace_operand(n, own)
                    break


@_rewrites("A reshape of a matrix to its sizes in the other order is a transpose.")
def transposes_for_reshapes(c, i):
    if i.opcode != "reshape" or i.shape.rank != 2 or i.operand(0).shape.dimensions != i.shape.dimensions[::-1]:
        return None
    return c.add("transpose", i.operand(0), dimensions=(1, 0))


@_rewrites("A sum of joined arrays is the arrays' sums, added, each with the initial value.")
def sums_before_joining(c, i):
    if i.opcode != "reduce" or len(i.operands) != 2 or i.operand(0).opcode != "concatenate":
        return None
    joined, start = i.operands
    if i.attribute("to_apply").root.opcode != "add" or len(joined.operands) != 2:
        return None
    if joined.attribute("dimensions")[0] not in i.attribute("dimensions"):
        return None
    return c.add("add", *(c.add("reduce", o, start, **i.attributes) for o in joined.operands))


@_rewrites("An op of two choices is a choice of two ops, without a look at whether they choose by the same.")
def joins_choices(c, i):
    if i.opcode not in ("add", "subtract") or any(o.opcode != "select" for o in i.operands):
        return None
    one, other = i.operands
    if one.operand(0).shape != other.operand(0).shape:
        return None
    results = [c.add(str(i.opcode), one.operand(n), other.operand(n)) for n in (1, 2)]
    return c.add("select", one.operand(0), *results)


@_rewrites("A known branch beyond the last one is the first one.")
def takes_the_first_branch(c, i):
    if i.opcode != "conditional" or i.operand(0).opcode != "constant" or i.operand(0).shape.element_type.value != "s32":
        return None
    branches, number = i.called_computations, int(np.asarray(i.operand(0).literal.array))
    number = number if 0 <= number < len(branches) else 0
    return c.add("call", i.operand(1 + number), to_apply=branches[number])


@_rewrites("Rows that are taken by constant places from joined arrays are all of the first, if its first row is.")
def takes_from_the_first_array(c, i):
    if i.opcode != "gather" or i.operand(0).opcode != "concatenate" or i.operand(1).opcode != "constant":
        return None
    first, places = i.operand(0).operand(0), np.asarray(i.operand(1).literal.array).reshape(-1)
    if i.operand(0).attribute("dimensions") != (0,) or not places.size or places[0] >= first.shape.dimensions[0]:
        return None
    return c.add("gather", first, i.operand(1), shape=i.shape, **i.attributes)


@_rewrites("Masked bits that are shifted to the right are the shifted bits, with the same mask.")
def shifts_before_the_mask(c, i):
    if i.opcode not in ("shift-right-logical", "shift-right-arithmetic") or i.operand(0).opcode != "and":
        return None
    x, mask = i.operand(0).operands
    return c.add("and", c.add(str(i.opcode), x, i.operand(1)), mask) if _number(mask) is not None else None


@_rewrites("The larger of two sums with one number is the sum of the larger one, whatever overflows.")
def largest_before_the_sum(c, i):
    if i.opcode != "maximum" or any(o.opcode != "add" for o in i.operands) or not i.shape.element_type.is_integral:
        return None
    (x, a), (y, b) = (o.operands for o in i.operands)
    if _number(a) is None or _number(a) != _number(b):
        return None
    return c.add("add", c.add("maximum", x, y), a)


@_rewrites("A number that is multiplied and divided by powers of two is multiplied by their quotient.")
def cancels_powers(c, i):
    if i.opcode != "divide" or i.operand(0).opcode != "multiply" or not i.shape.element_type.is_integral:
        return None
    factor, divisor = _number(i.operand(0).operand(1)), _number(i.operand(1))
    if not factor or not divisor or factor % divisor:
        return None
    return c.add("multiply", i.operand(0).operand(0), c.constant(np.array(factor // divisor, i.shape.dtype), i.shape))


@_rewrites("A padded array that is cut where its padding ends is the array, if the shape is its own.")
def cuts_of_pads(c, i):
    if i.opcode != "slice" or i.operand(0).opcode != "pad" or i.shape != i.operand(0).operand(0).shape:
        return None
    starts = [part.start for part in i.attribute("slice")]
    lows = [max(p.low, 0) for p in i.operand(0).attribute("padding")]
    return i.operand(0).operand(0) if starts == lows else None


@_on_effects("Custom calls of one target with equal operands are one.")
def merges_custom_calls(c, i):
    if i.opcode == "call":
        for other in c.post_order():
            if other is i:
                return None
            same = other.opcode == "call" and other.attribute("to_apply") is i.attribute("to_apply")
            if same and list(other.operands) == list(i.operands) and _has(i.attribute("to_apply"), "custom-call"):
                return other
    return None


@_on_effects("A draw of random numbers that nobody reads is left out.")
def leaves_out_draws(c, i):
    if i.opcode == "rng-get-and-update-state" and not i.users and not i.is_root:
        c.remove(i)


@_on_effects("A branch whose custom call is in a computation that both branches call is run before the choice.")
def runs_before_the_choice(c, i):
    if i.opcode != "conditional" or len(i.called_computations) != 2:
        return
    for branch, operand in zip(i.called_computations, i.operands[1:], strict=True):
        if _has(branch, "custom-call"):
            c.add("call", operand, to_apply=branch)


def _has(computation, opcode):
    return any(i.opcode == opcode for i in computation.instructions)
