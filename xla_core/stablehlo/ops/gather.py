"""gather and dynamic_gather."""

from __future__ import annotations

from collections.abc import Sequence

from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.opcode import Opcode
from xla_core.stablehlo import ir
from xla_core.stablehlo.lower.context import LoweringContext
from xla_core.stablehlo.ops.common import FALSE, INTS, OneOp, check_dimension_list, ints, tensor
from xla_core.stablehlo.ops.dimension_lists import Wording, check_batching, check_disjoint, check_sorted
from xla_core.stablehlo.sharding import result_shardings
from xla_core.stablehlo.table.op_table import Attribute, Kind, OpGroup, Trait, Values
from xla_core.stablehlo.table.type_constraints import INTEGER, STATIC_INTEGERS
from xla_core.stablehlo.verify.compatibility import shape_text

define = OpGroup("gather").define

_WORDS = Wording("expects", ", got: ", "", "start_indices")
_NUMBERS = Attribute(
    Kind.STRUCT, classes=(ir.GatherDimensionNumbers,), says="Attribute that models the dimension information for gather"
)


def _check_gather(op: ir.Op, slice_sizes: Sequence[int] | None, sizes_count: int) -> Sequence[ir.Type]:
    """Checks gather and dynamic_gather, and infers the result type.

    `slice_sizes` is None where the sizes are known at run time only.
    """
    operand, indices = tensor(op, 0), tensor(op, 1)
    dims: ir.GatherDimensionNumbers = op.attributes["dimension_numbers"]
    offset, collapsed, batching = dims.offset_dims, dims.collapsed_slice_dims, dims.operand_batching_dims
    if len(offset) + len(collapsed) + len(batching) != operand.rank:
        op.fail(
            f"offset_dims size ({len(offset)}) plus collapse_slice_dims size ({len(collapsed)}) plus "
            f"operand_batching_dims size ({len(batching)}) is not equal to operand rank ({operand.rank})"
        )
    vector = dims.index_vector_dim
    if not 0 <= vector <= indices.rank:
        op.fail(
            "Expects index_vector_dim to be in range [0, rank-of('start_indices')] i.e. "
            f"[0, {indices.rank}]. got: {vector}."
        )
    count = indices.shape[vector] if vector < indices.rank else 1
    if count not in (ir.DYNAMIC, len(dims.start_index_map)):
        op.fail(
            f"start_index_map size ({len(dims.start_index_map)}) is not equal to size of index dimension "
            f"({vector}) of start_indices ({count})"
        )
    check_sorted(op, _WORDS, "offset_dims", offset, unique=True)
    check_disjoint(op, "collapsed_slice_dims", collapsed, "operand_batching_dims", batching)
    check_sorted(op, _WORDS, "collapsed_slice_dims", collapsed)
    check_dimension_list(op, "collapsed_slice_dims", collapsed, operand.rank, "rank-of('operand')")
    check_sorted(op, _WORDS, "operand_batching_dims", batching)
    check_dimension_list(op, "operand_batching_dims", batching, operand.rank, "rank-of('operand')")
    names = "operand_batching_dims", "start_indices_batching_dims"
    check_batching(op, _WORDS, names, dims, operand, indices)
    check_disjoint(op, "start_index_map", dims.start_index_map, "operand_batching_dims", batching)
    check_dimension_list(op, "start_index_map", dims.start_index_map, operand.rank, "rank-of('operand')")
    if sizes_count not in (ir.DYNAMIC, operand.rank):
        op.fail(f"slice_sizes size ({sizes_count}) not equal to operand rank ({operand.rank})")
    if slice_sizes is not None:
        _unit_slices(op, "collapsed_slice_dims", collapsed, slice_sizes)
        _unit_slices(op, "operand_batching_dims", batching, slice_sizes)
        for i, (size, limit) in enumerate(zip(slice_sizes, operand.shape, strict=True)):
            if size < 0 or ir.DYNAMIC != limit < size:
                limits = shape_text([limit])
                op.fail(f"slice size ({size}) is out of bounds for operand dimension ({limits}) at index {i}")
    result_rank = len(offset) + indices.rank - (vector < indices.rank)
    check_dimension_list(op, "offset_dims", offset, result_rank, "implied-result-rank")
    batch = iter([(s, b) for i, (s, b) in enumerate(zip(indices.shape, _bounds(indices), strict=True)) if i != vector])
    kept = iter(
        [
            (ir.DYNAMIC if slice_sizes is None else slice_sizes[i], None)
            for i in range(operand.rank)
            if i not in collapsed and i not in batching
        ]
    )
    sizes = [next(kept) if i in offset else next(batch) for i in range(result_rank)]
    bounds = tuple(bound for _, bound in sizes)
    return [ir.TensorType(tuple(size for size, _ in sizes), operand.element, bounds if any(bounds) else ())]


