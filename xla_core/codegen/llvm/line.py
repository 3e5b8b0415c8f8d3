"""Line: a place that is scale x i + offset in a loop variable i, and when it is inside a range.

A pad, a concatenation or a window at an edge asks of each element whether a place is inside a range. Where that place
is a line, the kernel is emitted again with the loop cut where the answer changes (`LoopCut`); every piece then has its
answer before it runs, and is a plain loop for LLVM to make vectors of.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable

from xla_core.codegen.llvm.loop_changes import LoopCut

__all__ = ["Line"]


@dataclasses.dataclass(frozen=True, slots=True)
class Line:
    """scale x i + offset, of a loop variable i in [low, high). `loop` is (space, position) where it may be cut."""

    loop: tuple[Hashable, int] | None
    low: int
    high: int
    scale: int = 1
    offset: int = 0

    def moved(self, by: int) -> Line:
        return dataclasses.replace(self, offset=self.offset + by)

    def scaled(self, by: int) -> Line:
        return dataclasses.replace(self, scale=self.scale * by, offset=self.offset * by)

    def is_within(self, extent: int) -> bool | None:
        """Whether it is in [0, extent): true or false of every i; None where that differs and the loop can't be cut.

        Raises:
            LoopCut: where it differs and the loop can.
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
        """The range of i whose values are in [0, extent)."""
        if self.scale > 0:
            return -(self.offset // self.scale), -((self.offset - extent) // self.scale)
        return (self.offset - extent) // -self.scale + 1, self.offset // -self.scale + 1
