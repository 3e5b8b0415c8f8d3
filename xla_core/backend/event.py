"""Event: a point in a stream. Callbacks of events run on the core's own threads, never on a device's.

XLA: stream_executor/event.h
"""

from __future__ import annotations

import abc
import os
import queue
import sys
import threading
from collections import deque
from collections.abc import Callable

from xla_core.errors import InternalError, XlaError
from xla_core.interruptible import start_thread

__all__ = ["Event", "EventCallback", "call_soon"]

EventCallback = Callable[[XlaError | None], None]


class Event(abc.ABC):
    """A point in a stream. It becomes ready once all work before that point is done or has been skipped.

    An event that was never recorded is ready. Events are thread-safe. A wait, by the host or by a stream, waits for the
    last record made before the wait; recording the event again doesn't prolong it.
    """

    _closed = False

    @property
    @abc.abstractmethod
    def ready(self) -> bool:
        """Whether the point has been reached. It never blocks."""

    @property
    @abc.abstractmethod
    def error(self) -> XlaError | None:
        """The first failure of the work before the point; None if nothing failed, or while the event isn't ready."""

    @abc.abstractmethod
    def synchronize(self, timeout: float | None = None) -> bool:
        """Blocks the host until the event is ready, for `timeout` seconds at most. Returns `ready`; raises no `error`.

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

    def destroy(self) -> None:  # noqa: B027  (nothing to give back is the common case)
        """Frees the driver's resources of the event. The core calls this once, when nobody uses the event any longer.

        It may be called from any thread, also after the device was closed.
        """

    def close(self) -> None:
        """Calls `destroy`, unless that was done. Dropping the last reference to the event does this, too."""
        if not self._closed:
            self._closed = True
            self.destroy()

    def __del__(self) -> None:
        self.close()


_POLL_SECONDS = 0.001
_IDLE_SECONDS = 5.0  # then the thread ends, and the next callback starts another

_calls: queue.SimpleQueue[tuple[EventCallback, XlaError | None]] = queue.SimpleQueue()
_watched: deque[tuple[Event, EventCallback]] = deque()  # only the thread uses it
_lock = threading.Lock()  # guards _thread
_thread: threading.Thread | None = None


def call_soon(callback: EventCallback, error: XlaError | None) -> None:
    """Calls `callback(error)` on the core's callback thread, in the order of these calls.

    An exception in the callback is printed, because no caller waits for it.
    """
    global _thread
    if sys.is_finalizing():  # no thread runs any more
        callback(error)
        return
    _calls.put((callback, error))
    with _lock:
        if _thread is None:
            thread = threading.Thread(target=_serve, name="xla event callbacks", daemon=True)
            start_thread(thread)
            _thread = thread


def _watch(event: Event, callback: EventCallback) -> None:
    """Has the callback thread poll the event, for events that have no notification of their own."""
    call_soon(lambda _: _watched.append((event, callback)), None)


def _serve() -> None:
    global _thread
    try:
        while True:
            try:
                _call(*_calls.get(timeout=_POLL_SECONDS if _watched else _IDLE_SECONDS))
            except queue.Empty:
                with _lock:
                    if not _watched and _calls.empty():
                        _thread = None
                        return
            _call_watched()
    except BaseException:  # only sys.excepthook raises here
        _thread = None  # so that the next callback starts another thread
        raise


def _call_watched() -> None:
    error: XlaError | None
    for _ in range(len(_watched)):
        event, callback = _watched.popleft()
        try:
            if not event.ready:
                _watched.append((event, callback))
                continue
            error = event.error
        except BaseException as problem:
            text = f"{type(problem).__name__}: {problem}"
            name = type(event).__name__
            error = InternalError(
                f"{name}.ready or .error raised {text}", hint="neither may raise: correct the backend"
            )
            error.__cause__ = problem
        _call(callback, error)


def _call(callback: EventCallback, error: XlaError | None) -> None:
    try:
        callback(error)
    except BaseException as problem:  # also SystemExit, which would end the thread
        sys.excepthook(type(problem), problem, problem.__traceback__)


def _after_fork() -> None:
    global _lock, _calls, _watched, _thread
    _lock, _calls, _watched, _thread = threading.Lock(), queue.SimpleQueue(), deque(), None


os.register_at_fork(after_in_child=_after_fork)
