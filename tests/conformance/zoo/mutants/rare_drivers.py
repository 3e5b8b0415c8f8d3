"""Mutants with the mistakes that drivers make now and then: streams, events, memory and transfers."""

from __future__ import annotations

import collections
import ctypes
import dataclasses
import threading
import time

import numpy as np
from xla_backend_template.memory import DeviceRam

from tests.conformance.zoo.mutant import Mutant
from tests.conformance.zoo.mutants.events import event_mutant
from tests.conformance.zoo.mutants.transfers import manager
from tests.conformance.zoo.parts import Executor, Stream, broken
from xla_core.backend import TransferManager
from xla_core.hlo import ElementType
from xla_core.runtime import HostEvent

MUTANTS: list[Mutant] = []
of_streams = broken("streams", "streams or events or transfers", MUTANTS)
of_events = broken("events", "streams or events", MUTANTS)
of_memory = broken("memory", "memory", MUTANTS)
of_transfers = broken("transfers", "transfers", MUTANTS)


# -- streams -----------------------------------------------------------------------------------------------------------


@of_streams("stream.wait", "A stream doesn't wait for an event of another device.")
class WaitsForItsOwnDevice(Stream):
    def wait(self, event):
        stream = event.point.stream
        if stream is None or stream.executor is self.executor:
            super().wait(event)


@of_streams("stream.record-again", "An event that is under way on one stream is not recorded by another.")
class FirstStreamKeepsTheEvent(Stream):
    def record(self, event):
        if event.ready or event.point.stream is self:
            super().record(event)


@of_streams(
    "executor.create-stream", "A new stream takes the queue of one that failed and was closed, with its failure."
)
class FailuresAreInherited(Executor):
    left = None

    def create_stream(self):
        executor = self

        class Pooled(self.stream):
            def close(self):
                super().close()
                executor.left = self._error

        stream = Pooled(self)
        stream._error, self.left = self.left, None
        return stream


@of_streams("stream.wait", "Of more than four waits in succession, the later ones are dropped.")
class FourWaits(Stream):
    waits = 0

    def wait(self, event):
        self.waits += 1
        if self.waits <= 4:
            super().wait(event)

    def enqueue(self, work, *arguments, **options):
        if "wait_for_event" not in getattr(work, "__qualname__", ""):
            self.waits = 0
        super().enqueue(work, *arguments, **options)


@of_streams("stream.recover", "After a recovery, the next failure is reported as the first one.")
class FirstFailureIsLatched(Stream):
    latched = None

    def _run(self, work, **options):
        super()._run(work, **options)
        if self._error is not None:
            self.latched = self.latched or self._error
            self._error = self.latched


@of_streams("stream.synchronize", "`synchronize` waits for what the calling thread enqueued.")
class SynchronizesItsThread(Stream):
    def __init__(self, executor):
        super().__init__(executor)
        self.last = {}

    def _push(self, item):
        super()._push(item)
        self.last[threading.get_ident()] = True

    def synchronize(self):
        if self.last.get(threading.get_ident()):
            super().synchronize()


@of_streams("stream.upload", "Uploads that are under way share 16 buffers.")
class SixteenStagingBuffers(Stream):
    def __init__(self, executor):
        super().__init__(executor)
        self.staging = collections.deque(np.empty(1 << 16, np.uint8) for _ in range(16))

    def upload(self, destination, source):
        if source.size > 1 << 16:
            super().upload(destination, source)
            return
        self.staging.rotate()
        buffer = self.staging[0][: source.size]
        buffer[:] = source
        self.memcpy_h2d(destination, buffer)


# -- events ------------------------------------------------------------------------------------------------------------


@event_mutant("event.synchronize-timeout", "A timeout of 0 is taken as none.", of_events)
class ZeroIsNoTimeout(HostEvent):
    def synchronize(self, timeout=None):
        return super().synchronize(timeout or None)


