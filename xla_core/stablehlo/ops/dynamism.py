"""Ops whose shapes are operands: they become static once those are known."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from xla_core.hlo.attributes import PaddingDimension, SliceDimension
from xla_core.hlo.element_type import ElementType
from xla_core.hlo.instruction import HloInstruction
from xla_core.hlo.shape import Shape
from xla_core.stablehlo import ir
from xla_core.stablehlo.compatibility import (
    compatible,
    compatible_dimensions,
    compatible_elements,
    fail,
    if_declared,
    list_text,
)
from xla_core.stablehlo.constants import constant_of
from xla_core.stablehlo.folding import static_value
from xla_core.stablehlo.ir import DYNAMIC, TensorType
from xla_core.stablehlo.lowering import LoweringContext
from xla_core.stablehlo.op_table import Attribute, Kind, Trait, Values, define
from xla_core.stablehlo.ops.broadcasts import broadcast_in_dim, check_broadcast_dimensions
from xla_core.stablehlo.ops.common import INDEX, ints, tensor, tensor_of
from xla_core.stablehlo.ops.quantized_constraints import (
    any_quantized,
    check_quantized_broadcast,
    check_quantized_reshape,
)
from xla_core.stablehlo.type_constraints import I32, INDEX_VECTOR, SCALAR, SHAPE_VECTOR, TENSOR_OR_PER_AXIS
from xla_core.stablehlo.type_conversion import shape_of

__all__: list[str] = []

_OPTIONAL_INTS = Attribute(Kind.INTS, None)
_SHAPE = Values("output_shape", INDEX_VECTOR, static=True)


def result_dimensions(ctx: LoweringContext, op: ir.Op, shape: HloInstruction, what: str) -> tuple[int, ...]:
    """The result's sizes: from its type where that is static, else the value of the shape operand."""
    type = op.results[0].type
    assert isinstance(type, TensorType)
    if shape.shape.dimensions[0] != type.rank:
        fail(op, f"{what} has {shape.shape.dimensions[0]} elements, but the result has rank {type.rank}")
    if type.is_static:
        return type.shape
    return tuple(int(n) for n in ctx.static_value(shape, op, what).reshape(-1))


def bounded_dimensions(op: ir.Op) -> tuple[int, ...] | None:
    """The bounds of the result, where each of its sizes that isn't known has one; None for a static result."""
    type = op.results[0].type
    if not isinstance(type, TensorType) or type.is_static:
        return None
    sizes = [b if n == DYNAMIC else n for n, b in zip(type.shape, type.bounds or (None,) * type.rank, strict=True)]
    return None if None in sizes else tuple(n for n in sizes if n is not None)


def with_sizes(ctx: LoweringContext, op: ir.Op, value: HloInstruction, shape: HloInstruction) -> HloInstruction:
    """An array of the bounds with the sizes that a shape operand has at run time."""
    type = op.results[0].type
    assert isinstance(type, TensorType)
    for d in (d for d, n in enumerate(type.shape) if n == DYNAMIC):
        part = ctx.reshape(ctx.add("slice", shape, slice=(SliceDimension(d, d + 1),)), ())
        value = ctx.add("set-dimension-size", value, ctx.convert(part, Shape(ElementType.S32)), dimensions=(d,))
    return value


def _check_output_shape(op: ir.Op, index: int) -> list[int] | None:
    """Checks the shape operand against the result's type; returns its value, where it is a constant."""
    result, known = tensor_of(op.results[0]), constant_of(op.operands[index])
    sizes = None if known is None else [int(n) for n in known.reshape(-1)]
    if sizes is not None and (min(sizes, default=0) < 0 or not compatible(_with_shape(result, sizes), result)):
        fail(op, f"output shape [{list_text(sizes)}] is incompatible with return type of operation '{result}'")
    return sizes


def _with_shape(type: TensorType, sizes: Sequence[int]) -> TensorType:
    return TensorType(tuple(sizes), type.element)


def _sized(op: ir.Op, sizes: Sequence[int] | None) -> Sequence[ir.Type] | None:
    """The result's type with these sizes, where they are known."""
    return None if sizes is None else if_declared(op, [_with_shape(tensor_of(op.results[0]), sizes)])


