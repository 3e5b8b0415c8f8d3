"""DeviceMemory: a range of a device's memory, opaque to the host. (XLA: stream_executor/device_memory.h.)"""

from __future__ import annotations

from typing import Any

from xla_core.errors import InvalidArgumentError

__all__ = ["DeviceMemory"]


class DeviceMemory:
    """`size` bytes at `offset` in the allocation that `handle` names.

    The core never looks into `handle`: an address, a number of a table, a driver's object, whatever the backend's
    `StreamExecutor.allocate` gave. Immutable by convention. Two objects are the same memory only where they are one
    object; a slice keeps its allocation in `base`.
    """

    __slots__ = ("base", "handle", "memory_space", "offset", "size")

    def __init__(
        self, handle: Any, size: int, offset: int = 0, memory_space: int = 0, base: DeviceMemory | None = None
    ) -> None:
        self.handle = handle
        self.size = size
        self.offset = offset
        self.memory_space = memory_space
        self.base = base

    def slice(self, offset: int, size: int) -> DeviceMemory:
        """`size` bytes from `offset` on. Only for devices that declare `DeviceFeatures.memory_slices`.

        Raises InvalidArgumentError where the range doesn't lie within this one.
        """
        if offset < 0 or size < 0 or offset + size > self.size:
            raise InvalidArgumentError(f"bytes {offset}..{offset + size} are not within {self!r}")
        return DeviceMemory(self.handle, size, self.offset + offset, self.memory_space, self.base or self)

    def __repr__(self) -> str:
        return f"<DeviceMemory {self.handle!r}+{self.offset}: {self.size} bytes, space {self.memory_space}>"
