"""Counts the instructions, bytes, sectors and bank conflicts of a launch."""

from __future__ import annotations

import numpy as np

from xla_backend_gpu.emulator.checked.state import Array, Indices, Threads
from xla_backend_gpu.emulator.counters import SECTOR_BYTES, Counters
from xla_backend_gpu.emulator.memory import Memory

_LINE_BYTES = 128
_BANKS = 32
_WORD = 4


class Tally:
    """The counts of a launch that is running."""

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}
        self._touched = np.zeros(0, bool)  # by sector

    def add(self, name: str, count: int) -> None:
        self.counts[name] = self.counts.get(name, 0) + int(count)

    def counters(self, blocks: int, threads: int) -> Counters:
        touched = int(np.count_nonzero(self._touched))
        return Counters(launches=1, blocks=blocks, threads=threads, touched_sectors=touched, **self.counts)

    def global_access(self, threads: Threads, indices: Indices, addresses: Array, size: int, *, store: bool) -> None:
        """Counts an access of `size` bytes by each thread of `indices`. The addresses are multiples of the size."""
        self.add("global_store_bytes" if store else "global_load_bytes", addresses.size * size)
        warp = threads.warp[indices].astype(np.uint64) << np.uint64(48)
        for name, unit in (("global_sectors", SECTOR_BYTES), ("global_transactions", _LINE_BYTES)):
            self.add(name, _distinct(warp + addresses // np.uint64(unit)))
        sectors = (addresses - np.uint64(Memory.base)) // np.uint64(SECTOR_BYTES)
        if sectors.size and int(sectors.max()) >= self._touched.size:
            self._touched = np.append(self._touched, np.zeros(int(sectors.max()) + 1, bool))
        self._touched[sectors] = True

    def shared_access(self, threads: Threads, indices: Indices, offsets: Array, size: int) -> None:
        """Counts an access of shared memory.

        A warp moves 128 bytes in one pass, so wide accesses take two or four passes without any conflict.
        """
        warp = threads.warp[indices]
        self.add("shared_accesses", _distinct(warp))
        phases = max(1, size // _WORD)
        phase = warp * phases + threads.lane[indices] * phases // _BANKS
        words = offsets[:, None] // _WORD + np.arange(phases)
        span = np.int64(1 << 32)
        pairs = np.unique((phase[:, None] * span + words).ravel())
        banks = pairs // span * _BANKS + pairs % span % _BANKS
        used, passes = np.unique(banks, return_counts=True)
        group = used // _BANKS
        starts = np.flatnonzero(np.diff(group, prepend=-1))
        self.add("shared_bank_conflicts", (np.maximum.reduceat(passes, starts) - 1).sum())

    def matrix_access(self, places: Array) -> None:
        """Counts the reads of matrices by warpgroups, given the places of their chunks of 16 bytes.

        The axes are those of the warpgroups, the rows and the chunks of a row. A read takes eight rows.
        """
        groups, rows, chunks = places.shape
        self.add("shared_accesses", groups * rows // 8 * chunks)
        banks = places.reshape(groups, rows // 8, 8, chunks) // 16 % 8
        passes = (banks[..., None] == np.arange(8)).sum(axis=2).max(axis=-1)
        self.add("shared_bank_conflicts", (passes - 1).sum())


def _distinct(keys: Array) -> int:
    """Returns the number of distinct keys. It is fast for sorted keys, which are frequent."""
    if keys.size < 2:
        return keys.size
    if (keys[1:] >= keys[:-1]).all():
        return int(np.count_nonzero(keys[1:] != keys[:-1])) + 1
    return int(np.unique(keys).size)
