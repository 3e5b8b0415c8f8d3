"""reshape, transpose, reverse, concatenate, pad, dynamic_pad and copy."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.attributes import PaddingDimension
from xla_core.hlo.table.opcode import Opcode
from xla_core.stablehlo import ir
from xla_core.stablehlo.lower.context import LoweringContext
from xla_core.stablehlo.ops.common import INDEX, INTS, OneOp, ints, same_type, tensor, tensor_of
from xla_core.stablehlo.ops.output_shapes import sized
from xla_core.stablehlo.ops.quantized_constraints import check_quantized_reshape, check_quantized_transpose
from xla_core.stablehlo.sharding import result_shardings
from xla_core.stablehlo.table.assembly_format import FUNCTIONAL_ASSEMBLY, UNARY_ASSEMBLY
from xla_core.stablehlo.table.op_table import Attribute, Columns, Kind, OpGroup, Trait, Values
from xla_core.stablehlo.table.type_constraints import INDEX_VECTOR, SCALAR, STATIC_OR_BOUNDED, TENSOR_OR_PER_AXIS
from xla_core.stablehlo.verify.compatibility import (
    Dimension,
    dimensions,
    list_text,
    merge_dimension,
    shape_text,
    with_dimensions,
)

define = OpGroup("data_movement").define

_AMOUNTS = ("edge_padding_low", "edge_padding_high", "interior_padding")


def _reshape_rule(op: ir.Op, module: ir.Module) -> None:
    operand, result = tensor(op, 0), tensor_of(op.results[0])
    check_element_count(op, operand, result)
    if operand.is_static and result.is_static:
        check_quantized_reshape(op, operand, result)


def check_element_count(op: ir.Op, operand: ir.TensorType, result: ir.TensorType) -> None:
    """Checks that a reshape keeps the number of elements, if the sizes are known."""
    before, after = math.prod(operand.shape), math.prod(result.shape)
    if operand.is_static and result.is_static and before != after:
        op.fail(f"number of output elements ({after}) doesn't match expected number of elements ({before})")


define(
    "stablehlo.reshape",
    "operand",
    rule=_reshape_rule,
    result_sharding=result_shardings.of_reshape,
    lower=OneOp(Opcode.RESHAPE, declared=True),
    traits=(Trait.ON_STORAGE,),
    assembly=FUNCTIONAL_ASSEMBLY,
    doc="The operand's elements, in row-major order, as an array of other dimensions with the same number of elements.",
    types=TENSOR_OR_PER_AXIS,
    result_types=STATIC_OR_BOUNDED,
    type_traits=("compatible-element-types",),
)


def _transpose_rule(op: ir.Op, module: ir.Module) -> Sequence[ir.Type]:
    operand = tensor(op, 0)
    permutation = ints(op, "permutation")
    if len(permutation) != operand.rank:
        op.fail(f"TransposeOp operand rank {operand.rank} does not match permutation size {len(permutation)}")
    if sorted(permutation) != list(range(operand.rank)):
        op.fail(
            f"attribute permutation must be a permutation of [{list_text(range(operand.rank))}] but got "
            f"{list_text(permutation)}"
        )
    check_quantized_transpose(op, operand, tensor_of(op.results[0]), permutation)
    bounds = tuple(operand.bounds[p] for p in permutation) if operand.bounds else ()
    element = operand.element
    if isinstance(element, ir.QuantizedType) and element.axis is not None:
        element = dataclasses.replace(element, axis=permutation.index(element.axis))
    return [ir.TensorType(tuple(operand.shape[p] for p in permutation), element, bounds)]


define(
    "stablehlo.transpose",
    "operand",
    rule=_transpose_rule,
    result_sharding=result_shardings.of_transpose,
    lower=OneOp(Opcode.TRANSPOSE, dimensions="permutation"),
    attributes={"permutation": INTS},
    traits=(Trait.ON_STORAGE,),
    assembly="% , dims = permutation:dims attr-dict : :functional:",
    doc="Result dimension i is operand dimension `permutation[i]`.",
    types=TENSOR_OR_PER_AXIS,
    type_traits=("compatible-element-types",),
)


def _reverse_rule(op: ir.Op, module: ir.Module) -> Sequence[ir.Type]:
    operand, dims = tensor(op, 0), ints(op, "dimensions")
    if len(set(dims)) != len(dims):
        op.fail(f"dimensions should be unique. Got: {list_text(dims)}")
    for dim in dims:
        if dim < 0:
            op.fail(f"all dimensions should be non-negative. Got dimension: {dim}.")
        if dim >= operand.rank:
            op.fail(f"all dimensions should be between [0, {operand.rank}). Got dimension: {dim}.")
    return [operand]


define(
    "stablehlo.reverse",
    "operand",
    rule=_reverse_rule,
    lower=OneOp(Opcode.REVERSE, "dimensions"),
    attributes={"dimensions": INTS},
    traits=(Trait.ON_STORAGE,),
    assembly="% , dims = dimensions:dims attr-dict : :same:",
    doc="The elements in reverse order along each of `dimensions`.",
    type_traits=("same-element-type",),
)


def _concatenate_rule(op: ir.Op, module: ir.Module) -> Sequence[ir.Type]:
    dim = int(op.attributes["dimension"])
    if not op.operands:
        op.fail("expected 1 or more operands, but found 0")
    types = [tensor(op, i) for i in range(len(op.operands))]
    first = types[0]
    if first.rank == 0:
        op.fail("rank-0 values cannot be concatenated")
    if dim >= first.rank:
        op.fail(f"dimension {dim} is out-of-bounds for input rank {first.rank}")
    for i, type in enumerate(types):
        if type.rank != first.rank:
            op.fail(f"operands (0) and ({i}) do not match rank")
        for j, (a, b) in enumerate(zip(first.shape, type.shape, strict=True)):
            if j != dim and a != b and ir.DYNAMIC not in (a, b):
                op.fail(
                    f"shapes of operand (0) and ({i}) are not compatible at non-concat index {j}: "
                    f"({shape_text(first.shape)}) != ({shape_text(type.shape)})"
                )
    merged: list[Dimension] = [(0, None) if i == dim else (ir.DYNAMIC, None) for i in range(first.rank)]
    for type in types:
        for i, other in enumerate(dimensions(type)):
            merged[i] = _joined(merged[i], other) if i == dim else merge_dimension(op, i, merged[i], other)
    return [with_dimensions(merged, first)]


def _joined(left: Dimension, right: Dimension) -> Dimension:
    """One dimension after another."""
    if ir.DYNAMIC not in (left[0], right[0]):
        return left[0] + right[0], None
    most = [bound if size == ir.DYNAMIC else size for size, bound in (left, right)]
    return ir.DYNAMIC, None if None in most else sum(n for n in most if n is not None)


define(
    "stablehlo.concatenate",
    "inputs*",
    rule=_concatenate_rule,
    lower=OneOp(Opcode.CONCATENATE, dimensions=("dimension",)),
    attributes={"dimension": INDEX},
    traits=(Trait.ON_STORAGE,),
    assembly="%,* dim = dimension:int attr-dict : :functional:",
    doc="The inputs one after another along `dimension`; they agree in all other dimensions.",
    type_traits=("same-element-type",),
)


def _pad_rule(op: ir.Op, module: ir.Module) -> Sequence[ir.Type]:
    operand = tensor(op, 0)
    low, high, interior = amounts = [ints(op, name) for name in _AMOUNTS]
    for name, values in zip(_AMOUNTS, amounts, strict=True):
        if len(values) != operand.rank:
            op.fail(f"{name} length ({len(values)}) must match operand rank ({operand.rank})")
    sizes: list[int] = []
    bounds: list[int | None] = []
    for i, size in enumerate(operand.shape):
        if interior[i] < 0:
            op.fail(f"Interior padding cannot be negative: {interior[i]}")
        bound = operand.bounds[i] if operand.bounds else None
        padded = [
            None if s is None else _padded(s, low[i], high[i], interior[i])
            for s in (None if size == ir.DYNAMIC else size, bound)
        ]
        if padded[0] is not None and padded[0] < 0:
            op.fail(f"Padding result in negative size for dimension {i}")
        sizes.append(ir.DYNAMIC if padded[0] is None else padded[0])
        bounds.append(padded[1])
    return [ir.TensorType(tuple(sizes), operand.element, tuple(bounds) if any(b is not None for b in bounds) else ())]


def _padded(size: int, low: int, high: int, interior: int) -> int:
    return size + low + high + max(size - 1, 0) * interior


define(
    "stablehlo.pad",
    (Values("operand"), Values("padding_value", SCALAR)),
    rule=_pad_rule,
    lower=OneOp(Opcode.PAD, padding=Columns(PaddingDimension, _AMOUNTS)),
    attributes=dict.fromkeys(_AMOUNTS, INTS),
    traits=(Trait.ON_STORAGE,),
    assembly="% , % , low = edge_padding_low:dims , high = edge_padding_high:dims ,"
    " interior = interior_padding:dims attr-dict : :functional:",
    doc=(
        "The operand with `padding_value` before (`edge_padding_low`), after (`edge_padding_high`) and between "
        "(`interior_padding`) its elements; negative edge padding removes elements after the interior padding was "
        "added."
    ),
    type_traits=("size: edge_padding_low edge_padding_high interior_padding", "same-element-type"),
)


def _dynamic_pad_rule(op: ir.Op, module: ir.Module) -> Sequence[ir.Type] | None:
    operand, result = tensor(op, 0), op.results[0].type
    assert isinstance(result, ir.TensorType)
    if tensor(op, 1).rank:
        op.fail("padding value type should be a rank-0")
    if tensor(op, 2).shape[0] not in (ir.DYNAMIC, operand.rank):
        op.fail(f"padding operands size ({tensor(op, 2).shape[0]}) must match operand rank ({operand.rank})")
    if result.rank != operand.rank:
        op.fail(f"operand rank({operand.rank}) must match result({result.rank}).")
    known = [ir.constant_of(v) for v in op.operands[2:]]
    if known[2] is not None and (known[2] < 0).any():
        op.fail(f"interior_padding must be non-negative, but got {list_text(known[2].reshape(-1).tolist())}")
    if any(k is None for k in known):
        return None
    low, high, between = ([int(n) for n in k.reshape(-1)] for k in known if k is not None)
    sizes = []
    for i, size in enumerate(operand.shape):
        expected = ir.DYNAMIC if size == ir.DYNAMIC else size + low[i] + high[i] + max(size - 1, 0) * between[i]
        if operand.is_static and result.is_static and expected != result.shape[i]:
            op.fail(f"expected output dimension at index {i} to equal {expected}, but got {result.shape[i]}")
        sizes.append(expected)
    return sized(op, sizes)


def _lower_dynamic_pad(
    ctx: LoweringContext, op: ir.Op, operand: HloInstruction, value: HloInstruction, *amounts: HloInstruction
) -> HloInstruction:
    """HLO `pad`, once the amounts are known."""
    known = [ctx.static_value(a, op, "padding") for a in amounts]
    padding = tuple(PaddingDimension(*(int(n) for n in row)) for row in zip(*known, strict=True))
    return ctx.add(Opcode.PAD, operand, value, padding=padding)


define(
    "stablehlo.dynamic_pad",
    (
        Values("operand"),
        Values("padding_value", SCALAR),
        *(Values(name, INDEX_VECTOR, static=True) for name in _AMOUNTS),
    ),
    rule=_dynamic_pad_rule,
    lower=_lower_dynamic_pad,
    traits=(Trait.ON_STORAGE,),
    assembly=FUNCTIONAL_ASSEMBLY,
    doc="`pad` by amounts that operands give.",
    type_traits=(
        "element-type: operand padding_value result",
        "type: edge_padding_low edge_padding_high interior_padding",
        "rank: operand result",
    ),
)


# -- copy --------------------------------------------------------------------------------------------------------------


define(
    "mhlo.copy",  # TensorFlow leaves this op in its StableHLO exports.
    "operand",
    rule=same_type,
    lower=OneOp(Opcode.COPY),
    type_traits=("compatible-types",),
    attributes={"cross_program_prefetch_index": Attribute(Kind.INT32, None)},
    traits=(Trait.ON_STORAGE,),
    assembly=UNARY_ASSEMBLY,
)
