"""Threads that wait for lanes of their warp, or at a barrier for other threads of their block."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from xla_backend_gpu.emulator.checked.state import Array, Indices, Threads
from xla_backend_gpu.emulator.faults import EmulatorFault, FaultKind
from xla_backend_gpu.emulator.ptx.program import Instruction
from xla_backend_gpu.emulator.table.warp import LANES

Fault = Callable[[FaultKind, str, int, Instruction], EmulatorFault]
_BARRIERS = 16


class Lanes:
    """The warps that execute an instruction together. The numpy function of a warp instruction gets this object.

    Args:
        threads, indices: the threads that execute it, among all.
        mask: for each thread the lanes that take part, as bits.
        offered: whether the value is undefined that each thread offers to other lanes; by default none is.

    Attributes:
        undefined: the threads that fetched an undefined value, or one from a lane that takes no part.
    """

    def __init__(self, threads: Threads, indices: Indices, mask: Array, offered: Array | None = None) -> None:
        self._threads, self._indices = threads, indices
        self._offered = np.zeros(indices.size, np.bool_) if offered is None else offered
        self._warp, self.lane = threads.warp[indices], threads.lane[indices]
        present = np.zeros((threads.warps, LANES), np.bool_)
        present[self._warp, self.lane] = True
        named = (mask.reshape(-1, 1) >> np.arange(LANES, dtype=np.uint32)) & 1 == 1
        self.members: Array = present[self._warp] & named
        self.undefined = np.zeros(indices.size, np.bool_)

    def gather(self, values: Array) -> Array:
        table = np.zeros((self._threads.warps, LANES), values.dtype)
        table[self._warp, self.lane] = values
        gathered: Array = table[self._warp]
        return gathered

    def fetch(self, values: Array, source: Array) -> Array:
        each = np.arange(source.size)
        self.undefined |= ~self.members[each, source] | self.gather(self._offered)[each, source]
        return np.asarray(self.gather(values)[each, source])


def split_complete(threads: Threads, indices: Indices, mask: Array) -> tuple[Indices, Indices]:
    """Splits threads into those that can execute a warp instruction and those that must wait.

    A thread must wait until all lanes in its mask have arrived. Lanes that have ended do not count.
    """
    lanes = Lanes(threads, indices, mask)
    alive = np.zeros((threads.warps, LANES), np.bool_)
    alive[threads.warp, threads.lane] = threads.alive
    named = (mask.reshape(-1, 1) >> np.arange(LANES, dtype=np.uint32)) & 1 == 1
    missing = (named & alive[threads.warp[indices]] & ~lanes.members).any(axis=1)
    waits = np.isin(threads.warp[indices], threads.warp[indices[missing]])
    return indices[~waits], indices[waits]


class Barriers:
    """The threads that wait at each barrier of their block, and how many threads each barrier waits for.

    Attributes:
        meeting: for each thread that a barrier released, a number that it shares with the threads that it met there.
    """

    def __init__(self, threads: Threads, fault: Fault) -> None:
        self.threads, self.fault = threads, fault
        self.position = np.full(threads.count, -1)  # the instruction where a thread waits
        self.barrier = np.zeros(threads.count, np.int64)
        self.expected = np.zeros(threads.count, np.int64)
        self.meeting = np.zeros(threads.count, np.int64)
        self._size = threads.count // threads.blocks
        self._counts = np.ones(threads.count, np.int64)  # a barrier counts the lanes that the last warp lacks
        self._counts[self._size - 1 :: self._size] += -self._size % LANES

    def wait(self, instruction: Instruction, position: int, indices: Indices, barrier: Array, count: Array) -> None:
        """Lets threads wait. A `count` of 0 stands for all threads of the block."""
        self.position[indices] = position
        self.barrier[indices] = barrier.astype(np.int64) % _BARRIERS
        self.expected[indices] = count
        odd = indices[self.expected[indices] % LANES != 0]
        if odd.size:
            detail = f"the barrier asks for {int(self.expected[odd[0]])} threads, which is no multiple of {LANES}"
            raise self.fault(FaultKind.BARRIER_DIVERGENCE, detail, int(odd[0]), instruction)
        everyone = self._size + -self._size % LANES
        self.expected[indices[self.expected[indices] == 0]] = everyone

    def release(self, instructions: tuple[Instruction, ...]) -> Iterator[tuple[int, Indices]]:
        """Yields (barrier instruction, threads) for each barrier at which all expected threads have arrived.

        Raises EmulatorFault where lanes of a warp wait at different instructions, or threads wait at one barrier for
        different numbers of threads.
        """
        waiting = np.flatnonzero(self.position >= 0)
        key = self.threads.block[waiting] * _BARRIERS + self.barrier[waiting]
        barriers = self.threads.blocks * _BARRIERS
        arrived = np.zeros(barriers, np.int64)
        np.add.at(arrived, key, self._counts[waiting])
        self._refuse_other_counts(waiting, key, instructions)
        open_ = waiting[arrived[key] >= self.expected[waiting]]
        # If more threads wait than a barrier asks for, nothing says which of them meet: a warp meets only itself.
        crowded = arrived[key] > self.expected[waiting]
        self.meeting[waiting] = np.where(crowded, barriers + self.threads.warp[waiting], key)
        positions = self.position[open_]
        for position in np.unique(positions):
            here = open_[positions == position]
            elsewhere = open_[positions != position]
            apart = np.isin(self.threads.warp[elsewhere], self.threads.warp[here])
            if apart.any():
                line = instructions[int(position)].line
                detail = f"lanes of its warp wait at another barrier, at line {line}"
                thread = int(elsewhere[apart][0])
                raise self.fault(FaultKind.BARRIER_DIVERGENCE, detail, thread, instructions[int(self.position[thread])])
        self.position[open_] = -1
        for position in np.unique(positions):
            yield int(position), open_[positions == position]

    def _refuse_other_counts(self, waiting: Indices, key: Indices, instructions: tuple[Instruction, ...]) -> None:
        asked = np.zeros(self.threads.blocks * _BARRIERS, np.int64)
        asked[key] = self.expected[waiting]
        other = waiting[self.expected[waiting] != asked[key]]
        if other.size:
            thread = int(other[0])
            detail = (
                f"the barrier asks for {int(self.expected[thread])} threads, and others wait at it for another number"
            )
            raise self.fault(FaultKind.BARRIER_DIVERGENCE, detail, thread, instructions[int(self.position[thread])])

    def stuck(self, instructions: tuple[Instruction, ...]) -> EmulatorFault | None:
        """Returns the fault of the first waiting thread, for the case that no thread can continue."""
        waiting = np.flatnonzero(self.position >= 0)
        if not waiting.size:
            return None
        thread = int(waiting[0])
        mates = self.threads.block == self.threads.block[thread]
        there = mates & (self.position >= 0) & (self.barrier == self.barrier[thread])
        count = int(np.count_nonzero(there))
        everyone = int(self.expected[thread]) == self._size + -self._size % LANES
        expected = self._size if everyone else int(self.expected[thread])
        absent = int(np.flatnonzero(mates & ~there)[0]) if (mates & ~there).any() else -1
        detail = f"{count} of {expected} threads reach the barrier"
        if absent >= 0:
            within = absent % (self.threads.count // self.threads.blocks)
            detail += f"; thread {within} of the block " + (
                "waits elsewhere" if self.threads.alive[absent] else "ended"
            )
        return self.fault(FaultKind.BARRIER_DIVERGENCE, detail, thread, instructions[int(self.position[thread])])
