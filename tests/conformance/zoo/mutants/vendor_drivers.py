"""Mutants with the mistakes of a vendor's first driver: counters, pools, caches, queues and handles."""

from __future__ import annotations

import collections
import dataclasses
import threading
import time

import numpy as np

from tests.conformance.zoo.mutant import Mutant
from tests.conformance.zoo.mutants.events import event_mutant
from tests.conformance.zoo.mutants.transfers import manager
from tests.conformance.zoo.parts import Executor, Stream, broken
from xla_core.backend import TransferManager
from xla_core.errors import InternalError
from xla_core.hlo import ElementType
from xla_core.runtime import HostEvent

MUTANTS: list[Mutant] = []
of_streams = broken("streams", "streams or events or transfers", MUTANTS)
of_events = broken("events", "streams or events", MUTANTS)
of_memory = broken("memory", "memory", MUTANTS)
of_transfers = broken("transfers", "transfers", MUTANTS)


# -- streams -----------------------------------------------------------------------------------------------------------


@of_streams("stream.record", "A stream counts its records in 8 bits: each 256th event is ready at once.")
class RecordsInEightBits(Stream):
    records = 0

    def record(self, event):
        super().record(event)
        self.records += 1
        if self.records % 256 == 0:
            event.point.complete()


@of_streams(
    "stream.synchronize",
    "A stream counts its work in 16 bits: beyond 65,536 pieces `synchronize` returns.",
)
class WorkInSixteenBits(Stream):
    pieces = 0

    def _push(self, item):
        super()._push(item)
        self.pieces += 1

    def synchronize(self):
        if self.pieces <= 1 << 16:
            super().synchronize()


@of_streams("stream.memset", "`memset` of more than 4,096 bytes sets whole words of 4.")
class FillsWholeWords(Stream):
    def fill(self, destination, value):
        size = destination.size if destination.size <= 4096 else destination.size // 4 * 4
        self.ram.block(destination.handle)[:size] = value


@of_streams("stream.in-order", "A read is served from a cache that `memset` doesn't flush.")
class StaleAfterFill(Stream):
    def __init__(self, executor):
        super().__init__(executor)
        self.cache = (None, b"")

    def read(self, destination, source):
        super().read(destination, source)
        if self.cache[0] is source and len(self.cache[1]) == destination.size:
            destination[:] = np.frombuffer(self.cache[1], np.uint8)
        self.cache = (source, destination.tobytes())

    def write(self, destination, source):
        self.cache = (None, b"")
        super().write(destination, source)

    def copy(self, destination, source):
        self.cache = (None, b"")
        super().copy(destination, source)


@of_streams(
    "stream.d2d", "Copies on the device of more than 64 KiB lose what is behind the last whole line of 64 bytes."
)
class CopiesWholeLines(Stream):
    def copy(self, destination, source):
        size = min(destination.size, source.size)
        size = size if size <= 1 << 16 else size // 64 * 64
        self.ram.block(destination.handle)[:size] = self.ram.block(source.handle)[:size]


@of_streams("stream.d2h", "Three reads of more than 16 KiB that are under way share two buffers.")
class TwoReadBuffers(Stream):
    def __init__(self, executor):
        super().__init__(executor)
        self.under_way = collections.deque()

    def memcpy_d2h(self, destination, source):
        if destination.size <= 1 << 14:
            super().memcpy_d2h(destination, source)
            return
        while self.under_way and self.under_way[0][1].ready:
            self.under_way.popleft()
        super().memcpy_d2h(destination, source)
        if len(self.under_way) >= 2:
            old = self.under_way[-2][0]
            self.enqueue(lambda: old.__setitem__(slice(0, 1), destination[:1]))
        event = self.create_event()
        self.record(event)
        self.under_way.append((destination, event))


@of_streams("stream.recover", "The first `memset` after `recover` is skipped, if the stream was poisoned.")
class LosesWorkAfterRecovery(Stream):
    skips = False

    def recover(self):
        self.skips = self._error is not None
        super().recover()

    def memset(self, destination, value):
        if self.skips:
            self.skips = False
            return
        super().memset(destination, value)


class _InAQueue(Stream):
    """A stream whose work waits for that of the stream before it in the same queue."""

    def __init__(self, executor, other):
        super().__init__(executor)
        self.other = other

    def enqueue(self, work, *arguments, **options):
        def after_the_other():
            if self.other is not None and not self.other._closing:
                self.other.synchronize()
            work()

        super().enqueue(after_the_other, *arguments, **options)


@of_streams("stream.concurrent", "A device has 8 queues: the ninth stream shares the first one's.")
class EightQueues(Executor):
    def __init__(self, ordinal, memory_bytes):
        super().__init__(ordinal, memory_bytes)
        self.queues = collections.deque([None] * 8)

    def create_stream(self):
        self.queues.rotate()
        self.queues[0] = _InAQueue(self, self.queues[0])
        return self.queues[0]


@of_streams("executor.create-stream", "Two threads that make streams at the same time get the same one.")
class StreamsInARace(Executor):
    last = (0.0, 0, None)

    def create_stream(self):
        made, owner, stream = self.last
        if time.monotonic() - made < 0.002 and owner != threading.get_ident():
            return stream
        stream = super().create_stream()
        self.last = (time.monotonic(), threading.get_ident(), stream)
        return stream


