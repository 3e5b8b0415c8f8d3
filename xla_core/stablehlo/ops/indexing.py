"""Ops that read or write parts of tensors: slice, dynamic_slice, dynamic_update_slice, gather, scatter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xla_core.hlo.attributes import SliceDimension
from xla_core.hlo.instruction import HloInstruction
from xla_core.stablehlo import ir
from xla_core.stablehlo.attributes import GatherDimensionNumbers, ScatterDimensionNumbers
from xla_core.stablehlo.compatibility import compatible_dimensions, compatible_elements, compatible_shapes, fail, list_text
from xla_core.stablehlo.ir import DYNAMIC, TensorType
from xla_core.stablehlo.lowering import LoweringContext
from xla_core.stablehlo.op_table import Arity, Attribute, Kind, Trait, Values, define
from xla_core.stablehlo.ops.common import check_dimension_list, constant_of, ints, tensor
from xla_core.stablehlo.ops.reducers import check_reducer, promote
from xla_core.stablehlo.type_constraints import INTEGER, INTEGER_SCALAR, TENSOR

__all__ = ["gather_rule", "lower_gather"]

_INTS = Attribute(Kind.INTS)
_FALSE = Attribute(Kind.BOOL, False)


# -- slices ----------------------------------------------------------------------------------------------------------


def _slice_rule(op: ir.Op, module: ir.Module) -> Sequence[ir.Type]:
    operand = tensor(op, 0)
    lists = {name: ints(op, name) for name in ("start_indices", "limit_indices", "strides")}
    for name, values in lists.items():
        if len(values) != operand.rank:
            fail(op, f"the number of elements in {name} ({len(values)}) does not match the rank of the operand ({operand.rank})")
    sizes = []
    for i, (start, limit, stride) in enumerate(zip(*lists.values(), strict=True)):
        if start < 0:
            fail(op, f"negative start index {start} in dimension {i}")
        if operand.shape[i] != DYNAMIC and limit > operand.shape[i]:
            fail(op, f"limit index {limit} is larger than dimension size {operand.shape[i]} in dimension {i}")
        if start > limit:
            fail(op, f"start index {start} is larger than limit index {limit} in dimension {i}")
        if stride <= 0:
            fail(op, f"stride must be positive but got {stride} in dimension {i}")
        sizes.append(-(-(limit - start) // stride))
    return [TensorType(tuple(sizes), operand.element)]


def _lower_slice(ctx: LoweringContext, op: ir.Op, operand: HloInstruction) -> HloInstruction:
    """HLO `slice`."""
    parts = zip(ints(op, "start_indices"), ints(op, "limit_indices"), ints(op, "strides"), strict=True)
    return ctx.add("slice", operand, slice=tuple(SliceDimension(*p) for p in parts))


define(
    "stablehlo.slice",
    "operand",
    rule=_slice_rule,
    lower=_lower_slice,
    attributes={"start_indices": _INTS, "limit_indices": _INTS, "strides": _INTS},
    traits=(Trait.ON_STORAGE,),
)


def _check_starts(op: ir.Op, starts: Sequence[ir.Value]) -> None:
    elements = {v.type.element for v in starts if isinstance(v.type, TensorType)}
    if len(elements) > 1:
        fail(op, "start indices must have same element type")


def _dynamic_slice_rule(op: ir.Op, module: ir.Module) -> Sequence[ir.Type]:
    operand, sizes, starts = tensor(op, 0), ints(op, "slice_sizes"), op.operands[1:]
    if len(sizes) != len(starts):
        fail(op, f"has mismatched number of slice sizes ({len(sizes)}) and number of start indices ({len(starts)})")
    if len(starts) != operand.rank:
        fail(op, f"has mismatched number of start indices ({len(starts)}) and the rank of operand ({operand.rank})")
    _check_starts(op, starts)
    for i, size in enumerate(sizes):
        if size < 0:
            fail(op, f"has negative size index to dynamic slice: {size}")
        if operand.shape[i] != DYNAMIC and size > operand.shape[i]:
            fail(op, f"has slice size {size} greater than dimension size {operand.shape[i]} in dimension {i} of operand")
    return [TensorType(sizes, operand.element)]


def _lower_dynamic_slice(
    ctx: LoweringContext, op: ir.Op, operand: HloInstruction, *starts: HloInstruction
) -> HloInstruction:
    """HLO `dynamic-slice`."""
    return ctx.add("dynamic-slice", operand, *starts, dynamic_slice_sizes=ints(op, "slice_sizes"))


define(
    "stablehlo.dynamic_slice",
    (Values("operand"), Values("start_indices", INTEGER_SCALAR, Arity.VARIADIC)),
    rule=_dynamic_slice_rule,
    lower=_lower_dynamic_slice,
    attributes={"slice_sizes": _INTS},
    traits=(Trait.ON_STORAGE,),
)


def _dynamic_update_slice_rule(op: ir.Op, module: ir.Module) -> Sequence[ir.Type]:
    operand, update, starts = tensor(op, 0), tensor(op, 1), op.operands[2:]
    if update.rank != operand.rank:
        fail(op, f"update rank does not match operand rank: {update.rank} vs {operand.rank}.")
    if len(starts) != operand.rank:
        fail(op, f"expects number of start_indices to match operand rank: {len(starts)} vs {operand.rank}.")
    _check_starts(op, starts)
    if not compatible_elements(operand.element, update.element):
        fail(op, "requires the same element type for operand and update")
    for i, (size, limit) in enumerate(zip(update.shape, operand.shape, strict=True)):
        if DYNAMIC not in (size, limit) and not 0 <= size <= limit:
            fail(op, f"expects size at dimension {i} of update to be in range [0, {limit}]. Got: {size}.")
    return [operand]


def _lower_dynamic_update_slice(
    ctx: LoweringContext, op: ir.Op, operand: HloInstruction, update: HloInstruction, *starts: HloInstruction
) -> HloInstruction:
    """HLO `dynamic-update-slice`."""
    return ctx.add("dynamic-update-slice", operand, update, *starts)


define(
    "stablehlo.dynamic_update_slice",
    (Values("operand"), Values("update"), Values("start_indices", INTEGER_SCALAR, Arity.VARIADIC)),
    rule=_dynamic_update_slice_rule,
    lower=_lower_dynamic_update_slice,
    traits=(Trait.ON_STORAGE,),
)


# -- gather ----------------------------------------------------------------------------------------------------------


def gather_rule(op: ir.Op, slice_sizes: Sequence[int] | None, sizes_count: int) -> Sequence[ir.Type]:
    """What gather and dynamic_gather demand. `slice_sizes` is None where they are known at run time only."""
    operand, indices = tensor(op, 0), tensor(op, 1)
    dims: GatherDimensionNumbers = op.attributes["dimension_numbers"]
    offset, collapsed, batching = dims.offset_dims, dims.collapsed_slice_dims, dims.operand_batching_dims
    if len(offset) + len(collapsed) + len(batching) != operand.rank:
        fail(
            op,
            f"offset_dims size ({len(offset)}) plus collapse_slice_dims size ({len(collapsed)}) plus "
            f"operand_batching_dims size ({len(batching)}) is not equal to operand rank ({operand.rank})",
        )
    vector = dims.index_vector_dim
    if not 0 <= vector <= indices.rank:
        fail(
            op,
            "Expects index_vector_dim to be in range [0, rank-of('start_indices')] i.e. "
            f"[0, {indices.rank}]. got: {vector}.",
        )
    count = indices.shape[vector] if vector < indices.rank else 1
    if count not in (DYNAMIC, len(dims.start_index_map)):
        fail(
            op,
            f"start_index_map size ({len(dims.start_index_map)}) is not equal to size of index dimension "
            f"({vector}) of start_indices ({count})",
        )
    _sorted_unique(op, "offset_dims", offset)
    result_rank = len(offset) + indices.rank - (vector < indices.rank)
    check_dimension_list(op, "offset_dims", offset, result_rank, "implied-result-rank")
    _disjoint(op, "collapsed_slice_dims", collapsed, "operand_batching_dims", batching)
    _sorted(op, "collapsed_slice_dims", collapsed)
    check_dimension_list(op, "collapsed_slice_dims", collapsed, operand.rank, "rank-of('operand')")
    _unit_slices(op, "collapsed_slice_dims", collapsed, slice_sizes)
    _sorted(op, "operand_batching_dims", batching)
    check_dimension_list(op, "operand_batching_dims", batching, operand.rank, "rank-of('operand')")
    _unit_slices(op, "operand_batching_dims", batching, slice_sizes)
    _check_batching(op, "operand_batching_dims", batching, "start_indices_batching_dims", dims.start_indices_batching_dims,
                    operand, indices, vector, "start_indices", ", got: ", "")
    _disjoint(op, "start_index_map", dims.start_index_map, "operand_batching_dims", batching)
    check_dimension_list(op, "start_index_map", dims.start_index_map, operand.rank, "rank-of('operand')")
    if sizes_count not in (DYNAMIC, operand.rank):
        fail(op, f"slice_sizes size ({sizes_count}) not equal to operand rank ({operand.rank})")
    if slice_sizes is not None:
        for i, (size, limit) in enumerate(zip(slice_sizes, operand.shape, strict=True)):
            if limit != DYNAMIC and not 0 <= size <= limit:
                fail(op, f"slice size ({size}) is out of bounds for operand dimension ({limit}) at index {i}")
    batch = iter([s for i, s in enumerate(indices.shape) if i != vector])
    kept = iter(
        [
            DYNAMIC if slice_sizes is None else slice_sizes[i]
            for i in range(operand.rank)
            if i not in collapsed and i not in batching
        ]
    )
    shape = tuple(next(kept) if i in offset else next(batch) for i in range(result_rank))
    return [TensorType(shape, operand.element)]


def _sorted(op: ir.Op, name: str, dims: Sequence[int]) -> None:
    if list(dims) != sorted(dims):
        fail(op, f"expects {name} to be sorted, got: [{list_text(dims)}]")


def _sorted_unique(op: ir.Op, name: str, dims: Sequence[int]) -> None:
    _sorted(op, name, dims)
    if len(set(dims)) != len(dims):
        fail(op, f"expects {name} to not repeat, got: [{list_text(dims)}]")


def _disjoint(op: ir.Op, a: str, a_dims: Sequence[int], b: str, b_dims: Sequence[int]) -> None:
    seen: set[int] = set()
    for dim in (*a_dims, *b_dims):
        if dim in seen:
            fail(op, f"has duplicated dimension from {a} and {b}: {dim}")
        seen.add(dim)


def _unit_slices(op: ir.Op, name: str, dims: Sequence[int], slice_sizes: Sequence[int] | None) -> None:
    for dim in dims if slice_sizes is not None else ():
        if dim < len(slice_sizes or ()) and (slice_sizes or ())[dim] > 1:
            fail(op, f"Expects that for each dim in {name}, slice_sizes[dim] should be <= 1, but got {(slice_sizes or ())[dim]}")


def _check_batching(
    op: ir.Op,
    name: str,
    dims: Sequence[int],
    indices_name: str,
    indices_dims: Sequence[int],
    operand: TensorType,
    indices: TensorType,
    vector: int,
    indices_operand: str,
    got: str,
    end: str,
) -> None:
    """The batching dimensions of gather and scatter, which word their errors a little differently."""
    if len(set(indices_dims)) != len(indices_dims):
        verb = "expects" if got.startswith(",") else "Expects"
        fail(op, f"{verb} {indices_name} to not repeat{got}[{list_text(indices_dims)}]{end}")
    check_dimension_list(op, indices_name, indices_dims, indices.rank, f"rank-of('{indices_operand}')")
    if vector in indices_dims:
        fail(op, f"expects {indices_name} not to include index_vector_dim {vector}{end}")
    if len(dims) != len(indices_dims):
        fail(op, f"{name} and {indices_name} should have the same size{end}")
    for i, (a, b) in enumerate(zip(dims, indices_dims, strict=True)):
        if not compatible_dimensions(operand.shape[a], indices.shape[b]):
            fail(
                op,
                f"{name}[{i}] and {indices_name}[{i}] must have compatible sizes, but got {operand.shape[a]} and "
                f"{indices.shape[b]}{end}",
            )


def lower_gather(
    ctx: LoweringContext, op: ir.Op, operand: HloInstruction, indices: HloInstruction, slice_sizes: Sequence[int]
) -> HloInstruction:
    """HLO `gather`."""
    dims: GatherDimensionNumbers = op.attributes["dimension_numbers"]
    return ctx.add(
        "gather",
        operand,
        indices,
        offset_dims=dims.offset_dims,
        collapsed_slice_dims=dims.collapsed_slice_dims,
        start_index_map=dims.start_index_map,
        index_vector_dim=dims.index_vector_dim,
        slice_sizes=tuple(slice_sizes),
        **_given(
            operand_batching_dims=dims.operand_batching_dims,
            start_indices_batching_dims=dims.start_indices_batching_dims,
            indices_are_sorted=bool(op.attributes.get("indices_are_sorted", False)),
        ),
    )


def _gather_rule(op: ir.Op, module: ir.Module) -> Sequence[ir.Type]:
    sizes = ints(op, "slice_sizes")
    return gather_rule(op, sizes if len(sizes) == tensor(op, 0).rank else None, len(sizes))


def _given(**attributes: Any) -> dict[str, Any]:
    """The attributes that say something; the others are the op's defaults."""
    return {name: value for name, value in attributes.items() if value}


