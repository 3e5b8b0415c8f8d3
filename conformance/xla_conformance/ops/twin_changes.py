"""What two instructions of an op may differ in: each attribute by its kind in the op table, and each operand."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from xla_core.hlo import (
    Attribute,
    AttributeKind,
    ConvolutionDimensionNumbers,
    ElementType,
    HloComputation,
    HloInstruction,
    Literal,
    Opcode,
    PaddingDimension,
    SliceDimension,
    WindowDimension,
)

_KIND = AttributeKind
_WITHOUT_EFFECT = ("operand_precision", "result_accuracy", "algorithm", "is_composite", "conv_kind")
"""Attributes that allow other results, but never ask for one."""
_PROMISES = ("indices_are_sorted", "unique_indices", "is_associative", "is_stable", "num_carries")
"""Attributes that promise what may not hold, leave an order free, or say what other attributes mean."""


def attribute_changes(i: HloInstruction) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yields (what is changed, attributes instead), one attribute at a time. Some of them are not valid.

    Two attributes of dimensions also exchange their values, so that each of an op's dimension numbers is valid.
    """
    lists: dict[str, tuple[int, ...]] = {}
    for name, attribute in i.op.attributes.items():
        if name in (*_WITHOUT_EFFECT, *_PROMISES):
            continue
        value = i.attributes.get(name, attribute.default)
        if value is None:
            continue
        for number, new in enumerate(_values(attribute, value, _rank(i))):
            yield f"{name} {number}", {name: new}
        if attribute.kind is _KIND.INTS:
            lists[name] = value
    for (one, first), (other, second) in itertools.combinations(lists.items(), 2):
        if first != second and len(first) == len(second):
            yield f"{one} and {other}", {one: second, other: first}
    together = {name: value for name, value in lists.items() if len(value) > 1}
    if len(together) > 1:
        yield "all lists", {name: value[::-1] for name, value in together.items()}


def _rank(i: HloInstruction) -> int:
    return max((s.rank for j in (i, *i.operands) for s in j.shape.array_leaves()), default=0)


def _values(attribute: Attribute, value: Any, rank: int) -> Iterator[Any]:
    match attribute.kind:
        case _KIND.BOOL:
            yield not value
        case _KIND.INT:
            yield from (n for n in (value - 1, value + 1) if n >= 0)
        case _KIND.FLOAT:
            yield value * 2 + 0.5
        case _KIND.ENUM:
            yield from (v for v in attribute.values if v != value)
        case _KIND.INTS:
            yield from _other_lists(value, rank)
        case _KIND.WINDOW:
            yield from _one_changed(value, _other_windows)
        case _KIND.SLICE:
            yield from _one_changed(value, _other_slices)
        case _KIND.PADDING:
            yield from _one_changed(value, _other_paddings)
        case _KIND.DIM_LABELS:
            yield from _other_labels(value)
        case _KIND.LITERAL:
            yield from _other_literals(value)
        case _KIND.COMPUTATION:
            yield from other_computations(value)
        case _KIND.COMPUTATIONS:
            yield value[::-1]
            for number, computation in enumerate(value):
                for new in other_computations(computation):
                    yield (*value[:number], new, *value[number + 1 :])


def _one_changed(values: Sequence[Any], others: Callable[[Any], Iterator[Any]]) -> Iterator[tuple[Any, ...]]:
    """Yields the values with one of them changed."""
    for number, value in enumerate(values):
        for new in others(value):
            yield (*values[:number], new, *values[number + 1 :])


def _other_lists(value: tuple[int, ...], rank: int) -> Iterator[tuple[int, ...]]:
    """Yields lists in another order, and with one number changed, that is none of the others or one more or less."""
    for n in range(len(value) - 1):
        yield (*value[:n], value[n + 1], value[n], *value[n + 2 :])
    for number, new in itertools.product(range(len(value)), range(rank)):
        if new not in value:
            yield (*value[:number], new, *value[number + 1 :])
    for number, change in itertools.product(range(len(value)), (-1, 1)):
        yield (*value[:number], value[number] + change, *value[number + 1 :])


def _other_windows(one: WindowDimension) -> Iterator[WindowDimension]:
    yield dataclasses.replace(one, padding_low=one.padding_low + 1, padding_high=one.padding_high - 1)
    yield dataclasses.replace(one, padding_low=one.padding_low - 1, padding_high=one.padding_high + 1)
    yield dataclasses.replace(one, window_reversal=not one.window_reversal)
    yield dataclasses.replace(
        one, window_dilation=one.window_dilation + 1, padding_high=one.padding_high + one.size - 1
    )
    yield dataclasses.replace(one, base_dilation=one.base_dilation + 1)
    yield dataclasses.replace(one, stride=one.stride + 1)
    yield dataclasses.replace(one, size=one.size + 1, padding_high=one.padding_high + one.window_dilation)


