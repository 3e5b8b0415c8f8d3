"""reduce, map and scan: they combine elements along dimensions by a computation of scalars."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from xla_core.errors import InvalidArgumentError
from xla_core.hlo.evaluation.environment import Value
from xla_core.hlo.evaluation.evaluation_context import EvaluationContext
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.ops import sharding_rules
from xla_core.hlo.ops.combining import as_value, fold
from xla_core.hlo.ops.rules import (
    OpGroup,
    array,
    attr,
    check,
    check_axes,
    dims,
    parameter_shapes,
    same_dimensions,
    scalar_signature,
    shape_of_parts,
)
from xla_core.hlo.table.op_table import Attributes, Trait, alike
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.shape import Shape

entry = OpGroup("reduction").entry


def split_operands(operands: Sequence[Shape]) -> tuple[Sequence[Shape], Sequence[Shape]]:
    """Splits the operands of reduce and reduce-window into inputs (of one shape) and initial values (scalars)."""
    n, odd = divmod(len(operands), 2)
    check(not odd and n > 0, lambda: f"{len(operands)} operands; expected n inputs and n initial values")
    inputs, initial = operands[:n], operands[n:]
    same_dimensions(inputs)
    for value in initial:
        if not value.is_scalar:
            raise InvalidArgumentError(f"an initial value is {value}; expected a scalar")
    return inputs, initial


def _reduce_shape(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    inputs, initial = split_operands(operands)
    first, axes = same_dimensions(inputs), attributes["dimensions"]
    check_axes(axes, first.rank, "dimensions")
    kept = [d for d in range(first.rank) if d not in axes]
    scalar_signature(attributes["to_apply"], inputs, "to_apply")
    types = scalar_signature(attributes["to_apply"], initial, "to_apply")
    flags = first.dynamic_flags
    return shape_of_parts([dims(t, [first.dimensions[d] for d in kept], [flags[d] for d in kept]) for t in types])


def _reduce(context: EvaluationContext, instruction: HloInstruction, values: list[Value]) -> Value:
    n = len(values) // 2
    attributes = instruction.attributes
    return as_value(fold(context, attributes["to_apply"], values[:n], values[n:], attributes["dimensions"]))


def _map_shape(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    first, computation = same_dimensions(operands), attributes["to_apply"]
    parameters = parameter_shapes(computation)
    if len(parameters) != len(operands) or any(
        not p.is_scalar or p.element_type is not o.element_type for p, o in zip(parameters, operands, strict=False)
    ):
        raise InvalidArgumentError(f"{computation.name} must take a scalar of each operand's type")
    check(computation.root.shape.is_scalar, lambda: f"{computation.name} must return a scalar")
    return dims(computation.root.shape.element_type, first.dimensions, first.dynamic_dimensions)


def _scan_shape(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    axes, carries, computation = attributes["dimensions"], attributes["num_carries"], attributes["to_apply"]
    check(0 <= carries <= len(operands), lambda: f"{carries} carries of {len(operands)} operands")
    inputs = operands[: len(operands) - carries]
    check(len(axes) == 1, "dimensions must name one dimension")
    root = computation.root.shape
    results = list(root.tuple_shapes) if root.is_tuple else [root]
    outputs = len(results) - carries
    check(outputs >= 0, lambda: f"{computation.name} returns {len(results)} values, fewer than {carries} carries")
    if not inputs:
        if declared is None:
            raise InvalidArgumentError("a scan without inputs needs its shape")
        return declared
    axis = axes[0]
    for shape in inputs:
        check_axes(axes, array(shape).rank, "dimensions")
    length = inputs[0].dimensions[axis]
    check(all(s.dimensions[axis] == length for s in inputs), "the inputs differ in length along the scanned dimension")
    expected = [s.with_dimensions(s.dimensions[:axis] + s.dimensions[axis + 1 :]) for s in inputs]
    expected += [s.without_layout() for s in operands[len(inputs) :]]
    parameters = parameter_shapes(computation)
    if len(parameters) != len(expected) or not all(p.compatible(e) for p, e in zip(parameters, expected, strict=True)):
        raise InvalidArgumentError(f"{computation.name} must take {', '.join(map(str, expected))}")
    stacked = [s.with_dimensions((*s.dimensions[:axis], length, *s.dimensions[axis:])) for s in results[:outputs]]
    parts = stacked + [s.without_layout() for s in results[outputs:]]
    return Shape.tuple(parts) if root.is_tuple else parts[0]


def _scan(context: EvaluationContext, instruction: HloInstruction, values: list[Value]) -> Value:
    attributes = instruction.attributes
    axis, carried = attributes["dimensions"][0], attributes["num_carries"]
    inputs, carries = values[: len(values) - carried], list(values[len(values) - carried :])
    shape = instruction.shape
    parts = shape.tuple_shapes if shape.is_tuple else (shape,)
    outputs = parts[: len(parts) - carried]
    length = inputs[0].shape[axis] if inputs else outputs[0].dimensions[axis] if outputs else 0
    results = [np.empty(s.dimensions, s.dtype) for s in outputs]
    steps = range(length - 1, -1, -1) if instruction.attribute("is_reverse") else range(length)
    for step in steps:
        at = (slice(None),) * axis + (step,)
        value = context.call(attributes["to_apply"], [*(x[at] for x in inputs), *carries])
        stepped = value if isinstance(value, tuple) else (value,)
        for result, part in zip(results, stepped, strict=False):
            result[at] = part
        carries = list(stepped[len(results) :])
    every = [*results, *carries]
    return tuple(every) if shape.is_tuple else every[0]


entry(
    Opcode.REDUCE,
    (2, None),
    _reduce_shape,
    _reduce,
    Trait.PRIMITIVE,
    Trait.EXACT_IN_WIDER_INTEGERS,
    Trait.SIGNLESS,
    Trait.ACCUMULATES,
    doc="Combines the elements along dimensions by to_apply, in an unspecified order. The operands are arrays, then "
    "as many scalars, which are the initial values.",
    same_sizes=lambda attributes, ranks: alike(ranks[: len(ranks) // 2]),
    applications=lambda i: max(i.operand(0).shape.num_elements - next(i.shape.leaves()).num_elements, 0),
    dimensions=attr("ints", doc="The dimensions that the result no longer has."),
    to_apply=attr(
        "computation", doc="Combines two values of each operand into one. It may be applied in any order and grouping."
    ),
    sharding_rule=sharding_rules.of_reduce,
)
entry(
    Opcode.MAP,
    (1, None),
    _map_shape,
    lambda context, instruction, values: context.map(instruction.attribute("to_apply"), values)[0],
    Trait.ELEMENTWISE,
    Trait.SIGNLESS,
    doc="Applies to_apply to the operands, element by element.",
    applications=lambda i: i.shape.num_elements,
    dimensions=attr("ints", (), shown=True),
    to_apply=attr("computation"),
)
entry(
    Opcode.SCAN,
    (1, None),
    _scan_shape,
    _scan,
    doc="Threads carries through slices of the inputs along a dimension; the outputs are stacked along it.",
    dimensions=attr("ints"),
    num_carries=attr("int"),
    is_reverse=attr("bool", False),
    is_associative=attr("bool", False),
    to_apply=attr("computation"),
)
