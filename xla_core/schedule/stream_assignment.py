"""Stream assignment: independent branches of a sequence of thunks get streams of their own.

XLA: xla/service/gpu/execution_stream_assignment.h
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence

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
        self._uses: dict[int, list[tuple[int, BufferUse]]] = {}  # by allocation: (thunk, use)

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
            for number, other in self._uses.get(use.slice.allocation.index, ()):
                if (use.is_write or other.is_write) and use.slice.size and use.slice.overlaps(other.slice):
                    yield number

    def _use(self, number: int, new: Sequence[BufferUse]) -> None:
        # A thunk that conflicts with an earlier use inside a written range also conflicts with the write.
        for use in new:
            if use.is_write:
                uses = self._uses.setdefault(use.slice.allocation.index, [])
                uses[:] = [(earlier, other) for earlier, other in uses if not _covers(use.slice, other.slice)]
        for use in new:
            if use.slice.size:
                self._uses.setdefault(use.slice.allocation.index, []).append((number, use))


def _covers(place: BufferSlice, other: BufferSlice) -> bool:
    return place.offset <= other.offset and other.offset + other.size <= place.offset + place.size
