"""Ops that the specification has dropped: broadcast, dot, einsum, unary_einsum, torch_index_select."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from xla_core.hlo.ir.builder import scalar_computation
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.element_type import ElementType
from xla_core.stablehlo import ir
from xla_core.stablehlo.lower.context import LoweringContext
from xla_core.stablehlo.ops.common import INTS, PRECISION, ints, tensor
from xla_core.stablehlo.ops.contraction import check_precision, check_result_shape, dot_attributes
from xla_core.stablehlo.table.op_table import Attribute, Kind, OpGroup, Trait, Values
from xla_core.stablehlo.table.type_constraints import INTEGER, TENSOR_OR_PER_AXIS
from xla_core.stablehlo.verify.compatibility import compatible_dimensions

define = OpGroup("deprecated").define

# -- broadcast, dot --------------------------------------------------------------------------------------------------


def _broadcast_rule(op: ir.Op, module: ir.Module) -> Sequence[ir.Type]:
    operand, sizes = tensor(op, 0), ints(op, "broadcast_sizes")
    if any(n < 0 for n in sizes):
        op.fail("Broadcast with negative dimension size " + str(next(n for n in sizes if n < 0)))
    return [ir.TensorType((*sizes, *operand.shape), operand.element)]


def _lower_broadcast(ctx: LoweringContext, op: ir.Op, operand: HloInstruction) -> HloInstruction:
    """HLO `broadcast` with new dimensions in front."""
    sizes = ints(op, "broadcast_sizes")
    rank = operand.shape.rank
    shape = operand.shape.with_dimensions((*sizes, *operand.shape.dimensions))
    return ctx.broadcast(operand, shape.dimensions, range(len(sizes), len(sizes) + rank))


define(
    "stablehlo.broadcast",
    "operand",
    rule=_broadcast_rule,
    lower=_lower_broadcast,
    attributes={"broadcast_sizes": INTS},
    traits=(Trait.ON_STORAGE,),
    assembly="% , sizes = broadcast_sizes:dims attr-dict : :functional:",
    doc=(
        "The operand repeated along new dimensions in front of its own, of sizes `broadcast_sizes`. "
        "`broadcast_in_dim` replaced it."
    ),
    result_types=TENSOR_OR_PER_AXIS,
    type_traits=("same-element-type",),
)


def _dot_rule(op: ir.Op, module: ir.Module) -> Sequence[ir.Type] | None:
    lhs, rhs = tensor(op, 0), tensor(op, 1)
    check_precision(op)
    ranked = lhs.rank in (1, 2) and rhs.rank in (1, 2)
    if not ranked or not compatible_dimensions(lhs.shape[-1], rhs.shape[0]):
        op.fail("expected both lhs/rhs ranks to be either 1 or 2")
    return check_result_shape(op, (*lhs.shape[:-1], *rhs.shape[1:]), op.results[0].type)


def _lower_dot(ctx: LoweringContext, op: ir.Op, lhs: HloInstruction, rhs: HloInstruction) -> HloInstruction:
    """HLO `dot` of vectors and matrices."""
    contracting: dict[str, Any] = {"lhs_contracting_dims": (lhs.shape.rank - 1,), "rhs_contracting_dims": (0,)}
    return ctx.add(Opcode.DOT, lhs, rhs, shape=ctx.result_shape(op), **contracting, **dot_attributes(op))


define(
    "stablehlo.dot",
    (Values("lhs"), Values("rhs", TENSOR_OR_PER_AXIS)),
    rule=_dot_rule,
    lower=_lower_dot,
    attributes={"precision_config": PRECISION},
    assembly="% , % <precision> attr-dict : :functional:",
    doc=(
        "The product of a vector or matrix with another: the last dimension of lhs is contracted with the first of "
        "rhs. `dot_general` replaced it."
    ),
    result_types=TENSOR_OR_PER_AXIS,
)


# -- einsum ----------------------------------------------------------------------------------------------------------


def _split_config(op: ir.Op, count: int) -> tuple[list[str], str]:
    """Splits a config such as "ab,bc->ac" into the labels of each operand and the labels of the result."""
    config = str(op.attributes["einsum_config"]).replace(" ", "")
    inputs, arrow, output = config.partition("->")
    labels = inputs.split(",")
    if not arrow or len(labels) != count or "..." in config:
        op.fail(f"einsum_config {config!r} is not of the form {','.join(['ab', 'bc'][:count])}->ac")
    for i, text in enumerate(labels):
        if len(text) != tensor(op, i).rank:
            op.fail(
                f"einsum_config {config!r} gives operand {i} {len(text)} dimensions, but it has {tensor(op, i).rank}"
            )
    if any(c not in "".join(labels) for c in output) or len(set(output)) != len(output):
        op.fail(f"the result of einsum_config {config!r} must have dimensions of the operands, each once")
    return labels, output


def _check_einsum(op: ir.Op) -> tuple[list[str], str]:
    """Checks the labels and sizes of an einsum, and returns the labels of the operands and of the result.

    Only the lowering calls this: the specification has no rules for einsum, so the verifier accepts any.
    """
    labels, output = _split_config(op, len(op.operands))
    sizes: dict[str, int] = {}
    for i, text in enumerate(labels):
        for label, size in zip(text, tensor(op, i).shape, strict=True):
            if not compatible_dimensions(sizes.setdefault(label, size), size):
                op.fail(f"dimension {label} has sizes {sizes[label]} and {size}")
            sizes[label] = max(sizes[label], size)
    check_result_shape(op, [sizes[c] for c in output], op.results[0].type)
    return labels, output


def _sum_out(ctx: LoweringContext, value: HloInstruction, labels: str, keep: str) -> tuple[HloInstruction, str]:
    """Takes the diagonal for each repeated label, then sums over the labels that are not in `keep`.

    Returns the value and the labels that are left.
    """
    for label in dict.fromkeys(labels):
        while labels.count(label) > 1:
            first, second = labels.index(label), labels.index(label, labels.index(label) + 1)
            value = _mask_diagonal(ctx, value, first, second)
            value = _sum(ctx, value, (second,))
            labels = labels[:second] + labels[second + 1 :]
    drop = tuple(i for i, label in enumerate(labels) if label not in keep)
    return (_sum(ctx, value, drop) if drop else value), "".join(c for c in labels if c in keep)


def _mask_diagonal(ctx: LoweringContext, value: HloInstruction, a: int, b: int) -> HloInstruction:
    index = value.shape.with_element_type(ElementType.S64)
    rows, columns = (ctx.add(Opcode.IOTA, shape=index, iota_dimension=d) for d in (a, b))
    zero = ctx.constant(np.zeros((), value.shape.dtype), value.shape)
    return ctx.add(Opcode.SELECT, ctx.compare(rows, columns, "EQ"), value, zero)


def _sum(ctx: LoweringContext, value: HloInstruction, dims: tuple[int, ...]) -> HloInstruction:
    total = scalar_computation(Opcode.ADD, value.shape.element_type, module=ctx.hlo_module, name="sum")
    zero = ctx.constant(np.zeros((), value.shape.dtype))
    return ctx.add(Opcode.REDUCE, value, zero, dimensions=dims, to_apply=total)


def _lower_einsum(ctx: LoweringContext, op: ir.Op, lhs: HloInstruction, rhs: HloInstruction) -> HloInstruction:
    """HLO `dot`. A label of both operands is a batch dimension if the result has it, else contracting."""
    (a, b), output = _check_einsum(op)
    lhs, a = _sum_out(ctx, lhs, a, b + output)
    rhs, b = _sum_out(ctx, rhs, b, a + output)
    batch = [c for c in a if c in b and c in output]
    contract = [c for c in a if c in b and c not in output]
    order = "".join([*batch, *(c for c in a if c not in b), *(c for c in b if c not in a)])
    sizes = {**dict(zip(a, lhs.shape.dimensions, strict=True)), **dict(zip(b, rhs.shape.dimensions, strict=True))}
    dot = ctx.add(
        Opcode.DOT,
        lhs,
        rhs,
        shape=ctx.result_shape(op).with_dimensions([sizes[c] for c in order]),
        lhs_batch_dims=tuple(a.index(c) for c in batch),
        rhs_batch_dims=tuple(b.index(c) for c in batch),
        lhs_contracting_dims=tuple(a.index(c) for c in contract),
        rhs_contracting_dims=tuple(b.index(c) for c in contract),
        **dot_attributes(op),
    )
    return ctx.transpose(dot, [order.index(c) for c in output])


def _lower_unary_einsum(ctx: LoweringContext, op: ir.Op, operand: HloInstruction) -> HloInstruction:
    """A sum over the dimensions that the result doesn't have, then a transpose."""
    (labels,), output = _check_einsum(op)
    value, labels = _sum_out(ctx, operand, labels, output)
    return ctx.transpose(value, [labels.index(c) for c in output])


