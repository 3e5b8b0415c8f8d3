"""What a closed region takes from outside, computed anew inside: it costs little, and nothing happens twice.

HLO's computations see nothing from outside, and a reducer or comparator has no parameter to pass it by. So the ops that
it follows from are lowered again within, as far as constants; what differs from one execution to the next, or is seen
outside of the program, is refused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_core.errors import ResourceExhaustedError, UnimplementedError
from xla_core.hlo.effects import EFFECTS, EffectAnalysis
from xla_core.hlo.instruction import HloInstruction
from xla_core.hlo.op_table import Trait
from xla_core.stablehlo import ir

if TYPE_CHECKING:
    from xla_core.stablehlo.lower.lowering import LoweringContext

__all__ = ["Rematerialization", "rematerialize"]

_MAX_OPS = 20_000
_HINT = "pass it as an operand of the op that has the region"


class Rematerialization:
    """What a module's lowering knows of it."""

    def __init__(self) -> None:
        self._effects = EffectAnalysis(EFFECTS | {Trait.NONDETERMINISTIC})
        self._ops = 0

    def count(self, op: ir.Op) -> None:
        """Regions that all take the end of a long chain make the program as long as their number times its length."""
        self._ops += bool(op.operands)  # a constant is one op wherever it is used
        if self._ops > _MAX_OPS:
            raise ResourceExhaustedError(
                f"more than {_MAX_OPS:,} ops would be computed anew in regions that take their results from outside",
                op=op.name,
                location=op.location,
                hint=_HINT,
            )

    def check(self, instruction: HloInstruction) -> None:
        """Raises UnimplementedError for an instruction that may not run twice. The op that it is of says where."""
        if self._effects.of(instruction):
            raise UnimplementedError(
                f"a region whose HLO computation must be closed takes the result of this {instruction.opcode} from "
                "outside; computed anew inside, it would happen more than once",
                hint=_HINT,
            )


def rematerialize(context: LoweringContext, value: ir.Value) -> HloInstruction:
    """Lowers what `value` follows from into the context's computation, operands first: chains of ops may be long.

    Raises UnimplementedError, with the place, where that is an argument, an op with regions, or one with effects;
    ResourceExhaustedError where a program does it too often.
    """
    outside = context.metadata, context.frontend_attributes, context.is_anew
    context.is_anew = True
    stack = [value]
    while stack:
        needed = stack[-1]
        if needed in context.values:
            stack.pop()
            continue
        op = _source(context, needed)
        missing = [operand for operand in op.operands if operand not in context.values]
        if missing:
            stack += missing
        else:
            context.module.rematerialization.count(op)
            context.lower_op(op)
    context.metadata, context.frontend_attributes, context.is_anew = outside
    return context.values[value]


def _source(context: LoweringContext, value: ir.Value) -> ir.Op:
    op = value.owner
    if context.parent is None or not isinstance(op, ir.Op) or op.regions:
        raise UnimplementedError(
            f"%{value.name or value.index} is computed outside of a region whose HLO computation must be closed",
            location=op.location if isinstance(op, ir.Op) else None,
            hint=_HINT,
        )
    return op
