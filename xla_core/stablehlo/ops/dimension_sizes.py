"""get_dimension_size and set_dimension_size."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.attributes import SliceDimension
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.element_type import ElementType
from xla_core.hlo.values.shape import INT_MAX, Shape
from xla_core.stablehlo import ir
from xla_core.stablehlo.lower.context import LoweringContext
from xla_core.stablehlo.ops.common import INDEX, OneOp, tensor
from xla_core.stablehlo.table.op_table import OpGroup, Trait, Values
from xla_core.stablehlo.table.type_constraints import I32, TENSOR_OR_PER_AXIS
from xla_core.stablehlo.verify.compatibility import compatible, if_declared

define = OpGroup("dimension_sizes").define


def _check_dimension(op: ir.Op) -> int:
    dim, rank = int(op.attributes["dimension"]), tensor(op, 0).rank
    if dim >= rank:
        op.fail(f"requires dimension attribute in range [0, {rank}); found ({dim})")
    return dim


def _get_dimension_size_rule(op: ir.Op, module: ir.Module) -> Sequence[ir.Type]:
    _check_dimension(op)
    return [ir.TensorType((), "i32")]


def _lower_get_dimension_size(ctx: LoweringContext, op: ir.Op, operand: HloInstruction) -> HloInstruction:
    """A constant where the size is static, else HLO `get-dimension-size`."""
    dim = int(op.attributes["dimension"])
    if operand.shape.dynamic_dimensions and operand.shape.dynamic_dimensions[dim]:
        return ctx.add(Opcode.GET_DIMENSION_SIZE, operand, dimensions=(dim,))
    size = operand.shape.dimensions[dim]
    if size > INT_MAX:
        op.fail(f"gives i32, which does not hold {size}, the size of dimension {dim} of {op.operands[0].type}")
    return ctx.constant(np.int32(size), Shape(ElementType.S32))


define(
    "stablehlo.get_dimension_size",
    "operand",
    rule=_get_dimension_size_rule,
    lower=_lower_get_dimension_size,
    counterpart=OneOp(Opcode.GET_DIMENSION_SIZE, dimensions=("dimension",)),
    attributes={"dimension": INDEX},
    traits=(Trait.ON_STORAGE,),
    assembly="% , dim = dimension:int attr-dict : :functional:",
    doc="The size of dimension `dimension`, as i32. For a bounded dimension, it is the actual size.",
    types=TENSOR_OR_PER_AXIS,
    result_types=I32,
)


def _set_dimension_size_rule(op: ir.Op, module: ir.Module) -> Sequence[ir.Type] | None:
    operand = tensor(op, 0)
    if tensor(op, 1).rank:
        op.fail("size operand should be of rank-0")
    dim = _check_dimension(op)
    shape, bounds = list(operand.shape), list(operand.bounds or (None,) * operand.rank)
    if shape[dim] != ir.DYNAMIC:
        bounds[dim], shape[dim] = shape[dim], ir.DYNAMIC
    bounded = [_bounded(shape, operand.element, bounds)]
    known = ir.constant_of(op.operands[1])
    if known is None or known.reshape(-1)[0] < 0:
        return bounded
    size, limit = int(known.reshape(-1)[0]), bounds[dim]
    shape[dim], bounds[dim] = size, None
    exact = [_bounded(shape, operand.element, bounds)]
    # StableHLO infers a static size only from a constant that equals the bound. A smaller constant is accepted if it is
    # the declared size.
    fits = all(compatible(t, r.type) for t, r in zip(bounded, op.results, strict=True))
    return exact if size == limit else bounded if not fits else if_declared(op, exact)


def _bounded(shape: Sequence[int], element: str | ir.QuantizedType, bounds: Sequence[int | None]) -> ir.TensorType:
    return ir.TensorType(tuple(shape), element, tuple(bounds) if any(b is not None for b in bounds) else ())


def _lower_set_dimension_size(
    ctx: LoweringContext, op: ir.Op, operand: HloInstruction, size: HloInstruction
) -> HloInstruction:
    """HLO `set-dimension-size`, or a slice where the result is static."""
    dim, type = int(op.attributes["dimension"]), op.results[0].type
    if isinstance(type, ir.TensorType) and type.is_static:
        known = ctx.module.static_values.of(size)
        if known is not None and int(known.reshape(-1)[0]) != type.shape[dim]:
            op.fail(f"the size is {int(known.reshape(-1)[0])}, but the result has {type.shape[dim]}")
        parts = [SliceDimension(0, n) for n in operand.shape.dimensions]
        parts[dim] = SliceDimension(0, type.shape[dim])
        return operand if type.shape == operand.shape.dimensions else ctx.add(Opcode.SLICE, operand, slice=tuple(parts))
    return ctx.add(Opcode.SET_DIMENSION_SIZE, operand, ctx.convert(size, Shape(ElementType.S32)), dimensions=(dim,))


define(
    "stablehlo.set_dimension_size",
    (Values("operand"), Values("size", I32)),
    rule=_set_dimension_size_rule,
    lower=_lower_set_dimension_size,
    counterpart=OneOp(Opcode.SET_DIMENSION_SIZE, dimensions=("dimension",)),
    attributes={"dimension": INDEX},
    traits=(Trait.ON_STORAGE,),
    assembly="% , % , dim = dimension:int attr-dict : :functional:",
    doc=(
        "The operand with dimension `dimension` set to the given size, which is within its bound; the elements "
        "beyond that size are dropped."
    ),
)
