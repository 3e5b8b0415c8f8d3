"""Mutants whose memory overlaps, leaks, lies or never runs out."""

from __future__ import annotations

import itertools
import threading

from tests.conformance.zoo.mutant import Mutant
from tests.conformance.zoo.parts import Executor, Platform, Stream, broken
from xla_core.backend import DeviceMemory
from xla_core.errors import InternalError
from xla_core.target import DeviceDescription

MUTANTS: list[Mutant] = []
says = broken("memory", "memory or loading or transfers", MUTANTS)
_turns = itertools.count(1)


@says("executor.deallocate", "`deallocate` does nothing.")
class NeverFrees(Executor):
    def deallocate(self, memory):
        pass


@says("executor.deallocate", "`deallocate` frees blocks of up to 4,096 bytes only.")
class FreesSmallBlocks(Executor):
    def deallocate(self, memory):
        if memory.size <= 4096:
            super().deallocate(memory)


@says("executor.deallocate", "One block in fifty isn't freed.")
class LeaksSometimes(Executor):
    def deallocate(self, memory):
        if next(_turns) % 50:
            super().deallocate(memory)


@says("executor.deallocate", "What is freed isn't merged, so that large blocks don't fit any longer.")
class Fragments(Executor):
    def __init__(self, ordinal, memory_bytes):
        super().__init__(ordinal, memory_bytes)
        ram = self.ram

        def deallocate(handle):
            with ram._lock:
                ram._free.append(ram._blocks.pop(handle))

        ram.deallocate = deallocate


@says("executor.deallocate", "Of a block of more than 100,000 bytes, what is behind the last whole page isn't freed.")
class FreesWholePages(Executor):
    def __init__(self, ordinal, memory_bytes):
        super().__init__(ordinal, memory_bytes)
        ram = self.ram
        deallocate = ram.deallocate

        def free_pages(handle):
            start, size = ram._blocks[handle]
            if size > 100_000:
                ram._blocks[handle] = start, size // 4096 * 4096
            deallocate(handle)

        ram.deallocate = free_pages


@says("executor.allocate-none", "`allocate` raises where memory is short.")
class RaisesWhenFull(Executor):
    def allocate(self, size, memory_space=0):
        memory = super().allocate(size, memory_space)
        if memory is None:
            raise MemoryError(size)
        return memory


@says("executor.allocate-none", "The device hands out more memory than it has.")
class NeverFull(Executor):
    def allocate(self, size, memory_space=0):
        memory = super().allocate(size, memory_space)
        if memory is None:
            memory = DeviceMemory(object(), size, memory_space=memory_space)
        return memory


@says("executor.allocate-none", "A full device never recovers.")
class FullForEver(Executor):
    full = False

    def allocate(self, size, memory_space=0):
        memory = None if self.full else super().allocate(size, memory_space)
        self.full = self.full or memory is None
        return memory


class _Overlapping(Executor):
    """Blocks of some sizes share bytes with the next one."""

    def overlaps(self, size):
        raise NotImplementedError

    def allocate(self, size, memory_space=0):
        if not self.overlaps(size):
            return super().allocate(size, memory_space)
        memory = super().allocate(max(size - 64, 64), memory_space)
        if memory is None:
            return None
        start, length = self.ram._blocks[memory.handle]
        self.ram._blocks[memory.handle] = (start, length)
        self.long[memory.handle] = size
        return DeviceMemory(memory.handle, size, memory_space=memory_space)

    def __init__(self, ordinal, memory_bytes):
        super().__init__(ordinal, memory_bytes)
        self.long = {}
        ram, plain = self.ram, self.ram.block

        def block(handle):
            start, size = ram._blocks[handle]
            size = max(size, self.long.get(handle, 0))
            plain(handle)
            return ram._bytes[start : start + size]

        ram.block = block


@says("executor.allocate", "Blocks of more than a megabyte overlap with the next.")
class OverlapWhenLarge(_Overlapping):
    def overlaps(self, size):
        return size > 1 << 20


@says("executor.allocate", "Blocks of an odd size overlap with the next.")
class OverlapWhenOdd(_Overlapping):
    def overlaps(self, size):
        return size > 128 and size % 2 == 1


@says("executor.allocate", "Blocks of a multiple of 4,096 bytes overlap with the next.")
class OverlapWhenWhole(_Overlapping):
    def overlaps(self, size):
        return size % 4096 == 0


@says("executor.allocate", "A block of one byte is 64 bytes of another.")
class OneByteIsShared(Executor):
    def allocate(self, size, memory_space=0):
        if size > 1:
            return super().allocate(size, memory_space)
        if not hasattr(self, "shared"):
            self.shared = super().allocate(64, memory_space)
        return DeviceMemory(self.shared.handle, size, memory_space=memory_space)

    def deallocate(self, memory):
        if memory.size > 1:
            super().deallocate(memory)


