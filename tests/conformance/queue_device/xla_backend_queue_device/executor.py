"""The platform and its devices."""

from __future__ import annotations

import threading

from xla_backend_queue_device.compiler import QueueCompiler
from xla_backend_queue_device.driver import driver
from xla_backend_queue_device.stream import QueueStream
from xla_core.backend import Compiler, DeviceFeatures, DeviceMemory, Platform, Stream, StreamExecutor
from xla_core.target import DeviceDescription

DEVICES = 2
MEMORY_BYTES = 128 << 20


class QueueExecutor(StreamExecutor):
    """One device. Its addresses are numbers to which an offset may be added."""

    features = DeviceFeatures(memory_slices=True, callbacks_may_enqueue=True)

    def __init__(self, ordinal: int) -> None:
        super().__init__(ordinal)
        self.handle = driver().device_open(MEMORY_BYTES)
        self._memory_bytes = int(driver().device_memory(self.handle))
        self._lock = threading.Lock()
        self._live = 0
        self._closed = False

    @property
    def description(self) -> DeviceDescription:
        return DeviceDescription(name="queue device", vendor="xla-core", memory_bytes=self._memory_bytes)

    def allocate(self, size: int, memory_space: int = 0) -> DeviceMemory | None:
        start = driver().device_allocate(self.handle, size)
        if not start:
            return None
        with self._lock:
            self._live += 1
        return DeviceMemory(start, size, memory_space=memory_space)

    def deallocate(self, memory: DeviceMemory) -> None:
        driver().device_free(self.handle, memory.handle)
        with self._lock:
            self._live -= 1
            self._close_driver()

    def create_stream(self) -> Stream:
        return QueueStream(self)

    def close(self) -> None:
        with self._lock:
            self._closed = True
            self._close_driver()

    def _close_driver(self) -> None:
        """Closes the driver's device once nobody has memory of it."""
        if self._closed and not self._live and self.handle:
            driver().device_close(self.handle)
            self.handle = None


class QueuePlatform(Platform):
    """The devices of this machine."""

    def visible_device_count(self) -> int:
        return DEVICES

    def create_executor(self, ordinal: int) -> StreamExecutor:
        return QueueExecutor(ordinal)

    def create_compiler(self) -> Compiler:
        return QueueCompiler()
