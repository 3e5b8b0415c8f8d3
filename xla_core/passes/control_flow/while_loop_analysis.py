"""Finds the trip count of a while loop (XLA: xla/service/while_loop_analysis.h)."""

from __future__ import annotations

import dataclasses

from xla_core.hlo.instruction import HloInstruction
from xla_core.hlo.opcode import Opcode
from xla_core.passes.patterns import MIRRORED, uniform_value
from xla_core.passes.while_util import Loop


@dataclasses.dataclass(frozen=True, slots=True)
class Induction:
    """An induction variable: iteration k = 0, 1, ... runs if `start + k * step DIRECTION bound`.

    `index` is the variable's index in the state; `direction` is that of the comparison ("LT", ...).
    """

    index: int
    start: int
    step: int
    bound: int
    direction: str


def induction(loop: Loop) -> Induction | None:
    """The variable that the condition compares with a constant bound; None if start or step is not constant."""
    compare = loop.condition.root
    if compare.opcode != Opcode.COMPARE:
        return None
    left, right = compare.operands
    direction = compare.attributes["direction"]
    index, bound = _state_index(left, loop), _known(right, loop)
    if index is None or bound is None:
        index, bound, direction = _state_index(right, loop), _known(left, loop), MIRRORED[direction]
    if index is None or bound is None or not loop.instruction.shape.tuple_shapes[index].element_type.is_integral:
        return None
    initial = loop.initial(index)
    start = None if initial is None else uniform_value(initial)
    step = _step(loop, index)
    return None if start is None or step is None else Induction(index, int(start), step, bound, direction)


def _state_index(value: HloInstruction, loop: Loop) -> int | None:
    if value.opcode == Opcode.GET_TUPLE_ELEMENT and value.operands[0] is loop.condition.parameters[0]:
        return value.tuple_index
    return None


def _known(value: HloInstruction, loop: Loop) -> int | None:
    """The value of a constant, or of an element of the state that starts as one and never changes; else None."""
    index = _state_index(value, loop)
    if index is not None:
        initial = loop.initial(index)
        if initial is None or not loop.is_unchanged(index):
            return None
        value = initial
    found = uniform_value(value) if value.shape.element_type.is_integral and not value.shape.rank else None
    return None if found is None else int(found)


def _step(loop: Loop, index: int) -> int | None:
    result = loop.results[index]
    if result.opcode not in (Opcode.ADD, Opcode.SUBTRACT) or result.shape.rank:
        return None
    left, right = result.operands
    if result.opcode == Opcode.ADD and uniform_value(left) is not None:
        left, right = right, left
    value = uniform_value(right)
    is_variable = (
        left.opcode == Opcode.GET_TUPLE_ELEMENT
        and left.operands[0] is loop.body.parameters[0]
        and left.tuple_index == index
    )
    if value is None or not is_variable:
        return None
    return int(value) if result.opcode == Opcode.ADD else -int(value)


def trip_count(loop: Loop) -> int | None:
    """How many times the body runs; None if that is unknown or the variable would overflow before the loop ends."""
    found = induction(loop)
    if found is None:
        return _constant_condition(loop)
    start, step, bound, direction = found.start, found.step, found.bound, found.direction
    element_type = loop.instruction.shape.tuple_shapes[found.index].element_type
    if not _holds(start, direction, bound):
        return 0
    if direction == "EQ":
        return 1 if step else None
    if direction in ("LE", "GE"):
        bound, direction = (bound + 1, "LT") if direction == "LE" else (bound - 1, "GT")
    if direction == "NE":
        if not step or (bound - start) % step or (bound - start) // step < 0:
            return None
        return (bound - start) // step
    forward = step if direction == "LT" else -step
    distance = bound - start if direction == "LT" else start - bound
    if forward <= 0:
        return None
    count = -(-distance // forward)
    last = start + count * step
    least, greatest = element_type.least, element_type.greatest
    return count if least is not None and greatest is not None and least <= last <= greatest else None


def _constant_condition(loop: Loop) -> int | None:
    value = uniform_value(loop.condition.root)
    return 0 if value is not None and not bool(value) else None


def _holds(a: int, direction: str, b: int) -> bool:
    return {"EQ": a == b, "NE": a != b, "LT": a < b, "LE": a <= b, "GT": a > b, "GE": a >= b}[direction]