define(
    "stablehlo.gather",
    (Values("operand"), Values("start_indices", INTEGER)),
    rule=_gather_rule,
    lower=lambda ctx, op, operand, indices: lower_gather(ctx, op, operand, indices, ints(op, "slice_sizes")),
    attributes={"dimension_numbers": Attribute(Kind.STRUCT), "slice_sizes": _INTS, "indices_are_sorted": _FALSE},
    doc="HLO `gather`.",
    traits=(Trait.ON_STORAGE,),
)


def _dynamic_gather_rule(op: ir.Op, module: ir.Module) -> Sequence[ir.Type]:
    sizes = constant_of(op.operands[2])
    known = None if sizes is None or sizes.size != tensor(op, 0).rank else [int(s) for s in sizes.reshape(-1)]
    return gather_rule(op, known, tensor(op, 2).shape[0])


def _lower_dynamic_gather(
    ctx: LoweringContext, op: ir.Op, operand: HloInstruction, indices: HloInstruction, sizes: HloInstruction
) -> HloInstruction:
    """HLO `gather`, once the slice sizes are known."""
    return lower_gather(ctx, op, operand, indices, ctx.static_value(sizes, op, "slice_sizes").tolist())


define(
    "stablehlo.dynamic_gather",
    (Values("operand"), Values("start_indices", INTEGER), Values("slice_sizes", INTEGER, static=True)),
    rule=_dynamic_gather_rule,
    lower=_lower_dynamic_gather,
    attributes={"dimension_numbers": Attribute(Kind.STRUCT), "indices_are_sorted": _FALSE},
    traits=(Trait.ON_STORAGE,),
)


