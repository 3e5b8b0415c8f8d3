"""One change in a program: another number, attribute, operand or op, or one more result."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from xla_conformance.ops.twin_changes import attribute_changes
from xla_core.errors import InvalidArgumentError
from xla_core.hlo import (
    OPS,
    ElementType,
    HloComputation,
    HloInstruction,
    HloModule,
    Literal,
    Opcode,
    Shape,
    Trait,
)

_O = Opcode
_RELATED = {
    _O.ADD: _O.SUBTRACT,
    _O.SUBTRACT: _O.ADD,
    _O.MULTIPLY: _O.ADD,
    _O.DIVIDE: _O.REMAINDER,
    _O.REMAINDER: _O.DIVIDE,
    _O.MAXIMUM: _O.MINIMUM,
    _O.MINIMUM: _O.MAXIMUM,
    _O.AND: _O.OR,
    _O.OR: _O.XOR,
    _O.XOR: _O.AND,
    _O.NOT: _O.NEGATE,
    _O.NEGATE: _O.ABS,
    _O.ABS: _O.NEGATE,
    _O.SHIFT_LEFT: _O.SHIFT_RIGHT_LOGICAL,
    _O.SHIFT_RIGHT_ARITHMETIC: _O.SHIFT_RIGHT_LOGICAL,
    _O.SHIFT_RIGHT_LOGICAL: _O.SHIFT_RIGHT_ARITHMETIC,
}
"""An op for which a pass may take another one."""
_NAMES = {"x": "xyz", "y": "xyz", "z": "xyz", "v": "vw", "w": "vw", "p": "pq", "q": "pq"}
"""The parameters that have values of one kind."""


@dataclasses.dataclass(frozen=True)
class Change:
    """What becomes of the instruction of a number, in post-order.

    Attributes:
        attributes: those that are other ones.
        operands: the numbers of its operands.
        another: the operand that is an array of its own, which nothing else reads.
        is_result: whether it is a result, too.
    """

    number: int
    opcode: Opcode | None = None
    attributes: Mapping[str, Any] | None = None
    operands: Sequence[int] | None = None
    another: int | None = None
    is_result: bool = False


def changes(entry: HloComputation) -> Iterator[tuple[str, Change]]:
    """Yields (what is changed, how)."""
    order = entry.post_order()
    numbers = {i: n for n, i in enumerate(order)}
    for number, i in enumerate(order):
        for said, change in itertools.chain(_numbers(i), _attributes(i), _ops(i), _uses(i)):
            yield f"{said} in {i.name}", change(number)
        for one, other in itertools.combinations(range(len(i.operands)), 2):
            if _may_exchange(i, one, other):
                operands = [numbers[o] for o in i.operands]
                operands[one], operands[other] = operands[other], operands[one]
                yield f"operands {one} and {other} in {i.name}", Change(number, operands=operands)
        if i.operands and not i.is_root and i.shape.is_array:
            yield f"{i.name} as a result", Change(number, is_result=True)


_Make = Callable[[int], Change]


def _numbers(i: HloInstruction) -> Iterator[tuple[str, _Make]]:
    """Yields other constants, and arrays that are of one number but for one element."""
    if i.opcode is _O.CONSTANT:
        value = np.array(i.literal.array)
        for new in _others(i.shape.element_type, value.reshape(-1)[-1]):
            array = value.copy()
            array.reshape(-1)[-1] = new
            yield f"{new}", partial(Change, attributes={"literal": Literal(array, i.shape)})
    elif i.opcode is _O.BROADCAST and i.operand(0).opcode is _O.CONSTANT and i.shape.num_elements:
        array = np.full(i.shape.dimensions, i.operand(0).literal.array)
        for at in (-1, 0):
            almost = array.copy()
            almost.reshape(-1)[at] = next(_others(i.shape.element_type, array.reshape(-1)[0]))
            literal = Literal(almost, i.shape)
            of = partial(Change, opcode=_O.CONSTANT, attributes={"literal": literal}, operands=())
            yield f"one other number at {at}", of


def _others(element: ElementType, value: np.ndarray) -> Iterator[np.ndarray]:
    """Yields other numbers than this one."""
    wide: Any = value.astype(np.float64 if element.is_floating else object)
    numbers: list[Any]
    if element is ElementType.PRED:
        numbers = [not value]
    elif element.is_floating:
        numbers = [wide + 1, -wide, wide * 2, 0.5, 0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan]
    else:
        low, high = element.integer_range
        width = element.bit_width
        some = [wide + 1, wide - 1, -wide, wide * 2, -1, 0, 1, 2, low, high, width - 1, width]
        numbers = [n for n in some if low <= n <= high]
    seen = {value.tobytes()}
    for number in numbers:
        new = np.asarray(number).astype(element.dtype)
        if new.tobytes() not in seen:
            seen.add(new.tobytes())
            yield new


def _attributes(i: HloInstruction) -> Iterator[tuple[str, _Make]]:
    if i.opcode not in (_O.CONSTANT, _O.PARAMETER):
        for said, attributes in attribute_changes(i):
            yield said, partial(Change, attributes=attributes)


def _ops(i: HloInstruction) -> Iterator[tuple[str, _Make]]:
    opcode = _RELATED.get(i.opcode)
    if opcode is not None:
        yield str(opcode), partial(Change, opcode=opcode)


def _uses(i: HloInstruction) -> Iterator[tuple[str, _Make]]:
    """Yields uses of a parameter that are of another array, if it has more than one."""
    for at, operand in enumerate(i.operands):
        if operand.opcode is _O.PARAMETER and operand.name in _NAMES and _use_count(operand) > 1:
            yield f"another {operand.name}", partial(Change, another=at)


def _use_count(i: HloInstruction) -> int:
    return sum(o is i for user in dict.fromkeys(i.users) for o in user.operands)


def _may_exchange(i: HloInstruction, one: int, other: int) -> bool:
    operands = i.operand(one), i.operand(other)
    if Trait.COMMUTATIVE in OPS[i.opcode].traits or operands[0] is operands[1]:
        return False
    return operands[0].shape == operands[1].shape


# -- programs ----------------------------------------------------------------------------------------------------------


def changed(base: HloModule, change: Change) -> HloModule | None:
    """Returns the program with a change; None if that isn't a valid one. Shapes behind the change may be others."""
    made = HloModule("pattern")
    entry = made.add_computation(HloComputation("main"), entry=True)
    order = base.entry.post_order()
    parameters = [entry.parameter(n, p.shape, p.name) for n, p in enumerate(base.entry.parameters)]
    values: list[HloInstruction] = []
    for number, old in enumerate(order):
        if old.opcode is _O.PARAMETER:
            values.append(parameters[old.parameter_number])
            continue
        own = change if number == change.number else Change(number)
        sources = own.operands if own.operands is not None else [order.index(o) for o in old.operands]
        operands = [values[n] for n in sources]
        if own.another is not None:
            operands[own.another] = _another(entry, operands[own.another])
        attributes = {**old.attributes, **(own.attributes or {})} if own.opcode is None else dict(own.attributes or {})
        attributes = {name: _copied(made, value) for name, value in attributes.items()}
        new = _added(entry, own.opcode or old.opcode, operands, attributes, old.shape)
        if new is None:
            return None
        values.append(new)
    root = values[order.index(base.entry.root)]
    entry.set_root(entry.add(_O.TUPLE, root, values[change.number]) if change.is_result else root)
    return made


def _another(entry: HloComputation, parameter: HloInstruction) -> HloInstruction:
    """A parameter of the same kind."""
    taken = {p.name: p for p in entry.parameters if p.shape == parameter.shape and p is not parameter}
    names = [name for name in _NAMES[parameter.name] if name != parameter.name]
    for name in names:
        if name in taken:
            return taken[name]
    return entry.parameter(len(entry.parameters), parameter.shape, names[0])


def _copied(module: HloModule, value: Any) -> Any:
    """The attribute's value, with copies of computations that belong to the module."""
    if isinstance(value, HloComputation):
        return module.add_computation(value.clone(module.unique_name(value.name)))
    return value


def _added(
    entry: HloComputation, opcode: Opcode, operands: Sequence[HloInstruction], attributes: dict[str, Any], shape: Shape
) -> HloInstruction | None:
    for given in (shape, None):
        try:
            return entry.add(opcode, *operands, shape=given, **attributes)
        except (InvalidArgumentError, IndexError):
            continue
    return None
