"""broadcast_in_dim."""

from __future__ import annotations

from collections.abc import Sequence

from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.opcode import Opcode
from xla_core.stablehlo import ir
from xla_core.stablehlo.lower.context import LoweringContext
from xla_core.stablehlo.ops.common import INTS, OneOp, ints, tensor, tensor_of
from xla_core.stablehlo.ops.quantized_constraints import check_quantized_broadcast, check_same_scale
from xla_core.stablehlo.sharding import result_shardings
from xla_core.stablehlo.table.op_table import OpGroup, Trait
from xla_core.stablehlo.table.type_constraints import STATIC_OR_BOUNDED, TENSOR_OR_PER_AXIS
from xla_core.stablehlo.verify.compatibility import shape_text

define = OpGroup("broadcasts").define


def check_broadcast_dimensions(op: ir.Op, operand: ir.TensorType, result: ir.TensorType) -> tuple[int, ...]:
    """Checks `broadcast_dimensions` of broadcast_in_dim and dynamic_broadcast_in_dim. Returns the dimensions."""
    dims = ints(op, "broadcast_dimensions")
    if len(dims) != operand.rank:
        op.fail(f"broadcast_dimensions size ({len(dims)}) does not match operand rank ({operand.rank})")
    if len(set(dims)) != len(dims):
        op.fail("broadcast_dimensions should not have duplicates")
    for dim in dims:
        if not 0 <= dim < result.rank:
            op.fail(f"broadcast_dimensions contains invalid value {dim} for result with rank {result.rank}")
    return dims


def _broadcast_in_dim_rule(op: ir.Op, module: ir.Module) -> None:
    operand, result = tensor(op, 0), tensor_of(op.results[0])
    check_same_scale(op, operand, result, per_axis=False)
    dims = check_broadcast_dimensions(op, operand, result)
    for i, dim in enumerate(dims):
        size = operand.shape[i]
        if size not in (ir.DYNAMIC, 1, result.shape[dim]):
            op.fail(
                f"size of operand dimension {i} ({size}) is not equal to 1 or size of result dimension {dim} "
                f"({shape_text([result.shape[dim]])})"
            )
    check_quantized_broadcast(op, operand, result, dims)


def broadcast_in_dim(
    ctx: LoweringContext, operand: HloInstruction, dimensions: Sequence[int], dims: Sequence[int]
) -> HloInstruction:
    """Broadcasts the operand to the sizes `dimensions`: operand dimension i becomes result dimension `dims[i]`.

    HLO's broadcast can only add dimensions, and it needs the operand's dimensions in increasing order. So the operand
    is transposed where `dims` is out of order, and a reshape drops the dimensions of size 1 that the result repeats.
    """
    shape = operand.shape.with_dimensions(dimensions)
    order = sorted(range(len(dims)), key=lambda i: dims[i])
    if order != list(range(len(dims))):
        operand = ctx.add(Opcode.TRANSPOSE, operand, dimensions=tuple(order))
        dims = sorted(dims)
    keep = [i for i, d in enumerate(dims) if operand.shape.dimensions[i] == shape.dimensions[d]]
    operand = ctx.reshape(operand, [operand.shape.dimensions[i] for i in keep])
    return ctx.broadcast(operand, shape.dimensions, [dims[i] for i in keep])


def _lower_broadcast_in_dim(ctx: LoweringContext, op: ir.Op, operand: HloInstruction) -> HloInstruction:
    """HLO `broadcast`, after a reshape that drops the dimensions of size 1 that the result repeats."""
    return broadcast_in_dim(ctx, operand, ctx.result_shape(op).dimensions, ints(op, "broadcast_dimensions"))


define(
    "stablehlo.broadcast_in_dim",
    "operand",
    rule=_broadcast_in_dim_rule,
    result_sharding=result_shardings.of_broadcast,
    lower=_lower_broadcast_in_dim,
    counterpart=OneOp(Opcode.BROADCAST, dimensions="broadcast_dimensions"),
    attributes={"broadcast_dimensions": INTS},
    traits=(Trait.ON_STORAGE,),
    assembly="% , dims = broadcast_dimensions:dims attr-dict : :functional:",
    doc=(
        "Operand dimension i becomes result dimension `broadcast_dimensions[i]`; an operand dimension of size 1 is "
        "repeated to the result's size, and so are the result's other dimensions."
    ),
    types=TENSOR_OR_PER_AXIS,
    result_types=STATIC_OR_BOUNDED,
    type_traits=("compatible-element-types",),
)
