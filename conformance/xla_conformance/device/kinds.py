"""One piece of work of each kind, whose effect on memory or on the host can be seen afterwards."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np

from xla_conformance.bench import WatchedAllocator
from xla_conformance.device.launches import Launcher
from xla_conformance.device.memories import allocated
from xla_conformance.device.patterns import pattern
from xla_core.backend import DeviceMemory, HostBytes, Stream, StreamExecutor

_SIZES = (4096, 200, 70_001)

KINDS = ("h2d", "upload", "d2h", "d2d", "memset", "read_at", "write_at", "callback", "launch")


class Workpiece:
    """Enqueues work of one kind, on sizes that take turns, and says whether it was done.

    Args:
        idle: a stream without work, on which the pieces' memory is set up and read.
    """

    def __init__(self, executor: StreamExecutor, idle: Stream, launcher: Launcher | None) -> None:
        self._executor, self._idle, self._launcher = executor, idle, launcher
        self._memories: list[DeviceMemory] = []
        self._allocators: dict[Stream, WatchedAllocator] = {}
        self._sizes = itertools.cycle(_SIZES)

    def enqueue(self, kind: str, stream: Stream) -> Callable[[], bool]:
        """Enqueues a piece of work. The returned function tells, once the stream is done, whether the work was done."""
        if kind == "callback":
            called: list[int] = []
            stream.host_callback(lambda: called.append(1))
            return lambda: bool(called)
        if kind == "launch":
            return self._launch(stream)
        size = next(self._sizes)
        before, after = pattern(size, 1), pattern(size, 2)
        target = self._memory(before)
        if kind in ("d2h", "read_at"):
            back = np.zeros(size - 5 * (kind == "read_at"), np.uint8)
            if kind == "d2h":
                stream.memcpy_d2h(back, target)
            else:
                self._executor.read_at(stream, back, target, 5)
            return lambda: bool(back.any())
        if kind == "h2d":
            stream.memcpy_h2d(target, after)
        elif kind == "upload":
            stream.upload(target, after)
        elif kind == "d2d":
            stream.memcpy_d2d(target, self._memory(after))
        elif kind == "memset":
            stream.memset(target, 0x77)
        else:
            self._executor.write_at(stream, target, after[:100], 7)
        return lambda: not np.array_equal(self._read(target, size), before)

    def _launch(self, stream: Stream) -> Callable[[], bool]:
        launcher = self._launcher
        assert launcher is not None
        allocator = self._allocators.setdefault(stream, WatchedAllocator(self._executor, stream))
        given = launcher.argument(np.random.default_rng(3))
        argument = self._memory(given)
        result = launcher.launch(stream, allocator, argument)
        return lambda: np.array_equal(self._read(result, launcher.size), launcher.expected(given))

    def _memory(self, contents: HostBytes) -> DeviceMemory:
        memory = allocated(self._executor, contents.size)
        self._memories.append(memory)
        self._idle.memcpy_h2d(memory, contents)
        self._idle.synchronize()
        return memory

    def _read(self, memory: DeviceMemory, size: int) -> HostBytes:
        back = np.zeros(size, np.uint8)
        self._idle.memcpy_d2h(back, memory)
        self._idle.synchronize()
        return back

    def close(self) -> None:
        """Frees the memory. The streams' work must be done."""
        for memory in self._memories:
            self._executor.deallocate(memory)
        for allocator in self._allocators.values():
            for memory in [*allocator.live.values()]:
                allocator.free(memory)
            allocator.stream.synchronize()
            allocator.close()
