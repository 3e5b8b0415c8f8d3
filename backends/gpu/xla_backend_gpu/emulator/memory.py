"""Memory: the global memory of an emulated device."""

from __future__ import annotations

import bisect
import threading
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from xla_backend_gpu.emulator.leaks import Call, calls_outside
from xla_core.errors import InvalidArgumentError

_PAGE = 4096
_GUARD = 256
"""Unused bytes between blocks. A kernel that writes a little beyond its block writes into no other one."""

Bytes = npt.NDArray[np.uint8]


class Memory:
    """Device memory with addresses from `base` on, and an allocator of blocks in it.

    The operating system provides pages when they are first used, so a large unused memory costs nothing. `initialized`
    tells for each byte whether it was written since its block was allocated. The fast engine doesn't record that: after
    one of its launches, every byte counts as initialized.

    Attributes:
        when_allocated: is called with the address and the size of each new block.
    """

    base = 0x7_0000_0000

    def __init__(self, size_bytes: int) -> None:
        self.size = -(-size_bytes // _PAGE) * _PAGE
        self.data = _aligned_zeros(self.size)
        self.host_address = int(self.data.ctypes.data)
        self.initialized = np.zeros(self.size, np.bool_)
        self.tracks_initialization = True
        self.when_allocated: Callable[[int, int], None] | None = None
        self._lock = threading.Lock()
        self._starts: list[int] = []  # of allocated blocks, in order; offsets from the base
        self._ends: list[int] = []
        self._calls: dict[int, tuple[Call, ...]] = {}  # that allocated the block at an offset
        self._of_modules: set[int] = set()  # the offsets of blocks that are freed together with a module
        self._written = 0  # the offset behind the last byte that may have been written
        self._full = 0  # no gap before the block of this number has room for another block
        self._bounds: tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64]] | None = None

    def allocate(self, size: int, align: int = 256, *, of_module: bool = False) -> int | None:
        """Returns the address of a new block, or None if no gap is large enough. A block of 0 bytes takes 1 byte.

        With `of_module`, the block is a variable of a module, which frees it at its own end.
        """
        if align < 1 or align & (align - 1):
            raise InvalidArgumentError(f"an alignment must be a power of two, not {align}")
        size = max(size, 1)
        with self._lock:
            address = self._place(size, align, of_module)
        if address is not None and self.when_allocated is not None:
            self.when_allocated(address, size)
        return address

    def _place(self, size: int, align: int, of_module: bool) -> int | None:
        for position in range(self._full, len(self._starts) + 1):
            start, end = self._gap(position)
            first = -(-(start + self.base) // align) * align - self.base
            if first + size <= end:
                self._starts.insert(position, first)
                self._ends.insert(position, first + size)
                self._bounds = None
                self._skip_full_gaps()
                if of_module:
                    self._of_modules.add(first)
                if self.tracks_initialization:  # memory that was never written keeps its unused pages
                    self.initialized[first : min(first + size, self._written)] = False
                    self._calls[first] = calls_outside()
                return self.base + first
        return None

    def _gap(self, position: int) -> tuple[int, int]:
        """Returns where a block before the block of this number may start, and where it must end."""
        start = self._ends[position - 1] + _GUARD if position else 0
        return start, self._starts[position] - _GUARD if position < len(self._starts) else self.size

    def _skip_full_gaps(self) -> None:
        while self._full < len(self._starts):
            start, end = self._gap(self._full)
            if start < end:
                break
            self._full += 1

    def free(self, address: int) -> None:
        """Frees a block. Raises InvalidArgumentError if none starts at the address."""
        offset = address - self.base
        with self._lock:
            position = bisect.bisect_left(self._starts, offset)
            if position == len(self._starts) or self._starts[position] != offset:
                raise InvalidArgumentError(f"no block of the emulated memory starts at {address:#x}")
            del self._starts[position], self._ends[position]
            self._calls.pop(offset, None)
            self._of_modules.discard(offset)
            self._full = min(self._full, position)
            self._bounds = None

    def blocks(self) -> list[tuple[int, int]]:
        """Returns (address, size) of every allocated block, in order."""
        with self._lock:
            return [(self.base + s, e - s) for s, e in zip(self._starts, self._ends, strict=True)]

    def allocations(self) -> list[tuple[int, int, tuple[Call, ...]]]:
        """Returns (address, size, the calls that allocated it) of every block but the variables of modules, in order.

        The calls are those of `calls_outside`, and none where initialization isn't tracked.
        """
        return [
            (address, size, self._calls.get(address - self.base, ()))
            for address, size in self.blocks()
            if address - self.base not in self._of_modules
        ]

    def bounds(self) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64]]:
        """Returns the start addresses and the end addresses of all blocks, in order."""
        with self._lock:
            if self._bounds is None:
                starts, ends = np.array(self._starts, np.uint64), np.array(self._ends, np.uint64)
                self._bounds = starts + np.uint64(self.base), ends + np.uint64(self.base)
            return self._bounds

    def view(self, address: int, size: int) -> Bytes:
        """Returns a view of bytes. Raises InvalidArgumentError if they are not within one block."""
        offset = address - self.base
        with self._lock:
            position = bisect.bisect_right(self._starts, offset) - 1
            if size and (position < 0 or offset + size > self._ends[position]):
                raise InvalidArgumentError(f"{size} bytes at {address:#x} are not within allocated memory")
            self._written = max(self._written, offset + size)
        return self.data[offset : offset + size]

    def expect_writes(self) -> None:
        """Prepares for a kernel that may write to all blocks."""
        with self._lock:
            self._written = max(self._written, self._ends[-1] if self._ends else 0)

    def read(self, address: int, size: int) -> bytes:
        return self.view(address, size).tobytes()

    def write(self, address: int, data: bytes | Bytes) -> None:
        """Copies bytes to an address, and marks them as initialized."""
        source = np.frombuffer(data, np.uint8) if not isinstance(data, np.ndarray) else data.reshape(-1).view(np.uint8)
        self.view(address, source.size)[...] = source
        self.mark_initialized(address, source.size)

    def mark_initialized(self, address: int, size: int) -> None:
        """Marks bytes as initialized, after they were written through `view`."""
        if self.tracks_initialization:
            self.initialized[address - self.base : address - self.base + size] = True


def _aligned_zeros(size: int) -> Bytes:
    """Returns zeros at a multiple of the page size, so that aligned device addresses are aligned on the host too."""
    raw = np.zeros(size + _PAGE, np.uint8)
    first = -raw.ctypes.data % _PAGE
    return raw[first : first + size]
