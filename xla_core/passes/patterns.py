"""What rules ask of instructions: constants behind broadcasts, identities of reductions, single users."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from xla_core.hlo.computation import HloComputation
from xla_core.hlo.element_type import ElementType
from xla_core.hlo.instruction import HloInstruction
from xla_core.hlo.opcode import Opcode
from xla_core.hlo.shape import Shape

__all__ = [
    "is_all",
    "is_constant",
    "is_dynamic",
    "is_one_use",
    "is_total_order",
    "largest",
    "neutral_value",
    "reduction_opcode",
    "smallest",
    "squeezed",
    "uniform_value",
]


def uniform_value(instruction: HloInstruction) -> np.ndarray | None:
    """The one value of all elements, of rank 0, where the instruction is a splat constant or a broadcast of one."""
    while instruction.opcode == Opcode.BROADCAST:
        instruction = instruction.operands[0]
    if instruction.opcode != Opcode.CONSTANT or not instruction.shape.is_array:
        return None
    literal = instruction.literal
    if not literal.array.size or not literal.is_splat:
        return None
    return np.asarray(literal.array.reshape(-1)[0], instruction.shape.dtype)


def is_constant(instruction: HloInstruction) -> bool:
    """A constant, or a broadcast of a constant."""
    while instruction.opcode == Opcode.BROADCAST:
        instruction = instruction.operands[0]
    return instruction.opcode == Opcode.CONSTANT


def is_all(instruction: HloInstruction, value: float) -> bool:
    """Every element is `value`, of the same sign for a zero."""
    found = uniform_value(instruction)
    if found is None:
        return False
    wanted = np.asarray(value).astype(found.dtype)
    if not bool(found == wanted) or complex(found) != complex(value):
        return False
    element_type = instruction.shape.element_type
    if value == 0 and element_type.is_floating:
        return math.copysign(1.0, float(found)) == math.copysign(1.0, value)
    if value == 0 and element_type.is_complex:
        return all(math.copysign(1.0, part) == math.copysign(1.0, value) for part in (found.real, found.imag))
    return True


def is_one_use(instruction: HloInstruction) -> bool:
    """Used by one instruction only, and not the result."""
    return instruction.user_count == 1 and not instruction.is_root


def is_dynamic(instruction: HloInstruction) -> bool:
    """It or an operand has dynamic dimensions, which most rules don't understand."""
    return bool(instruction.shape.dynamic_dimensions) or any(o.shape.dynamic_dimensions for o in instruction.operands)


def is_total_order(element_type: ElementType) -> bool:
    """Any two values compare: there is no NaN."""
    return element_type.is_integral or element_type is ElementType.PRED


def _limits(element_type: ElementType) -> tuple[int, int]:
    bits = element_type.bit_width
    if element_type.is_signed:
        return -(1 << (bits - 1)), (1 << (bits - 1)) - 1
    return 0, (1 << bits) - 1


def smallest(element_type: ElementType) -> Any:
    """No value of an integer type, a float with infinities, or pred is less."""
    return _limits(element_type)[0] if is_total_order(element_type) else -math.inf


def largest(element_type: ElementType) -> Any:
    """No value of an integer type, a float with infinities, or pred is greater."""
    return _limits(element_type)[1] if is_total_order(element_type) else math.inf


def reduction_opcode(computation: HloComputation) -> Opcode | None:
    """The binary op that a computation of two scalars applies to its parameters; None where it does more."""
    root = computation.root
    if len(computation.parameters) != 2 or len(root.operands) != 2 or computation.instruction_count != 3:
        return None
    return root.opcode if set(root.operands) == set(computation.parameters) else None


def neutral_value(opcode: Opcode, element_type: ElementType) -> Any:
    """The value that leaves every other one as it is under a reduction by `opcode`; None where there is none."""
    if opcode == Opcode.ADD:
        return 0.0 if not element_type.is_floating else -0.0
    if opcode == Opcode.MULTIPLY:
        return 1
    if opcode == Opcode.MAXIMUM:
        return smallest(element_type) if _has_extremes(element_type) else None
    if opcode == Opcode.MINIMUM:
        return largest(element_type) if _has_extremes(element_type) else None
    if opcode in (Opcode.OR, Opcode.XOR):
        return 0
    if opcode == Opcode.AND:
        return -1 if element_type.is_signed else _limits(element_type)[1]
    return None


def _has_extremes(element_type: ElementType) -> bool:
    return is_total_order(element_type) or (
        element_type.is_floating and bool(np.isinf(np.asarray(math.inf).astype(element_type.dtype)))
    )


def squeezed(shape: Shape) -> Sequence[int]:
    """The numbers of the dimensions that are not of size 1."""
    return [i for i, size in enumerate(shape.dimensions) if size != 1]