_CONFIG = {"einsum_config": Attribute(Kind.STRING)}
define(
    "stablehlo.einsum",
    "lhs rhs",
    lower=_lower_einsum,
    attributes=_CONFIG,
    assembly="% , % , config = einsum_config:string attr-dict : :functional:",
    doc="The sum of products that `einsum_config` describes, such as `ij,jk->ik`.",
)
define(
    "stablehlo.unary_einsum",
    "operand",
    lower=_lower_unary_einsum,
    attributes=_CONFIG,
    assembly="% , config = einsum_config:string attr-dict : :functional:",
    doc=(
        "Sums over the dimensions that the result lacks, and arranges the others in the order of `einsum_config`, "
        "such as `ij->j`."
    ),
)


# -- torch_index_select ----------------------------------------------------------------------------------------------


def _check_index_select(op: ir.Op) -> None:
    """Checks the attributes in the lowering, because the specification has no rules for torch_index_select."""
    operand, index = tensor(op, 0), tensor(op, 1)
    if not INTEGER.accepts(index):
        op.fail(f"operand #1 must be {INTEGER}, but got '{index}'")
    dim, batch = int(op.attributes["dim"]), int(op.attributes["batch_dims"])
    if not -operand.rank <= dim < operand.rank:
        op.fail(f"dim {dim} is out of range for an operand of rank {operand.rank}")
    if not -index.rank <= batch <= index.rank:
        op.fail(f"batch_dims {batch} is out of range for an index of rank {index.rank}")


