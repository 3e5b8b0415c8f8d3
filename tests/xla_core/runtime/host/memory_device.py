"""A device of memory alone, for streams of the host."""

from __future__ import annotations

import numpy as np

from xla_core.backend import DeviceMemory


class Memory:
    """A device whose memory is one numpy array a handle."""

    ordinal, device_name = 0, "device 0"

    def __init__(self) -> None:
        self.blocks: dict[int, np.ndarray] = {}

    def allocate(self, size: int) -> DeviceMemory:
        handle = len(self.blocks)
        self.blocks[handle] = np.zeros(size, np.uint8)
        return DeviceMemory(handle, size)

    def host_view(self, memory: DeviceMemory) -> memoryview:
        return memoryview(self.blocks[memory.handle])[memory.offset : memory.offset + memory.size]
