"""Finds the instruction of an optimized module that a device computes differently from the reference evaluator."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

import numpy as np

from xla_conformance.bisect.comparison import instruction_difference
from xla_conformance.bisect.device_process import DeviceProcess
from xla_core.errors import XlaError
from xla_core.hlo import (
    EvaluationContext,
    HloComputation,
    HloInstruction,
    HloModule,
    Opcode,
    Trait,
    Value,
    branch_computations,
    extract_module,
    flatten_value,
    unflatten_value,
)


@dataclasses.dataclass(frozen=True)
class Finding:
    """An instruction that the device computes wrongly: the place in the program, its inputs, and the difference.

    `results` is empty if the device reported an error, which is then the difference.
    """

    instruction: HloInstruction
    path: tuple[str, ...]
    operands: tuple[Value, ...]
    expected: list[np.ndarray]
    results: list[np.ndarray]
    difference: str

    @property
    def arrays(self) -> list[np.ndarray]:
        """The leaves of the operands, which are the arguments of `extract_module(instruction)`."""
        return [leaf for value in self.operands for leaf in flatten_value(value)]


def find_wrong_instruction(
    module: HloModule,
    arguments: Sequence[np.ndarray],
    device: DeviceProcess,
    progress: Callable[[int, int, str], None] = lambda done, total, name: None,
) -> Finding | None:
    """Runs each instruction of the optimized module alone on the device, on values that the device computed before.

    Where control flow is wrong as a whole, the search goes on in the computation, and in the iteration, that is wrong.

    Args:
        module: the optimized module.
        arguments: the module's arguments.
        device: the process that compiles and runs the instructions.
        progress: is called before each instruction of the entry, with its number, how many there are, and its name.

    Returns:
        The first instruction whose result its op's rule doesn't allow; None if each one is right alone.
    """
    search = _Search(device, progress)
    leaves = iter(arguments)
    parameters = [unflatten_value(p.shape, leaves) for p in module.entry.parameters]
    order = (module.schedule or {}).get(module.entry)
    with np.errstate(all="ignore"):  # as the evaluator does
        return search.computation(module.entry, parameters, (), order)


def find_again(finding: Finding, device: DeviceProcess) -> Finding | None:
    """Runs the instruction of a finding once more, on the same values; returns None if it is right then."""
    found = _Search(device, lambda done, total, name: None).check(finding.instruction, finding.operands, finding.path)
    return found if isinstance(found, Finding) else None


class _Search:
    def __init__(self, device: DeviceProcess, progress: Callable[[int, int, str], None]) -> None:
        self._device, self._progress = device, progress
        self._context = EvaluationContext()

    def computation(
        self,
        computation: HloComputation,
        arguments: Sequence[Value],
        path: tuple[str, ...],
        schedule: Sequence[HloInstruction] | None = None,
    ) -> Finding | None:
        values: dict[HloInstruction, Value] = dict(zip(computation.parameters, arguments, strict=True))
        order = [i for i in schedule or computation.post_order() if i.opcode != Opcode.PARAMETER]
        for number, instruction in enumerate(order):
            if not path:
                self._progress(number, len(order), instruction.name)
            operands = tuple(values[o] for o in instruction.operands)
            found = self.check(instruction, operands, (*path, instruction.name))
            if isinstance(found, Finding):
                return found
            values[instruction] = found
        return None

    def check(self, instruction: HloInstruction, operands: tuple[Value, ...], path: tuple[str, ...]) -> Finding | Value:
        """Returns the value that the device computes, or the finding if it is wrong."""
        if instruction.opcode == Opcode.CONSTANT:
            return instruction.literal.value
        value = self._context.evaluate(instruction, operands)
        if Trait.NOP in instruction.op.traits or Trait.NONDETERMINISTIC in instruction.op.traits:
            return value
        expected = flatten_value(value)
        results: list[np.ndarray] = []
        try:
            leaves = [leaf for value in operands for leaf in flatten_value(value)]
            results = self._device.run_optimized(extract_module(instruction), leaves)
            difference = instruction_difference(instruction, operands, results, expected)
        except XlaError as error:
            difference = f"{error.code.name}: {error.message}"
        if not difference:
            return unflatten_value(instruction.shape, iter(results))
        inner = self._within(instruction, operands, path) if Trait.CONTROL_FLOW in instruction.op.traits else None
        return inner or Finding(instruction, path, operands, expected, results, difference)

    def _within(
        self, instruction: HloInstruction, operands: tuple[Value, ...], path: tuple[str, ...]
    ) -> Finding | None:
        if instruction.opcode == Opcode.CALL:
            return self.computation(instruction.called_computations[0], operands, path)
        if instruction.opcode == Opcode.CONDITIONAL:
            branches = branch_computations(instruction.attributes)
            selector = np.asarray(operands[0])
            number = int(not selector) if selector.dtype == np.bool_ else int(selector)
            chosen = number if 0 <= number < len(branches) else len(branches) - 1
            return self.computation(branches[chosen], [operands[1 + chosen]], path)
        condition, body = instruction.attribute("condition"), instruction.attribute("body")
        state, iteration = operands[0], 0
        while True:
            here = (*path, f"iteration {iteration}")
            found = self.computation(condition, [state], here)
            if found is not None or not self._context.call(condition, [state]):
                return found
            found = self.computation(body, [state], here)
            if found is not None:
                return found
            state, iteration = self._context.call(body, [state]), iteration + 1