def _lower_index_select(
    ctx: LoweringContext, op: ir.Op, operand: HloInstruction, index: HloInstruction
) -> HloInstruction:
    """HLO `gather` of whole slices at the indices along one dimension."""
    _check_index_select(op)
    rank, index_rank = operand.shape.rank, index.shape.rank
    dim = int(op.attributes["dim"]) % rank
    batch = int(op.attributes["batch_dims"])
    batch = batch + index_rank if batch < 0 else batch
    sizes = [1 if i < batch or i == dim else n for i, n in enumerate(operand.shape.dimensions)]
    # The result has the batch dimensions, the operand's dimensions up to dim, the index's other dimensions, and the
    # operand's dimensions after dim.
    own = index_rank - batch
    offset = [*range(batch, dim), *range(dim + own, rank + own - 1)]
    return ctx.add(
        Opcode.GATHER,
        operand,
        index,
        offset_dims=tuple(offset),
        collapsed_slice_dims=(dim,),
        start_index_map=(dim,),
        operand_batching_dims=tuple(range(batch)),
        start_indices_batching_dims=tuple(range(batch)),
        index_vector_dim=index_rank,
        slice_sizes=tuple(sizes),
    )


define(
    "stablehlo.torch_index_select",
    "operand index",
    lower=_lower_index_select,
    attributes={"dim": Attribute(Kind.INT), "batch_dims": Attribute(Kind.INT)},
    doc=(
        "The operand's slices at the indices along dimension `dim`, as PyTorch's `index_select`; the first "
        "`batch_dims` dimensions are batch dimensions of both."
    ),
)
