"""Raises constants, data movement and elementwise ops with attributes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from xla_core.errors import UnimplementedError
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.op_table import OPS
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.literal import Literal
from xla_core.hlo.values.shape import Shape
from xla_core.stablehlo import ir
from xla_core.stablehlo.table.op_table import hlo_name
from xla_core.stablehlo.translate.raising.context import RaisingContext, raises
from xla_core.stablehlo.translate.raising.values import Raised, single, type_of


def i64s(values: Sequence[int]) -> ir.DenseArray:
    return ir.DenseArray([int(value) for value in values], "i64")


def numbers(cls: Any, instruction: HloInstruction) -> Any:
    """Makes a struct whose fields are attributes of the instruction."""
    values = {name: instruction.attribute(hlo_name(name)) for name in cls.__dataclass_fields__}
    return cls(**{name: value if isinstance(value, int) else tuple(value) for name, value in values.items()})


def constant(ctx: RaisingContext, array: np.ndarray, type: ir.Type) -> ir.Value:
    """Adds `stablehlo.constant`. An array of one repeated value becomes a splat."""
    assert isinstance(type, ir.TensorType)
    if array.ndim and array.size and not any(array.strides):
        array = array[(0,) * array.ndim]
    return ctx.add("stablehlo.constant", [], type, value=ir.DenseElements(type, np.array(array, order="C")))


# Constants and structure


@raises(Opcode.CONSTANT)
def _constant(ctx: RaisingContext, instruction: HloInstruction, operands: Sequence[Raised]) -> Raised:
    def make(literal: Literal) -> Raised:
        if literal.shape.is_tuple:
            return tuple([make(element) for element in literal.elements])
        return constant(ctx, literal.array, type_of(literal.shape))

    return make(instruction.literal)


@raises(Opcode.TUPLE)
def _tuple(ctx: RaisingContext, instruction: HloInstruction, operands: Sequence[Raised]) -> Raised:
    return tuple(operands)


@raises(Opcode.GET_TUPLE_ELEMENT)
def _element(ctx: RaisingContext, instruction: HloInstruction, operands: Sequence[Raised]) -> Raised:
    value = operands[0]
    assert isinstance(value, tuple)
    return value[instruction.tuple_index]


@raises(Opcode.COPY, Opcode.DOMAIN)
def _same(ctx: RaisingContext, instruction: HloInstruction, operands: Sequence[Raised]) -> Raised:
    """Returns the operand: StableHLO doesn't say where a value is stored."""
    return operands[0]


# Asynchronous pairs: the work is done where it starts


def started(ctx: RaisingContext, instruction: HloInstruction, *parts: Raised) -> Raised:
    """Returns the result of the first half of a pair: `parts`, then zeros for the context."""
    rest = instruction.shape.tuple_shapes[len(parts) :]
    return (*parts, *(constant(ctx, np.zeros(shape.dimensions, shape.dtype), type_of(shape)) for shape in rest))


@raises(Opcode.COPY_START)
def _copy_start(ctx: RaisingContext, instruction: HloInstruction, operands: Sequence[Raised]) -> Raised:
    return started(ctx, instruction, operands[0], operands[0])


@raises(Opcode.ASYNC_START)
def _async_start(ctx: RaisingContext, instruction: HloInstruction, operands: Sequence[Raised]) -> Raised:
    return started(ctx, instruction, tuple(operands), ctx.inline(instruction.attribute("calls"), operands))


@raises(*(op.opcode for op in OPS.values() if op.result_at is not None))
def _done(ctx: RaisingContext, instruction: HloInstruction, operands: Sequence[Raised]) -> Raised:
    value = operands[0]
    for index in instruction.op.result_at or ():
        assert isinstance(value, tuple)
        value = value[index]
    return value


# Elementwise ops with attributes


@raises(Opcode.COMPARE)
def _compare(ctx: RaisingContext, instruction: HloInstruction, operands: Sequence[Raised]) -> Raised:
    direction = ir.EnumAttribute(instruction.attribute("direction"), "comparison_direction")
    kind = instruction.attributes.get("type")
    total = ir.EnumAttribute("TOTALORDER", "comparison_type") if kind == "TOTALORDER" else None
    return ctx.results("stablehlo.compare", operands, comparison_direction=direction, compare_type=total)


