"""The decompositions of elementwise ops that legalization and the translation to StableHLO share."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from xla_core.hlo.builder import Builder
from xla_core.hlo.decompositions.elementary import OPCODES, decompose_elementary
from xla_core.hlo.decompositions.mulhi import decompose_mulhi
from xla_core.hlo.decompositions.stochastic_convert import decompose_stochastic_convert
from xla_core.hlo.instruction import HloInstruction
from xla_core.hlo.opcode import Opcode

ELEMENTWISE: Mapping[Opcode, Callable[[HloInstruction, Builder], HloInstruction | None]] = {
    **dict.fromkeys(map(Opcode, OPCODES), decompose_elementary),
    Opcode.MULHI: decompose_mulhi,
    Opcode.STOCHASTIC_CONVERT: decompose_stochastic_convert,
}
"""Opcode -> (instruction, builder) -> the replacement, or None for element types that the decomposition lacks."""
