"""Stream assignment: independent branches of a sequence of thunks get streams of their own.

XLA: xla/service/gpu/execution_stream_assignment.h
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence

import numpy as np

from xla_core.analysis import BufferSlice
from xla_core.schedule.thunk import BufferUse, Thunk

START = -1
"""The number of the point before the first thunk of a sequence."""


@dataclasses.dataclass(frozen=True, slots=True)
class Placement:
    """Where a thunk of a sequence runs.

    Attributes:
        stream: 0 for the program's own stream, n for its nth further stream.
        waits: the numbers of thunks on other streams that it waits for, or START.
    """

    stream: int
    waits: tuple[int, ...] = ()


def assign_streams(thunks: Sequence[Thunk], streams: int, least_bytes: int) -> tuple[Placement, ...]:
    """Returns the placements of thunks on at most `streams` streams. Thunks that depend on each other stay in order.

    Thunks depend on each other if one writes memory that the other uses. A thunk that moves at least `least_bytes`
    bytes gets another stream than the thunks that it doesn't depend on. Thunks without `shares_streams` (control flow,
    collectives and work of the host) run alone, on the program's own stream.
    """
    made = _Assigner(streams, least_bytes)
    for number, thunk in enumerate(thunks):
        made.place(number, thunk)
    return tuple(made.placements)


class _Assigner:
    """Places thunks in their order."""

    def __init__(self, streams: int, least_bytes: int) -> None:
        self.placements: list[Placement] = []
        self._least = least_bytes
        # For each stream: the last thunk of every stream that is done when its own last thunk is. START is on stream 0.
        self._now = [[START if s == t == 0 else START - 1 for t in range(streams)] for s in range(streams)]
        self._clocks = {START: list(self._now[0])}  # the same, after each thunk
        self._floor = START  # the last thunk that ran alone
        self._uses: dict[int, _Uses] = {}  # by allocation

    def place(self, number: int, thunk: Thunk) -> None:
        """Places the next thunk."""
        if not thunk.shares_streams:
            tails = (clock[number] for number, clock in enumerate(self._now))
            before, stream = {self._floor, *(tail for tail in tails if tail >= 0)}, 0
            self._floor = number
            self._uses.clear()
        else:
            uses = thunk.buffer_uses()
            before = {*self._dependencies(uses), self._floor}
            stream = self._choose(before, sum(use.slice.size for use in uses))
            self._use(number, uses)
        clock, waits = self._now[stream], []
        for earlier in sorted(before, reverse=True):  # the wait for a later thunk may cover an earlier one
            own = self._stream(earlier)
            if clock[own] < earlier:
                waits.append(earlier)
                clock[:] = [max(pair) for pair in zip(clock, self._clocks[earlier], strict=True)]
        clock[stream] = number
        self._clocks[number] = list(clock)
        self.placements.append(Placement(stream, tuple(waits)))

    def _stream(self, number: int) -> int:
        return 0 if number == START else self.placements[number].stream

    def _choose(self, before: set[int], size: int) -> int:
        """Returns the stream of a thunk that comes after others and moves `size` bytes."""
        real = [number for number in before if number != self._floor]
        follows = [number for number in real if self._now[self._stream(number)][self._stream(number)] == number]
        if follows or (real and size < self._least):
            return self._stream(max(follows or real))
        done = [max(self._clocks[n][stream] for n in before) for stream in range(len(self._now))]
        idle = [stream for stream, clock in enumerate(self._now) if clock[stream] <= done[stream]]
        return idle[0] if idle and size >= self._least else 0

    def _dependencies(self, uses: Sequence[BufferUse]) -> Iterator[int]:
        for use in uses:
            earlier = self._uses.get(use.slice.allocation.index)
            if earlier is not None and use.slice.size:
                yield from earlier.conflicts(use)

    def _use(self, number: int, new: Sequence[BufferUse]) -> None:
        # A thunk that conflicts with an earlier use inside a written range also conflicts with the write.
        for use in new:
            if use.is_write and use.slice.allocation.index in self._uses:
                self._uses[use.slice.allocation.index].drop_within(use.slice)
        for use in new:
            if use.slice.size:
                self._uses.setdefault(use.slice.allocation.index, _Uses()).add(number, use)


class _Uses:
    """The uses of one allocation, as columns, because each thunk of a long program is compared with most others."""

    def __init__(self) -> None:
        self._columns = np.empty((4, 16), np.int64)  # number of the thunk, first byte, end, whether it writes
        self._count = 0

    def add(self, number: int, use: BufferUse) -> None:
        if self._count == self._columns.shape[1]:
            self._columns = np.concatenate([self._columns, np.empty_like(self._columns)], axis=1)
        self._columns[:, self._count] = number, use.slice.offset, use.slice.offset + use.slice.size, use.is_write
        self._count += 1

    def conflicts(self, use: BufferUse) -> list[int]:
        """Returns the thunks with a use that overlaps this one, if one of the two writes."""
        numbers, starts, ends, writes = self._columns[:, : self._count]
        found = (starts < use.slice.offset + use.slice.size) & (use.slice.offset < ends)
        if not use.is_write:
            found &= writes != 0
        conflicting: list[int] = numbers[found].tolist()
        return conflicting

    def drop_within(self, place: BufferSlice) -> None:
        """Forgets the uses that lie within a range."""
        _, starts, ends, _ = self._columns[:, : self._count]
        kept = np.flatnonzero((starts < place.offset) | (ends > place.offset + place.size))
        if len(kept) < self._count:
            self._columns[:, : len(kept)] = self._columns[:, kept]
            self._count = len(kept)
