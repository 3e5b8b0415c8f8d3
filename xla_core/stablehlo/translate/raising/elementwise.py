"""Raises elementwise ops. The op table says which op of StableHLO lowers to which opcode."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

import numpy as np

from xla_core.hlo.decompositions.elementary import OPCODES, decompose_elementary
from xla_core.hlo.decompositions.mulhi import decompose_mulhi
from xla_core.hlo.element_type import ElementType
from xla_core.hlo.instruction import HloInstruction
from xla_core.hlo.opcode import Opcode
from xla_core.stablehlo import ir
from xla_core.stablehlo.ops.common import Elementwise
from xla_core.stablehlo.table.op_table import OPS
from xla_core.stablehlo.translate.raising.context import RULES, RaisingContext
from xla_core.stablehlo.translate.raising.data import constant
from xla_core.stablehlo.translate.raising.meaning import meaning_of
from xla_core.stablehlo.translate.raising.values import Raised, single, type_of

__all__: list[str] = []

_COUNTERPARTS = {
    Opcode.BITCAST_CONVERT: "stablehlo.bitcast_convert",
    Opcode.CLAMP: "stablehlo.clamp",
    Opcode.CONVERT: "stablehlo.convert",
    Opcode.RESHAPE: "stablehlo.reshape",
    Opcode.SELECT: "stablehlo.select",
}
"""The StableHLO ops of opcodes whose lowering is not always a single HLO op, so that the op table doesn't give them."""

# If two ops lower to the same opcode, StableHLO's op overrides CHLO's, because it sorts last.
_COUNTERPARTS |= {
    definition.lower.opcode: name
    for name, definition in sorted(OPS.items())
    if isinstance(definition.lower, Elementwise)
}


_DECOMPOSITIONS = {**dict.fromkeys(map(Opcode, OPCODES), decompose_elementary), Opcode.MULHI: decompose_mulhi}
"""Decompositions for opcodes that only CHLO has an op for, used when CHLO is not allowed."""


def _sign_of_unsigned(ctx: RaisingContext, x: ir.Value) -> ir.Value:
    """Computes the sign of an unsigned number, which is 0 or 1."""
    assert ctx.instruction is not None
    one = constant(ctx, np.ones((), ctx.instruction.shape.dtype), x.type)
    return ctx.add("stablehlo.minimum", [x, one], x.type)


def _not(ctx: RaisingContext, x: ir.Value) -> ir.Value:
    return ctx.add("stablehlo.not", [x], x.type)


_OF_UNSIGNED: dict[Opcode, Callable[..., ir.Value]] = {Opcode.ABS: lambda ctx, x: x, Opcode.SIGN: _sign_of_unsigned}
_OF_PRED: dict[Opcode, Callable[..., ir.Value]] = {
    Opcode.COUNT_LEADING_ZEROS: _not,
    Opcode.POPCNT: lambda ctx, x: x,
    Opcode.POWER: lambda ctx, x, y: ctx.add("stablehlo.or", [x, _not(ctx, y)], x.type),
}
"""What ops are of types that StableHLO's don't take."""


def _raise_elementwise(
    name: str, ctx: RaisingContext, instruction: HloInstruction, operands: Sequence[Raised]
) -> Raised:
    if name.startswith("chlo.") and not ctx.program.has_chlo:
        return ctx.inline(meaning_of(instruction, _DECOMPOSITIONS[instruction.opcode]), operands)
    values, kind = [single(o) for o in operands], instruction.operand(0).shape.element_type
    table = _OF_PRED if kind is ElementType.PRED else _OF_UNSIGNED if kind.is_unsigned else {}
    special = table.get(instruction.opcode)
    return ctx.add(name, values, type_of(instruction.shape)) if special is None else special(ctx, *values)


RULES.update({opcode: functools.partial(_raise_elementwise, name) for opcode, name in _COUNTERPARTS.items()})
