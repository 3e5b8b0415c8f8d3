"""scatter."""

from __future__ import annotations

from collections.abc import Sequence

from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.opcode import Opcode
from xla_core.stablehlo import ir
from xla_core.stablehlo.lower.context import LoweringContext
from xla_core.stablehlo.ops.common import FALSE, OneOp, check_dimension_list, tensor
from xla_core.stablehlo.ops.dimension_lists import Wording, check_batching, check_disjoint, check_sorted
from xla_core.stablehlo.ops.reducers import check_reducer, promote
from xla_core.stablehlo.table.op_table import Arity, Attribute, Kind, OpGroup, Trait, Values
from xla_core.stablehlo.table.type_constraints import INTEGER_OR_INDEX, TENSOR
from xla_core.stablehlo.verify.compatibility import compatible_dimensions, compatible_shapes

define = OpGroup("scatter").define

_WORDS = Wording("Expects", "; got: ", ".", "scatter_indices")


def _scatter_rule(op: ir.Op, module: ir.Module) -> Sequence[ir.Type]:
    count = (len(op.operands) - 1) // 2
    inputs = [tensor(op, i) for i in range(count)]
    indices = tensor(op, count)
    updates = [tensor(op, count + 1 + i) for i in range(count)]
    if any(not compatible_shapes(t.shape, inputs[0].shape) for t in inputs):
        op.fail("Not all inputs have compatible shapes.")
    dims: ir.ScatterDimensionNumbers = op.attributes["scatter_dimension_numbers"]
    windows, inserted, batching = dims.update_window_dims, dims.inserted_window_dims, dims.input_batching_dims
    vector = dims.index_vector_dim
    if any(not compatible_shapes(t.shape, updates[0].shape) for t in updates):
        op.fail("Not all updates have compatible shapes.")
    if not 0 <= vector <= indices.rank:
        op.fail(
            "Expects index_vector_dim to be in range [0, rank-of('scatter_indices')] i.e. "
            f"[0, {indices.rank}]. got: {vector}."
        )
    results = check_reducer(op, op.regions[0], _scalars(updates), inputs)
    operand, update = inputs[0], updates[0]
    rank = indices.rank - (vector < indices.rank) + len(windows)
    if update.rank != rank:
        op.fail(
            f"expects updates tensor must be of rank {rank} ( == rank-of('scatter_indices') - 1 + "
            "size-of('update_window_dims'), where 'scatter_indices' is expanded by a trailing 1 dimension if "
            f"'index_vector_dim' == rank-of('scatter_indices')), but got {update.rank}."
        )
    expected = len(windows) + len(inserted) + len(batching)
    if expected != operand.rank:
        op.fail(
            "Expects rank-of operand to match size-of('update_window_dims') + size-of('inserted_window_dims') + "
            f"size-of('input_batching_dims') i.e. {expected} but got {operand.rank}."
        )
    _check_scatter_dimensions(op, dims, operand, indices, update)
    return [ir.TensorType(i.shape, r.element, i.bounds) for i, r in zip(inputs, results, strict=True)]


def _scalars(types: Sequence[ir.TensorType]) -> list[ir.TensorType]:
    return [ir.TensorType((), t.element) for t in types]


