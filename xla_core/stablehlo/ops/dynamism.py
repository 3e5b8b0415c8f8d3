"""Ops whose result shape is an operand. The lowering needs the operand's value, or bounds of the result."""

from __future__ import annotations

import math
from collections.abc import Sequence

from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.opcode import Opcode
from xla_core.stablehlo import ir
from xla_core.stablehlo.lower.context import LoweringContext
from xla_core.stablehlo.lower.type_conversion import shape_of
from xla_core.stablehlo.ops.broadcasts import broadcast_in_dim, check_broadcast_dimensions
from xla_core.stablehlo.ops.common import INDEX, INTS, OPTIONAL_INTS, ints, tensor, tensor_of
from xla_core.stablehlo.ops.data_movement import check_element_count
from xla_core.stablehlo.ops.output_shapes import (
    bounded_dimensions,
    check_output_shape,
    result_dimensions,
    scalar_at,
    sized,
    with_sizes,
)
from xla_core.stablehlo.ops.quantized_constraints import (
    any_quantized,
    check_quantized_broadcast,
    check_quantized_reshape,
)
from xla_core.stablehlo.table.assembly_format import FUNCTIONAL_ASSEMBLY
from xla_core.stablehlo.table.op_table import OpGroup, Trait, Values
from xla_core.stablehlo.table.type_constraints import INDEX_VECTOR, TENSOR_OR_PER_AXIS
from xla_core.stablehlo.verify.compatibility import compatible_dimensions, compatible_elements

define = OpGroup("dynamism").define

_SHAPE = Values("output_shape", INDEX_VECTOR, static=True)


def _dynamic_broadcast_rule(op: ir.Op, module: ir.Module) -> Sequence[ir.Type] | None:
    operand, result = tensor(op, 0), op.results[0].type
    assert isinstance(result, ir.TensorType)
    _check_elements(op, operand, result)
    if len(ints(op, "broadcast_dimensions")) == operand.rank > result.rank:
        op.fail(f"result rank ({result.rank}) is less than operand rank ({operand.rank})")
    dims = check_broadcast_dimensions(op, operand, result)
    _check_sizes(op, operand, result, dims)
    sizes = check_output_shape(op, 1)
    hints = [*ints(op, "known_expanding_dimensions"), *ints(op, "known_nonexpanding_dimensions")]
    if len(set(hints)) != len(hints):
        op.fail("duplicate expansion hint for at least one operand dimension")
    for hint in hints:
        if not 0 <= hint < operand.rank:
            op.fail(f"hint for expanding dimension {hint} does not refer to a valid operand dimension")
    for i, dim in enumerate(dims if sizes is not None and operand.is_static else ()):
        if sizes is not None and operand.shape[i] not in (1, sizes[dim]):
            op.fail(
                f"size of operand dimension {i} ({operand.shape[i]}) is not equal to 1 or value of shape at index "
                f"{dim} ({sizes[dim]})"
            )
    check_quantized_broadcast(op, operand, result, dims)
    return sized(op, sizes)


def _check_elements(op: ir.Op, operand: ir.TensorType, result: ir.TensorType) -> None:
    if not any_quantized(operand, result) and not compatible_elements(operand.element, result.element):
        op.fail(f"expects operand and result to have compatible element type. Got: '{operand}' and '{result}'")


def _check_sizes(op: ir.Op, operand: ir.TensorType, result: ir.TensorType, dims: Sequence[int]) -> None:
    for i, dim in enumerate(dims):
        size = operand.shape[i]
        if size != 1 and not compatible_dimensions(size, result.shape[dim]):
            op.fail(
                f"size of operand dimension {i} ({size}) is not compatible with size of result dimension {dim} "
                f"({result.shape[dim]})"
            )


def _lower_dynamic_broadcast(
    ctx: LoweringContext, op: ir.Op, operand: HloInstruction, shape: HloInstruction
) -> HloInstruction:
    """HLO `broadcast`, once the shape is known, or to the bounds."""
    bounds = bounded_dimensions(op)
    if bounds is not None and ctx.module.static_values.of(shape) is None and not operand.shape.is_dynamic:
        wide = broadcast_in_dim(ctx, operand, bounds, ints(op, "broadcast_dimensions"))
        return with_sizes(ctx, op, wide, shape)
    dimensions = result_dimensions(ctx, op, shape, "output_dimensions")
    return broadcast_in_dim(ctx, operand, dimensions, ints(op, "broadcast_dimensions"))


