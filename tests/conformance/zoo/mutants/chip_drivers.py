"""Faults of a new chip's driver: its copies, queues, events and memory."""

from __future__ import annotations

import numpy as np

from tests.conformance.zoo.mutant import Mutant
from tests.conformance.zoo.parts import Executor, Stream, broken
from xla_core.backend import Event

MUTANTS: list[Mutant] = []
_streams = broken("streams", "streams or events", MUTANTS)
_transfers = broken("transfers", "transfers", MUTANTS)
_memory = broken("memory", "memory", MUTANTS)

_PIECE = 1 << 16


@_streams("stream.memset", "A fill writes words whose upper bytes extend the sign of the value.")
class FillsSignedWords(Stream):
    def fill(self, destination, value):
        super().fill(destination, value)
        if value >= 128:
            block = self.ram.block(destination.handle)[: destination.size]
            block[1::4] = block[2::4] = block[3::4] = 255


@_streams("stream.in-order", "A copy of up to 256 bytes to the device is part of the command, so it is made at once.")
class CopiesInCommands(Stream):
    def memcpy_h2d(self, destination, source):
        if source.size <= 256:
            self.write(destination, source)
        else:
            super().memcpy_h2d(destination, source)


@_streams("stream.in-order", "Copies of more than 64 KiB to the host have a queue of their own, which doesn't wait.")
class LargeReadsDoNotWait(Stream):
    def memcpy_d2h(self, destination, source):
        if destination.size > _PIECE:
            self.read(destination, source)
            self.enqueue(lambda: None)
        else:
            super().memcpy_d2h(destination, source)


@_streams("stream.wait", "A queue remembers one event to wait for: a second wait in turn replaces the first.")
class OneWait(Stream):
    pending: Event | None = None

    def wait(self, event):
        self.pending = event

    def enqueue(self, *arguments, **named):
        event, self.pending = self.pending, None
        if event is not None:
            super().wait(event)
        super().enqueue(*arguments, **named)

    def record(self, event):
        waited, self.pending = self.pending, None
        if waited is not None:
            super().wait(waited)
        super().record(event)


@_streams("stream.synchronize", "Synchronizing polls for 1.5 seconds and then returns.")
class PollsForAWhile(Stream):
    def synchronize(self):
        event = self.create_event()
        self.record(event)
        event.synchronize(1.5)


@_streams("stream.recover", "A queue that failed by waiting for another one's event doesn't recover.")
class StaysPoisonedByEvents(Stream):
    foreign = False

    def wait(self, event):
        super().wait(event)
        if event.ready and event.error is not None:
            self.foreign = True

    def _forget(self):
        if not self.foreign:
            super()._forget()


@_streams("event.ready", "An event that is recorded a second time is still ready from the first.")
class ReadyFromBefore(Stream):
    def create_event(self):
        event = super().create_event()
        kind = type(event)

        class Kept(kind):
            __slots__ = ("was",)

            @property
            def ready(self):
                before = getattr(self, "was", False)
                self.was = before or (self.point.ready and self.point.stream is not None)
                return before or self.point.ready

        return Kept()


@_streams("stream.in-order", "A ring holds 64 commands: the sixty-fifth that waits is lost.", seconds=120.0)
class RingOf64(Stream):
    def enqueue(self, work, *arguments, **named):
        if len(self._queue) == 64:
            return
        super().enqueue(work, *arguments, **named)


@_streams("event.synchronize-timeout", "A timeout is counted in whole milliseconds of 16 bits.")
class ShortTimeouts(Stream):
    def create_event(self):
        event = super().create_event()

        class Timed(type(event)):
            __slots__ = ()

            def synchronize(self, timeout=None):
                return super().synchronize(None if timeout is None else int(timeout * 1000) % 65536 / 1000)

        return Timed()


@_transfers("stream.d2h", "Copies to the host of more than 4 MiB are made of whole words.")
class WholeWords(Stream):
    def read(self, destination, source):
        size = destination.size
        if size > 4 << 20:
            size -= size % 4
        destination[:size] = self.ram.block(source.handle)[:size]


@_transfers("stream.h2d", "A copy goes through two bounce buffers, of which the first is refilled too early.")
class BounceBuffers(Stream):
    def write(self, destination, source):
        source = source.copy()
        count = -(-source.size // _PIECE)
        if count > 8 and source.size % _PIECE:
            whole = source.size - source.size % _PIECE
            source[whole - 3 * _PIECE : whole - 3 * _PIECE + 64] = source[whole - _PIECE : whole - _PIECE + 64]
        super().write(destination, source)


@_transfers("executor.read-at", "A copy from an offset begins at a whole word.")
class ReadsAtWords(Executor):
    def read_at(self, stream, destination, source, offset):
        super().read_at(stream, destination, source, offset - offset % 4)


@_transfers("executor.write-at", "A copy to an offset fills up the last word.")
class WritesWholeWords(Executor):
    def write_at(self, stream, destination, source, offset):
        padded = np.zeros(min(-(-source.size // 4) * 4, destination.size - offset), np.uint8)
        padded[: source.size] = source
        super().write_at(stream, destination, padded, offset)


@_memory("executor.allocate", "Blocks of more than 1 MiB have whole pages, but the last one isn't theirs.")
class LastPageIsShared(Executor):
    def allocate(self, size, memory_space=0):
        memory = super().allocate(size, memory_space)
        if memory is not None and size > 1 << 20 and size % 4096:
            start, whole = self.ram._blocks[memory.handle]
            spare = -(-(size % 4096) // 64) * 64
            with self.ram._lock:
                self.ram._free = _merged([*self.ram._free, (start + whole - spare, spare)])
        return memory

    def deallocate(self, memory):
        start, whole = self.ram._blocks[memory.handle]
        if memory.size > 1 << 20 and memory.size % 4096:
            self.ram._blocks[memory.handle] = (start, whole - -(-(memory.size % 4096) // 64) * 64)
        super().deallocate(memory)


def _merged(gaps):
    merged = []
    for start, size in sorted(gaps):
        if merged and merged[-1][0] + merged[-1][1] >= start:
            first = merged[-1][0]
            merged[-1] = (first, max(merged[-1][0] + merged[-1][1], start + size) - first)
        else:
            merged.append((start, size))
    return merged


@_memory("executor.allocate-none", "A block of exactly the largest gap is refused.")
class NeverTheWholeGap(Executor):
    def allocate(self, size, memory_space=0):
        with self.ram._lock:
            largest = max((gap for _, gap in self.ram._free), default=0)
        return None if largest - size < 64 else super().allocate(size, memory_space)
