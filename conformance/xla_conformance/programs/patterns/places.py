"""Where an expression is: in a computation that is called twice, in a loop, and in a branch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from xla_core.hlo import ElementType, HloComputation, HloInstruction, HloModule, Opcode, Shape

_O = Opcode


def _called_twice(base: HloModule) -> HloModule:
    """Calls of the expression with its operands, and with other ones."""
    module, called, parameters = _with_called(base)
    entry = module.entry
    results = [entry.add(_O.CALL, *some, to_apply=called) for some in (parameters, _turned(entry, parameters))]
    entry.set_root(entry.add(_O.TUPLE, *results))
    return module


def _in_branch(base: HloModule) -> HloModule:
    """A choice between the expression of its operands, and of other ones."""
    module, called, parameters = _with_called(base)
    entry = module.entry
    flag = entry.parameter(len(parameters), Shape(ElementType.PRED), "flag")
    operands = [entry.add(_O.TUPLE, *some) for some in (parameters, _turned(entry, parameters))]
    branches = []
    for _ in operands:
        branch = module.add_computation(HloComputation(module.unique_name("branch")))
        given = branch.parameter(0, operands[0].shape)
        parts = [branch.add(_O.GET_TUPLE_ELEMENT, given, index=n) for n in range(len(parameters))]
        branch.set_root(branch.add(_O.CALL, *parts, to_apply=called))
        branches.append(branch)
    entry.set_root(
        entry.add(_O.CONDITIONAL, flag, *operands, true_computation=branches[0], false_computation=branches[1])
    )
    return module


def _in_loop(base: HloModule) -> HloModule:
    """A loop of three turns. The first operand of the expression changes in the last one."""
    module, called, parameters = _with_called(base)
    entry = module.entry
    zero = entry.constant(np.int32(0))
    first = entry.add(_O.CALL, *parameters, to_apply=called)
    start = entry.add(_O.TUPLE, zero, first, *parameters)
    condition, body = (module.add_computation(HloComputation(name)) for name in ("condition", "body"))
    count = condition.add(_O.GET_TUPLE_ELEMENT, condition.parameter(0, start.shape), index=0)
    condition.set_root(condition.add(_O.COMPARE, count, condition.constant(np.int32(3)), direction="LT"))
    given = body.parameter(0, start.shape)
    count, _, *state = (body.add(_O.GET_TUPLE_ELEMENT, given, index=n) for n in range(len(parameters) + 2))
    turned = _turned(body, state)
    last = body.add(_O.COMPARE, count, body.constant(np.int32(1)), direction="EQ")
    flag = body.add(_O.BROADCAST, last, shape=state[0].shape.with_element_type(ElementType.PRED), dimensions=())
    result = body.add(_O.CALL, *state, to_apply=called)
    count = body.add(_O.ADD, count, body.constant(np.int32(1)))
    new = [body.add(_O.SELECT, flag, turned[0], state[0]), *state[1:]]
    body.set_root(body.add(_O.TUPLE, count, result, *new))
    loop = entry.add(_O.WHILE, start, condition=condition, body=body)
    entry.set_root(entry.add(_O.GET_TUPLE_ELEMENT, loop, index=1))
    return module


PLACES: Mapping[str, Callable[[HloModule], HloModule]] = {
    "called twice": _called_twice,
    "in a branch": _in_branch,
    "in a loop": _in_loop,
}


def _with_called(base: HloModule) -> tuple[HloModule, HloComputation, list[HloInstruction]]:
    """Returns a module with the program's entry as a computation, and parameters for it."""
    module = base.clone()
    called = module.entry
    entry = module.add_computation(HloComputation(module.unique_name("whole")), entry=True)
    return module, called, [entry.parameter(n, p.shape, p.name) for n, p in enumerate(called.parameters)]


def _turned(computation: HloComputation, values: Sequence[HloInstruction]) -> list[HloInstruction]:
    """Other operands: those of one shape in the other order, or the first one reversed."""
    if len(values) > 1 and values[0].shape == values[1].shape:
        return [values[1], values[0], *values[2:]]
    first, *rest = values
    opcode = _O.NOT if first.shape.element_type is ElementType.PRED else _O.NEGATE
    if first.shape.rank:
        return [computation.add(_O.REVERSE, first, dimensions=(0,)), *rest]
    return [computation.add(opcode, first), *rest]
