"""DeviceConstants: a program's constants in the memory of each device that runs the program."""

from __future__ import annotations

import dataclasses
import threading

import numpy as np

from xla_core.analysis import BufferAllocation
from xla_core.backend.device_memory import DeviceMemory
from xla_core.backend.event import Event
from xla_core.backend.stream_executor import Allocator, RunOptions, StreamExecutor
from xla_core.errors import InternalError


@dataclasses.dataclass(slots=True)
class _Constant:
    """A constant's memory on one device, and the event of its last upload."""

    memory: DeviceMemory
    allocator: Allocator
    uploaded: Event | None = None
    settled: bool = False

    def is_there(self) -> bool:
        if not self.settled and self.uploaded is not None:
            self.settled = self.uploaded.ready and self.uploaded.error is None
        return self.settled


class DeviceConstants:
    """The constants of one program. They stay on each device until `close`. The methods are thread-safe."""

    def __init__(self) -> None:
        self._held: dict[tuple[StreamExecutor, int], _Constant] = {}
        self._lock = threading.Lock()

    def memory(self, options: RunOptions, allocation: BufferAllocation) -> DeviceMemory:
        """Returns the constant's memory on the run's device, and uploads the constant if needed.

        Each run uploads it until an upload has succeeded, because a poisoned stream skips the upload.
        """
        key = (options.executor, allocation.index)
        with self._lock:
            if allocation.constant is None:
                raise InternalError(f"{allocation} has no constant")
            held = self._held.get(key)
            if held is None:
                memory = options.allocator.allocate(allocation.size, allocation.memory_space)
                held = self._held[key] = _Constant(memory, options.allocator)
            if not held.is_there():
                shape = allocation.constant.shape.with_default_layout()
                array = np.asarray(allocation.constant.literal.array, order="C")
                stream, manager = options.stream, options.transfer_manager
                manager.transfer_to_device_async(stream, array, held.memory, shape, immutable=True)
                held.uploaded = stream.create_event()
                stream.record(held.uploaded)
            return held.memory

    def close(self) -> None:
        with self._lock:
            for held in self._held.values():
                held.allocator.free(held.memory)
            self._held.clear()