define(
    "stablehlo.dynamic_broadcast_in_dim",
    (Values("operand", TENSOR_OR_PER_AXIS), Values("output_dimensions", INDEX_VECTOR, static=True)),
    rule=_dynamic_broadcast_rule,
    lower=_lower_dynamic_broadcast,
    attributes={
        "broadcast_dimensions": INTS,
        "known_expanding_dimensions": OPTIONAL_INTS,
        "known_nonexpanding_dimensions": OPTIONAL_INTS,
    },
    traits=(Trait.ON_STORAGE,),
    assembly="% , % , dims = broadcast_dimensions:dims attr-dict : :functional:",
    doc=(
        "`broadcast_in_dim` to a shape that an operand gives. The program is compiled once that operand is known: a "
        "constant, or a value that follows from the types of the arguments."
    ),
    result_types=TENSOR_OR_PER_AXIS,
)


def _dynamic_iota_rule(op: ir.Op, module: ir.Module) -> Sequence[ir.Type] | None:
    result = op.results[0].type
    assert isinstance(result, ir.TensorType)
    if op.attributes["iota_dimension"] >= result.rank:
        op.fail("iota dimension cannot go beyond the output rank.")
    return sized(op, check_output_shape(op, 0))


def _lower_dynamic_iota(ctx: LoweringContext, op: ir.Op, shape: HloInstruction) -> HloInstruction:
    """HLO `iota`, once the shape is known, or up to the bounds."""
    bounds = bounded_dimensions(op)
    at_run_time = bounds is not None and ctx.module.static_values.of(shape) is None
    dimensions = bounds if bounds and at_run_time else result_dimensions(ctx, op, shape, "output_shape")
    declared = shape_of(ir.TensorType(dimensions, tensor_of(op.results[0]).element))
    made = ctx.add(Opcode.IOTA, shape=declared, iota_dimension=int(op.attributes["iota_dimension"]))
    return with_sizes(ctx, op, made, shape) if at_run_time else made


define(
    "stablehlo.dynamic_iota",
    (_SHAPE,),
    rule=_dynamic_iota_rule,
    lower=_lower_dynamic_iota,
    attributes={"iota_dimension": INDEX},
    assembly="% , dim = iota_dimension:int attr-dict : :functional:",
    doc="`iota` of a shape that an operand gives.",
)


def _dynamic_reshape_rule(op: ir.Op, module: ir.Module) -> Sequence[ir.Type] | None:
    operand, result = tensor(op, 0), tensor_of(op.results[0])
    _check_elements(op, operand, result)
    check_element_count(op, operand, result)
    sizes = check_output_shape(op, 1)
    if tensor(op, 1).shape[0] != result.rank:
        op.fail("result should have a rank equal to the number of elements in output_shape")
    if sizes is not None and operand.is_static and math.prod(operand.shape) != math.prod(sizes):
        op.fail(
            "output_shape is incompatible with input type of operation: input has "
            f"{math.prod(operand.shape)} elements, but output_shape has {math.prod(sizes)}"
        )
    check_quantized_reshape(op, operand, result)
    return sized(op, sizes)


def _lower_dynamic_reshape(
    ctx: LoweringContext, op: ir.Op, operand: HloInstruction, shape: HloInstruction
) -> HloInstruction:
    """HLO `reshape`, once the shape is known; `dynamic-reshape` where only its bounds are."""
    type = op.results[0].type
    if bounded_dimensions(op) is None or ctx.module.static_values.of(shape) is not None:
        return ctx.reshape(operand, result_dimensions(ctx, op, shape, "output_shape"))
    rank = shape.shape.dimensions[0]
    sizes = [scalar_at(ctx, shape, d) for d in range(rank)]
    return ctx.add(Opcode.DYNAMIC_RESHAPE, operand, *sizes, shape=shape_of(type))


define(
    "stablehlo.dynamic_reshape",
    (Values("operand", TENSOR_OR_PER_AXIS), _SHAPE),
    rule=_dynamic_reshape_rule,
    lower=_lower_dynamic_reshape,
    traits=(Trait.ON_STORAGE,),
    assembly=FUNCTIONAL_ASSEMBLY,
    doc="`reshape` to a shape that an operand gives.",
    result_types=TENSOR_OR_PER_AXIS,
)
