"""CheckedAllocator: memory of executions whose guard bytes, frees and leaks are checked."""

from __future__ import annotations

import numpy as np

from xla_conformance.device.patterns import pattern, require_bytes
from xla_conformance.failures import Failure
from xla_core.backend import Allocator, DeviceMemory, Stream, StreamExecutor
from xla_core.errors import ResourceExhaustedError

__all__ = ["GUARD_BYTES", "CheckedAllocator", "allocated"]

GUARD_BYTES = 128


def allocated(executor: StreamExecutor, size: int) -> DeviceMemory:
    """Allocates memory of the device; raises Failure if it has none."""
    memory = executor.allocate(size)
    if memory is None:
        raise Failure(f"The device has no {size} bytes.", promise="executor.allocate")
    return memory


class CheckedAllocator(Allocator):
    """Gives memory with guard bytes behind it, and notes what an execution does with it.

    All bytes are set to a pattern when memory is handed out, so that no execution can rely on their values. They are
    set to another one when it is freed, in the order of the stream, so that no later work can rely on the old values.

    Attributes:
        live: the memory that was handed out and not freed, with the size that was asked for.
        failing: the number of the allocation that fails with ResourceExhaustedError, counted from 0; -1 for none.
        made, freed, largest: counts of calls, and the maximum of the bytes that were in use at once.
    """

    def __init__(self, executor: StreamExecutor, stream: Stream) -> None:
        self.executor, self.stream = executor, stream
        self.live: dict[DeviceMemory, int] = {}
        self.failing = -1
        self.made = self.freed = self.largest = 0
        self._pool: dict[tuple[int, int], list[DeviceMemory]] = {}

    def allocate(self, size: int, memory_space: int = 0) -> DeviceMemory:
        if self.made == self.failing:
            self.failing = -1
            raise ResourceExhaustedError(f"no {size} bytes, as the test wants it")
        whole = size + GUARD_BYTES
        pool = self._pool.get((whole, memory_space))
        memory = pool.pop() if pool else self.executor.allocate(whole, memory_space)
        if memory is None:
            raise ResourceExhaustedError(f"the device has no {whole} bytes")
        self.stream.memcpy_h2d(memory, pattern(whole, 1))
        self.live[memory] = size
        self.made += 1
        self.largest = max(self.largest, sum(self.live.values()))
        return memory

    def free(self, memory: DeviceMemory) -> None:
        size = self.live.pop(memory, None)
        if size is None:
            raise Failure(
                f"An execution freed {memory!r}, which it hadn't allocated or had freed before.",
                promise="executable.results-from-allocator",
            )
        self.freed += 1
        self.stream.memset(memory, 0xDB)
        self._pool.setdefault((size + GUARD_BYTES, memory.memory_space), []).append(memory)

    def check_guards(self) -> None:
        """Raises Failure if something wrote behind the memory that it had asked for. It waits for the stream."""
        read = {memory: np.zeros(size + GUARD_BYTES, np.uint8) for memory, size in self.live.items()}
        for memory, data in read.items():
            self.stream.memcpy_d2h(data, memory)
        self.stream.synchronize()
        for memory, data in read.items():
            size = self.live[memory]
            require_bytes(
                f"An execution wrote behind the {size} bytes that it had allocated.",
                data[size:],
                pattern(data.size, 1)[size:],
                "executable.run",
            )

    def close(self) -> None:
        """Returns all memory to the device. The stream's work must be done."""
        for memory in [*self.live, *(m for pool in self._pool.values() for m in pool)]:
            self.executor.deallocate(memory)
        self.live.clear()
        self._pool.clear()
