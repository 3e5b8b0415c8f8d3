"""Event: a point in a stream. Callbacks of events run on the core's own threads, never on a device's.

XLA: stream_executor/event.h
"""

from __future__ import annotations

import abc
import os
import queue
import sys
import threading
from collections.abc import Callable

from xla_core.errors import XlaError
from xla_core.interruptible import start_thread

__all__ = ["Event", "EventCallback", "call_soon"]

EventCallback = Callable[[XlaError | None], None]


class Event(abc.ABC):
    """A point in a stream. It becomes ready once all work before that point is done or has been skipped.

    An event that was never recorded is ready. Events are thread-safe. A wait, by the host or by a stream, waits for the
    last record made before the wait; recording the event again doesn't prolong it.

    The core calls `close` once, when it no longer uses the event.
    """

    @property
    @abc.abstractmethod
    def ready(self) -> bool:
        """Whether the point has been reached. It never blocks."""

    @property
    @abc.abstractmethod
    def error(self) -> XlaError | None:
        """The first failure of the work before the point.

        None while the event isn't ready, and where nothing failed.
        """

    @abc.abstractmethod
    def synchronize(self, timeout: float | None = None) -> bool:
        """Blocks the host until the event is ready, for at most `timeout` seconds; returns `ready`. It doesn't raise
        `error`.

        It must not hold a lock that native work needs (such as the GIL), and must let Ctrl-C through.
        """

    # -- what has a default ------------------------------------------------------------------------------------------

    def when_ready(self, callback: EventCallback) -> None:
        """Calls `callback(error)` once when the event is ready.

        If the event is ready now, the caller's thread calls it; otherwise another thread does, but not the device's
        own. By default, a thread of the core polls the event every millisecond.
        """
        if self.ready:
            callback(self.error)
        else:
            _watch(self, callback)

    def close(self) -> None:  # noqa: B027  (nothing to give back is the common case)
        """Frees the driver's resources of the event. It may be called from any thread, also after the device was
        closed.
        """

    def __del__(self) -> None:
        self.close()


_POLL_SECONDS = 0.001
_IDLE_SECONDS = 5.0  # then the thread ends, and the next callback starts another

_calls: queue.SimpleQueue[tuple[EventCallback, XlaError | None]] = queue.SimpleQueue()
_watched: list[tuple[Event, EventCallback]] = []
_lock = threading.Lock()  # guards the two threads and _watched
_caller: threading.Thread | None = None
_watcher: threading.Thread | None = None


def call_soon(callback: EventCallback, error: XlaError | None) -> None:
    """Calls `callback(error)` on the core's callback thread, in the order of these calls.

    An exception in the callback is printed, because no caller waits for it.
    """
    global _caller
    if sys.is_finalizing():  # no thread runs any more
        callback(error)
        return
    _calls.put((callback, error))
    with _lock:
        if _caller is None:
            _caller = _started(_call_queued, "xla event callbacks")


def _watch(event: Event, callback: EventCallback) -> None:
    """Calls `callback` when `event` is ready. A thread polls the event, for events that have no notification of their
    own.
    """
    global _watcher
    with _lock:
        if _watcher is None:
            _watcher = _started(_poll_watched, "xla event watcher")
        _watched.append((event, callback))


def _started(target: Callable[[], None], name: str) -> threading.Thread:
    thread = threading.Thread(target=target, name=name, daemon=True)
    start_thread(thread)
    return thread


def _call_queued() -> None:
    global _caller
    while True:
        try:
            callback, error = _calls.get(timeout=_IDLE_SECONDS)
        except queue.Empty:
            with _lock:
                if _calls.empty():
                    _caller = None
                    return
            continue
        try:
            callback(error)
        except Exception as problem:
            sys.excepthook(type(problem), problem, problem.__traceback__)
        del callback, error


def _poll_watched() -> None:
    global _watcher, _watched
    while True:
        with _lock:
            if not _watched:
                _watcher = None
                return
            first = _watched[0][0]
        first.synchronize(_POLL_SECONDS)
        del first
        with _lock:
            ready = [pair for pair in _watched if pair[0].ready]
            _watched = [pair for pair in _watched if pair not in ready]
        for event, callback in ready:
            call_soon(callback, event.error)
        ready.clear()


def _after_fork() -> None:
    global _lock, _calls, _watched, _caller, _watcher
    _lock, _calls, _watched = threading.Lock(), queue.SimpleQueue(), []
    _caller = _watcher = None


os.register_at_fork(after_in_child=_after_fork)
