"""Shardings: what says where data should lie, and computes nothing."""

from __future__ import annotations

from collections.abc import Sequence

from xla_core.hlo.instruction import HloInstruction
from xla_core.stablehlo import ir
from xla_core.stablehlo.lowering import LoweringContext
from xla_core.stablehlo.op_table import Attribute, Kind, define

__all__: list[str] = []


def _same(op: ir.Op, module: ir.Module) -> Sequence[ir.Type]:
    return [op.operands[0].type]


def _lower_constraint(ctx: LoweringContext, op: ir.Op, operand: HloInstruction) -> HloInstruction:
    """The operand: a sharding is a wish for the partitioner."""
    return operand


define(
    "sdy.sharding_constraint",
    "input",
    rule=_same,
    lower=_lower_constraint,
    attributes={"sharding": Attribute(Kind.ANY, None)},
    doc="The operand; says how Shardy should partition it.",
)
