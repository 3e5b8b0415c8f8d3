"""The device's interface to the runtime: memory with handles, and streams that copy and compute."""

from __future__ import annotations

from typing import ClassVar

from xla_backend_template.memory import DeviceRam
from xla_core.backend import DeviceFeatures, DeviceMemory, HostBytes, Stream, StreamExecutor
from xla_core.runtime import HostStream
from xla_core.target import DeviceDescription


class TemplateStream(HostStream):
    """A queue of the device. HostStream gives order, worker thread, events and errors; this class copies bytes."""

    def __init__(self, executor: TemplateExecutor) -> None:
        super().__init__(executor)
        self.ram = executor.ram

    def write(self, destination: DeviceMemory, source: HostBytes) -> None:
        self.ram.block(destination.handle)[: source.size] = source

    def read(self, destination: HostBytes, source: DeviceMemory) -> None:
        destination[:] = self.ram.block(source.handle)[: destination.size]

    def copy(self, destination: DeviceMemory, source: DeviceMemory) -> None:
        size = min(destination.size, source.size)
        self.ram.block(destination.handle)[:size] = self.ram.block(source.handle)[:size]

    def fill(self, destination: DeviceMemory, value: int) -> None:
        self.ram.block(destination.handle)[: destination.size] = value


class TemplateExecutor(StreamExecutor):
    """One simulated device with `memory_bytes` of memory. `device_kind` and `vendor` name it."""

    device_kind: ClassVar[str] = "simulated accelerator"
    vendor: ClassVar[str] = "xla-core"
    features = DeviceFeatures(callbacks_may_enqueue=True)

    def __init__(self, ordinal: int, memory_bytes: int) -> None:
        super().__init__(ordinal)
        self.ram = DeviceRam(memory_bytes)

    @property
    def description(self) -> DeviceDescription:
        return DeviceDescription(name=self.device_kind, vendor=self.vendor, memory_bytes=self.ram.size, simulated=True)

    def allocate(self, size: int, memory_space: int = 0) -> DeviceMemory | None:
        handle = self.ram.allocate(size)
        return None if handle is None else DeviceMemory(handle, size, memory_space=memory_space)

    def deallocate(self, memory: DeviceMemory) -> None:
        self.ram.deallocate(memory.handle)

    def create_stream(self) -> Stream:
        return TemplateStream(self)