# -- scatter ---------------------------------------------------------------------------------------------------------


def _scatter_rule(op: ir.Op, module: ir.Module) -> Sequence[ir.Type]:
    count = (len(op.operands) - 1) // 2
    if len(op.operands) < 3 or len(op.operands) % 2 == 0:
        fail(op, "expects N inputs, scatter_indices, and N updates")
    inputs = [tensor(op, i) for i in range(count)]
    indices = tensor(op, count)
    updates = [tensor(op, count + 1 + i) for i in range(count)]
    if any(not compatible_shapes(t.shape, inputs[0].shape) for t in inputs):
        fail(op, "Not all inputs have compatible shapes.")
    dims: ScatterDimensionNumbers = op.attributes["scatter_dimension_numbers"]
    windows, inserted, batching = dims.update_window_dims, dims.inserted_window_dims, dims.input_batching_dims
    operand, update, vector = inputs[0], updates[0], dims.index_vector_dim
    if any(not compatible_shapes(t.shape, updates[0].shape) for t in updates):
        fail(op, "Not all updates have compatible shapes.")
    if not 0 <= vector <= indices.rank:
        fail(
            op,
            "Expects index_vector_dim to be in range [0, rank-of('scatter_indices')] i.e. "
            f"[0, {indices.rank}]. got: {vector}.",
        )
    rank = indices.rank - (vector < indices.rank) + len(windows)
    if update.rank != rank:
        fail(
            op,
            f"expects updates tensor must be of rank {rank} ( == rank-of('scatter_indices') - 1 + "
            "size-of('update_window_dims'), where 'scatter_indices' is expanded by a trailing 1 dimension if "
            f"'index_vector_dim' == rank-of('scatter_indices')), but got {update.rank}.",
        )
    expected = len(windows) + len(inserted) + len(batching)
    if expected != operand.rank:
        fail(
            op,
            "Expects rank-of operand to match size-of('update_window_dims') + size-of('inserted_window_dims') + "
            f"size-of('input_batching_dims') i.e. {expected} but got {operand.rank}.",
        )
    _check_scatter_dimensions(op, dims, operand, indices, update)
    results = check_reducer(op, op.regions[0], _scalars(updates), _scalars(inputs))
    return [TensorType(i.shape, r.element, i.bounds) for i, r in zip(inputs, results, strict=True)]


