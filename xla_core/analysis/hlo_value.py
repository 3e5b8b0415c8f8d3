"""HloValue: one leaf that an instruction defines, and its live range (XLA: xla/service/hlo_value.h)."""

from __future__ import annotations

import enum
from collections.abc import Iterable

from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.text.shapes import index_to_text
from xla_core.hlo.values.shape import Shape

ShapeIndex = tuple[int, ...]
Segment = tuple[int, int]
"""The first and the last time of a part of a live range, both inclusive."""
BranchPath = tuple[tuple[int, int], ...]
"""For each enclosing conditional, outermost first: the time before it and the time at which the branch starts."""


class ValueKind(enum.Enum):
    INSTRUCTION = "instruction"  # computed by an instruction
    PARAMETER = "parameter"  # a parameter of the entry
    CONSTANT = "constant"
    PHI = "phi"  # a loop-carried leaf at the start of an iteration
    RESULT = "result"  # the result of a while or a conditional, which its computations write
    OUTPUT = "output"  # the memory of a leaf of the entry's result


def merged_segments(segments: Iterable[Segment]) -> list[Segment]:
    """Joins those of the segments, which are in order of their starts, that overlap or touch."""
    merged: list[Segment] = []
    for start, end in segments:
        if merged and start <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((start, end))
    return merged


class HloValue:
    """The leaf at `index` of the result of `instruction`.

    `forward` is the value that replaces this one, where the analysis found both to be the same.
    """

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
        """Extends the live range to a use at `time`, in a computation that is reached by `path`.

        A use in one branch of a conditional extends it up to the conditional and in that branch, not in the others.
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
        """The live range of the value, as disjoint segments in order of time."""
        if not self._branch_segments:
            return [(self.start, self.end)]
        return merged_segments([(self.start, self.end), *sorted(self._branch_segments)])

    @property
    def name(self) -> str:
        """`instruction{1,0}`, as XLA prints a position."""
        return f"{self.instruction.name}{index_to_text(self.index) if self.index else ''}"

    def __repr__(self) -> str:
        return f"<value {self.id} {self.name} {self.kind.value} {self.shape} {self.segments()}>"
