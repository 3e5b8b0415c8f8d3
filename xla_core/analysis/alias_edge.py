"""AliasEdge: two values that must share a buffer, and why."""

from __future__ import annotations

import dataclasses
import enum

from xla_core.analysis.hlo_value import HloValue
from xla_core.hlo.computation import HloComputation
from xla_core.hlo.instruction import HloInstruction

__all__ = ["AliasEdge", "EdgeKind"]


class EdgeKind(enum.Enum):
    """Why two values must share a buffer, in the order in which they are joined: a copy inside a loop costs most."""

    LOOP_RESULT = 0  # the phi and the while's result
    OUTPUT_ALIAS = 1  # a donated parameter and the output that takes its buffer
    LOOP_ROOT = 2  # what a body returns, and the phi
    BRANCH_ROOT = 3  # what a branch returns, and the conditional's result
    LOOP_INIT = 4  # the operand of a while, and the phi
    OUTPUT = 5  # what the entry returns, and the output's memory
    IN_PLACE = 6  # an operand that a custom call says it overwrites


@dataclasses.dataclass(frozen=True, slots=True)
class AliasEdge:
    """`source` must share a buffer with `target`.

    Where that is impossible, copy insertion copies leaf `leaf`: of operand `operand` of `place`, a while (LOOP_INIT) or
    a custom call (IN_PLACE); otherwise of the root of `computation`.
    """

    kind: EdgeKind
    source: HloValue
    target: HloValue
    place: HloInstruction
    leaf: int
    computation: HloComputation
    depth: int
    operand: int = 0
