"""The host's memory as a platform without programs, by which every backend's devices can keep arrays there."""

from __future__ import annotations

import ctypes
import os
from functools import cached_property

import numpy as np

from xla_core.backend.compiler import Compiler
from xla_core.backend.device_memory import DeviceMemory
from xla_core.backend.platform import Platform
from xla_core.backend.stream import Stream
from xla_core.backend.stream_executor import DeviceFeatures, StreamExecutor
from xla_core.backend.transfer_manager import TransferManager
from xla_core.errors import UnimplementedError
from xla_core.runtime.host.stream import HostStream
from xla_core.target import DeviceDescription, TargetConfig

_ALIGNMENT = 64
_DLPACK_CPU = 1


class _Executor(StreamExecutor):
    """Memory of the host, whose handle is an array of bytes."""

    features = DeviceFeatures(memory_slices=True, host_addressable=True, peer_copies=True, callbacks_may_enqueue=True)
    dlpack_device_type = _DLPACK_CPU

    @cached_property
    def description(self) -> DeviceDescription:
        return DeviceDescription(
            name="host memory", memory_bytes=os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        )

    def allocate(self, size: int, memory_space: int = 0) -> DeviceMemory | None:
        try:
            data = np.empty(size + _ALIGNMENT, np.uint8)
        except MemoryError:
            return None
        start = -_address(data) % _ALIGNMENT
        return DeviceMemory(data[start : start + size], size, memory_space=memory_space)

    def deallocate(self, memory: DeviceMemory) -> None:
        memory.handle = None

    def create_stream(self) -> Stream:
        return HostStream(self)

    def host_view(self, memory: DeviceMemory) -> memoryview:
        return memoryview(memory.handle[memory.offset : memory.offset + memory.size])

    def wrap_memory(self, address: int, size: int) -> DeviceMemory:
        return DeviceMemory(np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(address)), size)

    def address(self, memory: DeviceMemory) -> int:
        return _address(memory.handle) + memory.offset


def _address(data: np.ndarray) -> int:
    address: int = data.__array_interface__["data"][0]
    return address


class HostMemoryPlatform(Platform):
    """The host's memory beside the device `ordinal` of the platform `name`."""

    def __init__(self, name: str, ordinal: int) -> None:
        super().__init__()
        self.name, self._ordinal = f"host memory of {name}", ordinal

    def visible_device_count(self) -> int:
        return self._ordinal + 1

    def create_executor(self, ordinal: int) -> StreamExecutor:
        return _Executor(ordinal)

    def create_compiler(self) -> Compiler:
        raise UnimplementedError(f"the {self.name} runs no programs", hint="run them on the device")

    def create_transfer_manager(self) -> TransferManager:
        return TransferManager(TargetConfig(name=self.name))
