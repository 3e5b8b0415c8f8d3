"""Counters: the instructions and memory accesses of launches, as the checked engine counts them."""

from __future__ import annotations

import dataclasses
import operator

SECTOR_BYTES = 32
"""Global memory moves in sectors of this size."""


@dataclasses.dataclass(slots=True)  # a frozen one takes three times as long to make
class Counters:
    """The counts of one or more launches. Counters can be added and subtracted. Nothing changes them.

    Attributes:
        launches: the number of launches.
        blocks, threads: the numbers of blocks and threads that ran.
        instructions: executed instructions, summed over threads. In the fast engine, this and all following counts are
            0.
        warp_instructions: like `instructions`, but threads of a warp that execute one together count once.
        global_load_bytes, global_store_bytes: bytes that threads loaded and stored; atomics count as stores.
        global_sectors: 32-byte sectors that were accessed. Each access of a warp counts a sector once.
        global_transactions: 128-byte lines that were accessed, counted in the same way.
        touched_sectors: 32-byte sectors that were accessed, each once in a launch. A cache of any size leaves so many
            sectors to move.
        shared_accesses: accesses of shared memory by a warp.
        shared_bank_conflicts: additional passes of shared memory, because threads use different words of one bank.
        local_bytes: bytes of thread-local memory that threads loaded or stored.
        barriers: how many times blocks passed a barrier.
    """

    launches: int = 0
    blocks: int = 0
    threads: int = 0
    instructions: int = 0
    warp_instructions: int = 0
    global_load_bytes: int = 0
    global_store_bytes: int = 0
    global_sectors: int = 0
    global_transactions: int = 0
    touched_sectors: int = 0
    shared_accesses: int = 0
    shared_bank_conflicts: int = 0
    local_bytes: int = 0
    barriers: int = 0

    def __add__(self, other: Counters) -> Counters:
        return Counters(*map(operator.add, _counts(self), _counts(other)))

    def __sub__(self, other: Counters) -> Counters:
        return Counters(*map(operator.sub, _counts(self), _counts(other)))

    @property
    def global_bytes(self) -> int:
        """The bytes of global memory that threads loaded and stored."""
        return self.global_load_bytes + self.global_store_bytes

    @property
    def touched_bytes(self) -> int:
        """The bytes of memory that must be moved, if all data of a launch stay in a cache until the launch ends."""
        return SECTOR_BYTES * self.touched_sectors

    @property
    def coalescing(self) -> float:
        """The bytes that threads asked for, divided by the bytes of the sectors that were moved.

        1 means that all accesses coalesce. A byte that two threads load counts twice.
        """
        return self.global_bytes / (SECTOR_BYTES * self.global_sectors) if self.global_sectors else 1.0


_counts = operator.attrgetter(*(field.name for field in dataclasses.fields(Counters)))
"""The counts in order. They are added at each launch; `dataclasses.astuple` would take longer than a small kernel."""
