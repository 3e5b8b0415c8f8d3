"""Random graphs of work on several streams and devices, ordered by a few events that are recorded again and again.

A model predicts which callbacks run, which work is done before each of them, and which error each event carries.
"""

from __future__ import annotations

import dataclasses
import threading
import time
from collections.abc import Sequence

import numpy as np

from xla_conformance.device.gates import PATIENCE, Boom, Gate, patiently
from xla_conformance.failures import Failure
from xla_core.backend import DeviceMemory, Event, Stream, StreamExecutor
from xla_core.errors import XlaError

_BYTES = 96
_KINDS = ("callback", "record", "wait", "waits", "upload", "fail", "recover", "host", "renew")
_SHARES = (0.28, 0.2, 0.18, 0.02, 0.2, 0.03, 0.05, 0.02, 0.02)


@dataclasses.dataclass(frozen=True)
class _Point:
    """The state at a point of a stream: the callbacks that are done, and the failure that poisons it there."""

    done: frozenset[int] = frozenset()
    error: Boom | None = None


class Graph:
    """Enqueues random work, and checks it against the model.

    Args:
        streams: one or more of each device. The graph closes some and makes others in their place.
        held: whether all work is enqueued before any of it runs.

    Attributes:
        streams: those that are open now.
    """

    def __init__(
        self, streams: Sequence[tuple[StreamExecutor, Stream]], random: np.random.Generator, held: bool
    ) -> None:
        self.streams, self._random = list(streams), random
        self._points = [_Point() for _ in streams]
        self._events: list[Event] = [streams[n % len(streams)][1].create_event() for n in range(2 * len(streams))]
        self._recorded = [_Point() for _ in self._events]
        self._before: dict[int, frozenset[int]] = {}  # callback -> those that it may rely on
        self._ran: list[int] = []
        self._lock = threading.Lock()
        self._skipped: set[int] = set()
        self._uploads: list[tuple[StreamExecutor, DeviceMemory, int]] = []
        self._gate = Gate() if held else None
        if self._gate is not None:
            self._gate.hold(*(stream for _, stream in streams))

    def grow(self, steps: int) -> None:
        for kind in self._random.choice(_KINDS, size=steps, p=_SHARES):
            number = int(self._random.integers(len(self.streams)))
            getattr(self, f"_{kind}")(number)
            if self._gate is not None:
                self._gate.require_closed("a piece of work of a graph")

    # -- pieces of work ----------------------------------------------------------------------------------------------

    def _callback(self, number: int, boom: Boom | None = None) -> None:
        name, point = len(self._before), self._points[number]
        self._before[name] = point.done
        pause = float(self._random.choice([0, 0, 0, 0.0003]))

        def run() -> None:
            if pause:
                time.sleep(pause)
            with self._lock:
                self._ran.append(name)
            if boom is not None:
                raise boom

        self.streams[number][1].host_callback(run)
        if point.error is not None:
            self._skipped.add(name)
        else:
            self._points[number] = _Point(frozenset([name]), boom)

    def _fail(self, number: int) -> None:
        self._callback(number, Boom(f"failure {len(self._before)}"))

    def _record(self, number: int) -> None:
        event = int(self._random.integers(len(self._events)))
        self.streams[number][1].record(self._events[event])
        self._recorded[event] = self._points[number]

    def _wait(self, number: int) -> None:
        event = int(self._random.integers(len(self._events)))
        self.streams[number][1].wait(self._events[event])
        mine, theirs = self._points[number], self._recorded[event]
        if mine.error is None:
            self._points[number] = _Point(mine.done | theirs.done, theirs.error)

    def _waits(self, number: int) -> None:
        """Many waits with nothing between them."""
        for _ in range(12):
            self._wait(number)
        self._callback(number)

    def _upload(self, number: int) -> None:
        executor, stream = self.streams[number]
        memory = executor.allocate(_BYTES)
        if memory is None:
            return
        value = 1 + len(self._uploads) % 255
        stream.memset(memory, 0)
        source = np.full(_BYTES, value, np.uint8)
        stream.upload(memory, source)
        source[...] = 0xEE
        self._uploads.append((executor, memory, -1 if self._points[number].error is not None else value))

    def _recover(self, number: int) -> None:
        self.streams[number][1].recover()
        self._points[number] = dataclasses.replace(self._points[number], error=None)

    def _host(self, number: int) -> None:
        """The host waits for an event."""
        if self._gate is None:
            event = int(self._random.integers(len(self._events)))
            self._require_reached(event)

    def _renew(self, number: int) -> None:
        """A stream is closed, poisoned or not, and a new one takes its place: it inherits nothing."""
        if self._gate is None:
            executor, stream = self.streams[number]
            stream.close()
            self.streams[number] = executor, executor.create_stream()
            self._points[number] = _Point()

    # -- what must hold ----------------------------------------------------------------------------------------------

    def finish(self) -> None:
        """Waits for all work and compares it with the model.

        Raises:
            Failure: work ran too early, twice, although its stream had failed, or not at all; an event has another
                error than the first failure before it; an upload is wrong.
        """
        if self._gate is not None:
            self._gate.open()
        for event in range(len(self._events)):
            self._require_reached(event)
        for _, stream in self.streams:
            stream.synchronize()
            stream.recover()
        self._require_order()
        self._require_uploads()

    def require_errors(self) -> None:
        """Raises Failure unless each event has the error of its last record, also after its stream was closed."""
        for event, point in zip(self._events, self._recorded, strict=True):
            error = event.error
            if _cause(error) is not point.error:
                wanted = f"the first failure before its last record, {point.error!r}"
                raise Failure(
                    f"An event carries {wanted}, but it has {error!r}.",
                    promise="event.first-error",
                )

    def free(self) -> None:
        for executor, memory, _ in self._uploads:
            executor.deallocate(memory)
        for event in self._events:
            event.close()

    def _require_reached(self, number: int) -> None:
        event, point = self._events[number], self._recorded[number]
        if not patiently(event.synchronize, PATIENCE):
            raise Failure("An event becomes ready once all work before its record is done.", promise="event.ready")
        with self._lock:
            missing = point.done - set(self._ran)
        if missing:
            raise Failure(
                "An event is ready once the work before its last record is done, but it was ready earlier.",
                promise="event.ready-after-work",
            )

    def _require_order(self) -> None:
        places = {name: place for place, name in enumerate(self._ran)}
        if len(places) != len(self._ran):
            raise Failure("Each callback is called once.", promise="stream.host-callback")
        for name, before in self._before.items():
            if (name in places) == (name in self._skipped):
                raise Failure(
                    "A failure poisons the stream until it reaches a `recover`, by events also other streams, but "
                    f"a callback {'ran on a poisoned stream' if name in places else 'did not run'}.",
                    promise="stream.later-work-skipped",
                )
            if name in places and any(places[name] < places[earlier] for earlier in before):
                raise Failure(
                    "Work waits for what its stream did before, and for the last record of each event that the "
                    "stream waited for, but a callback ran earlier.",
                    promise="stream.wait",
                )

    def _require_uploads(self) -> None:
        for executor, memory, value in self._uploads:
            back = np.zeros(_BYTES, np.uint8)
            stream = next(stream for owner, stream in self.streams if owner is executor)
            stream.memcpy_d2h(back, memory)
            stream.synchronize()
            if value >= 0 and set(back.tolist()) != {value}:
                raise Failure(
                    "The caller may change an array as soon as `upload` returns, but of several uploads that were "
                    f"under way one wrote {sorted(set(back.tolist()))} for {value}.",
                    promise="stream.upload",
                )


def _cause(error: BaseException | None) -> Boom | None:
    """The exception of the callback that failed first."""
    while isinstance(error, XlaError):
        error = error.__cause__
    return error if isinstance(error, Boom) else None
