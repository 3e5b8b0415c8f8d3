"""Ops that arrange values without computing any: parameters, constants, tuples, copies, tokens, dimension sizes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from xla_core.errors import InvalidArgumentError
from xla_core.hlo.evaluation.environment import TOKEN, Value
from xla_core.hlo.evaluation.evaluation_context import EvaluationContext
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.ops import sharding_rules
from xla_core.hlo.ops.conversion import bitcast_convert
from xla_core.hlo.ops.rules import (
    OpGroup,
    array,
    attr,
    check,
    check_axes,
    declared_array,
    dims,
    extended,
    first_value,
    same_shape,
)
from xla_core.hlo.table.op_table import Attributes, Trait
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.element_type import ElementType
from xla_core.hlo.values.shape import INT_MAX, Shape

entry = OpGroup("structure").entry

_FREE = (Trait.CHEAP, Trait.NOP)
_FORWARDS = (Trait.DATA_MOVEMENT, Trait.FORWARDING)


def _given(declared: Shape | None) -> Shape:
    if declared is None:
        raise InvalidArgumentError("the shape must be given")
    return declared


def _get_tuple_element_shape(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    operand, index = operands[0], attributes["index"]
    check(operand.is_tuple, lambda: f"the operand must be a tuple, not {operand}")
    check(0 <= index < len(operand.tuple_shapes), lambda: f"index {index} is not in {operand.without_layout()}")
    return operand.tuple_shapes[index].without_layout()


def _token_shape(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    for operand in operands:
        if not operand.is_token:
            raise InvalidArgumentError(f"an operand is {operand.without_layout()}; expected tokens")
    return Shape.token()


def _check_sized_dimension(operand: Shape, attributes: Attributes) -> None:
    """The op names one dimension, whose size s32 holds. (XLA: InferGetDimensionSizeShape.)"""
    check_axes(attributes["dimensions"], array(operand).rank, "dimensions")
    check(len(attributes["dimensions"]) == 1, "dimensions must name one dimension")
    (axis,) = attributes["dimensions"]
    check(
        operand.dimensions[axis] <= INT_MAX,
        lambda: f"dimension {axis} of {operand.without_layout()} has more elements than s32 can represent",
    )


def _get_dimension_size_shape(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    _check_sized_dimension(operands[0], attributes)
    return Shape(ElementType.S32)


def _set_dimension_size_shape(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    operand, size = operands
    _check_sized_dimension(operand, attributes)
    check(size.is_scalar and size.element_type.is_integral, lambda: f"the size must be a scalar integer, not {size}")
    (axis,) = attributes["dimensions"]
    flags = list(operand.dynamic_flags)
    flags[axis] = declared is None or declared.rank != operand.rank or declared.dynamic_flags[axis]
    return dims(operand.element_type, operand.dimensions, flags)


def _set_dimension_size(context: EvaluationContext, instruction: HloInstruction, values: list[Value]) -> Value:
    """Slices the array to the new size, or extends it by zeros. Values have their actual sizes.

    A result that is declared static must have the size of its bound.
    """
    operand, axis, size = values[0], instruction.attribute("dimensions")[0], int(values[1])
    bound = instruction.operand(0).shape.dimensions[axis]
    if not 0 <= size <= bound:
        raise InvalidArgumentError(f"size {size} of dimension {axis} is not within its bound {bound}")
    if size < bound and not instruction.shape.dynamic_flags[axis]:
        raise InvalidArgumentError(f"size {size} of dimension {axis} is not that of the result, {instruction.shape}")
    return extended(operand, axis, size)[(slice(None),) * axis + (slice(0, size),)]


def _bitcast_shape(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    operand, result = array(operands[0]), declared_array(declared)
    before, after = (s.num_elements * s.element_type.bit_width for s in (operand, result))
    same = before == after or _has_the_bytes_of(operand, result)
    check(same, lambda: f"bitcast of {operand} ({before} bits) to {result} ({after} bits)")
    return result


def _has_the_bytes_of(operand: Shape, result: Shape) -> bool:
    """Whether both shapes have the same number of bytes when each element takes whole bytes."""
    is_packed = any(s.layout is not None and s.layout.element_size_in_bits for s in (operand, result))
    return not is_packed and operand.byte_size == result.byte_size


def _bitcast(context: EvaluationContext, instruction: HloInstruction, values: list[Value]) -> Value:
    """Reads the operand's elements in the order of its layout, and writes them in the order of the result's layout."""
    before, after = instruction.operand(0).shape, instruction.shape
    order = after.minor_to_major()[::-1]
    flat = np.transpose(values[0], before.minor_to_major()[::-1]).reshape(-1)
    if before.element_type is not after.element_type:
        if before.num_elements * before.element_type.bit_width != after.num_elements * after.element_type.bit_width:
            flat = np.ascontiguousarray(flat).view(after.dtype)
        else:
            ratio = after.element_type.bit_width // before.element_type.bit_width
            flat = bitcast_convert(flat if ratio <= 1 else flat.reshape(-1, ratio), after.dtype)
    return np.transpose(flat.reshape([after.dimensions[d] for d in order]), np.argsort(order))


def _parameter(context: EvaluationContext, instruction: HloInstruction, values: list[Value]) -> Value:
    raise InvalidArgumentError("a parameter has a value only within a call of its computation", op="parameter")


entry(
    Opcode.PARAMETER,
    0,
    lambda operands, attributes, declared: _given(declared),
    _parameter,
    *_FREE,
    Trait.GIVEN,
    doc="An argument of the computation, by number.",
    parameter_number=attr("operand_text"),
    parameter_replication=attr("bools", None),
)
entry(
    Opcode.CONSTANT,
    0,
    lambda operands, attributes, declared: attributes["literal"].shape.without_layout(),
    lambda context, instruction, values: instruction.literal.value,
    *_FREE,
    Trait.GIVEN,
    doc="A literal.",
    literal=attr("literal"),
    sharding_rule=sharding_rules.of_nothing,
)
entry(
    Opcode.TUPLE,
    (0, None),
    lambda operands, attributes, declared: Shape.tuple([o.without_layout() for o in operands]),
    lambda context, instruction, values: tuple(values),
    *_FREE,
    *_FORWARDS,
    Trait.NOT_FOLDED,
    Trait.NO_OPERAND_REQUIRED,
    doc="A tuple of the operands.",
)
entry(
    Opcode.GET_TUPLE_ELEMENT,
    1,
    _get_tuple_element_shape,
    lambda context, instruction, values: values[0][instruction.tuple_index],
    *_FREE,
    *_FORWARDS,
    doc="One element of a tuple.",
    index=attr("int"),
)
entry(
    Opcode.COPY,
    1,
    same_shape,
    first_value,
    Trait.CHEAP,
    Trait.NOT_FOLDED,
    Trait.ELEMENTWISE,
    Trait.DATA_MOVEMENT,
    Trait.EXACT_IN_WIDER_INTEGERS,
    doc="The operand, in memory of its own or in another layout.",
)
entry(
    Opcode.BITCAST,
    1,
    _bitcast_shape,
    _bitcast,
    Trait.CHEAP,
    Trait.NOT_FOLDED,
    Trait.NOP,
    *_FORWARDS,
    Trait.BITWISE,
    Trait.INDEX_MAP,
    doc="The operand's bytes, in memory order, as an array of another shape and layout.",
    result_layout=attr("braced", None),
)
_ORDER = (Trait.NOP, Trait.BARRIER)
entry(
    Opcode.OPT_BARRIER,
    1,
    same_shape,
    first_value,
    *_ORDER,
    Trait.FORWARDING,
    doc="The operand. No instruction is moved across an opt-barrier.",
)
entry(
    Opcode.DOMAIN,
    1,
    same_shape,
    first_value,
    *_ORDER,
    Trait.FORWARDING,
    doc="The operand. It marks where an attribute, such as the sharding, changes.",
    domain=attr("braced", None),
)
entry(
    Opcode.AFTER_ALL,
    (0, None),
    _token_shape,
    lambda context, instruction, values: TOKEN,
    *_ORDER,
    Trait.NO_OPERAND_REQUIRED,
    doc="A token that is ready after all operand tokens.",
)
entry(
    Opcode.ADD_DEPENDENCY,
    2,
    same_shape,
    first_value,
    *_ORDER,
    Trait.FORWARDING,
    doc="The first operand, once the second one, a token, is ready.",
)
entry(
    Opcode.GET_DIMENSION_SIZE,
    1,
    _get_dimension_size_shape,
    lambda context, i, values: np.asarray(values[0].shape[i.attribute("dimensions")[0]], i.shape.dtype),
    doc="The actual size of a dimension.",
    dimensions=attr("ints"),
)
entry(
    Opcode.SET_DIMENSION_SIZE,
    2,
    _set_dimension_size_shape,
    _set_dimension_size,
    doc="The operand with one dimension set to a size; elements beyond it are undefined. The result is undefined for "
    "a size below 0 or above the bound: the evaluator refuses it, and compiled code takes the nearest size within.",
    index_operands=lambda count: (1,),
    dimensions=attr("ints"),
)
