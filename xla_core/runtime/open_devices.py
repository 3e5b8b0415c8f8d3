"""What the devices of a client have open, and how it is closed where the client is dropped without `close`."""

from __future__ import annotations

import os
import threading
import time
import weakref
from typing import Protocol

from xla_core.backend.platform import Platform
from xla_core.event_callbacks import call_soon
from xla_core.interruptible import start_thread

_OPENING_SECONDS = 5.0  # that a new client waits for dropped ones
_EXIT_SECONDS = 1.0


class Closable(Protocol):
    """A stream, or an allocator."""

    def close(self) -> None: ...


class OpenDevices:
    """What the devices of one client have open: a list for each, in the order in which it is closed.

    The client's DeviceSet and each of its devices refer to it, so it ends with the last of them. Then a thread closes
    what is still open, because a reference may end anywhere: in a stream's own thread, or while a lock is held.
    """

    def __init__(self, platform: Platform) -> None:
        self._parts: list[list[Closable]] = []
        self._closed_when_dropped = weakref.finalize(self, _when_dropped, platform, self._parts, os.getpid())
        self._closed_when_dropped.atexit = False

    def add(self, *parts: Closable) -> list[Closable]:
        """Returns a list of a device's parts, from which `close_all` removes those that it closes."""
        self._parts.insert(0, list(parts))  # host memory is opened after its device, and closed before
        return self._parts[0]

    def all_closed(self) -> None:
        """Records that the client closed the platform, too."""
        self._closed_when_dropped.detach()


def close_all(parts: list[Closable], failure: Exception | None = None) -> None:
    """Closes and removes all parts. Then raises `failure`, or else the first failure of a part.

    Ctrl-C may interrupt it. Another call closes the rest.
    """
    while parts:
        part = parts[0]
        try:
            part.close()
        except Exception as raised:  # a driver may raise anything, and the other parts must be closed too
            failure = failure or raised
        parts.remove(part)  # a run in another thread may have put a further stream before it
    if failure is not None:
        raise failure


_closings: list[threading.Event] = []  # of dropped clients whose devices are not yet closed


def wait_until_opening() -> None:
    """Waits until the devices of dropped clients are closed, since some can be opened only once at a time."""
    _wait(_OPENING_SECONDS)


def wait_at_exit() -> None:
    _wait(_EXIT_SECONDS)


def _wait(seconds: float) -> None:
    deadline = time.monotonic() + seconds
    for closed in list(_closings):
        closed.wait(max(0.0, deadline - time.monotonic()))


def _when_dropped(platform: Platform, parts: list[list[Closable]], process: int) -> None:
    if process != os.getpid():  # the devices belong to the parent
        return
    closed = threading.Event()
    _closings.append(closed)

    def close() -> None:
        try:
            _close(platform, parts)
        finally:
            end()

    def end() -> None:
        _closings.remove(closed)
        closed.set()

    def start(_: object) -> None:
        try:
            start_thread(threading.Thread(target=close, name=f"close {platform.name}", daemon=True))
        except BaseException:  # nobody closes the devices, so nobody must wait for it
            end()
            raise

    call_soon(start, None)  # starting a thread may wait for a lock that is held here


def _close(platform: Platform, parts: list[list[Closable]]) -> None:
    platform.close_transfers()
    failure: Exception | None = None
    for device in parts:
        try:
            close_all(device)
        except Exception as raised:
            failure = failure or raised
    platform.close()
    if failure is not None:
        raise failure


os.register_at_fork(after_in_child=_closings.clear)
