"""Counters: what launches did, counted by the checked engine."""

from __future__ import annotations

import dataclasses

__all__ = ["SECTOR_BYTES", "Counters"]

SECTOR_BYTES = 32
"""Global memory moves in sectors of this size."""


@dataclasses.dataclass(frozen=True, slots=True)
class Counters:
    """Counts of one launch, or of several: counters can be added.

    Attributes:
        launches: kernels launched.
        blocks, threads: how many ran.
        instructions: executed instructions, summed over threads. This and what follows is 0 in the fast engine.
        warp_instructions: executed instructions, where the threads of a warp that execute one together count once.
        global_load_bytes, global_store_bytes: bytes that threads asked for; atomics count as stores.
        global_sectors: 32-byte sectors that the warps' accesses touch, each counted once an access of a warp.
        global_transactions: 128-byte lines that they touch, counted likewise.
        shared_accesses: accesses of shared memory, counted once a warp.
        shared_bank_conflicts: additional passes that shared memory needs, as two threads use different words of a bank.
        local_bytes: bytes of thread-local memory that threads loaded or stored.
        barriers: barriers of blocks that were passed.
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
    shared_accesses: int = 0
    shared_bank_conflicts: int = 0
    local_bytes: int = 0
    barriers: int = 0

    def __add__(self, other: Counters) -> Counters:
        return Counters(*(a + b for a, b in zip(dataclasses.astuple(self), dataclasses.astuple(other), strict=True)))

    @property
    def global_bytes(self) -> int:
        """Bytes of global memory that threads loaded and stored."""
        return self.global_load_bytes + self.global_store_bytes

    @property
    def coalescing(self) -> float:
        """The part of the moved sectors that threads asked for: 1 is full coalescing. A shared byte counts twice."""
        return self.global_bytes / (SECTOR_BYTES * self.global_sectors) if self.global_sectors else 1.0
