"""Decompositions of elementary functions, real and complex, and of other ops that the table ELEMENTWISE has."""

from __future__ import annotations

from xla_core.hlo.builder import Builder
from xla_core.hlo.decompositions.elementwise import ELEMENTWISE
from xla_core.hlo.element_type import ElementType
from xla_core.hlo.instruction import HloInstruction
from xla_core.hlo.opcode import Opcode
from xla_core.passes.legalization.rules import decomposition


@decomposition(Opcode.TAN)
def _tan(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """The quotient of sine and cosine, whose decompositions share most instructions."""
    x = i.operand(0)
    is_wide = x.shape.element_type in (ElementType.F32, ElementType.F64)
    return b.add(Opcode.DIVIDE, b.add(Opcode.SINE, x), b.add(Opcode.COSINE, x)) if is_wide else None


for _opcode, _rule in ELEMENTWISE.items():
    decomposition(_opcode)(_rule)