@raises(Opcode.BITCAST)
def _bitcast(ctx: RaisingContext, instruction: HloInstruction, operands: Sequence[Raised]) -> Raised:
    """Reshapes the same bytes: transposes to physical order, reshapes, and transposes to logical order."""
    value, source, target = single(operands[0]), instruction.operand(0).shape, instruction.shape
    if source.element_type.byte_width != target.element_type.byte_width or any(
        shape.layout is not None and (shape.layout.tiles or shape.layout.element_size_in_bits)
        for shape in (source, target)
    ):
        raise UnimplementedError(f"a bitcast from {source} to {target} has no counterpart in StableHLO")
    if source.element_type is not target.element_type:
        source = source.with_element_type(target.element_type)
        value = ctx.add("stablehlo.bitcast_convert", [value], type_of(source))
    value = _transposed(ctx, value, source, source.minor_to_major()[::-1])
    order = target.minor_to_major()[::-1]
    physical = target.with_dimensions([target.dimensions[i] for i in order])
    value = ctx.add("stablehlo.reshape", [value], type_of(physical))
    return _transposed(ctx, value, physical, [order.index(i) for i in range(target.rank)])


def _transposed(ctx: RaisingContext, value: ir.Value, shape: Shape, order: Sequence[int]) -> ir.Value:
    if list(order) == sorted(order):
        return value
    moved = shape.with_dimensions([shape.dimensions[i] for i in order])
    return ctx.add("stablehlo.transpose", [value], type_of(moved), permutation=i64s(order))


# Movement


@raises(Opcode.DYNAMIC_RESHAPE)
def _dynamic_reshape(ctx: RaisingContext, instruction: HloInstruction, operands: Sequence[Raised]) -> Raised:
    """Joins the sizes to one vector."""
    one, parts = ir.TensorType((1,), "i64"), []
    for size in operands[1:]:
        wide = ctx.add("stablehlo.convert", [single(size)], ir.TensorType((), "i64"))
        parts.append(ctx.add("stablehlo.reshape", [wide], one))
    if not parts:
        return ctx.results("stablehlo.reshape", operands[:1])
    sizes = ctx.add("stablehlo.concatenate", parts, ir.TensorType((len(parts),), "i64"), dimension=0)
    return ctx.results("stablehlo.dynamic_reshape", [operands[0], sizes])


def _starts(ctx: RaisingContext, instruction: HloInstruction, operands: Sequence[Raised], first: int) -> list[ir.Value]:
    """Returns scalar start indices; HLO's older form has them in one vector."""
    values = [single(o) for o in operands[first:]]
    if len(values) != 1 or not instruction.operand(first).shape.rank:
        return values
    shape = instruction.operand(first).shape
    scalars = []
    for i in range(shape.dimensions[0]):
        bounds = {"start_indices": i64s([i]), "limit_indices": i64s([i + 1]), "strides": i64s([1])}
        part = ctx.add("stablehlo.slice", values, type_of(shape.with_dimensions([1])), **bounds)
        scalars.append(ctx.add("stablehlo.reshape", [part], type_of(shape.with_dimensions([]))))
    return scalars


@raises(Opcode.DYNAMIC_SLICE)
def _dynamic_slice(ctx: RaisingContext, instruction: HloInstruction, operands: Sequence[Raised]) -> Raised:
    sizes = i64s(instruction.attribute("dynamic_slice_sizes"))
    starts = _starts(ctx, instruction, operands, 1)
    return ctx.results("stablehlo.dynamic_slice", [operands[0], *starts], slice_sizes=sizes)


@raises(Opcode.DYNAMIC_UPDATE_SLICE)
def _dynamic_update_slice(ctx: RaisingContext, instruction: HloInstruction, operands: Sequence[Raised]) -> Raised:
    starts = _starts(ctx, instruction, operands, 2)
    return ctx.results("stablehlo.dynamic_update_slice", [*operands[:2], *starts])
