"""A device over a driver in C: its memory and its queues."""

from __future__ import annotations

import threading
from typing import ClassVar

from xla_backend_template.c_driver import CDriver
from xla_backend_template.driver_stream import DriverStream
from xla_core.backend import DeviceFeatures, DeviceMemory, Stream, StreamExecutor


class DriverExecutor(StreamExecutor):
    """One device. An address is a number to which offsets may be added, so the device has `memory_slices`.

    Attributes:
        driver: the functions of the driver's library.
        memory_bytes: how much memory the device is opened with.
    """

    driver: ClassVar[CDriver]
    memory_bytes: ClassVar[int] = 1 << 30
    features = DeviceFeatures(memory_slices=True, callbacks_may_enqueue=True)

    def __init__(self, ordinal: int) -> None:
        super().__init__(ordinal)
        self.handle = self.driver.create("open", self.memory_bytes)
        self._lock = threading.Lock()
        self._uses = 1  # of the driver's device: by this executor until it is closed, and by each allocation

    def allocate(self, size: int, memory_space: int = 0) -> DeviceMemory | None:
        start = self.driver.allocate(self.handle, size)
        if not start:
            return None
        with self._lock:
            self._uses += 1
        return DeviceMemory(start, size, memory_space=memory_space)

    def deallocate(self, memory: DeviceMemory) -> None:
        self.driver.free(self.handle, memory.handle, memory.size)
        self._end_use()

    def close(self) -> None:
        self._end_use()

    def _end_use(self) -> None:
        """Closes the driver's device with its last use: memory may be freed after the executor is closed."""
        with self._lock:
            self._uses -= 1
            is_last = not self._uses
        if is_last:
            self.driver.close(self.handle)

    def create_stream(self) -> Stream:
        return DriverStream(self.driver, self.handle, self.device_name)
