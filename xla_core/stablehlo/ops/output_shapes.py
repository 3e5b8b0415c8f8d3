"""Shape operands: infers the result type from one, and gives the lowering the sizes."""

from __future__ import annotations

from collections.abc import Sequence

from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.attributes import SliceDimension
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.element_type import ElementType
from xla_core.hlo.values.shape import Shape
from xla_core.stablehlo import ir
from xla_core.stablehlo.lower.context import LoweringContext
from xla_core.stablehlo.ops.common import tensor_of
from xla_core.stablehlo.verify.compatibility import compatible, if_declared, list_text


def result_dimensions(ctx: LoweringContext, op: ir.Op, shape: HloInstruction, what: str) -> tuple[int, ...]:
    """Returns the result's sizes: those of its type if that is static, else the value of the shape operand.

    `what` names the shape operand in errors.
    """
    type = op.results[0].type
    assert isinstance(type, ir.TensorType)
    if shape.shape.dimensions[0] != type.rank:
        op.fail(f"{what} has {shape.shape.dimensions[0]} elements, but the result has rank {type.rank}")
    if type.is_static:
        return type.shape
    return tuple(int(n) for n in ctx.static_value(shape, op, what).reshape(-1))


def bounded_dimensions(op: ir.Op) -> tuple[int, ...] | None:
    """Returns the result's sizes with the bounds in place of dynamic sizes.

    Returns None for a static result and for one with an unbounded dimension.
    """
    type = op.results[0].type
    if not isinstance(type, ir.TensorType) or type.is_static:
        return None
    sizes = [b if n == ir.DYNAMIC else n for n, b in zip(type.shape, type.bounds or (None,) * type.rank, strict=True)]
    return None if None in sizes else tuple(n for n in sizes if n is not None)


def scalar_at(ctx: LoweringContext, vector: HloInstruction, index: int) -> HloInstruction:
    return ctx.reshape(ctx.add(Opcode.SLICE, vector, slice=(SliceDimension(index, index + 1),)), ())


def with_sizes(ctx: LoweringContext, op: ir.Op, value: HloInstruction, shape: HloInstruction) -> HloInstruction:
    """Sets the dynamic dimensions of `value`, whose sizes are the bounds, to the elements of the operand `shape`."""
    type = op.results[0].type
    assert isinstance(type, ir.TensorType)
    for d in (d for d, n in enumerate(type.shape) if n == ir.DYNAMIC):
        size = ctx.convert(scalar_at(ctx, shape, d), Shape(ElementType.S32))
        value = ctx.add(Opcode.SET_DIMENSION_SIZE, value, size, dimensions=(d,))
    return value


def check_output_shape(op: ir.Op, index: int) -> list[int] | None:
    """Checks a constant shape operand against the result's type. Returns its value, or None if it isn't constant."""
    result, known = tensor_of(op.results[0]), ir.constant_of(op.operands[index])
    sizes = None if known is None else [int(n) for n in known.reshape(-1)]
    if sizes is not None and (min(sizes, default=0) < 0 or not compatible(_with_shape(result, sizes), result)):
        op.fail(f"output shape [{list_text(sizes)}] is incompatible with return type of operation '{result}'")
    return sizes


def _with_shape(type: ir.TensorType, sizes: Sequence[int]) -> ir.TensorType:
    return ir.TensorType(tuple(sizes), type.element)


def sized(op: ir.Op, sizes: Sequence[int] | None) -> Sequence[ir.Type] | None:
    """Infers the declared result type with these sizes; None where the sizes aren't known."""
    return None if sizes is None else if_declared(op, [_with_shape(tensor_of(op.results[0]), sizes)])
