"""What an attempt at a kernel asks of the next one: other loops.

Index arithmetic finds out while it is emitted which loops would suit it. It raises what it wants; the emitter drops the
attempt, records the change in `spaces` and begins anew.
"""

from __future__ import annotations

import abc
import dataclasses
from collections.abc import Hashable

__all__ = ["LoopChange", "LoopCut", "LoopNest", "LoopSplit", "LoopTile", "Spaces"]


@dataclasses.dataclass(slots=True)
class LoopNest:
    """The loops over a space, outermost first, as the attempts so far want them.

    Attributes:
        extents: the iterations of each.
        cuts: by a loop's position, the iterations before which it begins another segment.
        across: the position of the loop that runs in square tiles with the innermost one; -1 where none does.
    """

    extents: list[int]
    cuts: dict[int, list[int]] = dataclasses.field(default_factory=dict)
    across: int = -1


Spaces = dict[Hashable, LoopNest]
"""The loops over each space of a kernel."""


class LoopChange(abc.ABC, Exception):
    """A change of the loops over a space; `position` is one of them."""

    def __init__(self, space: Hashable, position: int) -> None:
        super().__init__(space, position)
        self.space, self.position = space, position

    @abc.abstractmethod
    def record(self, spaces: Spaces) -> None:
        """Notes the change for the next attempt."""


class LoopSplit(LoopChange):
    """The loop becomes an outer one and an inner one of `factor` iterations."""

    def __init__(self, space: Hashable, position: int, factor: int) -> None:
        super().__init__(space, position)
        self.factor = factor

    def record(self, spaces: Spaces) -> None:
        extents = spaces[self.space].extents
        extents[self.position : self.position + 1] = [extents[self.position] // self.factor, self.factor]
        # Cuts and tiles were asked for of loops that are others now.
        spaces[self.space] = LoopNest(extents)


class LoopCut(LoopChange):
    """The loop runs in two segments, below iteration `at` and from there."""

    def __init__(self, space: Hashable, position: int, at: int) -> None:
        super().__init__(space, position)
        self.at = at

    def record(self, spaces: Spaces) -> None:
        spaces[self.space].cuts.setdefault(self.position, []).append(self.at)


class LoopTile(LoopChange):
    """The loop and the innermost one run in square tiles."""

    def record(self, spaces: Spaces) -> None:
        spaces[self.space].across = self.position