# -- broadcast, iota, reshape ----------------------------------------------------------------------------------------


def _dynamic_broadcast_rule(op: ir.Op, module: ir.Module) -> Sequence[ir.Type] | None:
    operand, result = tensor(op, 0), op.results[0].type
    assert isinstance(result, TensorType)
    if not any_quantized(operand, result) and not compatible_elements(operand.element, result.element):
        fail(op, f"expects operand and result to have compatible element type. Got: '{operand}' and '{result}'")
    if len(ints(op, "broadcast_dimensions")) == operand.rank > result.rank:
        fail(op, f"result rank ({result.rank}) is less than operand rank ({operand.rank})")
    dims = check_broadcast_dimensions(op, operand, result)
    _check_sizes(op, operand, result, dims)
    sizes = _check_output_shape(op, 1)
    hints = [*ints(op, "known_expanding_dimensions"), *ints(op, "known_nonexpanding_dimensions")]
    if len(set(hints)) != len(hints):
        fail(op, "duplicate expansion hint for at least one operand dimension")
    for hint in hints:
        if not 0 <= hint < operand.rank:
            fail(op, f"hint for expanding dimension {hint} does not refer to a valid operand dimension")
    for i, dim in enumerate(dims if sizes is not None and operand.is_static else ()):
        if sizes is not None and operand.shape[i] not in (1, sizes[dim]):
            fail(
                op,
                f"size of operand dimension {i} ({operand.shape[i]}) is not equal to 1 or value of shape at index "
                f"{dim} ({sizes[dim]})",
            )
    check_quantized_broadcast(op, operand, result, dims)
    return _sized(op, sizes)


def _check_sizes(op: ir.Op, operand: TensorType, result: TensorType, dims: Sequence[int]) -> None:
    for i, dim in enumerate(dims):
        size = operand.shape[i]
        if size != 1 and not compatible_dimensions(size, result.shape[dim]):
            fail(
                op,
                f"size of operand dimension {i} ({size}) is not compatible with size of result dimension {dim} "
                f"({result.shape[dim]})",
            )


def _lower_dynamic_broadcast(
    ctx: LoweringContext, op: ir.Op, operand: HloInstruction, shape: HloInstruction
) -> HloInstruction:
    """HLO `broadcast`, once the shape is known, or to the bounds."""
    bounds = bounded_dimensions(op)
    if bounds is not None and static_value(shape) is None and not operand.shape.is_dynamic:
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
        "broadcast_dimensions": Attribute(Kind.INTS),
        "known_expanding_dimensions": _OPTIONAL_INTS,
        "known_nonexpanding_dimensions": _OPTIONAL_INTS,
    },
    traits=(Trait.ON_STORAGE,),
    doc=(
        "`broadcast_in_dim` to a shape that an operand gives. Compiled once that operand is known: a constant, or "
        "what follows from the types of the arguments."
    ),
    result_types=TENSOR_OR_PER_AXIS,
)


def _dynamic_iota_rule(op: ir.Op, module: ir.Module) -> Sequence[ir.Type] | None:
    result = op.results[0].type
    assert isinstance(result, TensorType)
    if op.attributes["iota_dimension"] >= result.rank:
        fail(op, "iota dimension cannot go beyond the output rank.")
    return _sized(op, _check_output_shape(op, 0))


def _lower_dynamic_iota(ctx: LoweringContext, op: ir.Op, shape: HloInstruction) -> HloInstruction:
    """HLO `iota`, once the shape is known, or up to the bounds."""
    bounds = bounded_dimensions(op)
    at_run_time = bounds is not None and static_value(shape) is None
    dimensions = bounds if bounds and at_run_time else result_dimensions(ctx, op, shape, "output_shape")
    declared = shape_of(TensorType(dimensions, tensor_of(op.results[0]).element))
    made = ctx.add("iota", shape=declared, iota_dimension=int(op.attributes["iota_dimension"]))
    return with_sizes(ctx, op, made, shape) if at_run_time else made


