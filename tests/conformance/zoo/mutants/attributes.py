"""Mutants that read an attribute of an op wrong: each attribute of the op table, swapped, dropped and perturbed."""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from tests.conformance.zoo.kernels import WRONG, Arrays, changed, kernel_mutant, recomputed
from tests.conformance.zoo.mutant import Mutant
from tests.conformance.zoo.reasons import is_ordered, kernel_ops, reason
from xla_core.hlo import OPS, Attribute, AttributeKind, HloComputation, HloInstruction, Opcode

Change = Callable[[Any], Any]
Kind = AttributeKind

HINTS = {
    "algorithm": "a dot's algorithm allows other roundings",
    "indices_are_sorted": "a promise of the program",
    "is_associative": "a permission",
    "is_stable": "see the order of ties in `sorting`",
    "operand_precision": "it allows other roundings",
    "result_accuracy": "it allows other roundings",
    "unique_indices": "a promise of the program",
    "conv_kind": "a hint",
    "inferred_dimension": "a note of the frontend",
    "result_layout": "a layout",
    "type": "the operands' type implies it, but for a total order, which has mutants of its own",
}
"""Attributes that change no value, with the reason."""

_ENUMS = {
    "direction": ("EQ", "NE", "LT", "LE", "GT", "GE"),
    "transpose_a": ("NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"),
    "fft_type": ("FFT", "IFFT", "RFFT", "IRFFT"),
}


def _swap(values: tuple[Any, ...]) -> Any:
    return (values[1], values[0], *values[2:]) if len(values) > 1 else None


def _last(values: tuple[Any, ...], change: Change) -> Any:
    return (*values[:-1], change(values[-1])) if values else None


def _first(values: tuple[Any, ...], change: Change) -> Any:
    return (change(values[0]), *values[1:]) if values else None


def _with(**fields: Any) -> Change:
    return lambda value: dataclasses.replace(value, **fields)


def _exchange(one: str, other: str) -> Change:
    return lambda v: dataclasses.replace(v, **{one: getattr(v, other), other: getattr(v, one)})


def _of_each(change: Change) -> Change:
    return lambda values: tuple(map(change, values))


_DIMENSION_NUMBERS = {
    "input batch and feature swapped": _exchange("input_batch", "input_feature"),
    "kernel input and output feature swapped": _exchange("kernel_input_feature", "kernel_output_feature"),
    "output batch and feature swapped": _exchange("output_batch", "output_feature"),
    "input spatial dimensions swapped": lambda v: dataclasses.replace(v, input_spatial=_swap(v.input_spatial) or ()),
    "kernel spatial dimensions swapped": lambda v: dataclasses.replace(v, kernel_spatial=_swap(v.kernel_spatial) or ()),
    "output spatial dimensions swapped": lambda v: dataclasses.replace(v, output_spatial=_swap(v.output_spatial) or ()),
    "last input spatial dimension and feature swapped": lambda v: dataclasses.replace(
        v, input_feature=v.input_spatial[-1], input_spatial=(*v.input_spatial[:-1], v.input_feature)
    ),
    "last kernel spatial dimension and input feature swapped": lambda v: dataclasses.replace(
        v, kernel_input_feature=v.kernel_spatial[-1], kernel_spatial=(*v.kernel_spatial[:-1], v.kernel_input_feature)
    ),
    "last output spatial dimension and feature swapped": lambda v: dataclasses.replace(
        v, output_feature=v.output_spatial[-1], output_spatial=(*v.output_spatial[:-1], v.output_feature)
    ),
}

_WINDOW = {
    "stride taken as 1": _of_each(_with(stride=1)),
    "low padding taken as 0": _of_each(_with(padding_low=0)),
    "high padding taken as 0": _of_each(_with(padding_high=0)),
    "low and high padding swapped": _of_each(_exchange("padding_low", "padding_high")),
    "negative padding taken as 0": _of_each(
        lambda d: dataclasses.replace(d, padding_low=max(d.padding_low, 0), padding_high=max(d.padding_high, 0))
    ),
    "base dilation taken as 1": _of_each(_with(base_dilation=1)),
    "window dilation taken as 1": _of_each(_with(window_dilation=1)),
    "base and window dilation swapped": _of_each(_exchange("base_dilation", "window_dilation")),
    "reversal ignored": _of_each(_with(window_reversal=False)),
    "window always reversed": _of_each(_with(window_reversal=True)),
    "size one too small": _of_each(lambda d: dataclasses.replace(d, size=max(d.size - 1, 1))),
    "first two dimensions swapped": _swap,
    "stride of the last dimension taken for all": lambda w: tuple(
        dataclasses.replace(d, stride=w[-1].stride) for d in w
    ),
    "base dilation of the last dimension ignored": lambda w: _last(w, _with(base_dilation=1)),
    "window dilation of the first dimension ignored": lambda w: _first(w, _with(window_dilation=1)),
    "high padding of the last dimension ignored": lambda w: _last(w, _with(padding_high=0)),
}

