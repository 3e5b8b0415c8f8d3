"""DeviceMemory: a range of a device's memory, opaque to the host. (XLA: stream_executor/device_memory.h.)"""

from __future__ import annotations

from typing import Any

from xla_core.errors import InvalidArgumentError
from xla_core.handle import Handle


class DeviceMemory(Handle):
    """A range of `size` bytes at `offset` in the allocation that `handle` names.

    The core never looks into `handle`. It may be an address, an index in a table or a driver's object, as the backend's
    `StreamExecutor.allocate` returned it. Objects are immutable by convention and compared by identity. A slice keeps
    its allocation in `base`.
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
        """Returns the range of `size` bytes from `offset` on. The device must declare `DeviceFeatures.memory_slices`.

        Raises:
            InvalidArgumentError: where the range isn't within this one.
        """
        if offset < 0 or size < 0 or offset + size > self.size:
            raise InvalidArgumentError(f"bytes {offset}..{offset + size} are not within {self!r}")
        return DeviceMemory(self.handle, size, self.offset + offset, self.memory_space, self.base or self)

    def __repr__(self) -> str:
        return f"<DeviceMemory {self.handle!r}+{self.offset}: {self.size} bytes, space {self.memory_space}>"
