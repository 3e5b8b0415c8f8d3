"""Reductions of rows: each element of the result combines neighbouring elements of the operand's memory."""

from __future__ import annotations

import dataclasses

from xla_core.hlo.instruction import HloInstruction
from xla_core.hlo.opcode import Opcode


@dataclasses.dataclass(frozen=True, slots=True)
class ReducedRows:
    """`count` rows of `elements` elements, each of which is reduced to one."""

    count: int
    elements: int


def reduced_rows(instruction: HloInstruction) -> ReducedRows | None:
    """The rows that an instruction reduces: it is a reduction over the operand's minor-most dimensions in memory.

    Returns None for any other instruction, and for an operand without elements.
    """
    if instruction.opcode != Opcode.REDUCE:
        return None
    shape = instruction.operand(0).shape
    reduced = set(instruction.attribute("dimensions"))
    minor = [d for d in shape.minor_to_major() if shape.dimensions[d] != 1]
    inner = sum(1 for d in minor if d in reduced)
    if not shape.num_elements or not all(d in reduced for d in minor[:inner]):
        return None
    count = next(instruction.shape.leaves()).num_elements
    return ReducedRows(count, shape.num_elements // count)
