"""Mutants with the mistakes of a driver's port: lines of memory, descriptors, events, caches, commands and figures."""

from __future__ import annotations

import functools
import threading
import time

import numpy as np

from tests.conformance.zoo.mutant import Mutant
from tests.conformance.zoo.mutants.collectives import communicator
from tests.conformance.zoo.mutants.events import event_mutant
from tests.conformance.zoo.mutants.transfers import manager
from tests.conformance.zoo.parts import Executor, Stream, broken
from xla_core.backend import TransferManager
from xla_core.runtime import HostEvent, InProcessCommunicator

MUTANTS: list[Mutant] = []
of_streams = broken("streams", "streams or events or transfers", MUTANTS)
of_events = broken("events", "streams or events", MUTANTS)
of_memory = broken("memory", "memory", MUTANTS)
of_transfers = broken("transfers", "transfers or memory", MUTANTS)
of_collectives = broken("collectives", "collectives", MUTANTS)


# -- transfers ---------------------------------------------------------------------------------------------------------


@of_transfers("stream.h2d", "Copies to the device write whole lines of 256 bytes, also behind the end.")
class WritesWholeLines(Stream):
    def write(self, destination, source):
        super().write(destination, source)
        start, _ = self.ram._blocks[destination.handle]
        end = start + source.size
        self.ram._bytes[end : min(-(-source.size // 256) * 256 + start, self.ram.size)] = 0


@of_transfers("stream.h2d", "A descriptor has 23 bits for a size: larger copies begin again.")
class ShortDescriptors(Stream):
    def write(self, destination, source):
        super().write(destination, source)
        if source.size > 1 << 23:
            rest = source.size - (1 << 23)
            self.ram.block(destination.handle)[1 << 23 : source.size] = source[:rest]


@of_transfers("stream.memset", "`memset` takes its value for a signed number, of which those below 0 are 0.")
class SignedFills(Stream):
    def fill(self, destination, value):
        super().fill(destination, value if value < 128 else 0)


@of_transfers("executor.read-at", "`read_at` across the end of a page of 4,096 bytes stops there.")
class StopsAtThePage(Executor):
    def read_at(self, stream, destination, source, offset):
        super().read_at(stream, destination, source, offset)
        left = 4096 - offset % 4096
        if destination.size > left and offset:
            stream.host_callback(lambda: destination.__setitem__(slice(left, None), 0))


@of_transfers("stream.upload", "An upload of more than 1 MiB reads the array when its turn comes.")
class ReadsLargeArraysLate(Stream):
    def upload(self, destination, source):
        if source.size > 1 << 20:
            self.memcpy_h2d(destination, source)
        else:
            super().upload(destination, source)


@manager("transfer-manager.transfer-to-device", "An array whose rows are one row in memory is read beyond it.", MUTANTS)
class RowsThatRepeat(TransferManager):
    def transfer_to_device_async(self, stream, array, memory, shape, *, immutable=False):
        if array.ndim == 2 and array.strides[0] == 0 and array.shape[0] > 1:
            array = array.copy()
            array[1:] = np.zeros((), array.dtype)
        super().transfer_to_device_async(stream, array, memory, shape, immutable=immutable)


# -- streams and events ------------------------------------------------------------------------------------------------


@of_streams("stream.host-callback", "A callback right behind a `memset` of more than a page is called before it.")
class CallbackBeforeFill(Stream):
    pending = None

    def memset(self, destination, value):
        if destination.size <= 4096:
            super().memset(destination, value)
            return
        self.pending = pending = [destination, value]

        def fill():
            if pending:
                self.fill(*pending)
                pending.clear()

        self.enqueue(fill)

    def host_callback(self, callback):
        pending, self.pending = self.pending, None
        waiting = list(pending or ())
        if pending:
            pending.clear()
        super().host_callback(callback)
        if waiting:
            self.enqueue(functools.partial(self.fill, *waiting))


@of_streams("stream.failure-poisons", "The second failure of a stream is swallowed.")
class SwallowsTheSecond(Stream):
    failures = 0

    def _run(self, work, **options):
        before = self._error
        super()._run(work, **options)
        if self._error is not None and before is None:
            self.failures += 1
            if self.failures == 2:
                self._error = None


@of_streams("stream.synchronize", "Of two threads that synchronize one stream, the second doesn't wait.")
class OneThreadWaits(Stream):
    waiting = False

    def synchronize(self):
        if self.waiting:
            return
        self.waiting = True
        try:
            super().synchronize()
        finally:
            self.waiting = False


@of_streams("stream.d2d", "A copy on the device is done by an engine of its own, which begins a little late.")
class CopyEngineIsLate(Stream):
    def memcpy_d2d(self, destination, source):
        def start():
            data = self.ram.block(source.handle)[: min(destination.size, source.size)].copy()

            def copy():
                time.sleep(0.0005)
                self.ram.block(destination.handle)[: data.size] = data

            threading.Thread(target=copy, daemon=True).start()

        self.enqueue(start)


@of_events("stream.record-again", "A second record of an event that isn't ready is left out.")
class KeepsTheFirstRecord(Stream):
    def record(self, event):
        if event.ready or event.point.stream is not self:
            super().record(event)


@event_mutant("event.first-error", "A ready event has the error that its stream has now.", of_events)
class ErrorOfNow(HostEvent):
    @property
    def error(self):
        stream = self.point.stream
        return stream.error if stream is not None and self.ready else super().error


@event_mutant("event.synchronize-timeout", "A wait with a timeout ends at a multiple of 100 ms.", of_events)
class CoarseTimeouts(HostEvent):
    def synchronize(self, timeout=None):
        return super().synchronize(None if timeout is None else int(timeout * 10) / 10)


# -- memory ------------------------------------------------------------------------------------------------------------


@of_memory("executor.deallocate", "Freed blocks of a megabyte and more are kept for requests of the same size.")
class KeepsLargeBlocks(Executor):
    def __init__(self, ordinal, memory_bytes):
        super().__init__(ordinal, memory_bytes)
        self.kept = {}

    def deallocate(self, memory):
        if memory.size >= 1 << 20:
            self.kept.setdefault(memory.size, []).append(memory)
        else:
            super().deallocate(memory)

    def allocate(self, size, memory_space=0):
        kept = self.kept.get(size)
        return kept.pop() if kept else super().allocate(size, memory_space)


@of_memory("executor.allocate", "A request of no more than 64 bytes behind a freed one gets it together with another.")
class SmallBlocksTwice(Executor):
    def __init__(self, ordinal, memory_bytes):
        super().__init__(ordinal, memory_bytes)
        self.freed = 0
        self.last = None

    def deallocate(self, memory):
        self.freed += memory.size <= 64
        super().deallocate(memory)

    def allocate(self, size, memory_space=0):
        memory = super().allocate(size, memory_space)
        if memory is not None and size <= 64:
            if self.freed > 16 and self.last is not None and self.last.handle in self.ram._blocks:
                self.freed, kept = 0, memory.handle
                self.ram._blocks[kept] = self.ram._blocks[self.last.handle]
            self.last = memory
        return memory


# -- collectives -------------------------------------------------------------------------------------------------------


@communicator("communicator.in-order", "The last of an odd number of 16-bit elements isn't reduced.", of_collectives)
class ReducesPairs(InProcessCommunicator):
    def enqueue(self, stream, collective, operands, results):
        super().enqueue(stream, collective, operands, results)
        i = collective.instruction
        shape = i.operands[0].shape
        if i.opcode != "all-reduce" or shape.num_elements % 2 == 0 or shape.element_type.bit_width != 16:
            return
        given, reduced = (np.empty(2 * shape.num_elements, np.uint8) for _ in range(2))

        def put_back():
            stream.read(given, operands[0])
            stream.read(reduced, results[0])
            reduced[-2:] = given[-2:]
            stream.write(results[0], reduced)

        stream.enqueue(put_back)


@communicator("communicator.in-order", "A device that sends to itself receives zeros.", of_collectives)
class NothingFromItself(InProcessCommunicator):
    def enqueue(self, stream, collective, operands, results):
        super().enqueue(stream, collective, operands, results)
        pairs = collective.instruction.attributes.get("source_target_pairs") or ()
        if any(source == target for source, target in pairs):
            for result in results:
                stream.memset(result, 0)