def _scalars(types: Sequence[TensorType]) -> list[TensorType]:
    return [TensorType((), t.element) for t in types]


def _check_scatter_dimensions(
    op: ir.Op, dims: ScatterDimensionNumbers, operand: TensorType, indices: TensorType, update: TensorType
) -> None:
    windows, inserted, batching = dims.update_window_dims, dims.inserted_window_dims, dims.input_batching_dims
    vector = dims.index_vector_dim
    _sorted_dims(op, "update_window_dims", windows)
    if len(set(windows)) != len(windows):
        fail(op, f"Expects update_window_dims to not repeat; got: [{list_text(windows)}].")
    check_dimension_list(op, "update_window_dims", windows, update.rank, "rank-of('updates')")
    _disjoint(op, "inserted_window_dims", inserted, "input_batching_dims", batching)
    _sorted_dims(op, "inserted_window_dims", inserted)
    check_dimension_list(op, "inserted_window_dims", inserted, operand.rank, "rank-of('operand')")
    _sorted_dims(op, "input_batching_dims", batching)
    check_dimension_list(op, "input_batching_dims", batching, operand.rank, "rank-of('operand')")
    _check_batching(op, "input_batching_dims", batching, "scatter_indices_batching_dims",
                    dims.scatter_indices_batching_dims, operand, indices, vector, "scatter_indices", "; got: ", ".")
    count = indices.shape[vector] if vector < indices.rank else 1
    mapped = dims.scatter_dims_to_operand_dims
    if count not in (DYNAMIC, len(mapped)):
        fail(
            op,
            f"Scatter op has {len(mapped)} elements in scatter_dims_to_operand_dims and the bound of dimension "
            f"index_vector_dim={vector} of scatter_indices is {count}. These two numbers must be equal.",
        )
    _disjoint(op, "scatter_dims_to_operand_dims", mapped, "input_batching_dims", batching)
    check_dimension_list(op, "scatter_dims_to_operand_dims", mapped, operand.rank, "rank-of('operand')")
    kept = [s for i, s in enumerate(operand.shape) if i not in inserted and i not in batching]
    for window, size in zip(windows, kept, strict=True):
        if DYNAMIC not in (size, update.shape[window]) and update.shape[window] > size:
            fail(
                op,
                "expects bounds of the window dimensions of updates to not exceed the bounds of the corresponding "
                f"dimensions of operand. For dimension {window}, updates bound is {update.shape[window]}, operand bound "
                f"is {size}.",
            )
    batch = [s for i, s in enumerate(indices.shape) if i != vector]
    for i, dim in enumerate(d for d in range(update.rank) if d not in windows):
        if not compatible_dimensions(update.shape[dim], batch[i]):
            fail(
                op,
                "expects bounds of the scatter dimensions of updates to be same as the bounds of the corresponding "
                f"dimensions of scatter indices. For scatter dimension {dim}, updates bound is {update.shape[dim]} , "
                f"scatter_indices bound is {batch[i]}.",
            )