@event_mutant("stream.record-again", "An event that was recorded after a failure keeps that error for ever.", of_events)
class ErrorsStay(HostEvent):
    seen = None

    @property
    def error(self):
        self.seen = self.seen or super().error
        return self.seen


@event_mutant("event.thread-safe", "A callback is lost if the event becomes ready while it is registered.", of_events)
class LosesCallbacksInARace(HostEvent):
    def when_ready(self, callback):
        if self.ready:
            callback(self.error)
            return
        time.sleep(0.0005)
        if not self.ready:
            super().when_ready(callback)


@of_events("event.first-error", "Closing a stream clears the errors of its events.")
class CloseClearsErrors(Stream):
    def __init__(self, executor):
        super().__init__(executor)
        self.points = []

    def record(self, event):
        super().record(event)
        self.points.append(event.point)

    def close(self):
        super().close()
        for point in self.points:
            point.error = None


@of_events("stream.create-event", "A device has 256 events: the next one is the first again.")
class TwoHundredEvents(Executor):
    def __init__(self, ordinal, memory_bytes):
        super().__init__(ordinal, memory_bytes)
        self.events = collections.deque(HostEvent() for _ in range(256))

    def create_stream(self):
        stream = super().create_stream()

        def create_event():
            self.events.rotate()
            event = self.events[0]
            if event.ready:
                event = self.events[0] = HostEvent()
            return event

        stream.create_event = create_event
        return stream


# -- memory ------------------------------------------------------------------------------------------------------------


@of_memory("executor.description", "The device says a page less at each question.")
class FigureDrifts(Executor):
    asked = 0

    @property
    def description(self):
        said = super().description
        self.asked += 1
        return said.model_copy(update={"memory_bytes": said.memory_bytes - 4096 * self.asked})


@of_memory("executor.deallocate", "What another thread frees than the one that allocated it is lost.")
class FreedByItsThread(Executor):
    def __init__(self, ordinal, memory_bytes):
        super().__init__(ordinal, memory_bytes)
        self.owners = {}

    def allocate(self, size, memory_space=0):
        memory = super().allocate(size, memory_space)
        if memory is not None:
            self.owners[memory.handle] = threading.get_ident()
        return memory

    def deallocate(self, memory):
        if self.owners.pop(memory.handle) == threading.get_ident():
            super().deallocate(memory)


@of_memory("executor.deallocate", "Memory is a stack: a block is free when all later ones are.")
class MemoryIsAStack(Executor):
    def __init__(self, ordinal, memory_bytes):
        super().__init__(ordinal, memory_bytes)
        self.blocks, self.freed, self.guard = [], set(), threading.Lock()

    def allocate(self, size, memory_space=0):
        with self.guard:
            memory = super().allocate(size, memory_space)
            if memory is not None:
                self.blocks.append(memory)
            return memory

    def deallocate(self, memory):
        with self.guard:
            self.freed.add(memory.handle)
            while self.blocks and self.blocks[-1].handle in self.freed:
                super().deallocate(self.blocks.pop())


_shared: list[DeviceRam] = []


@of_memory("executor.allocate", "The devices share one memory, and each says that it has all of it.")
class DevicesShareMemory(Executor):
    def __init__(self, ordinal, memory_bytes):
        super().__init__(ordinal, memory_bytes)
        if not _shared:
            _shared.append(self.ram)
        self.ram = _shared[0]


@of_memory("executor.allocate", "Each 500th allocation changes a byte of the oldest block.")
class MemoryRots(Executor):
    count = 0

    def allocate(self, size, memory_space=0):
        self.count += 1
        blocks = self.ram._blocks
        if self.count % 500 == 0 and blocks:
            self.ram.block(next(iter(blocks)))[0] ^= 16
        return super().allocate(size, memory_space)


