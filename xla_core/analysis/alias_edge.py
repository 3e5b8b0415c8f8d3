"""AliasEdge: a constraint that two values share a buffer, and the reason for it."""

from __future__ import annotations

import dataclasses
import enum

from xla_core.analysis.hlo_value import HloValue
from xla_core.hlo.ir.computation import HloComputation
from xla_core.hlo.ir.instruction import HloInstruction


class EdgeKind(enum.Enum):
    """The reason why two values must share a buffer.

    Edges are joined in the order of these numbers. A later edge is more likely to need a copy, and a copy inside a loop
    costs most, so the edges of loop bodies come early.
    """

    LOOP_RESULT = 0  # joins a loop's phi with the while's result
    OUTPUT_ALIAS = 1  # joins a donated parameter with the output that takes its buffer
    LOOP_ROOT = 2  # joins the root of a loop's body with the phi
    BRANCH_ROOT = 3  # joins the root of a branch with the conditional's result
    LOOP_INIT = 4  # joins the operand of a while with the phi
    OUTPUT = 5  # joins the root of the entry with the memory of the output
    IN_PLACE = 6  # joins a custom call's result with the operand that it overwrites


@dataclasses.dataclass(frozen=True, slots=True)
class AliasEdge:
    """A constraint: `source` must share a buffer with `target`.

    Where their live ranges conflict, copy insertion inserts a copy of leaf number `leaf`. For LOOP_INIT and IN_PLACE
    it copies the leaf of operand number `operand` of `place`, which is a while or a custom call. For the other kinds it
    copies the leaf of the root of `computation`. `depth` is the nesting depth of the copy in control flow.
    """

    kind: EdgeKind
    source: HloValue
    target: HloValue
    place: HloInstruction
    leaf: int
    computation: HloComputation
    depth: int
    operand: int = 0
