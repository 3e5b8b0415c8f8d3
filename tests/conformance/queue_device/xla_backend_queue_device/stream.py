"""Streams and events: the driver's queues and events, with the host's memory and errors that they refer to."""

from __future__ import annotations

import ctypes
import itertools
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

from xla_backend_queue_device.driver import OUTSIDE_MEMORY, Callback, Launch, driver
from xla_core.backend import DeviceMemory, Event, HostBytes, Stream
from xla_core.errors import InternalError, XlaError

if TYPE_CHECKING:
    from xla_backend_queue_device.executor import QueueExecutor

_SIGNAL_SECONDS = 0.05  # waits are split, because a signal is handled only between calls of the driver

_failures: dict[int, XlaError] = {}  # by the number that the driver carries through streams and events
_numbers = itertools.count(1)


def _failure(number: int) -> XlaError | None:
    if number == OUTSIDE_MEMORY:
        return InternalError("the device reports an access outside of its memory")
    return _failures[number] if number else None


def address(memory: DeviceMemory) -> int:
    """The driver's address of a range of memory."""
    return int(memory.handle) + memory.offset


class QueueEvent(Event):
    """An event of the driver."""

    def __init__(self) -> None:
        self.handle = driver().event_create()
        self._error = ctypes.c_int64()

    def _reached(self, seconds: float) -> tuple[bool, int]:
        error = ctypes.c_int64()
        ready = bool(driver().event_synchronize(self.handle, seconds, ctypes.byref(error)))
        return ready, error.value

    @property
    def ready(self) -> bool:
        return self._reached(0.0)[0]

    @property
    def error(self) -> XlaError | None:
        ready, number = self._reached(0.0)
        return _failure(number) if ready else None

    def synchronize(self, timeout: float | None = None) -> bool:
        end = None if timeout is None else time.monotonic() + timeout
        while True:
            left = _SIGNAL_SECONDS if end is None else min(_SIGNAL_SECONDS, end - time.monotonic())
            if self._reached(max(left, 0.0))[0]:
                return True
            if end is not None and time.monotonic() >= end:
                return self.ready

    def destroy(self) -> None:
        driver().event_destroy(self.handle)


class QueueStream(Stream):
    """A queue of the driver. It keeps host memory and callbacks alive until the driver is done with them."""

    def __init__(self, executor: QueueExecutor) -> None:
        self.handle = driver().stream_create(executor.handle)
        self._kept: deque[tuple[int, object]] = deque()  # number of the command, what it uses
        self._enqueued = 0
        self._lock = threading.Lock()

    def _enqueue(self, function: str, *arguments: object, keep: object = None) -> None:
        with self._lock:
            done = driver().stream_done(self.handle)
            while self._kept and self._kept[0][0] <= done:
                self._kept.popleft()
            self._enqueued += 1
            if keep is not None:
                self._kept.append((self._enqueued, keep))
            getattr(driver(), function)(self.handle, *arguments)

    def memcpy_h2d(self, destination: DeviceMemory, source: HostBytes) -> None:
        self._enqueue("stream_h2d", address(destination), source.ctypes.data, source.size, keep=source)

    def memcpy_d2h(self, destination: HostBytes, source: DeviceMemory) -> None:
        self._enqueue("stream_d2h", destination.ctypes.data, address(source), destination.size, keep=destination)

    def memcpy_d2d(self, destination: DeviceMemory, source: DeviceMemory) -> None:
        size = min(destination.size, source.size)
        self._enqueue("stream_d2d", address(destination), address(source), size)

    def memset(self, destination: DeviceMemory, value: int) -> None:
        self._enqueue("stream_fill", address(destination), destination.size, value)

    def launch(self, launch: Launch) -> None:
        self._enqueue("stream_launch", ctypes.byref(launch))  # the driver copies it

    def host_callback(self, callback: Callable[[], None]) -> None:
        def call() -> int:
            try:
                callback()
            except Exception as error:
                number = next(_numbers)
                _failures[number] = _as_xla_error(error)
                return number
            return 0

        function = Callback(call)
        self._enqueue("stream_callback", function, keep=function)

    def record(self, event: Event) -> None:
        with self._lock:
            self._enqueued += 1
            driver().event_record(_handle(event), self.handle)

    def wait(self, event: Event) -> None:
        with self._lock:
            self._enqueued += 1
            driver().event_await(_handle(event), self.handle)

    def synchronize(self) -> None:
        event = self.create_event()
        self.record(event)
        event.synchronize()

    @property
    def error(self) -> XlaError | None:
        return _failure(driver().stream_error(self.handle))

    def recover(self) -> None:
        self._enqueue("stream_recover")

    def create_event(self) -> Event:
        return QueueEvent()

    def close(self) -> None:
        driver().stream_destroy(self.handle)


def _handle(event: Event) -> int:
    if not isinstance(event, QueueEvent):
        raise InternalError(f"a {type(event).__name__} is not an event of this device")
    return int(event.handle)


def _as_xla_error(error: Exception) -> XlaError:
    if isinstance(error, XlaError):
        return error
    wrapped = InternalError(f"a host callback failed with {type(error).__name__}: {error}")
    wrapped.__cause__ = error
    return wrapped
