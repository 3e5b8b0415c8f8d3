"""What an attempt at a kernel asks of the next one: other loops.

Index arithmetic finds out while it is emitted which loops would suit it. It raises what it wants; the emitter drops the
attempt, records the change in `spaces` and begins anew.
"""

from __future__ import annotations

import abc
from collections.abc import Hashable

__all__ = ["LoopChange", "LoopCut", "LoopSplit", "LoopTile", "Spaces"]

Spaces = dict[Hashable, list[int]]
"""The extents of the loops over each space; under ("cuts", space, position) and ("tile", space) what else was asked."""


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
        extents = spaces[self.space]
        extent = extents[self.position]
        extents[self.position : self.position + 1] = [extent // self.factor, self.factor]
        spaces.pop(("tile", self.space), None)
        for position in range(len(extents)):  # they were asked for of loops that are others now
            spaces.pop(("cuts", self.space, position), None)


class LoopCut(LoopChange):
    """The loop runs in two segments, below iteration `at` and from there."""

    def __init__(self, space: Hashable, position: int, at: int) -> None:
        super().__init__(space, position)
        self.at = at

    def record(self, spaces: Spaces) -> None:
        spaces.setdefault(("cuts", self.space, self.position), []).append(self.at)


class LoopTile(LoopChange):
    """The loop and the innermost one run in square tiles."""

    def record(self, spaces: Spaces) -> None:
        spaces["tile", self.space] = [self.position]
