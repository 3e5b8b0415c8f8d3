"""slice, dynamic_slice, dynamic_update_slice, real_dynamic_slice."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.attributes import SliceDimension
from xla_core.hlo.table.opcode import Opcode
from xla_core.stablehlo import ir
from xla_core.stablehlo.lower.context import LoweringContext
from xla_core.stablehlo.ops.common import INTS, OneOp, ints, tensor
from xla_core.stablehlo.ops.output_shapes import scalar_at, sized
from xla_core.stablehlo.sharding import result_shardings
from xla_core.stablehlo.table.assembly_format import FUNCTIONAL_ASSEMBLY
from xla_core.stablehlo.table.op_table import Arity, Columns, OpGroup, Trait, Values
from xla_core.stablehlo.table.type_constraints import INTEGER_SCALAR, SHAPE_VECTOR
from xla_core.stablehlo.verify.compatibility import compatible_elements, dimensions

define = OpGroup("slices").define

_RANGES = ("start_indices", "limit_indices", "strides")


def _slice_rule(op: ir.Op, module: ir.Module) -> Sequence[ir.Type]:
    operand = tensor(op, 0)
    lists = {name: ints(op, name) for name in _RANGES}
    for name, values in lists.items():
        if len(values) != operand.rank:
            op.fail(
                f"the number of elements in {name} ({len(values)}) does not match the rank of the operand "
                f"({operand.rank})"
            )
    sizes = []
    for i, (start, limit, stride) in enumerate(zip(*lists.values(), strict=True)):
        if start < 0:
            op.fail(f"negative start index {start} in dimension {i}")
        size, bound = dimensions(operand)[i]
        what, most = ("bound", bound) if size == ir.DYNAMIC else ("size", size)
        if most is not None and limit > most:
            op.fail(f"limit index {limit} is larger than dimension {what} {most} in dimension {i}")
        if start > limit:
            op.fail(f"start index {start} is larger than limit index {limit} in dimension {i}")
        if stride <= 0:
            op.fail(f"stride must be positive but got {stride} in dimension {i}")
        sizes.append(-(-(limit - start) // stride))
    return [ir.TensorType(tuple(sizes), operand.element)]


define(
    "stablehlo.slice",
    "operand",
    rule=_slice_rule,
    result_sharding=result_shardings.of_slice,
    lower=OneOp(Opcode.SLICE, slice=Columns(SliceDimension, _RANGES)),
    attributes=dict.fromkeys(_RANGES, INTS),
    traits=(Trait.ON_STORAGE, Trait.ASYNCHRONOUS),
    assembly="% <slice_ranges> attr-dict : :functional:",
    doc="The elements from `start_indices` up to `limit_indices`, `strides` apart, of every dimension.",
    type_traits=("size: start_indices limit_indices strides", "same-element-type"),
)


def _check_starts(op: ir.Op, starts: Sequence[ir.Value]) -> None:
    elements = {v.type.element for v in starts if isinstance(v.type, ir.TensorType)}
    if len(elements) > 1:
        op.fail("start indices must have same element type")


def _dynamic_slice_rule(op: ir.Op, module: ir.Module) -> Sequence[ir.Type]:
    operand, sizes, starts = tensor(op, 0), ints(op, "slice_sizes"), op.operands[1:]
    if len(sizes) != len(starts):
        op.fail(f"has mismatched number of slice sizes ({len(sizes)}) and number of start indices ({len(starts)})")
    if len(starts) != operand.rank:
        op.fail(f"has mismatched number of start indices ({len(starts)}) and the rank of operand ({operand.rank})")
    _check_starts(op, starts)
    for i, size in enumerate(sizes):
        if size < 0:
            op.fail(f"has negative size index to dynamic slice: {size}")
        if operand.shape[i] != ir.DYNAMIC and size > operand.shape[i]:
            op.fail(f"has slice size {size} greater than dimension size {operand.shape[i]} in dimension {i} of operand")
    return [ir.TensorType(sizes, operand.element)]


define(
    "stablehlo.dynamic_slice",
    (Values("operand"), Values("start_indices", INTEGER_SCALAR, Arity.VARIADIC)),
    rule=_dynamic_slice_rule,
    result_sharding=result_shardings.of_slice,
    lower=OneOp(Opcode.DYNAMIC_SLICE, dynamic_slice_sizes="slice_sizes"),
    attributes={"slice_sizes": INTS},
    traits=(Trait.ON_STORAGE, Trait.ASYNCHRONOUS),
    assembly="% , %,* sizes = slice_sizes:dims attr-dict : :functional:",
    doc=(
        "A slice of sizes `slice_sizes` at start indices known at run time, which are clamped so that it lies "
        "within the operand."
    ),
    type_traits=("element-type: operand result",),
)


def _dynamic_update_slice_rule(op: ir.Op, module: ir.Module) -> Sequence[ir.Type]:
    operand, update, starts = tensor(op, 0), tensor(op, 1), op.operands[2:]
    if update.rank != operand.rank:
        op.fail(f"update rank does not match operand rank: {update.rank} vs {operand.rank}.")
    if len(starts) != operand.rank:
        op.fail(f"expects number of start_indices to match operand rank: {len(starts)} vs {operand.rank}.")
    _check_starts(op, starts)
    if not compatible_elements(operand.element, update.element):
        op.fail("requires the same element type for operand and update")
    for i, (size, limit) in enumerate(zip(update.shape, operand.shape, strict=True)):
        if ir.DYNAMIC not in (size, limit) and not 0 <= size <= limit:
            op.fail(f"expects size at dimension {i} of update to be in range [0, {limit}]. Got: {size}.")
    return [operand]


define(
    "stablehlo.dynamic_update_slice",
    (Values("operand"), Values("update"), Values("start_indices", INTEGER_SCALAR, Arity.VARIADIC)),
    rule=_dynamic_update_slice_rule,
    lower=OneOp(Opcode.DYNAMIC_UPDATE_SLICE),
    traits=(Trait.ON_STORAGE, Trait.ASYNCHRONOUS),
    assembly=FUNCTIONAL_ASSEMBLY,
    doc=(
        "The operand with a slice replaced by the update, at start indices known at run time, which are clamped so "
        "that it lies within."
    ),
    type_traits=("element-type: operand update result",),
)


def _real_dynamic_slice_rule(op: ir.Op, module: ir.Module) -> Sequence[ir.Type] | None:
    operand = tensor(op, 0)
    for i, name in enumerate(_RANGES, 1):
        if tensor(op, i).shape[0] not in (ir.DYNAMIC, operand.rank):
            op.fail(
                f"has mismatched number of operand rank ({operand.rank}) and {name} size ({tensor(op, i).shape[0]})"
            )
    lengths, strides = _distance(op.operands[1], op.operands[2]), ir.constant_of(op.operands[3])
    if lengths is None or strides is None or np.any(strides < 1):
        return None
    pairs = zip(lengths.reshape(-1).tolist(), strides.reshape(-1).tolist(), strict=True)
    return sized(op, [max(0, -(-length // stride)) for length, stride in pairs])


def _distance(start: ir.Value, limit: ir.Value) -> np.ndarray | None:
    """Returns limit - start if both are constants, or if limit is start plus a constant; otherwise None.

    Frontends write a window of constant size at a computed start in the latter form.
    """
    known = ir.constant_of(start), ir.constant_of(limit)
    if known[0] is not None and known[1] is not None:
        return np.asarray(known[1] - known[0])
    owner = limit.owner
    if not isinstance(owner, ir.Op) or owner.name != "stablehlo.add":
        return None
    return next((ir.constant_of(b) for a, b in (owner.operands, owner.operands[::-1]) if a is start), None)


def _lower_real_dynamic_slice(
    ctx: LoweringContext,
    op: ir.Op,
    operand: HloInstruction,
    start: HloInstruction,
    limit: HloInstruction,
    strides: HloInstruction,
) -> HloInstruction:
    """HLO `slice` with known bounds, or `dynamic-slice` if the result is static and the strides are 1."""
    step = ctx.static_value(strides, op, "strides").reshape(-1)
    type = op.results[0].type
    if isinstance(type, ir.TensorType) and type.is_static and np.all(step == 1):
        starts = [scalar_at(ctx, start, i) for i in range(type.rank)]
        return ctx.add(Opcode.DYNAMIC_SLICE, operand, *starts, dynamic_slice_sizes=type.shape)
    low = ctx.static_value(start, op, "start_indices").reshape(-1)
    high = ctx.static_value(limit, op, "limit_indices").reshape(-1)
    parts = tuple(SliceDimension(int(a), int(b), int(c)) for a, b, c in zip(low, high, step, strict=True))
    return ctx.add(Opcode.SLICE, operand, slice=parts)


define(
    "stablehlo.real_dynamic_slice",
    (Values("operand"), *(Values(n, SHAPE_VECTOR, static=True) for n in _RANGES)),
    rule=_real_dynamic_slice_rule,
    lower=_lower_real_dynamic_slice,
    traits=(Trait.ON_STORAGE,),
    assembly=FUNCTIONAL_ASSEMBLY,
    doc="`slice` with bounds and strides that operands give.",
    type_traits=("element-type: operand result", "type: start_indices limit_indices strides"),
)