def _other_slices(one: SliceDimension) -> Iterator[SliceDimension]:
    yield from (SliceDimension(one.start + n, one.limit + n, one.stride) for n in (-1, 1))
    yield SliceDimension(one.start, one.limit, one.stride + 1)
    yield SliceDimension(one.start, one.limit - 1, one.stride)


def _other_paddings(one: PaddingDimension) -> Iterator[PaddingDimension]:
    yield from (PaddingDimension(one.low + n, one.high - n, one.interior) for n in (-1, 1))
    yield PaddingDimension(one.low, one.high, one.interior + 1)


def _other_labels(labels: ConvolutionDimensionNumbers) -> Iterator[ConvolutionDimensionNumbers]:
    """Yields labels in which two dimensions of an array have changed places."""
    for of in ("input", "kernel", "output"):
        names = [f.name for f in dataclasses.fields(labels) if f.name.startswith(of) and not f.name.endswith("spatial")]
        spatial = f"{of}_spatial"
        places = [getattr(labels, n) for n in names] + list(getattr(labels, spatial))
        for a, b in itertools.combinations(places, 2):
            turned = {a: b, b: a}
            changed: dict[str, Any] = {n: turned.get(getattr(labels, n), getattr(labels, n)) for n in names}
            changed[spatial] = tuple(turned.get(d, d) for d in getattr(labels, spatial))
            yield dataclasses.replace(labels, **changed)


def _other_literals(literal: Literal) -> Iterator[Literal]:
    """Yields literals whose last element has another sign, or one other bit."""
    array = np.array(literal.value)
    if not array.size:
        return
    for at, mask in ((-1, 0x80), (0, 0x01)) if array.dtype != bool else ((0, 0x01),):
        new = array.copy()
        raw = new.reshape(-1).view(np.uint8)
        raw[at] ^= mask
        yield Literal(new, literal.shape)


def other_computations(computation: HloComputation) -> Iterator[HloComputation]:
    """Yields computations of the same parameters: with two exchanged, another root, or another constant.

    What orders or combines elements still does so in any order, so other instructions stay, and so does a root of
    several results.
    """
    if computation.root.shape.is_tuple:
        return
    parameters = computation.parameters
    for one in range(0, len(parameters) - 1, 2):
        if parameters[one].shape == parameters[one + 1].shape:
            made = computation.clone()
            _exchange(made, one, one + 1)
            yield made
    for number, instruction in enumerate(computation.post_order()):
        if instruction is computation.root or instruction.opcode is Opcode.CONSTANT:
            for change in _instruction_changes(instruction):
                made = computation.clone()  # its instructions are in post-order
                old = made.instructions[number]
                made.replace_with(old, made.add_instruction(change(old)))
                yield made


def _exchange(computation: HloComputation, one: int, other: int) -> None:
    first, second = (computation.parameters[n] for n in (one, other))
    uses = [(u, n, o) for u in dict.fromkeys((*first.users, *second.users)) for n, o in enumerate(u.operands)]
    for user, number, operand in uses:
        if operand in (first, second):
            user.replace_operand(number, second if operand is first else first)
    if computation.root in (first, second):
        computation.set_root(second if computation.root is first else first)


def _instruction_changes(i: HloInstruction) -> Iterator[Callable[[HloInstruction], HloInstruction]]:
    """Yields functions that make another instruction of the same operands."""
    if i.opcode is Opcode.COMPARE:
        order = ("LT", "GT", "LE", "GE", "EQ", "NE")
        other = order[order.index(str(i.attribute("direction"))) ^ 1]
        yield lambda old: old.clone(direction=other)
    elif not i.shape.is_tuple and i.shape.element_type is not ElementType.PRED and i.opcode in _OTHER_OPCODES:
        opcode = _OTHER_OPCODES[i.opcode]
        yield lambda old: HloInstruction(opcode, old.shape, old.operands, {})
    elif i.opcode is Opcode.CONSTANT and (i.shape.element_type.is_integral or i.shape.element_type.is_floating):
        literal = Literal(np.asarray(i.literal.array) + np.ones((), i.shape.dtype))
        yield lambda old: old.clone(literal=literal)


_OTHER_OPCODES = {
    Opcode.ADD: Opcode.MAXIMUM,
    Opcode.MAXIMUM: Opcode.MINIMUM,
    Opcode.MINIMUM: Opcode.MAXIMUM,
    Opcode.MULTIPLY: Opcode.ADD,
    Opcode.AND: Opcode.OR,
    Opcode.OR: Opcode.AND,
    Opcode.XOR: Opcode.OR,
}
"""Ops that reductions in any order may use instead."""
