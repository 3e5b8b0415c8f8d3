"""Faults of drivers for a device behind a bus: staging, rings of commands, events that are freed, and blocks that move."""

from __future__ import annotations

import threading
import time
import weakref

from tests.conformance.zoo.mutant import Mutant
from tests.conformance.zoo.parts import Executor, Stream, broken
from xla_core.backend import DeviceFeatures
from xla_core.runtime import HostEvent

MUTANTS: list[Mutant] = []
_streams = broken("streams", "streams or events", MUTANTS)
_transfers = broken("transfers", "transfers", MUTANTS)
_memory = broken("memory", "memory", MUTANTS)


def _is_idle(stream: Stream) -> bool:
    return not stream._queue


# -- transfers --------------------------------------------------------------------------------------------------------


@_transfers(
    "stream.h2d", "Copies of more than 1 MiB go by words of 8 bytes, and leave out the bytes behind the last word."
)
class WordsOfLargeCopies(Stream):
    def write(self, destination, source):
        if source.size > 1 << 20:
            source = source[: source.size // 8 * 8]
        super().write(destination, source)


@_transfers("stream.d2h", "A read to a host address that isn't a multiple of 4 leaves out its last byte.")
class UnalignedReads(Stream):
    def read(self, destination, source):
        if destination.size > 16 and destination.ctypes.data % 4:
            destination = destination[:-1]
        super().read(destination, source)


@_transfers("stream.d2h", "Two reads of one size that are pending together get the bytes of the first.")
class OneStagingBuffer(Stream):
    pending = None

    def memcpy_d2h(self, destination, source):
        before = self.pending
        if before is not None and before.size == source.size and destination.size >= 64 and not _is_idle(self):
            source = before
        self.pending = source
        super().memcpy_d2h(destination, source)


@_transfers(
    "stream.d2d", "A copy into a block that is larger than the source clears the rest of the line of 256 bytes."
)
class ClearsTheLine(Stream):
    def copy(self, destination, source):
        super().copy(destination, source)
        end = min(-(-source.size // 256) * 256, destination.size)
        if source.size < end:
            self.ram.block(destination.handle)[source.size : end] = 0


@_transfers("stream.memset", "A fill whose size isn't a multiple of 16 fills the tail with the value's low seven bits.")
class SignedTails(Stream):
    def fill(self, destination, value):
        super().fill(destination, value)
        tail = destination.size // 16 * 16
        self.ram.block(destination.handle)[tail : destination.size] = value & 0x7F


class FillsFromTheStart(Stream):
    def _range(self, memory, size):
        return self.ram.block(memory.handle)[memory.offset : memory.offset + size]

    def write(self, destination, source):
        self._range(destination, source.size)[:] = source

    def read(self, destination, source):
        destination[:] = self._range(source, destination.size)

    def copy(self, destination, source):
        size = min(destination.size, source.size)
        self._range(destination, size)[:] = self._range(source, size)


_slicing = broken("transfers", "transfers or memory or executables or programs", MUTANTS)


@_slicing("stream.memset", "A fill of a slice of memory begins at the start of its block.")
class SlicesFillFromTheStart(Executor):
    features = DeviceFeatures(memory_slices=True, callbacks_may_enqueue=True)

    def create_stream(self):
        return FillsFromTheStart(self)


_RAMS: weakref.WeakSet = weakref.WeakSet()


class _PeerStream(Stream):
    def _ram(self, memory):
        return next((ram for ram in _RAMS if memory.handle in ram._blocks), self.ram)

    def copy(self, destination, source):
        size = min(destination.size, source.size)
        here, there = self._ram(destination), self._ram(source)
        if here is not there:
            size = min(size, 1 << 16)
        here.block(destination.handle)[:size] = there.block(source.handle)[:size]


@broken("transfers", "transfers or collectives or executables or memory", MUTANTS)(
    "stream.d2d", "Copies between devices end after 64 KiB."
)
class ShortPeerCopies(Executor):
    features = DeviceFeatures(peer_copies=True, callbacks_may_enqueue=True)

    def __init__(self, ordinal, memory_bytes):
        super().__init__(ordinal, memory_bytes)
        _RAMS.add(self.ram)

    def create_stream(self):
        return _PeerStream(self)


# -- memory -----------------------------------------------------------------------------------------------------------


@_memory("executor.deallocate", "Memory that another thread frees than the one that allocated it is kept.")
class KeepsForeignMemory(Executor):
    def allocate(self, size, memory_space=0):
        memory = super().allocate(size, memory_space)
        if memory is not None:
            self.__dict__.setdefault("owners", {})[memory.handle] = threading.get_ident()
        return memory

    def deallocate(self, memory):
        if self.owners.pop(memory.handle, None) == threading.get_ident():
            super().deallocate(memory)


@_memory(
    "executor.allocate-large",
    "A gap isn't merged with the gap behind it, so a device that is empty again has no large block.",
)
class NeverMergesUpwards(Executor):
    def deallocate(self, memory):
        ram = self.ram
        with ram._lock:
            start, size = ram._blocks.pop(memory.handle)
            gaps = list(ram._free)
            for n, (before, length) in enumerate(gaps):
                if before + length == start:
                    gaps[n] = (before, length + size)
                    break
            else:
                gaps.append((start, size))
            ram._free = sorted(gaps)


@_memory("executor.allocate-large", "A block of more than a quarter of the memory is refused, though there is room.")
class NoLargeBlocks(Executor):
    def allocate(self, size, memory_space=0):
        return None if size > self.ram.size // 4 else super().allocate(size, memory_space)


@_memory(
    "executor.allocate",
    "After 4,096 allocations each one takes memory that another block has, if their sizes are equal.",
)
class WrapsTheTable(Executor):
    count = 0
    newest = None

    def allocate(self, size, memory_space=0):
        memory = super().allocate(size, memory_space)
        self.count += 1
        if memory is None:
            return None
        blocks, newest = self.ram._blocks, self.newest
        if self.count > 4096 and newest is not None and newest.handle in blocks and newest.size == size:
            self.__dict__.setdefault("own", {})[memory.handle] = blocks[memory.handle]
            blocks[memory.handle] = blocks[newest.handle]
        self.newest = memory
        return memory

    def deallocate(self, memory):
        own = self.__dict__.setdefault("own", {}).pop(memory.handle, None)
        if own is not None:
            self.ram._blocks[memory.handle] = own
        super().deallocate(memory)


# -- streams and events -----------------------------------------------------------------------------------------------


@_streams(
    "event.wait-for-last-record",
    "A stream that waits for an event waits for records that are made after the wait, too.",
)
class WaitsForLaterRecords(Stream):
    def wait(self, event):
        def wait_for_event():
            event.synchronize()
            if event.error is not None:
                raise event.error

        self.enqueue(wait_for_event, 0.0 if event.ready else float("inf"))


class _Blocking(HostEvent):
    def synchronize(self, timeout=None):
        return super().synchronize(None if timeout is not None and timeout < 0.01 else timeout)


@_streams("event.synchronize-timeout", "A wait for an event of less than 10 ms has no end.")
class NoShortTimeouts(Stream):
    def create_event(self):
        return _Blocking()


class _Sticky(HostEvent):
    __slots__ = ("first",)

    @property
    def error(self):
        found = super().error
        if found is not None:
            self.first = found
        return getattr(self, "first", None) if self.ready else None


@_streams("stream.record-again", "An event that had a failure once has it after each later record, too.")
class KeepsTheFirstFailure(Stream):
    def create_event(self):
        return _Sticky()


@_streams("stream.recover", "`recover` does nothing where the host doesn't know of a failure yet.")
class RecoversWhatIsKnown(Stream):
    def recover(self):
        if self.error is not None:
            super().recover()


@_streams(
    "stream.enqueue-never-blocks", "The ring of commands has 256 places: a caller that enqueues more waits for one."
)
class ShortRing(Stream):
    def enqueue(self, *arguments, **named):
        while len(self._queue) > 256 and threading.current_thread() is not self.worker:
            time.sleep(0.0005)
        super().enqueue(*arguments, **named)


@_streams("stream.wait", "A wait is dropped if the program lets go of the event before the stream comes to it.")
class ForgetsFreedEvents(Stream):
    def wait(self, event):
        if event.ready and event.error is None:
            return
        point, kept = event.point, weakref.ref(event)

        def wait_for_event():
            while not point.ready:
                if kept() is None:
                    return
                time.sleep(0.0005)
            if point.error is not None:
                raise point.error

        self.enqueue(wait_for_event)


@_streams(
    "stream.wait", "A wait for an event of another device's stream is dropped.", select="streams or events or transfers"
)
class WaitsAtHomeOnly(Stream):
    def wait(self, event):
        stream = getattr(getattr(event, "point", None), "stream", None)
        if stream is not None and stream.executor is not self.executor:
            return
        super().wait(event)


@_streams("stream.host-callback", "A callback that follows a read runs beside it, not behind it.")
class CallbacksBesideReads(Stream):
    last = ""

    def memcpy_d2h(self, destination, source):
        super().memcpy_d2h(destination, source)
        self.last = "read" if self._queue else ""

    def host_callback(self, callback):
        last, self.last = self.last, ""
        if last == "read" and len(self._queue) >= 2 and self._error is None:
            tail = self._queue.pop()
            super().host_callback(callback)
            self._push(tail)
        else:
            super().host_callback(callback)


class _OneCallback(HostEvent):
    __slots__ = ("last",)

    def when_ready(self, callback):
        self.last = callback

        def call(error):
            if self.last is callback:
                callback(error)

        super().when_ready(call)


@_streams("event.when-ready-once", "A second function to call when an event is ready takes the place of the first.")
class OneCallbackForEach(Stream):
    def create_event(self):
        return _OneCallback()
