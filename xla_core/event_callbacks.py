"""The thread that calls the callbacks of events, and polls the events that have no notification of their own."""

from __future__ import annotations

import os
import queue
import sys
import threading
from collections import deque
from collections.abc import Callable
from typing import Protocol

from xla_core.errors import InternalError, XlaError
from xla_core.interruptible import start_thread

EventCallback = Callable[[XlaError | None], None]


class PolledEvent(Protocol):
    """The part of an event that the thread uses."""

    @property
    def ready(self) -> bool: ...

    @property
    def error(self) -> XlaError | None: ...


_POLL_SECONDS = 0.001
_IDLE_SECONDS = 5.0  # then the thread ends, and the next callback starts another

_calls: queue.SimpleQueue[tuple[EventCallback, XlaError | None]] = queue.SimpleQueue()
_watched: deque[tuple[PolledEvent, EventCallback]] = deque()  # only the thread uses it
_lock = threading.RLock()  # guards _thread; a finalizer that runs meanwhile may add a call
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


def call_when_ready(event: PolledEvent, callback: EventCallback) -> None:
    """Calls `callback(error)` on the callback thread once the event is ready. The thread polls the event."""
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
                f"{name}.ready or .error raised {text}", hint="neither may raise an exception: correct the backend"
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
    _lock, _calls, _watched, _thread = threading.RLock(), queue.SimpleQueue(), deque(), None


os.register_at_fork(after_in_child=_after_fork)
