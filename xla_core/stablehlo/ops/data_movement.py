"""Ops that make or move elements and compute none: constant, iota, broadcasts, reshapes, pads, concatenation."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

from xla_core.hlo.attributes import PaddingDimension
from xla_core.hlo.instruction import HloInstruction
from xla_core.hlo.literal import Literal
from xla_core.stablehlo import ir
from xla_core.stablehlo.attributes import DenseElements
from xla_core.stablehlo.compatibility import fail, list_text
from xla_core.stablehlo.ir import DYNAMIC, TensorType
from xla_core.stablehlo.lowering import LoweringContext
from xla_core.stablehlo.op_table import Arity, Attribute, Kind, Trait, Values, define
from xla_core.stablehlo.ops.common import INDEX, ints, tensor, tensor_of
from xla_core.stablehlo.ops.quantized_constraints import (
    check_quantized_broadcast,
    check_quantized_reshape,
    check_quantized_transpose,
    check_same_scale,
)
from xla_core.stablehlo.type_constraints import (
    ANY,
    SCALAR,
    STATIC_NUMBER,
    STATIC_OR_BOUNDED,
    STATIC_OR_PER_AXIS,
    TENSOR_OR_PER_AXIS,
    TUPLE,
)
from xla_core.stablehlo.type_conversion import element_type, shape_of

__all__ = ["broadcast_in_dim", "check_broadcast_dimensions"]

_INTS = Attribute(Kind.INTS)


# -- constant, iota --------------------------------------------------------------------------------------------------


def _constant_rule(op: ir.Op, module: ir.Module) -> Sequence[ir.Type]:
    value = op.attributes["value"]
    if not isinstance(value, DenseElements):
        fail(op, "attribute 'value' failed to satisfy constraint: constant vector/tensor attribute")
    result = op.results[0].type
    if not isinstance(result, TensorType) or not result.is_static:
        fail(op, f"result #0 must be statically shaped tensor, but got '{result}'")
    if isinstance(result.element, ir.QuantizedType) and element_type(result.element) is element_type(
        value.type.element
    ):
        return [TensorType(value.type.shape, result.element)]
    if value.type.shape != result.shape or value.type.element != result.element:
        fail(op, f"inferred type(s) '{value.type}' are incompatible with return type(s) of operation '{result}'")
    return [result]


def _lower_constant(ctx: LoweringContext, op: ir.Op) -> HloInstruction:
    """HLO `constant`; a splat stays one element."""
    value: DenseElements = op.attributes["value"]
    return ctx.add("constant", shape=(shape := shape_of(value.type)), literal=Literal(value.array, shape))


define(
    "stablehlo.constant",
    "",
    "output",
    rule=_constant_rule,
    lower=_lower_constant,
    traits=(Trait.ON_STORAGE,),
    attributes={"value": Attribute(Kind.ELEMENTS)},
    doc="The value of the attribute `value`.",
    result_types=STATIC_OR_PER_AXIS,
)


def _iota_rule(op: ir.Op, module: ir.Module) -> None:
    result = op.results[0].type
    assert isinstance(result, TensorType)
    if result.rank == 0:
        fail(op, "does not support scalars")
    if op.attributes["iota_dimension"] >= result.rank:
        fail(op, "iota dimension cannot go beyond the output rank.")


def _lower_iota(ctx: LoweringContext, op: ir.Op) -> HloInstruction:
    """HLO `iota`."""
    return ctx.add("iota", shape=ctx.result_shape(op), iota_dimension=int(op.attributes["iota_dimension"]))


define(
    "stablehlo.iota",
    "",
    "output",
    rule=_iota_rule,
    lower=_lower_iota,
    attributes={"iota_dimension": INDEX},
    doc="0, 1, 2, ... along `iota_dimension`, the same at every position of the other dimensions.",
    result_types=STATIC_NUMBER,
)


# -- broadcasts ------------------------------------------------------------------------------------------------------


def check_broadcast_dimensions(op: ir.Op, operand: TensorType, result: TensorType) -> tuple[int, ...]:
    """What broadcast_in_dim and its dynamic form demand alike. Returns the dimensions."""
    dims = ints(op, "broadcast_dimensions")
    if len(dims) != operand.rank:
        fail(op, f"broadcast_dimensions size ({len(dims)}) does not match operand rank ({operand.rank})")
    if len(set(dims)) != len(dims):
        fail(op, "broadcast_dimensions should not have duplicates")
    for dim in dims:
        if not 0 <= dim < result.rank:
            fail(op, f"broadcast_dimensions contains invalid value {dim} for result with rank {result.rank}")
    return dims


def _broadcast_in_dim_rule(op: ir.Op, module: ir.Module) -> None:
    operand, result = tensor(op, 0), tensor_of(op.results[0])
    check_same_scale(op, operand, result, per_axis=False)
    dims = check_broadcast_dimensions(op, operand, result)
    for i, dim in enumerate(dims):
        size = operand.shape[i]
        if size not in (DYNAMIC, 1) and result.shape[dim] not in (DYNAMIC, size):
            fail(
                op,
                f"size of operand dimension {i} ({size}) is not equal to 1 or size of result dimension {dim} "
                f"({result.shape[dim]})",
            )
    check_quantized_broadcast(op, operand, result, dims)


def broadcast_in_dim(
    ctx: LoweringContext, operand: HloInstruction, dimensions: Sequence[int], dims: Sequence[int]
) -> HloInstruction:
    """The operand with the given result `dimensions`: its dimension i becomes `dims[i]`, and one of size 1 is repeated.

    HLO's broadcast adds dimensions and repeats none, and wants them in order: unit dimensions that grow are dropped
    first, and dimensions out of order are transposed.
    """
    shape = operand.shape.with_dimensions(dimensions)
    order = sorted(range(len(dims)), key=lambda i: dims[i])
    if order != list(range(len(dims))):
        operand = ctx.add("transpose", operand, dimensions=tuple(order))
        dims = sorted(dims)
    keep = [i for i, d in enumerate(dims) if operand.shape.dimensions[i] == shape.dimensions[d]]
    operand = ctx.reshape(operand, [operand.shape.dimensions[i] for i in keep])
    return ctx.broadcast(operand, shape, [dims[i] for i in keep])


def _lower_broadcast_in_dim(ctx: LoweringContext, op: ir.Op, operand: HloInstruction) -> HloInstruction:
    """HLO `broadcast`, after a reshape that drops unit dimensions that grow."""
    return broadcast_in_dim(ctx, operand, ctx.result_shape(op).dimensions, ints(op, "broadcast_dimensions"))


define(
    "stablehlo.broadcast_in_dim",
    "operand",
    rule=_broadcast_in_dim_rule,
    lower=_lower_broadcast_in_dim,
    attributes={"broadcast_dimensions": _INTS},
    traits=(Trait.ON_STORAGE,),
    doc=(
        "Operand dimension i becomes result dimension `broadcast_dimensions[i]`; an operand dimension of size 1 is "
        "repeated to the result's size, and so are the result's other dimensions."
    ),
    types=TENSOR_OR_PER_AXIS,
    result_types=STATIC_OR_BOUNDED,
    agree=("compatible-element-types",),
)


# -- reshape, transpose, reverse, concatenate, pad -------------------------------------------------------------------


def _reshape_rule(op: ir.Op, module: ir.Module) -> None:
    operand, result = tensor(op, 0), tensor_of(op.results[0])
    if operand.is_static and result.is_static and math.prod(operand.shape) != math.prod(result.shape):
        fail(
            op,
            f"number of output elements ({math.prod(result.shape)}) doesn't match expected number of elements "
            f"({math.prod(operand.shape)})",
        )
    if operand.is_static and result.is_static:
        check_quantized_reshape(op, operand, result)


def _lower_reshape(ctx: LoweringContext, op: ir.Op, operand: HloInstruction) -> HloInstruction:
    """HLO `reshape`."""
    return ctx.add("reshape", operand, shape=ctx.result_shape(op))


define(
    "stablehlo.reshape",
    "operand",
    rule=_reshape_rule,
    lower=_lower_reshape,
    traits=(Trait.ON_STORAGE,),
    doc="The operand's elements, in row-major order, under other dimensions of the same product.",
    types=TENSOR_OR_PER_AXIS,
    result_types=STATIC_OR_BOUNDED,
    agree=("compatible-element-types",),
)


def _transpose_rule(op: ir.Op, module: ir.Module) -> Sequence[ir.Type]:
    operand = tensor(op, 0)
    permutation = ints(op, "permutation")
    if len(permutation) != operand.rank:
        fail(op, f"TransposeOp operand rank {operand.rank} does not match permutation size {len(permutation)}")
    if sorted(permutation) != list(range(operand.rank)):
        fail(
            op,
            f"attribute permutation must be a permutation of [{list_text(range(operand.rank))}] but got "
            f"{list_text(permutation)}",
        )
    check_quantized_transpose(op, operand, tensor_of(op.results[0]), permutation)
    bounds = tuple(operand.bounds[p] for p in permutation) if operand.bounds else ()
    element = operand.element
    if isinstance(element, ir.QuantizedType) and element.axis is not None:
        element = dataclasses.replace(element, axis=permutation.index(element.axis))
    return [TensorType(tuple(operand.shape[p] for p in permutation), element, bounds)]


def _lower_transpose(ctx: LoweringContext, op: ir.Op, operand: HloInstruction) -> HloInstruction:
    """HLO `transpose`."""
    return ctx.add("transpose", operand, dimensions=ints(op, "permutation"))


define(
    "stablehlo.transpose",
    "operand",
    rule=_transpose_rule,
    lower=_lower_transpose,
    attributes={"permutation": _INTS},
    traits=(Trait.ON_STORAGE,),
    doc="Result dimension i is operand dimension `permutation[i]`.",
    types=TENSOR_OR_PER_AXIS,
    agree=("compatible-element-types",),
)


def _reverse_rule(op: ir.Op, module: ir.Module) -> Sequence[ir.Type]:
    operand, dims = tensor(op, 0), ints(op, "dimensions")
    if len(set(dims)) != len(dims):
        fail(op, f"dimensions should be unique. Got: {list_text(dims)}")
    for dim in dims:
        if dim < 0:
            fail(op, f"all dimensions should be non-negative. Got dimension: {dim}.")
        if dim >= operand.rank:
            fail(op, f"all dimensions should be between [0, {operand.rank}). Got dimension: {dim}.")
    return [operand]


def _lower_reverse(ctx: LoweringContext, op: ir.Op, operand: HloInstruction) -> HloInstruction:
    """HLO `reverse`."""
    return ctx.add("reverse", operand, dimensions=ints(op, "dimensions"))


define(
    "stablehlo.reverse",
    "operand",
    rule=_reverse_rule,
    lower=_lower_reverse,
    attributes={"dimensions": _INTS},
    traits=(Trait.ON_STORAGE,),
    doc="The elements in reverse order along each of `dimensions`.",
    agree=("same-element-type",),
)


def _concatenate_rule(op: ir.Op, module: ir.Module) -> Sequence[ir.Type]:
    dim = int(op.attributes["dimension"])
    if not op.operands:
        fail(op, "expected 1 or more operands, but found 0")
    types = [tensor(op, i) for i in range(len(op.operands))]
    first = types[0]
    if first.rank == 0:
        fail(op, "rank-0 values cannot be concatenated")
    if dim >= first.rank:
        fail(op, f"dimension {dim} is out-of-bounds for input rank {first.rank}")
    for i, type in enumerate(types):
        if type.rank != first.rank:
            fail(op, f"operands (0) and ({i}) do not match rank")
        for j, (a, b) in enumerate(zip(first.shape, type.shape, strict=True)):
            if j != dim and a != b and DYNAMIC not in (a, b):
                fail(
                    op,
                    f"shapes of operand (0) and ({i}) are not compatible at non-concat index {j}: "
                    f"({list_text(first.shape)}) != ({list_text(type.shape)})",
                )
    shape = [max(column) for column in zip(*(t.shape for t in types), strict=True)]
    along = [t.shape[dim] for t in types]
    shape[dim] = DYNAMIC if DYNAMIC in along else sum(along)
    bounds: list[int | None] = [None] * first.rank
    for i, size in enumerate(shape):
        if size != DYNAMIC:
            continue
        known = [
            t.bounds[i] if t.bounds and t.shape[i] == DYNAMIC else (None if t.shape[i] == DYNAMIC else t.shape[i])
            for t in types
        ]
        if i == dim:
            bounds[i] = None if any(b is None for b in known) else sum(b for b in known if b is not None)
        else:
            bounds[i] = min((b for b in known if b is not None), default=None)
    return [TensorType(tuple(shape), first.element, tuple(bounds) if any(b is not None for b in bounds) else ())]


def _lower_concatenate(ctx: LoweringContext, op: ir.Op, *operands: HloInstruction) -> HloInstruction:
    """HLO `concatenate`."""
    return ctx.add("concatenate", *operands, dimensions=(int(op.attributes["dimension"]),))


define(
    "stablehlo.concatenate",
    "inputs*",
    rule=_concatenate_rule,
    lower=_lower_concatenate,
    attributes={"dimension": INDEX},
    traits=(Trait.ON_STORAGE,),
    doc="The inputs one after another along `dimension`; they agree in all other dimensions.",
    agree=("same-element-type",),
)


def _pad_rule(op: ir.Op, module: ir.Module) -> Sequence[ir.Type]:
    operand = tensor(op, 0)
    low, high, interior = (ints(op, n) for n in ("edge_padding_low", "edge_padding_high", "interior_padding"))
    for name, values in (("edge_padding_low", low), ("edge_padding_high", high), ("interior_padding", interior)):
        if len(values) != operand.rank:
            fail(op, f"{name} length ({len(values)}) must match operand rank ({operand.rank})")
    sizes: list[int] = []
    bounds: list[int | None] = []
    for i, size in enumerate(operand.shape):
        if interior[i] < 0:
            fail(op, f"Interior padding cannot be negative: {interior[i]}")
        bound = operand.bounds[i] if operand.bounds else None
        padded = [
            None if s is None else _padded(s, low[i], high[i], interior[i])
            for s in (None if size == DYNAMIC else size, bound)
        ]
        if padded[0] is not None and padded[0] < 0:
            fail(op, f"Padding result in negative size for dimension {i}")
        sizes.append(DYNAMIC if padded[0] is None else padded[0])
        bounds.append(padded[1])
    return [TensorType(tuple(sizes), operand.element, tuple(bounds) if any(b is not None for b in bounds) else ())]


def _padded(size: int, low: int, high: int, interior: int) -> int:
    return size + low + high + max(size - 1, 0) * interior


def _lower_pad(ctx: LoweringContext, op: ir.Op, operand: HloInstruction, value: HloInstruction) -> HloInstruction:
    """HLO `pad`."""
    amounts = zip(*(ints(op, n) for n in ("edge_padding_low", "edge_padding_high", "interior_padding")), strict=True)
    return ctx.add("pad", operand, value, padding=tuple(PaddingDimension(*a) for a in amounts))


define(
    "stablehlo.pad",
    (Values("operand"), Values("padding_value", SCALAR)),
    rule=_pad_rule,
    lower=_lower_pad,
    attributes={"edge_padding_low": _INTS, "edge_padding_high": _INTS, "interior_padding": _INTS},
    traits=(Trait.ON_STORAGE,),
    doc=(
        "The operand with `padding_value` before (`edge_padding_low`), after (`edge_padding_high`) and between "
        "(`interior_padding`) its elements; negative edge padding removes elements, after the interior padding was "
        "put in."
    ),
    agree=(
        "same-element-type",
        "size: edge_padding_low edge_padding_high interior_padding",
    ),
)


# -- tuples ----------------------------------------------------------------------------------------------------------


def _tuple_rule(op: ir.Op, module: ir.Module) -> Sequence[ir.Type]:
    return [ir.TupleType(tuple(o.type for o in op.operands))]


def _lower_tuple(ctx: LoweringContext, op: ir.Op, *operands: HloInstruction) -> HloInstruction:
    """HLO `tuple`."""
    return ctx.tuple(operands)


def _element_rule(op: ir.Op, module: ir.Module) -> Sequence[ir.Type]:
    type, index = op.operands[0].type, int(op.attributes["index"])
    assert isinstance(type, ir.TupleType)
    if index >= len(type.elements):
        fail(op, f"index {index} is out of bounds of operand with size {len(type.elements)}")
    return [type.elements[index]]


def _lower_element(ctx: LoweringContext, op: ir.Op, operand: HloInstruction) -> HloInstruction:
    """HLO `get-tuple-element`."""
    return ctx.element(operand, int(op.attributes["index"]))


define(
    "stablehlo.tuple",
    (Values("val", ANY, Arity.VARIADIC),),
    (Values("result", TUPLE),),
    rule=_tuple_rule,
    lower=_lower_tuple,
    traits=(Trait.ON_STORAGE,),
    doc="The operands as one value.",
)
define(
    "stablehlo.get_tuple_element",
    (Values("operand", TUPLE),),
    (Values("result", ANY),),
    rule=_element_rule,
    lower=_lower_element,
    attributes={"index": Attribute(Kind.INT32, minimum=0)},
    traits=(Trait.ON_STORAGE,),
    doc="Element `index` of a tuple.",
)
