"""Which work comes after which on several streams, for the host too, and on which promises that rests."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection

import numpy as np

from xla_conformance.device.gates import Gate, pause
from xla_conformance.device.patterns import pattern
from xla_core.backend import DeviceMemory, HostBytes, Stream, StreamExecutor

IN_ORDER, EVENT, WAIT, HOST = "stream.in-order", "event.ready-after-work", "stream.wait", "stream.synchronize"
_WORDS = {
    IN_ORDER: "a stream is an in-order queue",
    EVENT: "an event is ready once all work before it is done",
    WAIT: "a stream that waits for an event does later work after it",
    HOST: "`synchronize` returns once all work of the stream is done",
}
_TRIES = 5

Place = tuple[int, int]
"""A stream, and the number of a piece of its work."""


class Orders:
    """Vector clocks: for each stream and the host, the latest work of each stream that theirs comes after.

    A stream is known by its number, and the host by `host`.
    """

    def __init__(self, streams: int) -> None:
        self.host = streams
        self._now = [0] * streams
        self._known = [[0] * streams for _ in range(streams + 1)]
        self._by = [[frozenset[str]()] * streams for _ in range(streams + 1)]

    def next_place(self, stream: int) -> Place:
        """Counts one more piece of work on a stream."""
        self._now[stream] += 1
        return stream, self._now[stream]

    def is_after(self, who: int, place: Place) -> bool:
        """Whether what a stream or the host does next comes after a piece of work."""
        return who == place[0] or self._known[who][place[0]] >= place[1]

    def reasons(self, who: int, place: Place) -> frozenset[str]:
        """Returns the ids of the promises by which the next work of a stream, or of the host, comes after a place."""
        return frozenset((IN_ORDER,)) if who == place[0] else self._by[who][place[0]]

    def learn(self, who: int, other: int, *by: str) -> None:
        """Notes that the next work of `who` comes after all work of a stream, and after what that comes after."""
        theirs = [*self._known[other]]
        theirs[other] = self._now[other]
        self._take(who, theirs, [frozenset(by) | self._by[other][n] for n in range(len(theirs))])

    def tell_streams(self) -> None:
        """Notes that what the host enqueues from now on comes after what the host knows to be done."""
        for stream in range(self.host):
            self._take(stream, self._known[self.host], self._by[self.host])

    def _take(self, who: int, times: list[int], by: list[frozenset[str]]) -> None:
        for stream, number in enumerate(times):
            if number > self._known[who][stream]:
                self._known[who][stream], self._by[who][stream] = number, by[stream]


def described(promises: Collection[str]) -> str:
    """Says what the promises of an order are, in the contract's words."""
    texts = [text for id, text in _WORDS.items() if id in promises]
    words = ", and ".join(filter(None, (", ".join(texts[:-1]), *texts[-1:])))
    return words[:1].upper() + words[1:]


def listed(promises: Collection[str]) -> str:
    """Returns the ids of promises in one order, as `Failure` takes them."""
    return " ".join(id for id in _WORDS if id in promises)


def narrowed(promises: Collection[str], executor: StreamExecutor) -> Collection[str]:
    """Returns the promise of an order that the device breaks in a few tries by itself, or else those that are left."""
    for promise, is_early in ((EVENT, _is_event_early), (HOST, _is_host_early)):
        if promise in promises and _ever(is_early, executor):
            return {promise}
    return {*promises} - {HOST} if {EVENT, WAIT} & {*promises} else promises


def _ever(is_early: Callable[[Stream, DeviceMemory, HostBytes, HostBytes], bool], executor: StreamExecutor) -> bool:
    """Whether one of a few tries, each with bytes of its own to send and an array for what comes back, is true."""
    got = np.zeros(1 << 18, np.uint8)
    memory = executor.allocate(got.size)
    if memory is None:
        return False
    stream = executor.create_stream()
    try:
        return any(is_early(stream, memory, got, pattern(got.size, number)) for number in range(_TRIES))
    finally:
        stream.synchronize()
        stream.close()
        executor.deallocate(memory)


def _is_event_early(stream: Stream, memory: DeviceMemory, got: HostBytes, sent: HostBytes) -> bool:
    """Whether an event is ready while a gate holds work before it back, or before the bytes of a copy are there."""
    gate = Gate()
    gate.hold(stream)
    try:
        stream.memcpy_h2d(memory, sent)
        stream.memcpy_d2h(got, memory)
        event = stream.create_event()
        stream.record(event)
        is_ready = event.ready or event.synchronize(0.002)
    finally:
        gate.open()
    event.synchronize()
    return is_ready or _comes_later(stream, got, sent)


def _is_host_early(stream: Stream, memory: DeviceMemory, got: HostBytes, sent: HostBytes) -> bool:
    """Whether `synchronize` returns before the bytes of a copy are there."""
    stream.host_callback(pause(0.002))
    stream.memcpy_h2d(memory, sent)
    stream.memcpy_d2h(got, memory)
    stream.synchronize()
    return _comes_later(stream, got, sent)


def _comes_later(stream: Stream, got: HostBytes, sent: HostBytes) -> bool:
    """Whether the bytes are not there, but a little later they are. Bytes that stay wrong have another cause."""
    if np.array_equal(got, sent):
        return False
    stream.synchronize()
    time.sleep(0.02)
    return np.array_equal(got, sent)
