"""XLA's custom calls TopK and ApproxTopK: their shape rules and evaluation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from xla_core.errors import InvalidArgumentError
from xla_core.hlo.evaluation.environment import Value
from xla_core.hlo.evaluation.evaluation_context import EvaluationContext
from xla_core.hlo.ir.computation import HloComputation
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.ops.combining import as_value
from xla_core.hlo.ops.custom_calls import register_custom_call, register_custom_call_shape
from xla_core.hlo.ops.rules import array, check, check_comparator, dims, same_dimensions, shape_of_parts
from xla_core.hlo.ops.sort_order import extreme_elements, sort_order
from xla_core.hlo.ops.sorting import topk_shape
from xla_core.hlo.table.backend_config import parse_backend_config
from xla_core.hlo.table.op_table import Attributes
from xla_core.hlo.values.shape import Shape


def top_k_attributes(declared: Shape) -> dict[str, Any]:
    """Returns the attributes of the topk op that is equivalent to a TopK custom call, as in XLA's CPU compiler."""
    return {"k": declared.tuple_shapes[0].dimensions[-1], "largest": True}


@register_custom_call_shape("TopK")
def _top_k_shape(operands: Sequence[Shape], attributes: Attributes, declared: Shape) -> Shape:
    """TopK maps one operand to (the largest elements of each row, in order; their indices)."""
    check(len(operands) == 1, lambda: f"TopK takes one operand, not {len(operands)}")
    values = declared.tuple_shapes[0] if declared.tuple_shapes else declared
    check(len(declared.tuple_shapes) == 2 and values.rank > 0, "TopK gives two arrays, the elements and their indices")
    return topk_shape(operands, top_k_attributes(declared), declared)


@register_custom_call("TopK")
def _top_k(context: EvaluationContext, instruction: HloInstruction, values: list[Value]) -> Value:
    return extreme_elements(values[0], **top_k_attributes(instruction.shape))


def approx_top_k_dimension(i: HloInstruction) -> int:
    """Returns the dimension along which a custom call to ApproxTopK keeps the first elements."""
    return _reduced_dimension(i.operand(0).shape, i.attributes, i.shape)


def _reduced_dimension(operand: Shape, attributes: Attributes, declared: Shape) -> int:
    """Returns `reduction_dim` of the configuration; by default, the dimension whose size changes, or the last one."""
    results = declared.tuple_shapes or (declared,)
    pairs = enumerate(zip(operand.dimensions, results[0].dimensions, strict=False))
    shrinks = next((d for d, (before, after) in pairs if before != after), operand.rank - 1)
    given = parse_backend_config(attributes.get("backend_config") or "").get("reduction_dim", shrinks)
    if type(given) is not int or not 0 <= given < operand.rank:
        raise InvalidArgumentError(f"reduction_dim {given} is no dimension of {operand.without_layout()}")
    return given


@register_custom_call_shape("ApproxTopK")
def _approx_top_k_shape(operands: Sequence[Shape], attributes: Attributes, declared: Shape) -> Shape:
    """ApproxTopK maps n operands and n initial values to n results with fewer elements along one dimension."""
    n = len(operands) // 2
    check(
        n > 0 and len(operands) == 2 * n, f"ApproxTopK takes operands and as many initial values, not {len(operands)}"
    )
    first = same_dimensions(operands[:n])
    for operand, initial in zip(operands[:n], operands[n:], strict=True):
        if not initial.is_scalar or initial.element_type is not operand.element_type:
            raise InvalidArgumentError(f"an initial value is {initial}, expected a scalar {operand.element_type}")
    called: Sequence[HloComputation] = attributes["called_computations"]
    check(len(called) == 1, f"ApproxTopK calls one comparator, not {len(called)}")
    check_comparator(called[0], [o.element_type for o in operands[:n]], "comparator")
    axis = _reduced_dimension(first, attributes, declared)
    kept = array(declared.tuple_shapes[0] if declared.is_tuple and declared.tuple_shapes else declared, "the result")
    sizes = list(first.dimensions)
    if kept.rank == first.rank and kept.dimensions[axis] <= sizes[axis]:
        sizes[axis] = kept.dimensions[axis]
    parts = [dims(o.element_type, sizes) for o in operands[:n]]
    return Shape.tuple(parts) if declared.is_tuple else shape_of_parts(parts)


@register_custom_call("ApproxTopK")
def _approx_top_k(context: EvaluationContext, instruction: HloInstruction, values: list[Value]) -> Value:
    """Returns exactly the first elements in the comparator's order."""
    operands = values[: len(values) // 2]
    results = instruction.shape.tuple_shapes or (instruction.shape,)
    axis = approx_top_k_dimension(instruction)
    moved = [np.moveaxis(o, axis, -1) for o in operands]
    order = sort_order(context, instruction.called_computations[0], [m.reshape(-1, m.shape[-1]) for m in moved])
    first = order.reshape(moved[0].shape)[..., : results[0].dimensions[axis]]
    return as_value([np.moveaxis(np.take_along_axis(m, first, -1), -1, axis) for m in moved])
