"""HostEvent: a point in the work of host threads."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Protocol

from xla_core.backend.event import Event
from xla_core.errors import FailedPreconditionError, XlaError
from xla_core.event_callbacks import EventCallback, call_soon

_SIGNAL_SECONDS = 0.1  # waits are split, because a signal just before a wait doesn't interrupt it
_lock = threading.RLock()  # guards every point's state; a finalizer that runs meanwhile may complete another point


class WorkQueue(Protocol):
    """The part of a stream that a recorded point uses to detect a deadlock, and to report that it is waited for.

    Attributes:
        turn: the identifier of the thread that runs the stream's work now, the worker or a caller; 0 for none.
        awaited: the point that this work waits for, or None.
    """

    name: str
    turn: int
    awaited: RecordedPoint | None

    def expect_wait(self, point: RecordedPoint) -> None:
        """Reports that the calling thread is about to wait for a point of this stream, which is not ready."""


class RecordedPoint:
    """One record of an event. The point is ready when the work before it is done.

    Args:
        stream: the stream that completes the point; None if no stream does.

    Attributes:
        recovers: the stream's error ends at this point; later work runs.
    """

    __slots__ = ("_waiters", "error", "ready", "recovers", "stream")

    def __init__(self, stream: WorkQueue | None = None) -> None:
        self.stream = stream
        self.recovers = False
        self.ready = False
        self.error: XlaError | None = None
        self._waiters: list[Callable[[], None]] = []

    def complete(self, error: XlaError | None = None) -> None:
        """Makes the point ready and wakes the waiters. Only the first call has an effect."""
        with _lock:
            if self.ready:
                return
            self.error = error
            self.ready = True
            waiters, self._waiters = self._waiters, []
        for wake in waiters:
            wake()

    def on_completion(self, wake: Callable[[], None]) -> bool:
        """Registers `wake`, which must be short, to be called by `complete`.

        Returns False if the point is ready already; then `wake` is not called.
        """
        with _lock:
            if not self.ready:
                self._waiters.append(wake)
            return not self.ready

    def wait(self, timeout: float | None = None) -> bool:
        """Blocks until the point is ready, for `timeout` seconds at most; returns `ready`.

        Raises:
            FailedPreconditionError: where the point depends on the work that this thread is running, for example in a
                custom call that waits for its own client. Such a wait would never end.
        """
        if self.ready:
            return True
        if self.stream is not None:
            self.stream.expect_wait(self)
        done = threading.Lock()  # signals interrupt a lock's acquire, at a tenth of threading.Event's cost
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
        points, seen = [self], set[WorkQueue]()
        stream = self.stream
        while stream is not None and stream not in seen:
            if stream.turn == here:
                if any(point.ready for point in points):  # their streams went on since this thread looked at them
                    return
                raise FailedPreconditionError(
                    f"work on {stream.name} waits for work that is enqueued after it on the same stream",
                    hint="a custom call can't wait for the device that it runs on: compute with numpy or "
                    "xla_core.evaluate, on another device, or with a Client of its own",
                )
            seen.add(stream)
            awaited = stream.awaited
            if awaited is None:
                return
            points.append(awaited)
            stream = awaited.stream


class HostEvent(Event):
    """An event that the host completes. Ready until it is armed (by `HostStream.record`, or by `arm`).

    Attributes:
        point: the last record. A waiter reads it once, so that later records don't affect its wait.
    """

    __slots__ = ("point",)
    _closed = True  # there is nothing to destroy

    def __init__(self) -> None:
        self.point = _NEVER_RECORDED

    @property
    def ready(self) -> bool:
        return self.point.ready

    @property
    def error(self) -> XlaError | None:
        return self.point.error

    def arm(self, stream: WorkQueue | None = None) -> RecordedPoint:
        """Makes the event not ready. `complete` of the returned point makes it ready again."""
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
    """Returns a shared event that is ready and has no error. It must never be armed."""
    return _READY


def reset_after_fork() -> None:
    """Replaces the lock, which another thread of the parent may have held."""
    global _lock
    _lock = threading.RLock()