def _sorted_dims(op: ir.Op, name: str, dims: Sequence[int]) -> None:
    if list(dims) != sorted(dims):
        fail(op, f"Expects {name} to be sorted; got: [{list_text(dims)}].")


def _lower_scatter(ctx: LoweringContext, op: ir.Op, *operands: HloInstruction) -> Sequence[HloInstruction]:
    """HLO `scatter`."""
    dims: ScatterDimensionNumbers = op.attributes["scatter_dimension_numbers"]
    arguments, count = op.regions[0].block.arguments, len(op.results)
    scatter = ctx.add(
        "scatter",
        *promote(ctx, operands[:count], arguments[:count]),
        operands[count],
        *promote(ctx, operands[count + 1 :], arguments[count:]),
        update_window_dims=dims.update_window_dims,
        inserted_window_dims=dims.inserted_window_dims,
        scatter_dims_to_operand_dims=dims.scatter_dims_to_operand_dims,
        index_vector_dim=dims.index_vector_dim,
        to_apply=ctx.region(op.regions[0], "scatter_region"),
        **_given(
            input_batching_dims=dims.input_batching_dims,
            scatter_indices_batching_dims=dims.scatter_indices_batching_dims,
            indices_are_sorted=bool(op.attributes.get("indices_are_sorted", False)),
            unique_indices=bool(op.attributes.get("unique_indices", False)),
        ),
    )
    return ctx.results(scatter, op)


define(
    "stablehlo.scatter",
    (
        Values("inputs", TENSOR, Arity.VARIADIC),
        Values("scatter_indices", TENSOR, Arity.OPTIONAL),
        Values("updates", TENSOR, Arity.VARIADIC),
    ),
    (Values("results", TENSOR, Arity.VARIADIC),),
    rule=_scatter_rule,
    lower=_lower_scatter,
    regions=1,
    attributes={
        "scatter_dimension_numbers": Attribute(Kind.STRUCT),
        "indices_are_sorted": _FALSE,
        "unique_indices": _FALSE,
    },
)
