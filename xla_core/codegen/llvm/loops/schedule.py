"""The loops of a kernel as data, and the changes that emission asks for.

Index arithmetic finds out during emission which loops would suit it, and raises a `ScheduleChange`. The emitter then
drops what it has written, records the change in the `LoopSchedule`, and emits the kernel again.
"""

from __future__ import annotations

import abc
import dataclasses
from collections.abc import Hashable

from xla_core.codegen.llvm.ir.module import Value


@dataclasses.dataclass(slots=True)
class LoopNest:
    """The loops over one iteration space, outermost first.

    Attributes:
        extents: the number of iterations of each loop.
        cuts: by the position of a loop, the iterations at which a new segment begins.
        across: the position of the loop that runs in square tiles with the innermost one, or -1.
    """

    extents: list[int]
    cuts: dict[int, list[int]] = dataclasses.field(default_factory=dict)
    across: int = -1


LoopSchedule = dict[Hashable, LoopNest]
"""The loops over each iteration space of a kernel."""


class ScheduleChange(abc.ABC, Exception):
    """A change of the loop at `position` among the loops over `space`."""

    def __init__(self, space: Hashable, position: int) -> None:
        super().__init__(space, position)
        self.space, self.position = space, position

    @abc.abstractmethod
    def record(self, schedule: LoopSchedule) -> None:
        """Makes the change in a schedule, for the next attempt."""


class LoopSplit(ScheduleChange):
    """The loop becomes an outer one and an inner one of `factor` iterations."""

    def __init__(self, space: Hashable, position: int, factor: int) -> None:
        super().__init__(space, position)
        self.factor = factor

    def record(self, schedule: LoopSchedule) -> None:
        extents = schedule[self.space].extents
        extents[self.position : self.position + 1] = [extents[self.position] // self.factor, self.factor]
        # Earlier cuts and tiles name loops by positions that are no longer theirs.
        schedule[self.space] = LoopNest(extents)


class LoopCut(ScheduleChange):
    """The loop runs in two segments, below iteration `at` and from there."""

    def __init__(self, space: Hashable, position: int, at: int) -> None:
        super().__init__(space, position)
        self.at = at

    def record(self, schedule: LoopSchedule) -> None:
        schedule[self.space].cuts.setdefault(self.position, []).append(self.at)


class LoopTile(ScheduleChange):
    """The loop and the innermost one run in square tiles."""

    def record(self, schedule: LoopSchedule) -> None:
        schedule[self.space].across = self.position


@dataclasses.dataclass(slots=True)
class Tile:
    """The kernel's loops over `space`, whose innermost loop has the position `last`.

    `across` is the position of the loop that is tiled with the innermost one, or -1. Where it is set, `begin` and `end`
    are the bounds of the (across, last) loops in this tile, and `level` is the number of loops around the tile.
    """

    space: Hashable
    last: int
    across: int = -1
    level: int = 0
    begin: tuple[Value, Value] | None = None
    end: tuple[Value, Value] | None = None
