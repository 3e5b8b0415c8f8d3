"""While loops whose state is a tuple: the dependences of its elements, and the trip count of the loop.

(XLA: xla/service/while_loop_analysis.h.)
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
from collections.abc import Sequence

from xla_core.hlo.ir.computation import HloComputation
from xla_core.hlo.ir.effects import EffectAnalysis
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.attributes import MIRRORED_DIRECTION
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.element_type import ElementType
from xla_core.sizes import ceil_div

_SAME = (Opcode.COPY, Opcode.BITCAST)


@dataclasses.dataclass(frozen=True, slots=True)
class Loop:
    """A while loop whose state is a tuple.

    Body and condition use the tuple only through get-tuple-element, and the root of the body is a tuple instruction.
    """

    instruction: HloInstruction
    body: HloComputation
    condition: HloComputation

    @staticmethod
    def of(instruction: HloInstruction) -> Loop | None:
        """The loop of a while instruction, or None if it does not have the form that `Loop` requires."""
        if instruction.opcode != Opcode.WHILE or not instruction.shape.is_tuple:
            return None
        loop = Loop(instruction, instruction.attribute("body"), instruction.attribute("condition"))
        for computation in (loop.body, loop.condition):
            parameter = computation.parameters[0]
            if parameter.is_root or any(u.opcode != Opcode.GET_TUPLE_ELEMENT for u in parameter.users):
                return None
        return loop if loop.body.root.opcode == Opcode.TUPLE else None

    @property
    def size(self) -> int:
        """The number of elements of the state."""
        return len(self.instruction.shape.tuple_shapes)

    @property
    def results(self) -> Sequence[HloInstruction]:
        """The instructions that compute the next value of each element, in the body."""
        return self.body.root.operands

    def initial(self, index: int) -> HloInstruction | None:
        """The initial value of an element if the initial state is a tuple instruction, else None."""
        state = self.instruction.operands[0]
        return state.operands[index] if state.opcode == Opcode.TUPLE else None

    def elements(self, computation: HloComputation) -> dict[int, list[HloInstruction]]:
        """The get-tuple-elements of the state in the body or the condition, by index."""
        found: dict[int, list[HloInstruction]] = {}
        for user in computation.parameters[0].users:
            found.setdefault(user.tuple_index, []).append(user)
        return found

    def is_unchanged(self, index: int) -> bool:
        """Whether the body returns the element unchanged."""
        return _state_index(self.results[index], self.body) == index

    def dependencies(self, analysis: EffectAnalysis) -> tuple[list[set[int]], set[int]]:
        """The elements of the state that each result of the body depends on, and those that its effects depend on."""
        order = self.body.post_order()
        sets: dict[HloInstruction, frozenset[int]] = {}
        parameter = self.body.parameters[0]
        empty: frozenset[int] = frozenset()
        effects: set[int] = set()
        for instruction in order:
            found = empty
            if (index := _state_index(instruction, self.body)) is not None:
                found = frozenset((index,))
            elif instruction is not parameter:
                for operand in instruction.operands:
                    more = sets[operand]
                    if not more <= found:
                        found = found | more if found else more
            sets[instruction] = found
            if instruction is not self.body.root and analysis.of(instruction):
                effects |= found
        return [set(sets[r]) for r in self.results], effects


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
    left, right = map(_peeled, compare.operands)
    direction = compare.attribute("direction")
    index, bound = _state_index(left, loop.condition), _known(right, loop)
    if index is None or bound is None:
        index, bound = _state_index(right, loop.condition), _known(left, loop)
        direction = MIRRORED_DIRECTION[direction]
    if index is None or bound is None or not loop.instruction.shape.tuple_shapes[index].element_type.is_integral:
        return None
    initial = loop.initial(index)
    start = None if initial is None else _constant(initial)
    step = _step(loop, index)
    return None if start is None or step is None else Induction(index, start, step, bound, direction)


def _state_index(value: HloInstruction, computation: HloComputation) -> int | None:
    if value.opcode == Opcode.GET_TUPLE_ELEMENT and value.operands[0] is computation.parameters[0]:
        return value.tuple_index
    return None


def _peeled(value: HloInstruction) -> HloInstruction:
    """Follows copies and ops that rearrange one element to the original scalar."""
    while value.shape.is_array and value.shape.num_elements == 1 and (value.op.rearranges or value.opcode in _SAME):
        value = value.operands[0]
    return value


def _constant(value: HloInstruction) -> int | None:
    """The value of an integer or pred constant of one element; else None."""
    value = _peeled(value)
    kind = value.shape.element_type
    if value.opcode != Opcode.CONSTANT or not (kind.is_integral or kind is ElementType.PRED):
        return None
    return int(value.literal.item().real) if value.shape.num_elements == 1 else None


def _known(value: HloInstruction, loop: Loop) -> int | None:
    """The value of a constant, or of an element of the state that starts as one and never changes; else None."""
    index = _state_index(value, loop.condition)
    if index is None:
        return _constant(value)
    initial = loop.initial(index) if loop.is_unchanged(index) else None
    return None if initial is None else _constant(initial)


def _step(loop: Loop, index: int) -> int | None:
    result = _peeled(loop.results[index])
    if result.opcode not in (Opcode.ADD, Opcode.SUBTRACT) or result.shape.rank:
        return None
    left, right = map(_peeled, result.operands)
    if result.opcode == Opcode.ADD and _constant(left) is not None:
        left, right = right, left
    value = _constant(right)
    if value is None or _state_index(left, loop.body) != index:
        return None
    return value if result.opcode == Opcode.ADD else -value


def trip_count(loop: Loop) -> int | None:
    """How many times the body runs; None if that is unknown or the variable would overflow before the loop ends."""
    found = induction(loop)
    if found is None:
        return 0 if _constant(loop.condition.root) == 0 else None
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
    count = ceil_div(distance, forward)
    last = start + count * step
    least, greatest = element_type.least, element_type.greatest
    return count if least is not None and greatest is not None and least <= last <= greatest else None


def _holds(a: int, direction: str, b: int) -> bool:
    return {"EQ": a == b, "NE": a != b, "LT": a < b, "LE": a <= b, "GT": a > b, "GE": a >= b}[direction]


def known_trip_count(instruction: HloInstruction) -> int | None:
    """How often the body of a while instruction runs; None where it is not known.

    XLA writes the count that it found as `backend_config={"known_trip_count":{"n":"10"}}`.
    """
    with contextlib.suppress(TypeError, KeyError, ValueError):  # no such config, or another backend's
        return int(json.loads(instruction.attribute("backend_config"))["known_trip_count"]["n"])
    loop = Loop.of(instruction)
    return None if loop is None else trip_count(loop)
