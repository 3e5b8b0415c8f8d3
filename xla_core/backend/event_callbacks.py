"""Calls the callbacks of events on the core's own threads, so that none runs on a device's thread."""

from __future__ import annotations

import os
import queue
import sys
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from xla_core.errors import ResourceExhaustedError, XlaError

if TYPE_CHECKING:
    from xla_core.backend.stream import Event  # Event's default is made of this module

__all__ = ["EventCallback", "call_soon", "watch"]

EventCallback = Callable[[XlaError | None], None]

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
            _caller = _started(_call, "xla event callbacks")


def watch(event: Event, callback: EventCallback) -> None:
    """Calls `callback` when `event` is ready. A thread polls the event, for events that have no notification of their
    own.
    """
    global _watcher
    with _lock:
        if _watcher is None:
            _watcher = _started(_watch, "xla event watcher")
        _watched.append((event, callback))


def _started(target: Callable[[], None], name: str) -> threading.Thread:
    thread = threading.Thread(target=target, name=name, daemon=True)
    try:
        thread.start()
    except RuntimeError as error:
        raise ResourceExhaustedError(
            f"no thread can be started for {name}: {error}", hint="raise the limit on threads (ulimit -u)"
        ) from None
    return thread


def _call() -> None:
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


def _watch() -> None:
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