def _bounds(type: ir.TensorType) -> tuple[int | None, ...]:
    return type.bounds or (None,) * type.rank


def _unit_slices(op: ir.Op, name: str, dims: Sequence[int], slice_sizes: Sequence[int]) -> None:
    for dim in dims:
        if slice_sizes[dim] > 1:
            op.fail(f"Expects that for each dim in {name}, slice_sizes[dim] should be <= 1, but got {slice_sizes[dim]}")


def _gather_rule(op: ir.Op, module: ir.Module) -> Sequence[ir.Type]:
    sizes = ints(op, "slice_sizes")
    return _check_gather(op, sizes if len(sizes) == tensor(op, 0).rank else None, len(sizes))


define(
    "stablehlo.gather",
    (Values("operand"), Values("start_indices", INTEGER)),
    rule=_gather_rule,
    result_sharding=result_shardings.of_gather,
    lower=OneOp(Opcode.GATHER, "dimension_numbers", "slice_sizes", "indices_are_sorted"),
    attributes={"dimension_numbers": _NUMBERS, "slice_sizes": INTS, "indices_are_sorted": FALSE},
    releases="0.9 1.1",
    doc=(
        "Slices of the operand of sizes `slice_sizes`, at the start indices, which are clamped so that the slices "
        "lie within. The dimensions `offset_dims` of the result run over a slice, and the other dimensions over the "
        "indices."
    ),
    traits=(Trait.ON_STORAGE,),
    type_traits=("element-type: operand result",),
)


def _dynamic_gather_rule(op: ir.Op, module: ir.Module) -> Sequence[ir.Type]:
    sizes = ir.constant_of(op.operands[2])
    known = None if sizes is None or sizes.size != tensor(op, 0).rank else [int(s) for s in sizes.reshape(-1)]
    return _check_gather(op, known, tensor(op, 2).shape[0])


def _lower_dynamic_gather(
    ctx: LoweringContext, op: ir.Op, operand: HloInstruction, indices: HloInstruction, sizes: HloInstruction
) -> HloInstruction:
    """HLO `gather`, once the slice sizes are known."""
    known = tuple(ctx.static_value(sizes, op, "slice_sizes").tolist())
    return ctx.add(Opcode.GATHER, operand, indices, slice_sizes=known, **_DYNAMIC_GATHER.hlo_attributes(op))


_DYNAMIC_GATHER = OneOp(Opcode.GATHER, "dimension_numbers", "indices_are_sorted")


define(
    "stablehlo.dynamic_gather",
    (Values("operand"), Values("start_indices", INTEGER), Values("slice_sizes", STATIC_INTEGERS, static=True)),
    rule=_dynamic_gather_rule,
    lower=_lower_dynamic_gather,
    attributes={"dimension_numbers": _NUMBERS, "indices_are_sorted": FALSE},
    traits=(Trait.ON_STORAGE,),
    releases="0.9 1.1",
    doc="`gather` with slice sizes that an operand gives.",
)