class _FullTable(Executor):
    """With so many blocks at the same time, a new one takes the place of the first in the device's table."""

    entries = 0

    def allocate(self, size, memory_space=0):
        memory = super().allocate(size, memory_space)
        if memory is not None and len(self.ram._blocks) > self.entries:
            self.ram._blocks[memory.handle] = next(iter(self.ram._blocks.values()))
        return memory


@says("executor.allocate", "A table of blocks has 4,096 entries.", select="thousands")
class TableOf4096(_FullTable):
    entries = 4096


@says("executor.allocate", "A table of blocks has 65,536 entries.", select="thousands", profile="full")
class TableOf65536(_FullTable):
    entries = 65536


@says("executor.allocate", "`allocate` rounds sizes down to 64 bytes.")
class RoundsDown(Executor):
    def allocate(self, size, memory_space=0):
        return super().allocate(max(size // 64 * 64, 1), memory_space)


@says("executor.description", "The device says a thousandth of its memory.")
class SaysTooLittle(Executor):
    @property
    def description(self):
        return DeviceDescription(name="liar", vendor="zoo", memory_bytes=self.ram.size // 1000)


@says("executor.description", "The device says a thousand times its memory.")
class SaysTooMuch(Executor):
    @property
    def description(self):
        return DeviceDescription(name="liar", vendor="zoo", memory_bytes=self.ram.size * 1000)


@says("executor.description", "The device says that it has no name.")
class HasNoName(Executor):
    @property
    def description(self):
        return DeviceDescription(name="", vendor="", memory_bytes=self.ram.size)


@says("executor.thread-safe", "`allocate` isn't thread-safe.")
class NotThreadSafe(Executor):
    def allocate(self, size, memory_space=0):
        if not hasattr(self, "inside"):
            self.inside = 0
        self.inside += 1
        try:
            import time

            time.sleep(0.0001)
            if self.inside > 1:
                raise InternalError("two threads are in allocate")
            return super().allocate(size, memory_space)
        finally:
            self.inside -= 1


@says("executor.close", "`close` frees memory that is still in use.")
class CloseFreesEverything(Executor):
    def close(self):
        self.ram._blocks.clear()


@says("executor.deallocate-after-close", "`deallocate` raises after `close`.")
class NoDeallocateAfterClose(Executor):
    closed = False

    def close(self):
        self.closed = True

    def deallocate(self, memory):
        if self.closed:
            raise InternalError("the device is closed")
        super().deallocate(memory)


@says("executor.close", "`close` leaves a thread.")
class CloseLeavesAThread(Executor):
    def __init__(self, ordinal, memory_bytes):
        super().__init__(ordinal, memory_bytes)
        threading.Thread(target=threading.Event().wait, daemon=True).start()


@says("platform.close", "`close` of the platform doesn't close its devices, which leaves a thread each.")
class DevicesStayOpen(Platform):
    def create_executor(self, ordinal):
        executor = super().create_executor(ordinal)
        executor.end = threading.Event()
        thread = threading.Thread(target=executor.end.wait, daemon=True)
        thread.start()
        return executor

    def close(self):
        pass


@says("executor.allocate", "Fresh memory takes bytes of a block that was freed while a copy was under way.")
class FreesEarly(Stream):
    def memcpy_d2d(self, destination, source):
        import time

        def late():
            time.sleep(0.005)
            self.copy(destination, source)

        self.enqueue(late)

    def synchronize(self):
        if not self._queue:
            super().synchronize()


@says("executor.write-at", "`write_at` clears what follows.")
class WriteAtClears(Executor):
    def write_at(self, stream, destination, source, offset):
        import numpy as np

        rest = np.zeros(destination.size - offset, np.uint8)
        rest[: source.size] = source
        super().write_at(stream, destination, rest, offset)


@says("executor.read-at", "`read_at` ignores the offset beyond 4,096 bytes.")
class ReadAtTheStart(Executor):
    def read_at(self, stream, destination, source, offset):
        super().read_at(stream, destination, source, offset if offset < 4096 else 0)


@says("executor.host-view-none", "`host_view` gives a view that the device doesn't declare.")
class UndeclaredView(Executor):
    def host_view(self, memory):
        return memoryview(bytearray(memory.size))


@says("features.memory-slices", "The device declares memory slices, and ignores their offset.")
class SlicesIgnoreTheirOffset(Executor):
    from xla_core.backend import DeviceFeatures

    features = DeviceFeatures(callbacks_may_enqueue=True, memory_slices=True)
