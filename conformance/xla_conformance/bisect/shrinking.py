"""Reduces a program that shows a difference to one result and the instructions that it needs.

To cut the entry, an instruction becomes a parameter whose argument is the evaluator's value of it. Inside the bodies of
loops and branches, an instruction is replaced by an operand of its shape. A step is kept if the results still differ.
Steps first try instructions that are far apart, then nearer ones (delta debugging).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

import numpy as np

from xla_core.hlo import (
    EvaluationContext,
    HloComputation,
    HloInstruction,
    HloModule,
    Opcode,
    Trait,
    evaluate_computation,
)
from xla_core.passes import create_pass

Fails = Callable[[HloModule, list[np.ndarray]], bool]
"""Whether a program, given these arrays, still shows the difference."""


@dataclasses.dataclass(frozen=True)
class Reduced:
    """A smaller program that shows the difference, its arguments, and arrays to compare."""

    program: HloModule
    given: list[np.ndarray]
    difference: str
    arrays: dict[str, np.ndarray]


_GIVEN = (Opcode.PARAMETER, Opcode.CONSTANT, Opcode.TUPLE)


def shrink(
    module: HloModule, arguments: Sequence[np.ndarray], result: int | None, fails: Fails, *, any_result: bool = False
) -> tuple[HloModule, list[np.ndarray]]:
    """Returns the smallest program found, and its arguments; the program of the result if it shows no difference.

    Args:
        result: the number of the result to keep; None for all.
        any_result: whether an instruction that comes earlier may become the result.
    """
    module = module.clone()
    module.input_output_aliases = []
    module.buffer_donors = []
    module.entry_layouts_fixed = False
    for parameter in module.entry.parameters:
        parameter.shape = parameter.shape.without_layout()
    if result is not None:
        module.entry.set_root(module.entry.add(Opcode.TUPLE, _leaves(module.entry.root)[result]))
    state = _tidy(module, list(arguments))
    if not fails(*state):
        return state
    if any_result:
        for place in range(len(state[0].entry.post_order())):
            ended = _end_at(state[0], state[1], place)
            if ended is not None and fails(*ended):
                state = ended
                break
    progress = True
    while progress:
        progress = False
        step = len(state[0].entry.post_order())
        while step > 0:
            place = step - 1
            while place < len(state[0].entry.post_order()):
                cut = _cut(state[0], state[1], place)
                if cut is not None and fails(*cut):
                    state, progress = cut, True
                else:
                    place += step
            step //= 2
        for name in [(c.name, i.name) for c in _sequential(state[0]) for i in c.post_order()]:
            bypass = _bypass(state[0], state[1], *name)
            if bypass is not None and fails(*bypass):
                state, progress = bypass, True
    return state


def _leaves(root: HloInstruction) -> list[HloInstruction]:
    if root.opcode != Opcode.TUPLE:
        return [root]
    return [leaf for operand in root.operands for leaf in _leaves(operand)]


def _sequential(module: HloModule) -> list[HloComputation]:
    """Returns the computations that may be reduced. Computations that combine scalars must remain as they are."""
    return [
        callee
        for computation in module.post_order()
        for instruction in computation.instructions
        if Trait.CONTROL_FLOW in instruction.op.traits
        for callee in instruction.called_computations
    ]


def _tidy(module: HloModule, arguments: list[np.ndarray]) -> tuple[HloModule, list[np.ndarray]]:
    """Removes dead instructions and unused parameters."""
    create_pass("hlo-dce").run(module)
    entry = module.entry
    kept = list(arguments)
    leaf = 0
    for parameter in list(entry.parameters):
        width = len(parameter.shape.array_leaves())
        if not parameter.user_count and parameter is not entry.root:
            entry.remove_parameter(parameter.parameter_number)
            del kept[leaf : leaf + width]
        else:
            leaf += width
    return module, kept


def _end_at(module: HloModule, arguments: list[np.ndarray], place: int) -> tuple[HloModule, list[np.ndarray]] | None:
    """Makes an instruction of the entry, counted from the first, the result."""
    module = module.clone()
    instruction = module.entry.post_order()[place]
    if instruction.opcode in _GIVEN or not instruction.shape.is_array:
        return None
    module.entry.set_root(module.entry.add(Opcode.TUPLE, instruction))
    return _tidy(module, list(arguments))


def _cut(module: HloModule, arguments: list[np.ndarray], place: int) -> tuple[HloModule, list[np.ndarray]] | None:
    """Replaces an instruction of the entry, counted from the last, by a parameter, so that its operands become dead."""
    module = module.clone()
    entry = module.entry
    order = entry.post_order()
    instruction = order[len(order) - 1 - place]
    if instruction.opcode in _GIVEN or not instruction.shape.is_array or not instruction.user_count:
        return None
    value = _value(entry, instruction, arguments)
    new = entry.parameter(len(entry.parameters), instruction.shape.without_layout())
    entry.replace_with(instruction, new)
    return _tidy(module, [*arguments, value])


def _value(entry: HloComputation, instruction: HloInstruction, arguments: list[np.ndarray]) -> np.ndarray:
    root = entry.root
    entry.set_root(instruction)
    try:
        (value,) = evaluate_computation(entry, arguments, EvaluationContext(max_steps=1_000_000))
    finally:
        entry.set_root(root)
    return value


def _bypass(
    module: HloModule, arguments: list[np.ndarray], computation: str, name: str
) -> tuple[HloModule, list[np.ndarray]] | None:
    """Replaces an instruction of a called computation by an operand of its shape."""
    module = module.clone()
    found = [i for c in module.computations if c.name == computation for i in c.instructions if i.name == name]
    if not found or found[0].opcode == Opcode.PARAMETER:
        return None
    instruction = found[0]
    assert instruction.parent is not None
    for operand in instruction.operands:
        if operand.shape.compatible(instruction.shape) and operand is not instruction:
            instruction.parent.replace_with(instruction, operand)
            return _tidy(module, list(arguments))
    return None
