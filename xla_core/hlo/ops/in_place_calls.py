"""Custom calls whose functions write their results in place, as handlers of XLA's FFI do.

    def scale(call: CustomCall) -> None:
        call.results[0][...] = call.operands[0] * call.attributes["factor"]

    register_in_place_call("acme_scale", scale)

They are in the registry of all custom calls (`custom_calls`), so the reference evaluator and every backend run them. A
backend whose memory the host can address gives them views of it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from xla_core.checks import wrong_argument
from xla_core.errors import InvalidArgumentError
from xla_core.hlo.evaluation.environment import Value
from xla_core.hlo.evaluation.evaluation_context import EvaluationContext, flatten_value, unflatten_value
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.ops.custom_calls import register_custom_call
from xla_core.hlo.table.backend_config import parse_backend_config, read_backend_config
from xla_core.hlo.values.shape import Shape


@dataclasses.dataclass(frozen=True, slots=True)
class CustomCall:
    """The operands, results and attributes of one call, as in XLA's typed FFI.

    Attributes:
        target: the name under which the function was registered.
        attributes: backend_config, parsed by `xla_core.hlo.parse_backend_config`. Text that is not a dictionary is
            stored under the key "".
        operands: the array leaves of the operands, as read-only views.
        results: the array leaves of the results, which the function must fill. A result that aliases an operand
            (output_operand_aliases) holds the operand's values at first.
        replica, partition: the replica and partition number of the device that runs the call.

    The strides of the views follow operand_layouts and result_layouts: a column-major array is column-major in numpy
    too. The function must not keep the views after the call.
    """

    target: str
    attributes: Mapping[str, Any]
    operands: tuple[np.ndarray, ...]
    results: tuple[np.ndarray, ...]
    replica: int = 0
    partition: int = 0


class InPlaceFunction:
    """What the registry has for a function of a `CustomCall`: it evaluates calls, whose operands it may only read."""

    def __init__(self, function: Callable[[CustomCall], None]) -> None:
        self.function = function

    def __call__(self, context: EvaluationContext, instruction: HloInstruction, values: list[Value]) -> Value:
        device = context.environment
        target, attributes = instruction.attribute("custom_call_target"), context.call_sites.get(instruction)
        if attributes is None:
            attributes = context.call_sites[instruction] = call_attributes(instruction)

        def run(operands: list[np.ndarray], results: list[np.ndarray]) -> None:
            views = [operand.view() for operand in operands]
            for view in views:
                view.flags.writeable = False
            place = (device.replica, device.partition)
            self.function(CustomCall(target, attributes, tuple(views), tuple(results), *place))

        return evaluate_in_place(instruction, values, run)


def register_in_place_call(target: str, function: Callable[[CustomCall], None]) -> None:
    """Registers a function that runs the custom calls of `target` in place, for the evaluator and for every backend.

    If the function raises, the execution fails with an XlaError of code UNKNOWN, whose cause is that exception.

    Raises:
        AlreadyExistsError: the target is registered already.
        InvalidArgumentError: `target` is not a non-empty string, or `function` is not callable.
    """
    register = register_custom_call(target)
    if not callable(function):
        raise wrong_argument(f"what is registered for custom call {target!r}", function, "a function of a CustomCall")
    register(InPlaceFunction(function))


def call_attributes(call: HloInstruction) -> Mapping[str, Any]:
    """Parses the attributes of a custom call.

    Raises:
        InvalidArgumentError: the call is typed, and its backend_config is not a dictionary.
    """
    config = call.attribute("backend_config") or ""
    if call.attribute("api_version") == "API_VERSION_TYPED_FFI" and read_backend_config(config) is None:
        raise InvalidArgumentError(
            f"custom call {call.attribute('custom_call_target')!r} is typed, and its backend_config is no dictionary "
            f"of MLIR's attributes: {config[:200]}",
            op=call.opcode,
            location=call.location,
        )
    return parse_backend_config(config)


def evaluate_in_place(
    instruction: HloInstruction, values: Sequence[Value], run: Callable[[list[np.ndarray], list[np.ndarray]], None]
) -> Value:
    """Evaluates a custom call by a function that takes operands and fills results, as arrays in the call's layouts.

    An operand is copied if it has another layout. A result that aliases an operand has its values, and takes its place.
    """
    leaves = [leaf for value in values for leaf in flatten_value(value)]
    shapes = _operand_leaves(instruction)
    operands = [_in_layout(v, s) if s.is_array else None for v, s in zip(leaves, shapes, strict=True)]
    results = [_empty(shape) if shape.is_array else None for shape in instruction.shape.leaves()]
    for alias in instruction.attribute("output_to_operand_aliasing"):
        before = sum(operand.shape.leaf_count for operand in instruction.operands[: alias.operand_number])
        number = before + instruction.operand(alias.operand_number).shape.leaf_number(alias.operand_index)
        result = results[instruction.shape.leaf_number(alias.output_index)]
        if result is not None:
            result[...] = operands[number]
            operands[number] = result
    given, made = ([array for array in arrays if array is not None] for arrays in (operands, results))
    run(given, made)
    return unflatten_value(instruction.shape, iter([np.asarray(array, order="C") for array in made]))


def _operand_leaves(instruction: HloInstruction) -> Sequence[Shape]:
    """Returns the shapes of the operands' leaves, with the layouts that the call asks for."""
    wanted = instruction.attribute("operand_layout_constraints") or [o.shape for o in instruction.operands]
    return [leaf for shape in wanted for leaf in shape.leaves()]


def _order(shape: Shape) -> list[int]:
    return list(shape.minor_to_major()[::-1])


def _in_layout(array: np.ndarray, shape: Shape) -> np.ndarray:
    order = _order(shape)
    return np.asarray(array.transpose(order), order="C").transpose(np.argsort(order))


def _empty(shape: Shape) -> np.ndarray:
    order = _order(shape)
    return np.empty([shape.dimensions[d] for d in order], shape.dtype).transpose(np.argsort(order))
