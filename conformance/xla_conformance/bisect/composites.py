"""Lets the evaluator evaluate composites that passes have turned into custom calls."""

from __future__ import annotations

from collections.abc import Sequence

from xla_core.hlo import (
    EvaluationContext,
    HloComputation,
    HloInstruction,
    HloModule,
    Shape,
    Value,
    add_custom_call_finder,
)

_Key = tuple[tuple[Shape, ...], Shape, str]


def define_composites(module: HloModule) -> None:
    """Makes the decompositions of a program's composites the meaning of custom calls with the composites' names.

    A target that runs a composite itself gets it as a custom call, which has no decomposition any more. Functions that
    are registered for such a custom call come first.
    """
    decompositions: dict[str, dict[_Key, HloComputation]] = {}
    for computation in module.computations:
        for instruction in computation.instructions:
            name = dict(instruction.attribute("frontend_attributes") or ()).get("composite.name")
            if name is not None and instruction.called_computations:
                decompositions.setdefault(name, {})[_key(instruction)] = instruction.called_computations[0]

    def evaluate(context: EvaluationContext, instruction: HloInstruction, values: Sequence[Value]) -> Value:
        return context.call(decompositions[instruction.attribute("custom_call_target")][_key(instruction)], values)

    add_custom_call_finder(lambda target: evaluate if target in decompositions else None)


def _key(instruction: HloInstruction) -> _Key:
    """Identifies a decomposition: composites of one name differ by shapes and attributes."""
    attributes = dict(instruction.attribute("frontend_attributes") or ())
    shapes = tuple(operand.shape.without_layout() for operand in instruction.operands)
    return shapes, instruction.shape.without_layout(), attributes.get("composite.attributes", "")
