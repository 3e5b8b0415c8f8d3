"""Mutants whose devices lose memory, give the same memory twice, or say wrong figures of it."""

from __future__ import annotations

import itertools
import threading
import time

from xla_backend_template.memory import DeviceRam

from tests.conformance.zoo.mutant import Mutant
from tests.conformance.zoo.parts import Executor, Stream, template
from xla_core.backend import DeviceMemory


def _mutant(name: str, breaks: str, fault: str, executor: type = Executor, stream: type = Stream) -> Mutant:
    return Mutant(
        name=f"memory/{name}",
        breaks=breaks,
        fault=fault,
        make=lambda: template(executor=executor, stream=stream),
        select="memory",
    )


class _DeallocateNothing(Executor):
    def deallocate(self, memory):
        pass


class _DeallocateSome(Executor):
    """One block of fifty isn't freed."""

    count = itertools.count(1)

    def deallocate(self, memory):
        if next(self.count) % 50:
            super().deallocate(memory)


class _DeallocateLarge(Executor):
    """Blocks of less than a page aren't freed."""

    def deallocate(self, memory):
        if memory.size >= 4096:
            super().deallocate(memory)


def _figure(factor: float) -> type:
    def description(self):
        said = super(Executor, self).description
        return said.model_copy(update={"memory_bytes": int(said.memory_bytes * factor)})

    return type("_Figure", (Executor,), {"description": property(description)})


class _ShortRam(DeviceRam):
    """A block's end lies in the next one."""

    wrong = staticmethod(lambda size: size > 4 << 20)
    missing = 4096

    def allocate(self, size):
        if not self.wrong(size):
            return super().allocate(size)
        handle = super().allocate(size - self.missing)
        if handle is not None:
            with self._lock:
                start, _ = self._blocks[handle]
                self._real[handle] = self._blocks[handle]
                self._blocks[handle] = (start, size)
        return handle

    def deallocate(self, handle):
        with self._lock:
            self._blocks[handle] = self._real.pop(handle, self._blocks[handle])
        super().deallocate(handle)

    def __init__(self, size):
        super().__init__(size)
        self._real = {}


def _overlapping(wrong, missing: int) -> type:
    ram = type("_Ram", (_ShortRam,), {"wrong": staticmethod(wrong), "missing": missing})

    def init(self, ordinal, memory_bytes):
        Executor.__init__(self, ordinal, memory_bytes)
        self.ram = ram(memory_bytes)

    return type("_Overlapping", (Executor,), {"__init__": init})


class _UnlockedRam(DeviceRam):
    """Two threads may be given the same gap."""

    def __init__(self, size):
        super().__init__(size)
        self._lock = threading.RLock()

    def allocate(self, size):
        size = -(-size // 64) * 64
        for start, gap in list(self._free):
            if gap >= size:
                time.sleep(0)
                with self._lock:
                    handle = super().allocate(size)
                    if handle is not None:
                        self._blocks[handle] = (start, size)
                    return handle
        return None


class _Unlocked(Executor):
    def __init__(self, ordinal, memory_bytes):
        super().__init__(ordinal, memory_bytes)
        self.ram = _UnlockedRam(memory_bytes)


class _NoMergeRam(DeviceRam):
    """Gaps stay as small as they became."""

    def deallocate(self, handle):
        with self._lock:
            self._free.append(self._blocks.pop(handle))


class _NoMerge(Executor):
    def __init__(self, ordinal, memory_bytes):
        super().__init__(ordinal, memory_bytes)
        self.ram = _NoMergeRam(memory_bytes)


class _RefusalRemembered(Executor):
    """A request as large as a refused one is refused too, until a block as large is freed."""

    refused = float("inf")

    def allocate(self, size, memory_space=0):
        memory = super().allocate(size, memory_space) if size < self.refused else None
        if memory is None:
            self.refused = min(size, self.refused)
        return memory

    def deallocate(self, memory):
        if memory.size >= self.refused:
            self.refused = float("inf")
        super().deallocate(memory)


class _StreamTakesMemory(Executor):
    """Each stream takes a page for its commands and keeps it."""

    def create_stream(self):
        self.allocate(4096)
        return super().create_stream()


class _LateScrub(Executor):
    """Freed memory is set to zero a moment later, when it may have a new owner."""

    def deallocate(self, memory):
        start, size = self.ram._blocks[memory.handle]
        data = self.ram._bytes[start : start + min(size, 64)]
        super().deallocate(memory)
        threading.Timer(0.002, lambda: data.fill(0)).start()


class _SmallerThanAsked(Executor):
    def allocate(self, size, memory_space=0):
        memory = super().allocate(size, memory_space)
        if memory is not None and size % 2:
            memory.size = size - 1
        return memory


class _GivenTwice(Executor):
    """One allocation of 300 gives a block that another has."""

    count = itertools.count(1)
    last = None

    def allocate(self, size, memory_space=0):
        last = self.last
        if next(self.count) % 300 == 0 and last is not None and last.size >= size and last.handle in self.ram._blocks:
            return DeviceMemory(last.handle, size)
        self.last = super().allocate(size, memory_space)
        return self.last

    def deallocate(self, memory):
        if memory.handle in self.ram._blocks:
            super().deallocate(memory)


class _UploadLeaks(Stream):
    """Each upload stages its bytes in a page of the device that it keeps."""

    def upload(self, destination, source):
        self.ram.allocate(4096)
        super().upload(destination, source)


MUTANTS = [
    _mutant("deallocate-nothing", "executor.deallocate", "`deallocate` does nothing.", _DeallocateNothing),
    _mutant("deallocate-some", "executor.deallocate", "One block of 50 isn't freed.", _DeallocateSome),
    _mutant("deallocate-large", "executor.deallocate", "Blocks of less than a page aren't freed.", _DeallocateLarge),
    *(
        _mutant(f"figure-{f}", "executor.description", f"The memory is said to be {f} times as large.", _figure(f))
        for f in (1000, 2, 0.5, 0.001)
    ),
    *(
        _mutant(f"overlap-{name}", "executor.allocate", f"{what} overlap the next one.", _overlapping(wrong, missing))
        for name, what, wrong, missing in (
            ("large", "Blocks of more than 4 MiB", lambda size: size > 4 << 20, 4096),
            ("powers", "Blocks of 4 KiB and 64 KiB", lambda size: size in (4096, 65536), 64),
            ("odd", "Blocks of odd sizes", lambda size: size % 64 == 1 and size > 64, 64),
            ("beyond-64k", "Blocks of more than 64 KiB", lambda size: size > 65536, 64),
        )
    ),
    _mutant("unlocked", "executor.thread-safe", "Two threads may get the same block.", _Unlocked),
    _mutant("no-merge", "executor.deallocate", "Freed neighbours stay apart.", _NoMerge),
    _mutant(
        "refusal-remembered",
        "executor.allocate-large",
        "What was refused stays refused until a block as large is freed.",
        _RefusalRemembered,
    ),
    _mutant("stream-takes-memory", "stream.close", "Each stream keeps a page.", _StreamTakesMemory),
    _mutant("late-scrub", "executor.deallocate", "Freed memory is cleared too late.", _LateScrub),
    _mutant("smaller-than-asked", "executor.allocate", "Blocks of odd sizes are a byte short.", _SmallerThanAsked),
    _mutant("given-twice", "executor.allocate", "One block of 300 has two owners.", _GivenTwice),
    _mutant("upload-leaks", "stream.upload", "Each upload keeps a page.", stream=_UploadLeaks),
]