@of_memory(
    "executor.allocate-none", "After it refused a block, the device refuses the next one too, whatever its size."
)
class RefusesTwice(Executor):
    refused = False

    def allocate(self, size, memory_space=0):
        if self.refused:
            self.refused = False
            return None
        memory = super().allocate(size, memory_space)
        self.refused = memory is None
        return memory


# -- transfers ---------------------------------------------------------------------------------------------------------


@of_transfers("stream.h2d", "A copy from an address that is not a multiple of 4 begins at the multiple below.")
class AlignedSources(Stream):
    def write(self, destination, source):
        extra = source.ctypes.data % 4 if source.size else 0
        if extra:
            data = ctypes.string_at(source.ctypes.data - extra, source.size)
            source = np.frombuffer(data, np.uint8)
        super().write(destination, source)


@of_transfers("stream.d2h", "A copy to an address that is not a multiple of 2 leaves out the last byte.")
class AlignedDestinations(Stream):
    def read(self, destination, source):
        odd = destination.size > 1 and destination.ctypes.data % 2
        super().read(destination[:-1] if odd else destination, source)


@manager("transfer-manager.to-device", "A cyclic order of three dimensions is taken for its inverse.", MUTANTS)
class InverseOrder(TransferManager):
    def to_device(self, array, shape):
        order = shape.layout.minor_to_major if shape.layout is not None else ()
        if order in ((0, 2, 1), (1, 0, 2)) and array.size:  # as axes: (1, 2, 0) and (2, 0, 1)
            axes = order[::-1]
            wrong = np.ascontiguousarray(array.transpose(np.argsort(axes))).reshape([array.shape[a] for a in axes])
            array = wrong.transpose(np.argsort(axes))
        return super().to_device(array, shape)


@manager("transfer-manager.to-device", "A cyclic order of the sides of a cube is its inverse, there and back.", MUTANTS)
class InverseCubes(TransferManager):
    def to_device(self, array, shape):
        return super().to_device(array, _inverse(shape))

    def from_device(self, data, shape):
        return super().from_device(data, _inverse(shape))


def _inverse(shape):
    if shape.rank != 3 or len(set(shape.dimensions)) > 1 or shape.layout is None:
        return shape
    axes = np.argsort(shape.layout.minor_to_major[::-1]).tolist()
    return shape.with_layout(dataclasses.replace(shape.layout, minor_to_major=tuple(reversed(axes))))


@manager("transfer-manager.to-device", "Columns are counted in 16 bits.", MUTANTS)
class LongRows(TransferManager):
    def to_device(self, array, shape):
        if array.ndim == 2 and array.shape[1] > 1 << 16:
            array = array.copy()
            array[:, : array.shape[1] - (1 << 16)] = array[:, 1 << 16 :][:, : array.shape[1] - (1 << 16)][:, : 1 << 16]
        return super().to_device(array, shape)


@manager("transfer-manager.from-device", "Of an odd number of elements of 4 bits, the last one is 0.", MUTANTS)
class LastNibble(TransferManager):
    def from_device(self, data, shape):
        array = super().from_device(data, shape)
        if shape.element_type in (ElementType.S4, ElementType.U4) and array.size % 2:
            array = array.copy()
            array.reshape(-1)[-1] = 0
        return array


@manager("transfer-manager.to-device", "The imaginary parts of c128 are rounded to f32.", MUTANTS)
class NarrowImaginaryParts(TransferManager):
    def to_device(self, array, shape):
        if shape.element_type is ElementType.C128:
            array = array.copy()
            with np.errstate(over="ignore"):
                array.imag = array.imag.astype(np.float32)
        return super().to_device(array, shape)


@of_transfers("executor.write-at", "Beyond 65,536 bytes, `write_at` rounds its offset down to a multiple of 4.")
class WritesAtWholeWords(Executor):
    def write_at(self, stream, destination, source, offset):
        super().write_at(stream, destination, source, offset if offset < 1 << 16 else offset // 4 * 4)