_SLICE = {
    "stride taken as 1": _of_each(_with(stride=1)),
    "stride of the last dimension taken as 1": lambda v: _last(v, _with(stride=1)),
    "stride of the first dimension taken as 1": lambda v: _first(v, _with(stride=1)),
    "start taken as 0": _of_each(_with(start=0)),
    "start of the last dimension taken as 0": lambda v: _last(v, _with(start=0)),
    "start of the first dimension taken as 0": lambda v: _first(v, _with(start=0)),
    "begins one late": lambda v: _last(v, lambda d: dataclasses.replace(d, start=min(d.start + 1, d.limit))),
    "first two dimensions swapped": _swap,
    "start rounded down to a multiple of 16": _of_each(lambda d: dataclasses.replace(d, start=d.start // 16 * 16)),
}

_PADDING = {
    "low and high swapped": _of_each(_exchange("low", "high")),
    "interior taken as 0": _of_each(_with(interior=0)),
    "interior of the last dimension taken as 0": lambda v: _last(v, _with(interior=0)),
    "low taken as 0": _of_each(_with(low=0)),
    "high taken as 0": _of_each(_with(high=0)),
    "negative low taken as 0": _of_each(lambda d: dataclasses.replace(d, low=max(d.low, 0))),
    "negative high taken as 0": _of_each(lambda d: dataclasses.replace(d, high=max(d.high, 0))),
    "interior above 1 taken as 1": _of_each(lambda d: dataclasses.replace(d, interior=min(d.interior, 1))),
    "first two dimensions swapped": _swap,
}

_INTS = {
    "first two swapped": _swap,
    "reversed": lambda v: v[::-1],
    "first left out": lambda v: v[1:] if v else None,
    "last left out": lambda v: v[:-1] if v else None,
    "left out": lambda v: (),
    "sorted": lambda v: tuple(sorted(v)),
    "counted from 0": lambda v: tuple(range(len(v))),
}

_SET_OPS = {Opcode.REVERSE, Opcode.REDUCE}
"""Ops whose dimensions are a set: their order has no meaning, and some may be left out."""

_OF_ORDER = {"first two swapped", "reversed", "sorted"}
_OF_COUNT = {"first left out", "last left out", "left out"}

Misread = Callable[[HloInstruction], "dict[str, Any] | None"]
"""instruction -> the attributes that the kernel takes instead, or None where they are the same."""


def _changed(name: str, change: Change, instruction: HloInstruction) -> dict[str, Any] | None:
    value = instruction.attribute(name)
    if value is None:
        return None
    try:
        other = change(value)
    except (IndexError, TypeError, ValueError):
        return None
    return None if other is None or other == value else {name: other}


def _next_dimension(name: str, place: int, instruction: HloInstruction) -> dict[str, Any] | None:
    """Takes the dimension after that at a place of an attribute."""
    value = instruction.attribute(name)
    operand = instruction.operands[-1 if name.startswith(("rhs", "start", "scatter")) else 0]
    if not value or operand.shape.rank < 2:
        return None
    wrong = list(value)
    wrong[place] = (wrong[place] + 1) % operand.shape.rank
    return {name: tuple(wrong)}


def _exchanged(one: str, other: str, instruction: HloInstruction) -> dict[str, Any] | None:
    """Takes the first dimension of an attribute for that of another attribute."""
    a, b = instruction.attribute(one), instruction.attribute(other)
    return {one: (b[0], *a[1:]), other: (a[0], *b[1:])} if a and b and a[0] != b[0] else None


def _wrong(misread: Misread, instruction: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    attributes = misread(instruction)
    return recomputed(instruction, operands, right, **attributes) if attributes else None


def _applies(misread: Misread, instruction: HloInstruction) -> bool:
    """Whether the kernel takes other attributes, which the op accepts."""
    attributes = misread(instruction)
    if not attributes:
        return False
    try:
        changed(instruction, instruction.opcode, tuple(sorted(attributes.items())))
    except WRONG:
        return False
    return True


def _swapped_parameters(computation: HloComputation) -> HloComputation | None:
    """The computation with its first two parameters exchanged."""
    parameters = computation.parameters
    if len(parameters) < 2 or parameters[0].shape != parameters[1].shape:
        return None
    copy = HloComputation(computation.name)
    made: dict[HloInstruction, HloInstruction] = {}
    numbers = [1, 0, *range(2, len(parameters))]
    fresh = [copy.parameter(n, p.shape) for n, p in enumerate(parameters)]
    for parameter, number in zip(parameters, numbers, strict=True):
        made[parameter] = fresh[number]
    for instruction in computation.post_order():
        if instruction not in made:
            made[instruction] = copy.add_instruction(instruction.clone([made[o] for o in instruction.operands]))
    copy.set_root(made[computation.root])
    return copy


def _changes(name: str, attribute: Attribute) -> dict[str, Change]:
    """The changes of an attribute, by its kind."""
    kind = attribute.kind
    if name in _ENUMS:
        return {f"taken as {other}": lambda _, other=other: other for other in _ENUMS[name]}
    return {
        Kind.BOOL: {"inverted": lambda v: not v, "taken as true": lambda v: True, "taken as false": lambda v: False},
        Kind.INT: {"one too large": lambda v: v + 1, "one too small": lambda v: v - 1, "taken as 1": lambda v: 1},
        Kind.FLOAT: {"doubled": lambda v: 2 * v},
        Kind.INTS: _INTS,
        Kind.INT_LISTS: {"first two swapped": _swap, "last left out": lambda v: v[:-1]},
        Kind.WINDOW: _WINDOW,
        Kind.SLICE: _SLICE,
        Kind.PADDING: _PADDING,
        Kind.DIM_LABELS: _DIMENSION_NUMBERS,
        Kind.COMPUTATION: {"its first two parameters swapped": _swapped_parameters},
    }.get(kind, {})


def _mutants() -> Iterator[Mutant]:
    for opcode in map(Opcode, kernel_ops()):
        op = OPS[opcode]
        for name, attribute in op.attributes.items():
            if name in HINTS:
                continue
            for what, change in _changes(name, attribute).items():
                if _is_possible(opcode, name, attribute, what):
                    yield _mutant(opcode, name, what, partial(_changed, name, change))
            if attribute.kind is Kind.INTS and "sizes" not in name and "length" not in name:
                yield _mutant(opcode, name, "first dimension's next taken", partial(_next_dimension, name, 0))
                yield _mutant(opcode, name, "last dimension's next taken", partial(_next_dimension, name, -1))
        names = [n for n, a in op.attributes.items() if a.kind is Kind.INTS and "sizes" not in n]
        for one, other in itertools.combinations(names, 2):
            yield _mutant(opcode, one, f"exchanged with {other}", partial(_exchanged, one, other))


def _is_possible(opcode: Opcode, name: str, attribute: Attribute, what: str) -> bool:
    """Whether a change of the order or the number of dimensions gives other dimensions, which the op may have."""
    if attribute.kind is not Kind.INTS:
        return True
    if what in _OF_ORDER:
        return opcode not in _SET_OPS and is_ordered(opcode, name)
    return what not in _OF_COUNT or opcode in _SET_OPS


def _mutant(opcode: Opcode, name: str, what: str, misread: Misread) -> Mutant:
    label = re.sub(r"[^\w]+", "-", what)
    fault = f"`{opcode}` uses `{name}` wrong: {what}."
    wrong, applies = partial(_wrong, misread), partial(_applies, misread)
    breaks = f"{opcode}.{name}"
    return kernel_mutant(f"attributes/{opcode}/{name}/{label}", breaks, fault, str(opcode), wrong, applies=applies)


MUTANTS = [mutant for mutant in _mutants() if not reason(mutant.name)]
