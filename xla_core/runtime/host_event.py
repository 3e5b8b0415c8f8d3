"""HostEvent: a point in the work of host threads."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from xla_core.backend.stream import Event
from xla_core.errors import XlaError

__all__ = ["HostEvent", "ready_event"]

_SIGNAL_SECONDS = 0.1  # a signal that comes just before a wait doesn't wake it; so wait in pieces
_lock = threading.Lock()  # guards every event's state; held for a few instructions


class HostEvent(Event):
    """An event that the host completes. Ready until it is armed (by `HostStream.record`, or by `arm`)."""

    __slots__ = ("_error", "_generation", "_ready", "_waiters")

    def __init__(self) -> None:
        self._ready = True
        self._error: XlaError | None = None
        self._generation = 0
        self._waiters: list[Callable[[], None]] = []

    @property
    def ready(self) -> bool:
        return self._ready

    @property
    def error(self) -> XlaError | None:
        return self._error

    def arm(self) -> int:
        """Makes it not ready; returns what `complete` must name to complete this arming."""
        with _lock:
            self._ready = False
            self._error = None
            self._generation += 1
            return self._generation

    def complete(self, generation: int, error: XlaError | None = None) -> None:
        """Makes it ready and wakes who waits; nothing where it was armed again since."""
        with _lock:
            if generation != self._generation or self._ready:
                return
            self._error = error
            self._ready = True
            waiters, self._waiters = self._waiters, []
        for wake in waiters:
            wake()

    def fail(self, error: XlaError | None) -> None:
        """Completes whatever arming there is."""
        self.complete(self._generation, error)

    def when_ready(self, callback: Callable[[], None]) -> None:
        """Calls `callback`, which must be short, when it is ready, in the thread that completes it; now where it is."""
        with _lock:
            if not self._ready:
                self._waiters.append(callback)
                return
        callback()

    def synchronize(self, timeout: float | None = None) -> bool:
        if self._ready:
            return True
        done = threading.Lock()  # a lock's acquire is what signals interrupt, and it costs a tenth of threading.Event
        done.acquire()
        with _lock:
            if self._ready:
                return True
            self._waiters.append(done.release)
        deadline = None if timeout is None else time.monotonic() + timeout
        while not self._ready:
            left = _SIGNAL_SECONDS if deadline is None else deadline - time.monotonic()
            if left <= 0:
                break
            if not done.acquire(timeout=min(left, _SIGNAL_SECONDS)):
                self._check_wait()
        return self._ready

    def _check_wait(self) -> None:
        """Raises where this thread waits for itself. Called while it waits."""


_READY = HostEvent()


def ready_event() -> HostEvent:
    """A shared event that is ready and without error. Never armed."""
    return _READY


def reset_after_fork() -> None:
    """Replaces the lock, which another thread of the parent may have held."""
    global _lock
    _lock = threading.Lock()
