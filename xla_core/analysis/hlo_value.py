"""HloValue: one leaf that an instruction defines, and when it is alive. (XLA: xla/service/hlo_value.h.)"""

from __future__ import annotations

import enum

from xla_core.hlo.instruction import HloInstruction
from xla_core.hlo.shape import Shape

__all__ = ["BranchPath", "HloValue", "Segment", "ShapeIndex", "ValueKind"]

ShapeIndex = tuple[int, ...]
Segment = tuple[int, int]
"""The first and the last time, both included."""
BranchPath = tuple[tuple[int, int], ...]
"""Of each conditional around a computation, outermost first: the time before it, and the time its branch starts."""


class ValueKind(enum.Enum):
    INSTRUCTION = "instruction"  # computed by an instruction
    PARAMETER = "parameter"  # of the entry
    CONSTANT = "constant"
    PHI = "phi"  # a loop-carried leaf at the start of an iteration
    RESULT = "result"  # of a while or a conditional: whatever its computation left there
    OUTPUT = "output"  # a leaf of the entry's result, as memory that the caller supplies


class HloValue:
    """The leaf at `index` of what `instruction` defines. It is alive in `segments()`."""

    __slots__ = ("_branch_segments", "end", "forward", "id", "index", "instruction", "kind", "shape", "start")

    def __init__(
        self, number: int, kind: ValueKind, instruction: HloInstruction, index: ShapeIndex, shape: Shape, start: int
    ) -> None:
        self.id = number
        self.kind = kind
        self.instruction = instruction
        self.index = index
        self.shape = shape
        self.start = start
        self.end = start
        self.forward: HloValue | None = None
        self._branch_segments: list[Segment] = []

    def use(self, time: int, path: BranchPath) -> None:
        """Keeps the value alive until `time`, in a computation that is reached by `path`.

        A use in one branch of a conditional keeps it alive before the conditional and in that branch, not in others.
        """
        start = self.start
        inside = [step for step in path if step[0] >= start]
        if not inside:
            if time > self.end:
                self.end = time
            return
        self.end = max(self.end, inside[0][0])
        for (_, begins), (until, _) in zip(inside, [*inside[1:], (time, 0)], strict=True):
            self._branch_segments.append((begins, until))

    def segments(self) -> list[Segment]:
        """When it is alive: disjoint, in order."""
        if not self._branch_segments:
            return [(self.start, self.end)]
        merged: list[Segment] = [(self.start, self.end)]
        for begins, until in sorted(self._branch_segments):
            if begins <= merged[-1][1] + 1:
                merged[-1] = (merged[-1][0], max(merged[-1][1], until))
            else:
                merged.append((begins, until))
        return merged

    @property
    def name(self) -> str:
        """`instruction{1,0}`, as XLA prints a position."""
        suffix = "{" + ",".join(map(str, self.index)) + "}" if self.index else ""
        return f"{self.instruction.name}{suffix}"

    def __repr__(self) -> str:
        return f"<value {self.id} {self.name} {self.kind.value} {self.shape} {self.segments()}>"
