"""Programs that differ from a pattern in one number, dimension, use or order of operands, or have one more result.

A pass that looks for a pattern may not look at all of its parts, so each part is changed by itself. Where a pattern
uses a value twice, a pass may look through an op before one of the uses, so each use is also one of the value times a
number, plus a number, negated or turned. A pass may also not see that something else reads a value that it computes no
more, or changes, so each value is a result by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np

from xla_core.hlo import OPS, HloInstruction, HloModule, Literal, Opcode, Trait
from xla_core.passes import Builder

_Use = Callable[[Builder, HloInstruction], HloInstruction]
_BEFORE_A_USE: Mapping[str, _Use] = {
    "times a number": lambda b, value: b.add(Opcode.MULTIPLY, value, b.constant(1.75, value.shape)),
    "plus a number": lambda b, value: b.add(Opcode.ADD, value, b.constant(0.75, value.shape)),
    "negated": lambda b, value: b.add(Opcode.NEGATE, value),
    "turned": lambda b, value: b.transpose(value, (1, 0)),
}
"""What a use of a value may be of instead."""

_OVER_ONE_DIMENSION = (Opcode.REDUCE, Opcode.BROADCAST)


def variations(pattern: HloModule) -> dict[str, HloModule]:
    """Returns the programs by what they have instead of the pattern. Their results have the pattern's shapes."""
    made = {}
    for instruction in pattern.entry.post_order():
        for said, change in _changes(instruction):
            module = pattern.clone()
            change(next(i for i in module.entry.instructions if i.name == instruction.name))
            made[f"{said} in {instruction.name}"] = module
    return made


def readings(pattern: HloModule, which: slice = slice(None)) -> dict[str, HloModule]:
    """Returns programs by the value within the pattern that is a result, too.

    Args:
        which: which of the values.
    """
    made = {}
    root = pattern.entry.root
    known = [root, *(root.operands if root.opcode is Opcode.TUPLE else ())]
    within = [i for i in pattern.entry.post_order() if i.operands and i.shape.is_array and i not in known]
    for instruction in within[which]:
        module = pattern.clone()
        entry = module.entry
        results = entry.root.operands if entry.root.opcode is Opcode.TUPLE else (entry.root,)
        value = next(i for i in entry.instructions if i.name == instruction.name)
        entry.set_root(entry.add(Opcode.TUPLE, *results, value))
        made[f"{instruction.name} as another result"] = module
    return made


def _changes(i: HloInstruction) -> Iterator[tuple[str, Callable[[HloInstruction], None]]]:
    if i.opcode is Opcode.CONSTANT and i.shape.element_type.is_floating and not i.shape.rank:
        value = float(np.asarray(i.literal.array))
        if np.isfinite(value) and not any(Trait.ACCUMULATES in OPS[user.opcode].traits for user in i.users):
            yield "another number", _with_number(value * 1.5 if value else 0.5)
            yield "a number beside it", _with_number(value * 1.0625 if value else 0.0625)
    if i.opcode in _OVER_ONE_DIMENSION and len(i.attribute("dimensions")) == 1:
        array = i.operand(0) if i.opcode is Opcode.REDUCE else i
        if _is_square(array):
            yield "the other dimension", _along(1 - i.attribute("dimensions")[0])
    if _is_ordered(i) and i.operands[-1] is not i.operands[-2] and i.operands[-1].shape == i.operands[-2].shape:
        yield "exchanged operands", _exchange
    for at, operand in enumerate(i.operands):
        if _is_used_twice(operand):
            for said, make in _BEFORE_A_USE.items():
                if said != "turned" or _is_square(operand):
                    yield f"operand {at} {said}", _with_use(at, make)


def _is_used_twice(i: HloInstruction) -> bool:
    """Whether an array that isn't one number is used twice, by one instruction or by two."""
    if not i.shape.is_array or not i.shape.element_type.is_floating or _is_one_number(i):
        return False
    return sum(o is i for user in i.users for o in user.operands) > 1


def _is_one_number(i: HloInstruction) -> bool:
    source = i.operands[0] if i.opcode is Opcode.BROADCAST else i
    return source.opcode is Opcode.CONSTANT and source.literal.is_splat


def _is_square(i: HloInstruction) -> bool:
    return i.shape.rank == 2 and len(set(i.shape.dimensions)) == 1


def _is_ordered(i: HloInstruction) -> bool:
    """Whether the last two operands of an elementwise op have an order."""
    op = OPS[i.opcode]
    return op.is_elementwise and len(i.operands) > 1 and Trait.COMMUTATIVE not in op.traits


def _with_number(value: float) -> Callable[[HloInstruction], None]:
    def change(i: HloInstruction) -> None:
        i.attributes["literal"] = Literal(np.asarray(value, i.shape.dtype))

    return change


def _along(dimension: int) -> Callable[[HloInstruction], None]:
    def change(i: HloInstruction) -> None:
        i.attributes["dimensions"] = (dimension,)

    return change


def _exchange(i: HloInstruction) -> None:
    first, second = len(i.operands) - 2, len(i.operands) - 1
    one, other = i.operand(first), i.operand(second)
    i.replace_operand(first, other)
    i.replace_operand(second, one)


def _with_use(at: int, make: _Use) -> Callable[[HloInstruction], None]:
    def change(i: HloInstruction) -> None:
        assert i.parent is not None
        i.replace_operand(at, make(Builder(i.parent), i.operand(at)))

    return change
