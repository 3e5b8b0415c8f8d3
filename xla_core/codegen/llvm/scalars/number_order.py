"""Recognizes compares by which frontends sort floats: zeros of both signs are equal, and NaNs follow all numbers.

Frontends write them as a compare of total order between `canonical(x)` and `canonical(y)`, where `canonical(x)` is 0
for both zeros, one NaN for all of them, the same for x and y, and x otherwise. That takes 20 operations on bits where
two compares do.
"""

from __future__ import annotations

import numpy as np

from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.element_type import ElementType

_TYPES = (ElementType.F16, ElementType.BF16, ElementType.F32, ElementType.F64)


def compared_numbers(instruction: HloInstruction) -> tuple[HloInstruction, HloInstruction] | None:
    """Returns (x, y) if the instruction is whether x comes before y in the order of numbers, else None."""
    if instruction.opcode != Opcode.COMPARE or instruction.attribute("type") != "TOTALORDER":
        return None
    direction = instruction.attribute("direction")
    if direction not in ("LT", "GT") or instruction.operand(0).shape.element_type not in _TYPES:
        return None
    left, right = (_made_canonical(operand) for operand in instruction.operands)
    if left is None or right is None or left[1] != right[1]:
        return None
    return (left[0], right[0]) if direction == "LT" else (right[0], left[0])


def _made_canonical(value: HloInstruction) -> tuple[HloInstruction, bytes] | None:
    """Returns x and the bytes of NaN if `value` is `select(x != x, NaN, select(x == 0, 0, x))`, else None."""
    if value.opcode != Opcode.SELECT or value.operand(2).opcode != Opcode.SELECT:
        return None
    is_nan, nan, number = value.operands
    is_zero, zero, x = number.operands
    one_nan = _scalar(nan)
    fits = (
        _is_compare(is_nan, "NE", x)
        and is_nan.operand(1) is x
        and _is_positive(one_nan, np.isnan)
        and _is_compare(is_zero, "EQ", x)
        and _is_zero(is_zero.operand(1))
        and _is_positive(_scalar(zero), np.logical_not)
    )
    return (x, one_nan.tobytes()) if fits and one_nan is not None else None


def _is_compare(instruction: HloInstruction, direction: str, x: HloInstruction) -> bool:
    """Whether the instruction compares x by the rules of IEEE 754."""
    return (
        instruction.opcode == Opcode.COMPARE
        and instruction.attribute("direction") == direction
        and instruction.attribute("type") != "TOTALORDER"
        and instruction.operand(0) is x
    )


def _is_zero(instruction: HloInstruction) -> bool:
    value = _scalar(instruction)
    return value is not None and not value


def _is_positive(value: np.ndarray | None, kind: np.ufunc) -> bool:
    """Whether a constant is there, has no sign, and is of a kind of numbers."""
    return value is not None and bool(kind(value)) and not np.signbit(value)


def _scalar(instruction: HloInstruction) -> np.ndarray | None:
    """The value of a scalar constant, or of a broadcast of one, as an array of rank 0."""
    if instruction.opcode == Opcode.BROADCAST:
        instruction = instruction.operand(0)
    if instruction.opcode != Opcode.CONSTANT or instruction.shape.dimensions:
        return None
    return instruction.literal.array
