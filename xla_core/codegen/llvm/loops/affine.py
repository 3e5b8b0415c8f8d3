"""AffineExpr: scale x i + offset of a loop variable i, and when its value is inside a range.

A pad, a concatenation or a window at an edge asks of each element whether an index is inside a range. Where that index
is affine in a loop variable, the kernel is emitted again with the loop cut where the answer changes (`LoopCut`). In
each segment of the loop the answer is then known before the loop runs, and LLVM can vectorize the segment.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable

from xla_core.codegen.llvm.loops.schedule import LoopCut


@dataclasses.dataclass(frozen=True, slots=True)
class AffineExpr:
    """scale x i + offset, for a loop variable i in [low, high). `loop` is its (space, position) if it may be cut."""

    loop: tuple[Hashable, int] | None
    low: int
    high: int
    scale: int = 1
    offset: int = 0

    def moved(self, by: int) -> AffineExpr:
        return dataclasses.replace(self, offset=self.offset + by)

    def scaled(self, by: int) -> AffineExpr:
        return dataclasses.replace(self, scale=self.scale * by, offset=self.offset * by)

    def is_within(self, extent: int) -> bool | None:
        """Returns whether the value is in [0, extent) for every i, or for no i.

        None where that depends on i and the loop may not be cut.

        Raises:
            LoopCut: where it depends on i and the loop may be cut.
        """
        begin, end = self._inside(extent)
        if end <= self.low or begin >= self.high or begin >= end:
            return False
        if begin <= self.low and self.high <= end:
            return True
        if self.loop is None:
            return None
        raise LoopCut(*self.loop, begin if self.low < begin else end)

    def _inside(self, extent: int) -> tuple[int, int]:
        """Returns the range [begin, end) of i for which the value is in [0, extent)."""
        if self.scale > 0:
            return -(self.offset // self.scale), -((self.offset - extent) // self.scale)
        return (self.offset - extent) // -self.scale + 1, self.offset // -self.scale + 1
