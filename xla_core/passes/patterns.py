"""Predicates that rewrite rules use: constants behind broadcasts, single users, element types without NaN."""

from __future__ import annotations

import math

import numpy as np

from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.op_table import OPS
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.element_type import ElementType

POINTWISE = tuple(
    op.opcode
    for op in OPS.values()
    if (op.is_elementwise or op.opcode == Opcode.BITCAST_CONVERT) and op.opcode not in (Opcode.COPY, Opcode.MAP)
)
"""Ops that compute result element i from element i of each operand; bitcast-convert does if the widths are equal."""


def uniform_value(instruction: HloInstruction) -> np.ndarray | None:
    """The value of every element, as an array of rank 0, of a splat constant or a broadcast of one; else None."""
    while instruction.opcode == Opcode.BROADCAST:
        instruction = instruction.operands[0]
    if instruction.opcode != Opcode.CONSTANT or not instruction.shape.is_array:
        return None
    literal = instruction.literal
    if not literal.array.size or not literal.is_splat:
        return None
    return np.asarray(literal.array.reshape(-1)[0], instruction.shape.dtype)


def is_constant(instruction: HloInstruction) -> bool:
    """Whether the instruction is a constant or a broadcast of a constant."""
    while instruction.opcode == Opcode.BROADCAST:
        instruction = instruction.operands[0]
    return instruction.opcode == Opcode.CONSTANT


def is_all(instruction: HloInstruction, value: complex) -> bool:
    """Whether every element is known to be `value`; zeros must have the same sign."""
    found = uniform_value(instruction)
    if found is None:
        return False
    wanted = np.asarray(value).astype(found.dtype)
    if not bool(found == wanted) or complex(found) != complex(value):
        return False
    element_type = instruction.shape.element_type
    if value != 0 or not (element_type.is_floating or element_type.is_complex):
        return True
    pairs = ((found.real, wanted.real), (found.imag, wanted.imag)) if element_type.is_complex else ((found, wanted),)
    return all(math.copysign(1.0, a) == math.copysign(1.0, b) for a, b in pairs)


def is_same_value(x: HloInstruction, y: HloInstruction) -> bool:
    """Whether two scalars are one instruction, or constants with the same bits."""
    a, b = uniform_value(x), uniform_value(y)
    return x is y or (a is not None and b is not None and a.tobytes() == b.tobytes())


def is_one_use(instruction: HloInstruction) -> bool:
    """Whether the instruction has exactly one user and is not the root."""
    return instruction.user_count == 1 and not instruction.is_root


def is_dynamic(instruction: HloInstruction) -> bool:
    """Whether the instruction or an operand has dynamic dimensions, which most rules don't support."""
    return bool(instruction.shape.dynamic_dimensions) or any(o.shape.dynamic_dimensions for o in instruction.operands)


def is_total_order(element_type: ElementType) -> bool:
    """Whether the type has a total order: it has no NaN."""
    return element_type.is_integral or element_type is ElementType.PRED


def is_ordered(compare: HloInstruction) -> bool:
    """Whether a compare orders any two values: their type has no NaN, or the compare is of total order."""
    return is_total_order(compare.operands[0].shape.element_type) or compare.attribute("type") == "TOTALORDER"
