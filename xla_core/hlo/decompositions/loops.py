"""Builds while loops with a counter, values that each iteration updates, and loop-invariant values."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xla_core.hlo.ir.builder import Builder
from xla_core.hlo.ir.computation import HloComputation
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.element_type import ElementType
from xla_core.hlo.values.shape import Shape

Values = list[HloInstruction]
Body = Callable[[Builder, HloInstruction, Values, Values], Sequence[HloInstruction]]
"""(builder of the body, iteration number s32[], loop-carried values, invariant values) -> the updated values."""


def counted_loop(
    source: HloInstruction,
    b: Builder,
    count: int,
    changing: Sequence[HloInstruction],
    constant: Sequence[HloInstruction],
    body: Body,
    goes_on: Callable[[Builder, Values], HloInstruction] | None = None,
) -> list[HloInstruction]:
    """Adds a while loop that runs `body` for 0, 1, ..., count - 1; returns the loop-carried values after it.

    The loop ends sooner where `goes_on`, a pred[] of the loop-carried values, doesn't hold. `source` is the instruction
    that is being decomposed; module, names and metadata come from it.
    """
    module = source.parent.module if source.parent is not None else None
    assert module is not None
    index = Shape(ElementType.S32)
    state = Shape.tuple([index, *(v.shape.without_layout() for v in (*changing, *constant))])

    condition = module.add_computation(HloComputation(f"{source.opcode}_condition"))
    parameter = condition.parameter(0, state)
    test = Builder(condition, source.metadata)
    below = test.compare(test.element(parameter, 0), test.constant(count, index), "LT")
    if goes_on is not None:
        state_now = [test.element(parameter, 1 + n) for n in range(len(changing))]
        below = test.add(Opcode.AND, below, goes_on(test, state_now))
    condition.set_root(below)

    loop = module.add_computation(HloComputation(f"{source.opcode}_body"))
    inner = Builder(loop, source.metadata)
    parameter = loop.parameter(0, state)
    parts = [loop.add(Opcode.GET_TUPLE_ELEMENT, parameter, index=n) for n in range(len(state.tuple_shapes))]
    turn, values, fixed = parts[0], parts[1 : 1 + len(changing)], parts[1 + len(changing) :]
    after = body(inner, turn, values, fixed)
    following = inner.add(Opcode.ADD, turn, inner.constant(1, index))
    loop.set_root(inner.add(Opcode.TUPLE, following, *after, *fixed))

    start = b.add(Opcode.TUPLE, b.constant(0, index), *changing, *constant)
    result = b.add(Opcode.WHILE, start, condition=condition, body=loop)
    return [b.add(Opcode.GET_TUPLE_ELEMENT, result, index=1 + n) for n in range(len(changing))]
