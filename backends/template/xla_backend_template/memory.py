"""The device's memory: bytes that only the device can access, in blocks that have handles."""

from __future__ import annotations

import threading

import numpy as np

from xla_core.backend import HostBytes
from xla_core.errors import InternalError

_ALIGNMENT = 64


class RamHandle:
    """Identifies a block. It has no address to add to, so the device doesn't declare `memory_slices`."""

    __slots__ = ("number",)

    def __init__(self, number: int) -> None:
        self.number = number

    def __repr__(self) -> str:
        return f"ram#{self.number}"


class DeviceRam:
    """A first-fit allocator of `size` bytes. The host commits pages when they are first written."""

    def __init__(self, size: int) -> None:
        self.size = size
        whole = np.empty(size + _ALIGNMENT, np.uint8)
        start = -whole.ctypes.data % _ALIGNMENT  # generated code may depend on the alignment
        self._bytes = whole[start : start + size]
        self._lock = threading.Lock()
        self._blocks: dict[RamHandle, tuple[int, int]] = {}  # handle -> start, size
        self._free = [(0, size)]  # start, size; by start, never adjacent
        self._number = 0

    def allocate(self, size: int) -> RamHandle | None:
        """Allocates a block of `size` bytes. Returns None if no gap is large enough."""
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
        """Frees a block and merges it with the gaps next to it."""
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
        """The device's view of a block's bytes.

        Raises:
            InternalError: the block was freed.
        """
        if handle not in self._blocks:
            raise InternalError(f"{handle!r} is not allocated")
        start, size = self._blocks[handle]
        return self._bytes[start : start + size]

    @property
    def bytes_free(self) -> int:
        with self._lock:
            return sum(size for _, size in self._free)
