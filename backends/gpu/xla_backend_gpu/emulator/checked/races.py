"""Finds races in shared memory: two threads use a byte between two barriers, and one of them writes it.

For each byte, this module records the last thread that wrote it and the threads that read it since the last barrier.
All barriers are of whole blocks here: `partial_races` is for kernels that have others.

The instruction bar.warp.sync orders the lanes of its warp too. Each warp has a clock that it advances: accesses before
an advance are ordered before the other lanes' accesses after it. Shuffles and votes order no memory, although lanes
wait for each other there.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from xla_backend_gpu.emulator.checked.state import Array, Indices, Threads

NOBODY, SEVERAL_LANES, SEVERAL_WARPS = -1, -2, -3
"""Instead of a thread's number: no thread, several lanes of one warp, lanes of several warps."""


@dataclasses.dataclass(frozen=True, slots=True)
class Race:
    """A race: a thread, the byte that it uses, and the thread that used it before (-1 if there are several)."""

    thread: int
    byte: int
    other: int
    detail: str


class RaceDetector:
    def __init__(self, threads: Threads, shared_bytes: int) -> None:
        """Each block has `shared_bytes` of shared memory. Bytes are numbered through all blocks."""
        self.threads, self.size = threads, shared_bytes
        total = shared_bytes * threads.blocks
        self.writer = np.full(total, NOBODY, np.int32)
        self.writer_clock = np.zeros(total, np.int32)
        self.writer_atomic = np.zeros(total, np.bool_)
        self.reader = np.full(total, NOBODY, np.int32)
        self.reader_warp = np.zeros(total, np.int32)
        self.reader_clock = np.zeros(total, np.int32)
        self.clock = np.zeros(threads.warps, np.int32)

    def barrier(self, indices: Indices, meeting: Indices) -> None:
        """Orders the earlier accesses of threads before the later ones of those with the same number in `meeting`.

        All threads of a block meet.
        """
        for block in np.unique(self.threads.block[indices]):
            self.forget(int(block))

    def forget(self, block: int) -> None:
        """Forgets the accesses of a block, all threads of which have met."""
        part = slice(block * self.size, (block + 1) * self.size)
        self.writer[part] = NOBODY
        self.reader[..., part] = NOBODY

    def warp_barrier(self, indices: Indices) -> None:
        self.clock[np.unique(self.threads.warp[indices])] += 1

    # -- accesses: `places` has a row of bytes for each thread of `indices` --------------------------------------------

    def load(self, indices: Indices, places: Indices) -> Race | None:
        race = self._after_writer(indices, places, atomic=False)
        if race is not None:
            return race
        self.remember_readers(indices, places)
        return None

    def store(self, indices: Indices, places: Indices, changes: Array, memory: Array, data: Array) -> Race | None:
        """Records a store, and returns a race if there is one.

        `changes` says which bytes each thread changes: writing the same value twice is no race. `memory` has the bytes
        after the store; `data` has the bytes that each thread wrote.
        """
        race = self._after_writer(indices, places, atomic=False, only=changes) or self.after_readers(indices, places)
        if race is not None:
            return race
        self._remember_writers(indices, places, atomic=False)
        lost = (memory[places] != data).any(axis=1)
        if lost.any():
            first = int(np.flatnonzero(lost)[0])
            byte = int(places[first][np.flatnonzero(memory[places[first]] != data[first])[0]])
            return self._race(int(indices[first]), byte, int(self.writer[byte]), "both write it in one instruction")
        return None

    def atomic(self, indices: Indices, places: Indices) -> Race | None:
        race = self._after_writer(indices, places, atomic=True) or self.after_readers(indices, places)
        self._remember_writers(indices, places, atomic=True)
        return race

    # -- what came before --------------------------------------------------------------------------------------------

    def ordered(self, indices: Indices, other_warp: Array, clock: Array) -> Array:
        """Tells, for each byte of each thread, whether a warp instruction orders the two accesses."""
        warp = self.threads.warp[indices][:, None]
        return np.asarray((other_warp == warp) & (self.clock[warp] > clock))

    def _after_writer(
        self, indices: Indices, places: Indices, *, atomic: bool, only: Array | None = None
    ) -> Race | None:
        writer = self.writer[places]
        suspect = (writer >= 0) & (writer != indices[:, None])
        if atomic:
            suspect &= ~self.writer_atomic[places]
        if only is not None:
            suspect &= only
        if not suspect.any():
            return None
        other_warp = self.threads.warp[np.maximum(writer, 0)]
        suspect &= ~self.ordered(indices, other_warp, self.writer_clock[places])
        return self.first(indices, places, suspect, writer, "which wrote it since the last barrier")

    def after_readers(self, indices: Indices, places: Indices) -> Race | None:
        reader = self.reader[places]
        suspect = (reader != NOBODY) & (reader != indices[:, None])
        if not suspect.any():
            return None
        ordered = self.ordered(indices, self.reader_warp[places], self.reader_clock[places]) & (reader != SEVERAL_WARPS)
        return self.first(indices, places, suspect & ~ordered, reader, "which read it since the last barrier")

    def first(self, indices: Indices, places: Indices, found: Array, others: Array, detail: str) -> Race | None:
        if not found.any():
            return None
        row, column = (int(v[0]) for v in np.nonzero(found))
        return self._race(int(indices[row]), int(places[row, column]), int(others[row, column]), detail)

    def _race(self, thread: int, byte: int, other: int, detail: str) -> Race:
        return Race(thread, byte % self.size, other, detail)

    # -- what comes later will see it --------------------------------------------------------------------------------

    def _remember_writers(self, indices: Indices, places: Indices, *, atomic: bool) -> None:
        self.writer[places] = indices[:, None]
        self.writer_clock[places] = self.clock[self.threads.warp[indices]][:, None]
        self.writer_atomic[places] = atomic

    def remember_readers(self, indices: Indices, places: Indices) -> None:
        warp = self.threads.warp[indices][:, None]
        before, before_warp = self.reader[places], self.reader_warp[places]
        self.reader[places] = indices[:, None]
        several = self.reader[places] != indices[:, None]  # lanes that read a byte in this instruction together
        warps = several & (self.threads.warp[self.reader[places]] != warp)
        known = (before != NOBODY) & (before != indices[:, None])
        several |= known
        warps |= (before == SEVERAL_WARPS) | (known & (before_warp != warp))
        self.reader[places[several]] = SEVERAL_LANES
        self.reader[places[warps]] = SEVERAL_WARPS
        self.reader_warp[places] = warp
        self.reader_clock[places] = self.clock[warp]
