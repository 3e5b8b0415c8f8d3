"""A device over a driver in C: its memory and its queues."""

from __future__ import annotations

from typing import ClassVar

from xla_backend_template.c_driver import CDriver
from xla_backend_template.driver_stream import DriverStream
from xla_core.backend import DeviceFeatures, DeviceMemory, Stream, StreamExecutor

__all__ = ["DriverExecutor"]


class DriverExecutor(StreamExecutor):
    """One device. An address is a number to which offsets may be added, so the device has `memory_slices`.

    Attributes:
        driver: the driver.
        memory_bytes: how much memory the device is opened with.
    """

    driver: ClassVar[CDriver]
    memory_bytes: ClassVar[int] = 1 << 30
    features = DeviceFeatures(memory_slices=True, callbacks_may_enqueue=True)

    def __init__(self, ordinal: int) -> None:
        super().__init__(ordinal)
        self.handle = self.driver.open(self.memory_bytes)

    def allocate(self, size: int, memory_space: int = 0) -> DeviceMemory | None:
        start = self.driver.allocate(self.handle, size)
        return DeviceMemory(start, size, memory_space=memory_space) if start else None

    def deallocate(self, memory: DeviceMemory) -> None:
        self.driver.free(self.handle, memory.handle, memory.size)

    def create_stream(self) -> Stream:
        return DriverStream(self.driver, self.handle, self.device_name)
