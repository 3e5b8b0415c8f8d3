"""Returns pooled memory that nobody uses any longer to the devices, on a thread of the core."""

from __future__ import annotations

import os
import threading
import time
import weakref
from collections.abc import Callable
from typing import TypeAlias

from xla_core.errors import ResourceExhaustedError
from xla_core.interruptible import start_thread

SECONDS = 30.0
"""Pooled memory returns to the device when it wasn't used for one to two periods of this length."""

Release: TypeAlias = "weakref.WeakMethod[Callable[[], bool]]"
"""A method that releases idle memory without blocking, and returns whether to call it again."""

_watched: set[Release] = set()
_lock = threading.Lock()  # guards `_watched` and `_thread`
_thread: threading.Thread | None = None


def watch(release: Release) -> None:
    """Calls `release` from time to time, until it returns False. Without a thread, memory stays in the pool."""
    global _thread
    with _lock:
        _watched.add(release)
        if _thread is None:
            thread = threading.Thread(target=_serve, name="xla idle memory", daemon=True)
            try:
                start_thread(thread)
            except ResourceExhaustedError:
                return
            _thread = thread


def _serve() -> None:
    global _thread
    while True:
        time.sleep(SECONDS)
        with _lock:
            if not _watched:
                _thread = None
                return
            releases = list(_watched)
            _watched.clear()  # `watch` may add them again meanwhile
        for release in releases:
            if (method := release()) is not None and method():
                with _lock:
                    _watched.add(release)
        method = None  # it would keep the device alive


def _after_fork() -> None:
    global _lock, _thread
    _lock, _thread = threading.Lock(), None
    _watched.clear()


os.register_at_fork(after_in_child=_after_fork)