def _check_scatter_dimensions(
    op: ir.Op, dims: ir.ScatterDimensionNumbers, operand: ir.TensorType, indices: ir.TensorType, update: ir.TensorType
) -> None:
    windows, inserted, batching = dims.update_window_dims, dims.inserted_window_dims, dims.input_batching_dims
    vector = dims.index_vector_dim
    check_sorted(op, _WORDS, "update_window_dims", windows, unique=True)
    check_dimension_list(op, "update_window_dims", windows, update.rank, "rank-of('updates')")
    check_disjoint(op, "inserted_window_dims", inserted, "input_batching_dims", batching)
    check_sorted(op, _WORDS, "inserted_window_dims", inserted)
    check_dimension_list(op, "inserted_window_dims", inserted, operand.rank, "rank-of('operand')")
    check_sorted(op, _WORDS, "input_batching_dims", batching)
    check_dimension_list(op, "input_batching_dims", batching, operand.rank, "rank-of('operand')")
    names = "input_batching_dims", "scatter_indices_batching_dims"
    check_batching(op, _WORDS, names, dims, operand, indices)
    count = indices.shape[vector] if vector < indices.rank else 1
    mapped = dims.scatter_dims_to_operand_dims
    if count not in (ir.DYNAMIC, len(mapped)):
        op.fail(
            f"Scatter op has {len(mapped)} elements in scatter_dims_to_operand_dims and the bound of dimension "
            f"index_vector_dim={vector} of scatter_indices is {count}. These two numbers must be equal."
        )
    check_disjoint(op, "scatter_dims_to_operand_dims", mapped, "input_batching_dims", batching)
    check_dimension_list(op, "scatter_dims_to_operand_dims", mapped, operand.rank, "rank-of('operand')")
    kept = [s for i, s in enumerate(operand.shape) if i not in inserted and i not in batching]
    for window, size in zip(windows, kept, strict=True):
        if ir.DYNAMIC not in (size, update.shape[window]) and update.shape[window] > size:
            op.fail(
                "expects bounds of the window dimensions of updates to not exceed the bounds of the corresponding "
                f"dimensions of operand. For dimension {window}, updates bound is {update.shape[window]}, "
                "operand bound "
                f"is {size}."
            )
    batch = [s for i, s in enumerate(indices.shape) if i != vector]
    for i, dim in enumerate(d for d in range(update.rank) if d not in windows):
        if not compatible_dimensions(update.shape[dim], batch[i]):
            op.fail(
                "expects bounds of the scatter dimensions of updates to be same as the bounds of the corresponding "
                f"dimensions of scatter indices. For scatter dimension {dim}, updates bound is {update.shape[dim]} , "
                f"scatter_indices bound is {batch[i]}."
            )


def _lower_scatter(ctx: LoweringContext, op: ir.Op, *operands: HloInstruction) -> Sequence[HloInstruction]:
    """HLO `scatter`."""
    if len(op.operands) != 2 * len(op.results) + 1:
        op.fail(f"expects N inputs, scatter_indices, and N updates, but got {len(op.operands)} operands")
    arguments, count = op.regions[0].block.arguments, len(op.results)
    inputs, updates = operands[:count], operands[count + 1 :]
    scatter = ctx.add(
        Opcode.SCATTER,
        *promote(ctx, inputs, arguments[:count]),
        operands[count],
        *promote(ctx, updates, arguments[count:]),
        to_apply=ctx.region(op.regions[0], "scatter_region"),
        **_SCATTER.hlo_attributes(op),
    )
    return ctx.results(scatter, op)


_SCATTER = OneOp(Opcode.SCATTER, "scatter_dimension_numbers", "indices_are_sorted", "unique_indices")


define(
    "stablehlo.scatter",
    (
        Values("inputs", TENSOR, Arity.VARIADIC),
        Values("scatter_indices", INTEGER_OR_INDEX),
        Values("updates", TENSOR, Arity.VARIADIC),
    ),
    (Values("results", TENSOR, Arity.VARIADIC),),
    rule=_scatter_rule,
    lower=_lower_scatter,
    counterpart=_SCATTER,
    regions=1,
    attributes={
        "scatter_dimension_numbers": Attribute(
            Kind.STRUCT,
            classes=(ir.ScatterDimensionNumbers,),
            says="Attribute that models the dimension information for scatter",
        ),
        "indices_are_sorted": FALSE,
        "unique_indices": FALSE,
    },
    traits=(Trait.VERSION_BY_OPERANDS, Trait.PROMOTES),
    releases="0.9 1.1",
    doc=(
        "The inputs with the updates combined into them by the region, at the places that `scatter_indices` gives. "
        "Windows that are not within the input are skipped. Several updates of one place are combined in an order "
        "that the "
        "implementation chooses."
    ),
)