define(
    "stablehlo.dynamic_iota",
    (_SHAPE,),
    rule=_dynamic_iota_rule,
    lower=_lower_dynamic_iota,
    attributes={"iota_dimension": INDEX},
    doc="`iota` of a shape that an operand gives.",
)


def _dynamic_reshape_rule(op: ir.Op, module: ir.Module) -> Sequence[ir.Type] | None:
    operand, result = tensor(op, 0), tensor_of(op.results[0])
    if not any_quantized(operand, result) and not compatible_elements(operand.element, result.element):
        fail(op, f"expects operand and result to have compatible element type. Got: '{operand}' and '{result}'")
    if operand.is_static and result.is_static and math.prod(operand.shape) != math.prod(result.shape):
        fail(
            op,
            f"number of output elements ({math.prod(result.shape)}) doesn't match expected number of elements "
            f"({math.prod(operand.shape)})",
        )
    sizes = _check_output_shape(op, 1)
    if tensor(op, 1).shape[0] != result.rank:
        fail(op, "result should have a rank equal to the number of elements in output_shape")
    if sizes is not None and operand.is_static and math.prod(operand.shape) != math.prod(sizes):
        fail(
            op,
            "output_shape is incompatible with input type of operation: input has "
            f"{math.prod(operand.shape)} elements, "
            f"but output_shape has {math.prod(sizes)}",
        )
    check_quantized_reshape(op, operand, result)
    return _sized(op, sizes)


def _lower_dynamic_reshape(
    ctx: LoweringContext, op: ir.Op, operand: HloInstruction, shape: HloInstruction
) -> HloInstruction:
    """HLO `reshape`, once the shape is known; `dynamic-reshape` where only its bounds are."""
    type = op.results[0].type
    if bounded_dimensions(op) is None or static_value(shape) is not None:
        return ctx.reshape(operand, result_dimensions(ctx, op, shape, "output_shape"))
    rank = shape.shape.dimensions[0]
    sizes = [ctx.reshape(ctx.add("slice", shape, slice=(SliceDimension(d, d + 1),)), ()) for d in range(rank)]
    return ctx.add("dynamic-reshape", operand, *sizes, shape=shape_of(type))


define(
    "stablehlo.dynamic_reshape",
    (Values("operand", TENSOR_OR_PER_AXIS), _SHAPE),
    rule=_dynamic_reshape_rule,
    lower=_lower_dynamic_reshape,
    traits=(Trait.ON_STORAGE,),
    doc="`reshape` to a shape that an operand gives.",
    result_types=TENSOR_OR_PER_AXIS,
)


# -- pad and slice ---------------------------------------------------------------------------------------------------


def _dynamic_pad_rule(op: ir.Op, module: ir.Module) -> Sequence[ir.Type] | None:
    operand, result = tensor(op, 0), op.results[0].type
    assert isinstance(result, TensorType)
    if tensor(op, 1).rank:
        fail(op, "padding value type should be a rank-0")
    if tensor(op, 2).shape[0] not in (DYNAMIC, operand.rank):
        fail(op, f"padding operands size ({tensor(op, 2).shape[0]}) must match operand rank ({operand.rank})")
    if result.rank != operand.rank:
        fail(op, f"operand rank({operand.rank}) must match result({result.rank}).")
    known = [constant_of(v) for v in op.operands[2:]]
    if known[2] is not None and (known[2] < 0).any():
        fail(op, f"interior_padding must be non-negative, but got {list_text(known[2].reshape(-1).tolist())}")
    if any(k is None for k in known):
        return None
    low, high, between = ([int(n) for n in k.reshape(-1)] for k in known if k is not None)
    sizes = []
    for i, size in enumerate(operand.shape):
        expected = DYNAMIC if size == DYNAMIC else size + low[i] + high[i] + max(size - 1, 0) * between[i]
        if operand.is_static and result.is_static and expected != result.shape[i]:
            fail(op, f"expected output dimension at index {i} to equal {expected}, but got {result.shape[i]}")
        sizes.append(expected)
    return _sized(op, sizes)


