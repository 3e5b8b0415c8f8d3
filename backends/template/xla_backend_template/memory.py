"""The device's memory: bytes that only the device sees, given out by handle."""

from __future__ import annotations

import threading

import numpy as np

from xla_core.backend import HostBytes
from xla_core.errors import InternalError

__all__ = ["DeviceRam", "RamHandle"]

_ALIGNMENT = 64


class RamHandle:
    """Names a block. It has no address, and no arithmetic: `DeviceFeatures.memory_slices` is not declared."""

    __slots__ = ("number",)

    def __init__(self, number: int) -> None:
        self.number = number

    def __repr__(self) -> str:
        return f"ram#{self.number}"


class DeviceRam:
    """`size` bytes, first fit. Pages of the host are taken as they are touched."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._bytes = np.empty(size, np.uint8)
        self._lock = threading.Lock()
        self._blocks: dict[RamHandle, tuple[int, int]] = {}  # handle -> start, size
        self._free = [(0, size)]  # start, size; by start, never adjacent
        self._number = 0

    def allocate(self, size: int) -> RamHandle | None:
        """A block, or None where no gap is large enough."""
        size = -(-size // _ALIGNMENT) * _ALIGNMENT
        with self._lock:
            for i, (start, gap) in enumerate(self._free):
                if gap >= size:
                    self._free[i : i + 1] = [(start + size, gap - size)] if gap > size else []
                    self._number += 1
                    handle = RamHandle(self._number)
                    self._blocks[handle] = (start, size)
                    return handle
        return None

    def deallocate(self, handle: RamHandle) -> None:
        """Gives a block back and joins it with the gaps beside it."""
        with self._lock:
            start, size = self._blocks.pop(handle)
            gaps = sorted([*self._free, (start, size)])
            self._free = gaps[:1]
            for start, size in gaps[1:]:
                last, length = self._free[-1]
                if last + length == start:
                    self._free[-1] = (last, length + size)
                else:
                    self._free.append((start, size))

    def block(self, handle: RamHandle) -> HostBytes:
        """The device's own view of a block. Raises InternalError for one that was given back."""
        if handle not in self._blocks:
            raise InternalError(f"{handle!r} is not allocated")
        start, size = self._blocks[handle]
        return self._bytes[start : start + size]

    @property
    def bytes_free(self) -> int:
        with self._lock:
            return sum(size for _, size in self._free)
