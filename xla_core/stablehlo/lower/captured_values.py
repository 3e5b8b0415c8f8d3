"""Limits on recomputing captured values inside closed regions.

A computation of HLO can't use values of another computation, and a reducer or comparator has no parameter for a
captured value. So the lowering computes the value again inside the region, with all ops that it depends on. It raises
UnimplementedError for values that may differ between two executions or whose ops have effects.
"""

from __future__ import annotations

from xla_core.errors import ResourceExhaustedError, UnimplementedError
from xla_core.hlo.ir.effects import EFFECTS, EffectAnalysis
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.op_table import Trait
from xla_core.stablehlo import ir

_MAX_OPS = 20_000
HINT = "pass it as an operand of the op that has the region"


class CaptureLimits:
    """Limits how many ops a module's lowering recomputes, and rejects ops with effects."""

    def __init__(self) -> None:
        self._effects = EffectAnalysis(EFFECTS | {Trait.NONDETERMINISTIC})
        self._ops = 0

    def count(self, op: ir.Op) -> None:
        """Counts a recomputed op. Raises ResourceExhaustedError beyond the limit.

        The count can be the number of regions times the length of a chain whose end all of them capture.
        """
        self._ops += bool(op.operands)  # constants are not counted
        if self._ops > _MAX_OPS:
            raise ResourceExhaustedError(
                f"more than {_MAX_OPS:,} ops would be computed again in regions that take their results from outside",
                op=op.name,
                location=op.location,
                hint=HINT,
            )

    def check(self, instruction: HloInstruction) -> None:
        """Raises UnimplementedError for an instruction that may not run twice. The caller adds its op's location."""
        if self._effects.of(instruction):
            raise UnimplementedError(
                f"a region whose HLO computation must be closed captures the result of this {instruction.opcode}, "
                "which must not run again inside the region",
                hint=HINT,
            )
