"""Finds races in kernels that have barriers of a part of their block, such as `bar.sync 1, 64`.

Such a barrier orders the warps that meet at it, and no others. Each warp has a vector of clocks: which of its own
accesses, and of each other warp's, come before its next one. Warps that meet take the latest clocks of all of them.
"""

from __future__ import annotations

import numpy as np

from xla_backend_gpu.emulator.checked.races import NOBODY, SEVERAL_LANES, Race, RaceDetector
from xla_backend_gpu.emulator.checked.state import Array, Indices, Threads
from xla_backend_gpu.emulator.ptx.program import Kernel
from xla_backend_gpu.emulator.table import Effect


def has_partial_barriers(kernel: Kernel) -> bool:
    """Whether a barrier of a kernel may wait for fewer threads than the block has."""
    barriers = (i for i in kernel.instructions if i.definition.effect is Effect.BARRIER)
    return any(barrier.operands[1] is not None for barrier in barriers)


class PartialRaceDetector(RaceDetector):
    """A RaceDetector that records the readers of a byte in each warp of the block.

    `reader` and `reader_clock` have a row for each warp of a block. `seen[v, w]` is the clock of warp w of the block up
    to which its accesses come before those of warp v, which is numbered through all blocks.
    """

    def __init__(self, threads: Threads, shared_bytes: int) -> None:
        super().__init__(threads, shared_bytes)
        rows = threads.warps_per_block
        self.reader = np.full((rows, shared_bytes * threads.blocks), NOBODY, np.int32)
        self.reader_clock = np.zeros((rows, shared_bytes * threads.blocks), np.int32)
        self.seen = np.zeros((threads.warps, rows), np.int32)

    def barrier(self, indices: Indices, meeting: Indices) -> None:
        size = self.threads.count // self.threads.blocks
        for number in np.unique(meeting):
            group = indices[meeting == number]
            if group.size == size:
                self.forget(int(self.threads.block[group[0]]))
                continue
            self.warp_barrier(group)
            warps = np.unique(self.threads.warp[group])
            self.seen[warps] = self.seen[warps].max(axis=0)

    def warp_barrier(self, indices: Indices) -> None:
        super().warp_barrier(indices)
        warps = np.unique(self.threads.warp[indices])
        self.seen[warps, warps % self.threads.warps_per_block] = self.clock[warps]

    def ordered(self, indices: Indices, other_warp: Array, clock: Array) -> Array:
        warp = self.threads.warp[indices][:, None]
        return np.asarray(self.seen[warp, other_warp % self.threads.warps_per_block] > clock)

    def after_readers(self, indices: Indices, places: Indices) -> Race | None:
        for row in range(self.threads.warps_per_block):
            reader = self.reader[row, places]
            suspect = (reader != NOBODY) & (reader != indices[:, None])
            if suspect.any():
                suspect &= ~self.ordered(indices, np.asarray(row), self.reader_clock[row, places])
                race = self.first(indices, places, suspect, reader, "which read it since the last barrier of both")
                if race is not None:
                    return race
        return None

    def remember_readers(self, indices: Indices, places: Indices) -> None:
        warp = self.threads.warp[indices][:, None]
        row = warp % self.threads.warps_per_block
        before, before_clock = self.reader[row, places], self.reader_clock[row, places]
        self.reader[row, places] = indices[:, None]
        several = self.reader[row, places] != indices[:, None]  # lanes that read a byte in this instruction together
        several |= (before != NOBODY) & (before != indices[:, None]) & (before_clock == self.clock[warp])
        rows = np.broadcast_to(row, places.shape)
        self.reader[rows[several], places[several]] = SEVERAL_LANES
        self.reader_clock[row, places] = self.clock[warp]