@of_streams("stream.failure-poisons", "After three failures the device is lost: each later stream is poisoned at once.")
class LostAfterThreeFailures(Executor):
    failures = 0

    def create_stream(self):
        executor = self

        class Counting(self.stream):
            def _run(self, work, **options):
                before = self._error
                super()._run(work, **options)
                if self._error is not None and before is None:
                    executor.failures += 1

            def synchronize(self):
                super().synchronize()
                if executor.failures > 3:
                    self._error = self._error or InternalError("the device is lost")

        return Counting(self)


@of_streams("stream.host-callback", "A callback that takes more than 5 ms is not waited for by the work behind it.")
class ImpatientCallbacks(Stream):
    def host_callback(self, callback):
        def call():
            thread = threading.Thread(target=callback, daemon=True)
            thread.start()
            thread.join(0.005)

        super().host_callback(call)


# -- events ------------------------------------------------------------------------------------------------------------


@of_events("event.dropped", "Events that were closed are used again, though a stream has still to wait for them.")
class ReusesEventsTooEarly(Stream):
    def __init__(self, executor):
        super().__init__(executor)
        self.pool = collections.deque()

    def create_event(self):
        if len(self.pool) > 2:
            return self.pool.popleft()
        pool = self.pool

        class Pooled(HostEvent):
            def close(self):
                pool.append(self)

        return Pooled()

    def wait(self, event):
        self.enqueue(lambda: event.point.wait(), float("inf"))


@event_mutant("event.when-ready-once", "Of more than 8 callbacks of one event, the later ones are dropped.", of_events)
class EightCallbacks(HostEvent):
    registered = 0

    def when_ready(self, callback):
        self.registered = 0 if self.ready else self.registered + 1
        if self.registered <= 8:
            super().when_ready(callback)


@event_mutant("event.first-error", "An event tells its error once.", of_events)
class TellsOnce(HostEvent):
    told = None

    @property
    def error(self):
        error = super().error
        if error is not None and self.told is self.point:
            return None
        self.told = self.point if error is not None else None
        return error


# -- memory ------------------------------------------------------------------------------------------------------------


@of_memory("executor.deallocate", "Blocks are freed 64 at a time, so that a full device lacks up to 63 of them.")
class FreesInBatches(Executor):
    def __init__(self, ordinal, memory_bytes):
        super().__init__(ordinal, memory_bytes)
        self.waiting = []

    def deallocate(self, memory):
        self.waiting.append(memory)
        if len(self.waiting) >= 64:
            waiting, self.waiting = self.waiting, []
            for block in waiting:
                super().deallocate(block)


@of_memory("executor.allocate", "Handles are numbers of 12 bits: the 4,096th allocation takes the first one's block.")
class HandlesInTwelveBits(Executor):
    def __init__(self, ordinal, memory_bytes):
        super().__init__(ordinal, memory_bytes)
        self.made = []

    def allocate(self, size, memory_space=0):
        memory = super().allocate(size, memory_space)
        if memory is None:
            return None
        self.made.append(memory)
        old = self.made[-4096] if len(self.made) >= 4096 else None
        if old is not None and old.handle in self.ram._blocks and old.size >= size:
            memory.handle, memory.base = old.handle, None
        return memory


# -- transfers ---------------------------------------------------------------------------------------------------------


@manager("transfer-manager.to-device", "Of rank 5 and more, a layout's two major dimensions are exchanged.", MUTANTS)
class MajorDimensionsExchanged(TransferManager):
    def to_device(self, array, shape):
        order = shape.layout.minor_to_major if shape.layout is not None else ()
        if len(order) >= 5 and tuple(order) != tuple(reversed(range(len(order)))):
            changed = (*order[:-2], order[-1], order[-2])
            shape = dataclasses.replace(shape, layout=dataclasses.replace(shape.layout, minor_to_major=changed))
        return super().to_device(array, shape)


@manager("transfer-manager.to-device", "Of more than 32 elements of 4 bits, each pair is in the other order.", MUTANTS)
class OtherNibbleFirst(TransferManager):
    def to_device(self, array, shape):
        data = super().to_device(array, shape)
        if shape.element_type in (ElementType.S4, ElementType.U4) and array.size > 32 and data.size < array.size:
            return ((data << 4) | (data >> 4)).astype(np.uint8)
        return data


@of_transfers("executor.read-at", "`read_at` keeps its offset in 16 bits.")
class ShortOffsets(Executor):
    def read_at(self, stream, destination, source, offset):
        super().read_at(stream, destination, source, offset & 0xFFFF)


@manager(
    "transfer-manager.to-device", "An array whose rows lie backwards in memory is copied from its end on.", MUTANTS
)
class IgnoresNegativeStrides(TransferManager):
    def transfer_to_device_async(self, stream, array, memory, shape, *, immutable=False):
        if array.ndim == 2 and array.strides[0] < 0 and array.shape[0] > 1:
            array = np.ascontiguousarray(array[::-1])
        super().transfer_to_device_async(stream, array, memory, shape, immutable=immutable)
