"""Streams and events over a driver in C, and the host's memory and errors to which they refer."""

from __future__ import annotations

import ctypes
import itertools
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from xla_backend_template.c_driver import Callback, CDriver
from xla_core.backend import DeviceMemory, Event, HostBytes, Stream
from xla_core.errors import InternalError, InvalidArgumentError, XlaError, as_xla_error

_WAIT_MILLISECONDS = 50  # waits are split, because Ctrl-C is handled only between calls of the driver

_FAILURES_KEPT = 256

_failures: dict[int, XlaError] = {}  # by the number that the driver carries through queues and events
_numbers = itertools.count(-1, -1)  # positive numbers are statuses of the driver


def _number_of(failure: XlaError) -> int:
    number = next(_numbers)
    _failures[number] = failure
    _failures.pop(number + _FAILURES_KEPT, None)
    return number


def _failure(number: int, device_name: str) -> XlaError | None:
    if not number:
        return None
    unknown = InternalError(
        f"work failed on {device_name}: the driver gave status {number}",
        hint="the driver's own documentation says what it means; XLA_FLAGS=--xla_dump_to=DIR writes the programs, and "
        "`xla bisect` finds the instruction that fails in one",
    )
    return _failures.get(number, unknown)


def address(memory: DeviceMemory) -> int:
    """The driver's address of a range of memory."""
    start: int = memory.handle
    return start + memory.offset


class DriverEvent(Event):
    """An event of the driver, made from its handle. Errors name `device_name`."""

    def __init__(self, driver: CDriver, handle: int, device_name: str) -> None:
        self.driver = driver
        self.handle = handle
        self.device_name = device_name

    def _wait(self, milliseconds: int) -> tuple[bool, XlaError | None]:
        error = ctypes.c_int64()
        ready = self.driver.event_wait(self.handle, milliseconds, ctypes.byref(error))
        return bool(ready), _failure(error.value, self.device_name)

    @property
    def ready(self) -> bool:
        return self._wait(0)[0]

    @property
    def error(self) -> XlaError | None:
        return self._wait(0)[1]

    def synchronize(self, timeout: float | None = None) -> bool:
        end = time.monotonic() + (float("inf") if timeout is None else timeout)
        while (left := end - time.monotonic()) > 0:
            if self._wait(int(min(_WAIT_MILLISECONDS, 1 + left * 1000)))[0]:
                return True
        return self.ready

    def destroy(self) -> None:
        self.driver.event_destroy(self.handle)


class DriverStream(Stream):
    """A queue of the driver. Arrays and callbacks of the host that the driver still uses are kept alive here."""

    def __init__(self, driver: CDriver, device: int, device_name: str) -> None:
        self.driver = driver
        self.device_name = device_name
        self.handle = driver.create("queue_create", device)
        self._lock = threading.Lock()
        self._submitted = 0
        self._kept: deque[tuple[int, Any]] = deque()  # (number of a submission, the objects that it uses)

    def _submit(self, function: Callable[..., None], *arguments: Any, keep: Any = None) -> None:
        with self._lock:
            done = self.driver.queue_done(self.handle)
            while self._kept and self._kept[0][0] <= done:
                self._kept.popleft()
            self._submitted += 1
            if keep is not None:
                self._kept.append((self._submitted, keep))
            function(self.handle, *arguments)

    def memcpy_h2d(self, destination: DeviceMemory, source: HostBytes) -> None:
        self._submit(self.driver.copy_in, address(destination), source.ctypes.data, source.size, keep=source)

    def memcpy_d2h(self, destination: HostBytes, source: DeviceMemory) -> None:
        self._submit(self.driver.copy_out, destination.ctypes.data, address(source), destination.size, keep=destination)

    def memcpy_d2d(self, destination: DeviceMemory, source: DeviceMemory) -> None:
        self._submit(self.driver.copy, address(destination), address(source), min(destination.size, source.size))

    def memset(self, destination: DeviceMemory, value: int) -> None:
        self._submit(self.driver.fill, address(destination), value, destination.size)

    def launch(self, kernel: int, buffers: Sequence[DeviceMemory], parameters: Sequence[int]) -> None:
        """Enqueues a launch of the kernel at an address of the driver's. The driver copies addresses and parameters."""
        if not isinstance(kernel, int) or isinstance(kernel, bool) or kernel <= 0:
            raise InvalidArgumentError(f"a kernel must be an address, as CDriver.find_kernel returns, not {kernel!r}")
        addresses = (ctypes.c_uint64 * len(buffers))(*map(address, buffers))
        numbers = (ctypes.c_int64 * len(parameters))(*parameters)
        self._submit(self.driver.launch, kernel, len(buffers), addresses, len(parameters), numbers)

    def host_callback(self, callback: Callable[[], None]) -> None:
        def call() -> int:
            try:
                callback()
            except BaseException as error:  # SystemExit too: the driver must learn that the work has failed
                return _number_of(as_xla_error(error, f"work on {self.device_name}"))
            return 0

        function = Callback(call)
        self._submit(self.driver.call, function, keep=function)

    def record(self, event: Event) -> None:
        assert isinstance(event, DriverEvent)
        self._submit(self.driver.record, event.handle)

    def wait(self, event: Event) -> None:
        assert isinstance(event, DriverEvent)
        self._submit(self.driver.wait, event.handle)

    def recover(self) -> None:
        self._submit(self.driver.recover)

    def synchronize(self) -> None:
        event = self.create_event()
        self.record(event)
        event.synchronize()

    @property
    def error(self) -> XlaError | None:
        return _failure(self.driver.queue_error(self.handle), self.device_name)

    def create_event(self) -> Event:
        return DriverEvent(self.driver, self.driver.create("event_create"), self.device_name)

    def close(self) -> None:
        self.driver.queue_destroy(self.handle)
