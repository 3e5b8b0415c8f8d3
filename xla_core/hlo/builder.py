"""Conveniences for whoever builds HLO: scalar computations, comparators, broadcast scalars."""

from __future__ import annotations

from typing import Any

import numpy as np

from xla_core.hlo.computation import HloComputation
from xla_core.hlo.element_type import ElementType
from xla_core.hlo.instruction import HloInstruction
from xla_core.hlo.literal import Literal
from xla_core.hlo.module import HloModule
from xla_core.hlo.opcode import Opcode
from xla_core.hlo.shape import Shape

__all__ = [
    "broadcast_scalar",
    "comparator",
    "get_tuple_elements",
    "identity_of",
    "iota",
    "ones_like",
    "reduce",
    "scalar_computation",
    "zeros_like",
]


def scalar_computation(
    opcode: Opcode, element_type: ElementType, *, module: HloModule | None = None, name: str | None = None
) -> HloComputation:
    """A binary op on two scalars, such as reduce takes; added to the module where one is given."""
    computation = HloComputation(name or f"{opcode}_{element_type}")
    scalar = Shape(element_type)
    computation.add(opcode, computation.parameter(0, scalar), computation.parameter(1, scalar))
    return computation if module is None else module.add_computation(computation)


def comparator(
    direction: str, *element_types: ElementType, key: int = 0, type: str | None = None, module: HloModule | None = None
) -> HloComputation:
    """A comparator for sort: the scalars of the operand number `key` compared, the others carried along.

    Args:
        direction: LT sorts ascending, GT descending.
        element_types: of the sorted operands.
        type: TOTALORDER gives NaN and -0 places of their own.
    """
    computation = HloComputation(f"compare_{direction.lower()}")
    parameters = [
        computation.parameter(i, Shape(t)) for i, t in enumerate(t for each in element_types for t in (each, each))
    ]
    attributes: dict[str, Any] = {"direction": direction} | ({"type": type} if type else {})
    computation.set_root(computation.add(Opcode.COMPARE, parameters[2 * key], parameters[2 * key + 1], **attributes))
    return computation if module is None else module.add_computation(computation)


def broadcast_scalar(computation: HloComputation, value: complex, shape: Shape) -> HloInstruction:
    """An array of this shape, every element `value`: a scalar constant and, but for scalars, a broadcast."""
    scalar = computation.add(
        Opcode.CONSTANT, shape=Shape(shape.element_type), literal=_scalar(value, shape.element_type)
    )
    if not shape.rank:
        return scalar
    return computation.add(Opcode.BROADCAST, scalar, shape=shape.without_layout(), dimensions=())


def _scalar(value: complex, element_type: ElementType) -> Literal:
    return Literal(np.asarray(value).astype(element_type.dtype), Shape(element_type))


def zeros_like(instruction: HloInstruction) -> HloInstruction:
    """Zeros of an instruction's shape, in its computation."""
    return broadcast_scalar(_parent(instruction), 0, instruction.shape)


def ones_like(instruction: HloInstruction) -> HloInstruction:
    return broadcast_scalar(_parent(instruction), 1, instruction.shape)


def _parent(instruction: HloInstruction) -> HloComputation:
    if instruction.parent is None:
        raise ValueError(f"{instruction.name} is in no computation")
    return instruction.parent


def iota(computation: HloComputation, shape: Shape, dimension: int) -> HloInstruction:
    return computation.add(Opcode.IOTA, shape=shape.without_layout(), iota_dimension=dimension)


def get_tuple_elements(instruction: HloInstruction) -> list[HloInstruction]:
    """Every element of a tuple-shaped instruction; what a tuple op was made of, where it is one."""
    if instruction.opcode == Opcode.TUPLE:
        return list(instruction.operands)
    count = len(instruction.shape.tuple_shapes)
    return [_parent(instruction).add(Opcode.GET_TUPLE_ELEMENT, instruction, index=i) for i in range(count)]


def identity_of(opcode: Opcode, element_type: ElementType) -> complex:
    """The value that a reduction by this op starts from: 0 of add, or, xor; 1 of multiply; the ends of the type's
    range of maximum and minimum; all bits of `and`. KeyError for other ops.
    """
    dtype = element_type.dtype
    if element_type is ElementType.PRED:
        least: complex = False
        greatest: complex = True
    elif element_type.is_floating:
        least, greatest = -np.inf, np.inf
    else:
        signed = element_type.is_signed
        width = element_type.bit_width
        least, greatest = (-(1 << (width - 1)), (1 << (width - 1)) - 1) if signed else (0, (1 << width) - 1)
    every_bit: complex = greatest if not element_type.is_signed else -1
    values = {
        Opcode.ADD: 0,
        Opcode.OR: 0,
        Opcode.XOR: 0,
        Opcode.MULTIPLY: 1,
        Opcode.MAXIMUM: least,
        Opcode.MINIMUM: greatest,
        Opcode.AND: every_bit,
    }
    found: complex = values[opcode]
    return bool(found) if dtype == np.bool_ else found


def reduce(
    operand: HloInstruction, opcode: Opcode, dimensions: tuple[int, ...], *, initial: complex | None = None
) -> HloInstruction:
    """A reduction by one op, from its identity or `initial`, next to the operand."""
    computation = _parent(operand)
    element_type = operand.shape.element_type
    value = identity_of(opcode, element_type) if initial is None else initial
    start = broadcast_scalar(computation, value, Shape(element_type))
    body = scalar_computation(opcode, element_type, module=computation.module)
    return computation.add(Opcode.REDUCE, operand, start, dimensions=dimensions, to_apply=body)
