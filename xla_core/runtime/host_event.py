"""HostEvent: a point in the work of host threads."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Protocol

from xla_core.backend.event_callbacks import EventCallback, call_soon
from xla_core.backend.stream import Event
from xla_core.errors import FailedPreconditionError, XlaError

__all__ = ["HostEvent", "RecordedPoint", "WorkQueue", "ready_event"]

_SIGNAL_SECONDS = 0.1  # a signal that comes just before a wait doesn't wake it; so wait in pieces
_lock = threading.Lock()  # guards every point's state; held for a few instructions


class WorkQueue(Protocol):
    """What a point asks of the stream that completes it.

    Attributes:
        turn: the identifier of the thread that does the stream's work now, the worker or a caller; 0 while none does.
        awaited: the point that this work waits for.
    """

    name: str
    turn: int
    awaited: RecordedPoint | None


class RecordedPoint:
    """What one record of an event stands for: ready when the work before it is done.

    Args:
        stream: where it is recorded; None where no stream completes it.
    """

    __slots__ = ("_waiters", "error", "ready", "stream")

    def __init__(self, stream: WorkQueue | None = None) -> None:
        self.stream = stream
        self.ready = False
        self.error: XlaError | None = None
        self._waiters: list[Callable[[], None]] = []

    def complete(self, error: XlaError | None = None) -> None:
        """Makes it ready and wakes who waits. Only the first call counts."""
        with _lock:
            if self.ready:
                return
            self.error = error
            self.ready = True
            waiters, self._waiters = self._waiters, []
        for wake in waiters:
            wake()

    def on_completion(self, wake: Callable[[], None]) -> bool:
        """Has `complete` call `wake`, which must be short. False where it is ready, and nothing will be called."""
        with _lock:
            if not self.ready:
                self._waiters.append(wake)
            return not self.ready

    def wait(self, timeout: float | None = None) -> bool:
        """Blocks until it is ready; returns `ready`.

        Raises FailedPreconditionError where this thread does the work that the point comes after, as a custom call does
        that waits for the client which runs it: it would wait for ever.
        """
        if self.ready:
            return True
        done = threading.Lock()  # a lock's acquire is what signals interrupt, and it costs a tenth of threading.Event
        done.acquire()
        if not self.on_completion(done.release):
            return True
        deadline = None if timeout is None else time.monotonic() + timeout
        while not self.ready:
            left = _SIGNAL_SECONDS if deadline is None else deadline - time.monotonic()
            if left <= 0:
                break
            if not done.acquire(timeout=min(left, _SIGNAL_SECONDS)):
                self._check_wait()
        return self.ready

    def _check_wait(self) -> None:
        here = threading.get_ident()
        seen: set[WorkQueue] = set()
        stream = self.stream
        while stream is not None and stream not in seen:
            if stream.turn == here:
                raise FailedPreconditionError(
                    f"work on {stream.name} waits for what comes after it there",
                    hint="a custom call can't wait for the device that it runs on: compute with numpy or "
                    "xla_core.evaluate, on another device, or with a Client of its own",
                )
            seen.add(stream)
            awaited = stream.awaited
            stream = awaited.stream if awaited is not None else None


class HostEvent(Event):
    """An event that the host completes. Ready until it is armed (by `HostStream.record`, or by `arm`).

    Attributes:
        point: the last record. Whoever waits takes it first, so that a later record is no matter to them.
    """

    __slots__ = ("point",)

    def __init__(self) -> None:
        self.point = _NEVER_RECORDED

    @property
    def ready(self) -> bool:
        return self.point.ready

    @property
    def error(self) -> XlaError | None:
        return self.point.error

    def arm(self, stream: WorkQueue | None = None) -> RecordedPoint:
        """Makes it not ready; `complete` of what this returns makes it ready again."""
        self.point = point = RecordedPoint(stream)
        return point

    def when_ready(self, callback: EventCallback) -> None:
        point = self.point
        if not point.on_completion(lambda: call_soon(callback, point.error)):
            callback(point.error)

    def synchronize(self, timeout: float | None = None) -> bool:
        return self.point.wait(timeout)


_NEVER_RECORDED = RecordedPoint()
_NEVER_RECORDED.complete()
_READY = HostEvent()


def ready_event() -> HostEvent:
    """A shared event that is ready and without error. Never armed."""
    return _READY


def reset_after_fork() -> None:
    """Replaces the lock, which another thread of the parent may have held."""
    global _lock
    _lock = threading.Lock()
