"""Ops that run computations: call, while, conditional, fusion, async, custom-call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from xla_core.errors import InvalidArgumentError
from xla_core.hlo.evaluation.environment import Value
from xla_core.hlo.evaluation.evaluation_context import EvaluationContext
from xla_core.hlo.ir.computation import HloComputation
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.ops.custom_calls import check_aliasing, custom_call, custom_call_shape
from xla_core.hlo.ops.rules import OpGroup, attr, check, first_value, parameter_shapes, zeros
from xla_core.hlo.table.op_table import Attributes, Trait
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.element_type import ElementType
from xla_core.hlo.values.shape import Shape

entry = OpGroup("control_flow").entry


def _check_call(computation: HloComputation, operands: Sequence[Shape]) -> Shape:
    """Checks that the computation takes these operands; returns the shape of its result."""
    parameters = parameter_shapes(computation)
    if len(parameters) != len(operands) or not all(p.compatible(o) for p, o in zip(parameters, operands, strict=True)):
        raise InvalidArgumentError(
            f"{computation.name} takes ({', '.join(str(p.without_layout()) for p in parameters)}), "
            f"not ({', '.join(str(o.without_layout()) for o in operands)})"
        )
    return computation.root.shape.without_layout()


def _fusion_shape(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    result = _check_call(attributes["calls"], operands)
    check_aliasing(operands, attributes, result)
    return result


def _while_shape(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    state = operands[0].without_layout()
    predicate = _check_call(attributes["condition"], operands)
    if not (predicate.is_scalar and predicate.element_type is ElementType.PRED):
        raise InvalidArgumentError(f"condition {attributes['condition'].name} returns {predicate}; expected pred[]")
    result = _check_call(attributes["body"], operands)
    check(
        result.compatible(state),
        lambda: f"body {attributes['body'].name} returns {result}; expected the state, {state}",
    )
    return state


def _while(context: EvaluationContext, instruction: HloInstruction, values: list[Value]) -> Value:
    condition, body = instruction.attribute("condition"), instruction.attribute("body")
    while context.call(condition, values):
        values = [context.call(body, values)]
    return values[0]


def branch_computations(attributes: Attributes) -> tuple[HloComputation, ...]:
    """Returns the branches of a conditional in either form. In the pred form, the true branch comes first."""
    branches: tuple[HloComputation, ...] = attributes.get("branch_computations") or ()
    if attributes.get("true_computation") is not None and attributes.get("false_computation") is not None:
        return (attributes["true_computation"], attributes["false_computation"])
    return tuple(branches)


def _conditional_shape(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    selector, branches = operands[0], branch_computations(attributes)
    check(bool(branches), "a conditional needs true_computation and false_computation, or branch_computations")
    check(
        selector.is_scalar and selector.element_type in (ElementType.PRED, ElementType.S32),
        lambda: f"the selector is {selector}; expected a scalar pred or s32",
    )
    if selector.element_type is ElementType.PRED:
        check(len(branches) == 2, lambda: f"a pred selects among 2 branches, not {len(branches)}")
    check(len(operands) == 1 + len(branches), lambda: f"{len(operands) - 1} operands for {len(branches)} branches")
    results = [_check_call(b, [o]) for b, o in zip(branches, operands[1:], strict=True)]
    for branch, result in zip(branches, results, strict=True):
        if not result.compatible(results[0]):
            raise InvalidArgumentError(f"branch {branch.name} returns {result}; the first returns {results[0]}")
    return results[0]


def _conditional(context: EvaluationContext, instruction: HloInstruction, values: list[Value]) -> Value:
    branches = branch_computations(instruction.attributes)
    if values[0].dtype == np.bool_:
        index = 0 if values[0] else 1
    else:
        index = int(values[0])
        index = index if 0 <= index < len(branches) else len(branches) - 1
    return context.call(branches[index], [values[1 + index]])


def _async_start_shape(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    """Checks an async-start; its shape is ((operands), result, context...)."""
    result = _check_call(attributes["calls"], operands)
    head = (Shape.tuple([o.without_layout() for o in operands]), result)
    if declared is None:
        return Shape.tuple([*head, Shape(ElementType.U32)])
    parts = declared.tuple_shapes
    if len(parts) < 2 or not parts[0].compatible(head[0]) or not parts[1].compatible(result):
        raise InvalidArgumentError(f"the result is {declared.without_layout()}; expected ({head[0]}, {result}, ...)")
    return declared


def _check_started(operand: Shape, start: str, parts: int) -> Shape:
    """Checks that an operand is the result of the start op, which has at least so many parts; returns its shape."""
    check(len(operand.tuple_shapes) >= parts, lambda: f"the operand is {operand}; expected the result of {start}")
    return operand.without_layout()


def _async_start(context: EvaluationContext, instruction: HloInstruction, values: list[Value]) -> Value:
    """Runs the computation at once; returns (operands, result, context...)."""
    rest = instruction.shape.tuple_shapes[2:]
    return (tuple(values), context.call(instruction.attribute("calls"), values), *map(zeros, rest))


_CALLED: dict[str, Any] = {"calls": attr("computation", None), "async_execution_thread": attr("string", None)}

entry(
    Opcode.CALL,
    (0, None),
    lambda operands, attributes, declared: _check_call(attributes["to_apply"], operands),
    lambda context, instruction, values: context.call(instruction.attribute("to_apply"), values),
    Trait.CONTROL_FLOW,
    Trait.NO_OPERAND_REQUIRED,
    doc="The result of to_apply on the operands.",
    to_apply=attr("computation"),
    is_composite=attr("bool", False),
)
entry(
    Opcode.WHILE,
    1,
    _while_shape,
    _while,
    Trait.CONTROL_FLOW,
    doc="Replaces the state by body(state) as long as condition(state) holds.",
    condition=attr("computation"),
    body=attr("computation"),
)
entry(
    Opcode.CONDITIONAL,
    (2, None),
    _conditional_shape,
    _conditional,
    Trait.CONTROL_FLOW,
    doc="The result of one branch on its own operand. True selects the first branch; an index out of range selects "
    "the last.",
    true_computation=attr("computation", None),
    false_computation=attr("computation", None),
    branch_computations=attr("computations", ()),
)
entry(
    Opcode.FUSION,
    (0, None),
    _fusion_shape,
    lambda context, instruction, values: context.call(instruction.attribute("calls"), values),
    Trait.NO_OPERAND_REQUIRED,
    Trait.NOT_FOLDED,
    doc="The result of a computation that is emitted as one kernel.",
    kind=attr("enum"),
    calls=attr("computation"),
    output_to_operand_aliasing=attr("output_to_operand_aliasing", ()),
)
entry(
    Opcode.ASYNC_START,
    (0, None),
    _async_start_shape,
    _async_start,
    Trait.ASYNC,
    Trait.NO_OPERAND_REQUIRED,
    doc="Starts a computation: ((operands), result, context).",
    operands_at=(0,),
    calls=attr("computation"),
    async_execution_thread=attr("string", None),
    output_to_operand_aliasing=attr("output_to_operand_aliasing", ()),
)
entry(
    Opcode.ASYNC_UPDATE,
    1,
    lambda operands, attributes, declared: _check_started(operands[0], "async-start", 2),
    first_value,
    Trait.ASYNC,
    doc="The operand. It marks a point where an asynchronous computation may make progress.",
    waits_for=(Opcode.ASYNC_START, Opcode.ASYNC_UPDATE),
    result_at=(),
    **_CALLED,
)
entry(
    Opcode.ASYNC_DONE,
    1,
    lambda operands, attributes, declared: _check_started(operands[0], "async-start", 2).tuple_shapes[1],
    lambda context, instruction, values: values[0][1],
    Trait.ASYNC,
    doc="Waits for an asynchronous computation and returns its result.",
    waits_for=(Opcode.ASYNC_START, Opcode.ASYNC_UPDATE),
    result_at=(1,),
    **_CALLED,
)
entry(
    Opcode.COPY_START,
    1,
    lambda operands, attributes, declared: Shape.tuple([*[operands[0].without_layout()] * 2, Shape(ElementType.U32)]),
    lambda context, instruction, values: (values[0], values[0], np.zeros((), np.uint32)),
    Trait.DATA_MOVEMENT,
    Trait.ASYNC,
    doc="Starts a copy: (destination, source, context).",
    operands_at=(1,),
    cross_program_prefetch_index=attr("int", None),
)
entry(
    Opcode.COPY_DONE,
    1,
    lambda operands, attributes, declared: _check_started(operands[0], "copy-start", 3).tuple_shapes[0],
    lambda context, instruction, values: values[0][0],
    Trait.DATA_MOVEMENT,
    Trait.ASYNC,
    doc="Waits for a copy and returns it.",
    waits_for=(Opcode.COPY_START,),
    result_at=(0,),
)
entry(
    Opcode.CUSTOM_CALL,
    (0, None),
    custom_call_shape,
    custom_call,
    Trait.NO_OPERAND_REQUIRED,
    doc="Calls a function that is registered by name. The function's attributes are in backend_config.",
    custom_call_target=attr("string"),
    window=attr("window", None),
    dim_labels=attr("dim_labels", None),
    feature_group_count=attr("int", 1),
    batch_group_count=attr("int", 1),
    operand_layout_constraints=attr("shapes", None),
    custom_call_has_side_effect=attr("bool", False),
    to_apply=attr("computation", None),
    called_computations=attr("computations", ()),
    output_to_operand_aliasing=attr("output_to_operand_aliasing", ()),
    padding_type=attr("enum", None),
    literal=attr("literal", None),
    operand_precision=attr("enums", ()),
    schedule=attr("enum", None),
    api_version=attr("enum", None),
)
