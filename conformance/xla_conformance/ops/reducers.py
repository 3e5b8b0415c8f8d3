"""Computations that reductions, windows and scatters apply, with values that make their results exact."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from xla_conformance.ops.choices import Group
from xla_conformance.ops.fills import Fill, mostly, numbers, odd, terms, units, with_ends
from xla_conformance.ops.program import Program
from xla_conformance.ops.values import patterns
from xla_core.hlo import ElementType, HloComputation, HloInstruction, Opcode

NAMES = ("add", "maximum", "minimum", "multiply", "and", "or", "xor")
REDUCERS = (*NAMES[:4], Group(*NAMES[4:]), "clamped")
_WIDER = {"s2": "s8", "s4": "s8", "s8": "s32", "s16": "s32", "s32": "s64", "u2": "u8", "u4": "u8", "u8": "u32"}
_WIDER |= {"u16": "u32", "u32": "u64", "bf16": "f32", "f16": "f32", "f32": "f64", "c64": "c128"}


def wider(element_type: ElementType) -> ElementType:
    """Returns a wider type of the same category, if there is one."""
    small_float = element_type.is_floating and element_type.bit_width <= 8
    return ElementType("f32" if small_float else _WIDER.get(element_type.value, element_type.value))


def known_reducer(name: str, element_type: ElementType) -> str:
    """Returns the reducer that has exact results in a type: the one of this name, or the nearest."""
    bits = element_type.is_integral or element_type is ElementType.PRED
    if not bits and name in ("and", "or", "xor"):
        name = {"and": "minimum", "or": "maximum", "xor": "add"}[name]
    if element_type.is_complex and name in ("maximum", "minimum", "clamped"):
        return "add"
    if not element_type.has_zero and name == "add":
        return "maximum"
    return name


def known_reducers(element_type: ElementType, names: Sequence[str] = NAMES) -> list[str]:
    """Returns the reducers that have exact results in a type, those of these names or the nearest, each once."""
    return list(dict.fromkeys(known_reducer(name, element_type) for name in names))


SIDES = ("ordered", "crossed")
"""Whether a computation or comparator has its parameters as operands in their order, or the second one first."""


def reducer(p: Program, name: str, element_type: ElementType, sides: str = "ordered") -> HloComputation:
    """Adds the computation of a name. "clamped" is one that no compiler knows: min(max(a, b), limit)."""

    def root(made: HloComputation, *parameters: HloInstruction) -> HloInstruction:
        a, b = parameters if sides == "ordered" else parameters[::-1]
        if name != "clamped":
            return made.add(Opcode(name), a, b)
        limit = made.constant(np.asarray(1).astype(element_type.dtype))
        return made.add(Opcode.MINIMUM, made.add(Opcode.MAXIMUM, a, b), limit)

    return p.computation(name, [element_type, element_type], root)


def fill_of(name: str, element_type: ElementType, count: int, *, ends: bool = False) -> Fill:
    """Returns the fill of operands of which `count` are combined to one exact result, in any order.

    With `ends`, large arrays of floats have an infinity and a NaN too.
    """
    bits = element_type.is_integral or element_type is ElementType.PRED
    if bits:
        return {
            "multiply": odd if element_type.is_integral else mostly(True, count),
            "and": mostly(True, count),
            "or": mostly(False, count),
        }.get(name, patterns)
    fill = {"add": terms(count, element_type), "multiply": units}.get(name, numbers)
    return with_ends(fill) if ends else fill


SECONDS = (
    Group(ElementType.S32, ElementType.U32, ElementType.F32),
    Group(ElementType.S64, ElementType.U64, ElementType.F64),
    Group(*map(ElementType, ("u8", "s8", "u16", "s16", "f16", "bf16"))),
)
"""Types of the second of several accumulators: of a word, wider and narrower."""


def several_types(p: Program, count: int, second: ElementType) -> list[ElementType]:
    """Returns the types of several accumulators, of which the case's own type is the first."""
    types = (p.type, second, ElementType.F32, p.type, ElementType.U8)
    return list(itertools.islice(itertools.cycle(types), count))


PREFERS = ("more", "less")
"""Whether the larger or the smaller second element wins where the first ones are equal."""


def several(p: Program, types: Sequence[ElementType], prefers: str = "more") -> HloComputation:
    """Adds a computation of several accumulators: the largest first element, and the others that came with it.

    Where first elements are equal, `prefers` chooses by the second ones, and so on, so that every order of combining
    gives the same.
    """
    n = len(types)
    wins, wins_or_equal = {"more": ("GT", "GE"), "less": ("LT", "LE")}[prefers]

    def root(made: HloComputation, *all_parameters: HloInstruction) -> HloInstruction:
        left, right = all_parameters[:n], all_parameters[n:]
        takes = made.add(Opcode.COMPARE, left[-1], right[-1], direction=wins_or_equal)
        for number, (a, b) in reversed(list(enumerate(zip(left[:-1], right[:-1], strict=True)))):
            same = made.add(Opcode.COMPARE, a, b, direction="EQ")
            above = made.add(Opcode.COMPARE, a, b, direction=wins if number else "GT")
            takes = made.add(Opcode.OR, above, made.add(Opcode.AND, same, takes))
        return made.add(Opcode.TUPLE, *(made.add(Opcode.SELECT, takes, a, b) for a, b in zip(left, right, strict=True)))

    return p.computation("largest", [*types, *types], root)