def _lower_dynamic_pad(
    ctx: LoweringContext, op: ir.Op, operand: HloInstruction, value: HloInstruction, *amounts: HloInstruction
) -> HloInstruction:
    """HLO `pad`, once the amounts are known."""
    known = [ctx.static_value(a, op, "padding") for a in amounts]
    padding = tuple(PaddingDimension(*(int(n) for n in row)) for row in zip(*known, strict=True))
    return ctx.add("pad", operand, value, padding=padding)


define(
    "stablehlo.dynamic_pad",
    (
        Values("operand"),
        Values("padding_value", SCALAR),
        *(Values(n, INDEX_VECTOR, static=True) for n in ("edge_padding_low", "edge_padding_high", "interior_padding")),
    ),
    rule=_dynamic_pad_rule,
    lower=_lower_dynamic_pad,
    traits=(Trait.ON_STORAGE,),
    doc="`pad` by amounts that operands give.",
    agree=(
        "element-type: operand padding_value result",
        "type: edge_padding_low edge_padding_high interior_padding",
        "rank: operand result",
    ),
)


def _real_dynamic_slice_rule(op: ir.Op, module: ir.Module) -> Sequence[ir.Type] | None:
    operand = tensor(op, 0)
    for i, name in enumerate(("start_indices", "limit_indices", "strides"), 1):
        if tensor(op, i).shape[0] not in (DYNAMIC, operand.rank):
            fail(
                op, f"has mismatched number of operand rank ({operand.rank}) and {name} size ({tensor(op, i).shape[0]})"
            )
    lengths, strides = _distance(op.operands[1], op.operands[2]), constant_of(op.operands[3])
    if lengths is None or strides is None or np.any(strides < 1):
        return None
    pairs = zip(lengths.reshape(-1).tolist(), strides.reshape(-1).tolist(), strict=True)
    return _sized(op, [max(0, -(-length // stride)) for length, stride in pairs])


def _distance(start: ir.Value, limit: ir.Value) -> np.ndarray | None:
    """Limit - start, where both are constants or the limit is the start and a constant, as frontends write a window."""
    known = constant_of(start), constant_of(limit)
    if known[0] is not None and known[1] is not None:
        return np.asarray(known[1] - known[0])
    owner = limit.owner
    if not isinstance(owner, ir.Op) or owner.name != "stablehlo.add":
        return None
    return next((constant_of(b) for a, b in (owner.operands, owner.operands[::-1]) if a is start), None)


def _lower_real_dynamic_slice(
    ctx: LoweringContext,
    op: ir.Op,
    operand: HloInstruction,
    start: HloInstruction,
    limit: HloInstruction,
    strides: HloInstruction,
) -> HloInstruction:
    """HLO `slice`, once the bounds are known; a result of static shape and unit strides needs no known start."""
    step = ctx.static_value(strides, op, "strides").reshape(-1)
    type = op.results[0].type
    if isinstance(type, TensorType) and type.is_static and np.all(step == 1):
        starts = [ctx.reshape(ctx.add("slice", start, slice=(SliceDimension(i, i + 1),)), ()) for i in range(type.rank)]
        return ctx.add("dynamic-slice", operand, *starts, dynamic_slice_sizes=type.shape)
    low = ctx.static_value(start, op, "start_indices").reshape(-1)
    high = ctx.static_value(limit, op, "limit_indices").reshape(-1)
    parts = tuple(SliceDimension(int(a), int(b), int(c)) for a, b, c in zip(low, high, step, strict=True))
    return ctx.add("slice", operand, slice=parts)


define(
    "stablehlo.real_dynamic_slice",
    (
        Values("operand"),
        *(Values(n, SHAPE_VECTOR, static=True) for n in ("start_indices", "limit_indices", "strides")),
    ),
    rule=_real_dynamic_slice_rule,
    lower=_lower_real_dynamic_slice,
    traits=(Trait.ON_STORAGE,),
    doc="`slice` with bounds and strides that operands give.",
    agree=(
        "element-type: operand result",
        "type: start_indices limit_indices strides",
    ),
)


# -- sizes -----------------------------------------------------------------------------------------------------------


def _check_dimension(op: ir.Op) -> int:
    dim, rank = int(op.attributes["dimension"]), tensor(op, 0).rank
    if dim >= rank:
        fail(op, f"requires dimension attribute in range [0, {rank}); found ({dim})")
    return dim


def _get_dimension_size_rule(op: ir.Op, module: ir.Module) -> Sequence[ir.Type]:
    _check_dimension(op)
    return [TensorType((), "i32")]


def _lower_get_dimension_size(ctx: LoweringContext, op: ir.Op, operand: HloInstruction) -> HloInstruction:
    """A constant where the size is static, else HLO `get-dimension-size`."""
    dim = int(op.attributes["dimension"])
    if operand.shape.dynamic_dimensions and operand.shape.dynamic_dimensions[dim]:
        return ctx.add("get-dimension-size", operand, dimensions=(dim,))
    return ctx.constant(np.int32(operand.shape.dimensions[dim]), Shape(ElementType.S32))


define(
    "stablehlo.get_dimension_size",
    "operand",
    rule=_get_dimension_size_rule,
    lower=_lower_get_dimension_size,
    attributes={"dimension": INDEX},
    traits=(Trait.ON_STORAGE,),
    doc="The size of dimension `dimension`, as i32: of a bounded dimension, the actual one.",
    types=TENSOR_OR_PER_AXIS,
    result_types=I32,
)


def _set_dimension_size_rule(op: ir.Op, module: ir.Module) -> Sequence[ir.Type] | None:
    operand = tensor(op, 0)
    if tensor(op, 1).rank:
        fail(op, "size operand should be of rank-0")
    dim = _check_dimension(op)
    shape, bounds = list(operand.shape), list(operand.bounds or (None,) * operand.rank)
    if shape[dim] != DYNAMIC:
        bounds[dim], shape[dim] = shape[dim], DYNAMIC
    bounded = [_bounded(shape, operand.element, bounds)]
    known = constant_of(op.operands[1])
    if known is None:
        return bounded
    size, limit = int(known.reshape(-1)[0]), bounds[dim]
    shape[dim], bounds[dim] = size, None
    exact = [_bounded(shape, operand.element, bounds)]
    # StableHLO takes a constant at its word only where it is the bound.
    fits = all(compatible(t, r.type) for t, r in zip(bounded, op.results, strict=True))
    return exact if size == limit else bounded if not fits else if_declared(op, exact)


def _bounded(shape: Sequence[int], element: str | ir.QuantizedType, bounds: Sequence[int | None]) -> TensorType:
    return TensorType(tuple(shape), element, tuple(bounds) if any(b is not None for b in bounds) else ())


def _lower_set_dimension_size(
    ctx: LoweringContext, op: ir.Op, operand: HloInstruction, size: HloInstruction
) -> HloInstruction:
    """HLO `set-dimension-size`; a slice where the size is a constant."""
    dim, type = int(op.attributes["dimension"]), op.results[0].type
    if isinstance(type, TensorType) and type.is_static:
        known = static_value(size)
        if known is not None and int(known.reshape(-1)[0]) != type.shape[dim]:
            fail(op, f"the size is {int(known.reshape(-1)[0])}, but the result has {type.shape[dim]}")
        parts = [SliceDimension(0, n) for n in operand.shape.dimensions]
        parts[dim] = SliceDimension(0, type.shape[dim])
        return operand if type.shape == operand.shape.dimensions else ctx.add("slice", operand, slice=tuple(parts))
    return ctx.add("set-dimension-size", operand, ctx.convert(size, Shape(ElementType.S32)), dimensions=(dim,))


define(
    "stablehlo.set_dimension_size",
    (Values("operand"), Values("size", I32)),
    rule=_set_dimension_size_rule,
    lower=_lower_set_dimension_size,
    attributes={"dimension": INDEX},
    traits=(Trait.ON_STORAGE,),
    doc=(
        "The operand with dimension `dimension` of the given size, which is within its bound; the elements beyond "
        "it are not there any more."
    ),
)
