"""Ops whose operands and result say all: their rules follow from the op table, which says what becomes what."""

from __future__ import annotations

import functools
from collections.abc import Sequence

from xla_core.hlo.decompositions.elementary import OPCODES, decompose_elementary
from xla_core.hlo.instruction import HloInstruction
from xla_core.stablehlo.op_table import OPS
from xla_core.stablehlo.ops.common import Elementwise
from xla_core.stablehlo.raising.context import RULES, RaisingContext
from xla_core.stablehlo.raising.meaning import meaning_of
from xla_core.stablehlo.raising.values import Raised, single, type_of

__all__: list[str] = []

_COUNTERPARTS = {
    "bitcast-convert": "stablehlo.bitcast_convert",
    "clamp": "stablehlo.clamp",
    "convert": "stablehlo.convert",
    "mulhi": "chlo.mulhi",
    "reshape": "stablehlo.reshape",
    "select": "stablehlo.select",
}
"""Ops that StableHLO's become under conditions, or by a formula, and that come back as these."""

# Of two ops that become the same, StableHLO's own comes after CHLO's.
_COUNTERPARTS |= {
    definition.lower.opcode: name
    for name, definition in sorted(OPS.items())
    if isinstance(definition.lower, Elementwise)
}


def _raise_elementwise(
    name: str, ctx: RaisingContext, instruction: HloInstruction, operands: Sequence[Raised]
) -> Raised:
    if name.startswith("chlo.") and not ctx.program.has_chlo and instruction.opcode in OPCODES:
        return ctx.inline(meaning_of(instruction, decompose_elementary), operands)
    return ctx.add(name, [single(o) for o in operands], type_of(instruction.shape))


RULES.update({opcode: functools.partial(_raise_elementwise, name) for opcode, name in _COUNTERPARTS.items()})
