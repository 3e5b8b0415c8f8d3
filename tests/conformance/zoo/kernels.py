"""Kernels that compute one op wrong, where a fault applies."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tests.conformance.zoo.mutant import Mutant
from tests.conformance.zoo.parts import HloKernel, template
from xla_core.backend import DeviceMemory, Stream
from xla_core.errors import XlaError
from xla_core.hlo import Environment, HloComputation, HloInstruction, evaluate_computation
from xla_core.schedule import LaunchDimensions
from xla_core.target import array_size_bytes, from_device_layout, to_device_layout

Arrays = list[np.ndarray]
Fault = Callable[[HloInstruction, Arrays, Arrays], "Arrays | None"]
"""(instruction, operands, right results) -> wrong results, or None where the fault doesn't apply.

The instruction's operands are parameters. The results may be changed in place.
"""

EFFECTS = [0]
"""How many kernels of this process gave a wrong value. A fault without effect is one that no case could show."""


def kernel_mutant(name: str, breaks: str, fault: str, opcode: str, wrong: Fault, **fields: Any) -> Mutant:
    """A mutant whose kernels of `opcode` compute what `wrong` makes of the right results."""
    kernel = type("WrongKernel", (_WrongKernel,), {"opcode": opcode, "wrong": staticmethod(wrong)})
    make = functools.partial(template, kernel=kernel)
    return Mutant(name=name, breaks=breaks, fault=fault, make=make, opcode=opcode, **{"select": "ops", **fields})


def kernel_faults(kind: str, mutants: list[Mutant]) -> Callable[..., Callable[[Fault], Fault]]:
    """Makes a decorator `(opcode, breaks, fault, **fields)` of faults: it adds a mutant, whose name begins with `kind`.

    The op's name is put in front of the sentence `fault`. `fields` are further ones of the mutant.
    """

    def says(opcode: str, breaks: str, fault: str, **fields: Any) -> Callable[[Fault], Fault]:
        def add(wrong: Fault) -> Fault:
            name = f"attributes/{opcode}/{kind}-{wrong.__name__.strip('_').replace('_', '-')}"
            mutants.append(kernel_mutant(name, f"{opcode}.{breaks}", f"`{opcode}` {fault}.", opcode, wrong, **fields))
            return wrong

        return add

    return says


class _WrongKernel(HloKernel):
    opcode: str
    wrong: Fault

    def __init__(self, instruction: HloInstruction, environment: Environment | None = None) -> None:
        super().__init__(instruction, environment)
        self._instruction = instruction

    def launch(self, stream: Stream, arguments: Sequence[DeviceMemory], dimensions: LaunchDimensions) -> None:
        if self._instruction.opcode == self.opcode:
            stream.enqueue(lambda: self._run_wrong(stream, arguments))
        else:
            super().launch(stream, arguments, dimensions)

    def _run_wrong(self, stream: Stream, arguments: Sequence[DeviceMemory]) -> None:
        operands, results = arguments[: len(self.operand_shapes)], arguments[len(self.operand_shapes) :]
        shapes = self._instruction.shape.array_leaves()
        arrays = [_load(stream, memory, shape) for memory, shape in zip(operands, self.operand_shapes, strict=True)]
        right = list(evaluate_computation(self.computation, arrays, self.context))
        with np.errstate(all="ignore"):
            values = self.wrong(self.computation.root, arrays, [r.copy() for r in right])
        EFFECTS[0] += values is not None and any(w.tobytes() != r.tobytes() for w, r in zip(values, right, strict=True))
        for memory, shape, value in zip(results, shapes, right if values is None else values, strict=True):
            stream.write(
                memory, to_device_layout(np.asarray(value).astype(shape.dtype).reshape(shape.dimensions), shape)
            )


def _load(stream: Stream, memory: DeviceMemory, shape: Any) -> np.ndarray:
    data = np.empty(array_size_bytes(shape), np.uint8)
    stream.read(data, memory)
    return from_device_layout(data, shape)


WRONG = (XlaError, ArithmeticError, ValueError, IndexError, TypeError, KeyError, AttributeError, AssertionError)
"""What the evaluator and the op table raise for attributes that the verifier would refuse."""


def recomputed(
    instruction: HloInstruction, operands: Arrays, right: Arrays, opcode: str | None = None, **attributes: Any
) -> Arrays | None:
    """The results of the instruction with another opcode or other attributes, in the right results' shapes.

    None where the op doesn't take these attributes.
    """
    try:
        computation = changed(instruction, opcode or instruction.opcode, tuple(sorted(attributes.items(), key=_first)))
        values = evaluate_computation(computation, operands)
    except WRONG:
        return None
    if len(values) != len(right):
        return None
    return [_resized(v, r) for v, r in zip(values, right, strict=True)]


def _first(item: tuple[str, Any]) -> str:
    return item[0]


@functools.lru_cache(256)
def changed(instruction: HloInstruction, opcode: str, attributes: tuple[tuple[str, Any], ...]) -> HloComputation:
    """A computation of the instruction with another opcode or other attributes.

    Raises:
        XlaError: the op doesn't take them.
    """
    computation = HloComputation("wrong")
    parameters = [computation.parameter(n, operand.shape) for n, operand in enumerate(instruction.operands)]
    kept = instruction.attributes if opcode == instruction.opcode else {}
    merged = {**kept, **dict(attributes)}
    try:
        root = computation.add(opcode, *parameters, **merged)
    except XlaError:
        root = computation.add(opcode, *parameters, shape=instruction.shape, **merged)
    computation.set_root(root)
    return computation


def _resized(value: np.ndarray, right: np.ndarray) -> np.ndarray:
    """The elements of `value` in the shape and type of `right`, from the start again where they are too few."""
    if value.shape != right.shape:
        value = np.resize(value, right.shape) if value.size else np.zeros(right.shape, right.dtype)
    return value.astype(right.dtype)
