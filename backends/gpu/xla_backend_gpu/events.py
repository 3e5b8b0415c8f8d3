"""GpuEvent: a point in a stream of the device."""

from __future__ import annotations

import time
from typing import Any

from xla_backend_gpu.driver import Driver
from xla_core.backend import Event
from xla_core.errors import XlaError
from xla_core.runtime import HostEvent

SIGNAL_SECONDS = 0.05
"""Waits are split into such ones, so that Ctrl-C gets through."""


class Point:
    """One record of an event.

    Attributes:
        passed: an event that is ready when the host's queue has reached the record.
        mark: the driver's event. None before that, and after a failure, when no work is on the device.
    """

    __slots__ = ("_error", "driver", "mark", "passed")

    def __init__(self, driver: Driver) -> None:
        self.driver = driver
        self.passed = HostEvent()
        self.mark: Any = None
        self._error: XlaError | None = None

    def reached(self, seconds: float) -> bool:
        """Tells whether the work before the record is done or skipped. Waits for it for at most `seconds`."""
        end = time.monotonic() + seconds
        if not self.passed.ready and not (seconds > 0 and self.passed.synchronize(seconds)):
            return False
        if self.mark is None or self._error is not None:
            return True
        try:
            return self.driver.reached(self.mark, max(0.0, end - time.monotonic()))
        except XlaError as error:
            self._error = error
            return True

    @property
    def error(self) -> XlaError | None:
        return self.passed.error or self._error


class GpuEvent(Event):
    """A point in a stream of the device. Each record makes a new driver event, `point`."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver
        self.point: Point | None = None

    @property
    def ready(self) -> bool:
        return self.point is None or self.point.reached(0.0)

    @property
    def error(self) -> XlaError | None:
        return self.point.error if self.point is not None and self.point.reached(0.0) else None

    def synchronize(self, timeout: float | None = None) -> bool:
        point = self.point
        end = None if timeout is None else time.monotonic() + timeout
        while point is not None:
            left = SIGNAL_SECONDS if end is None else min(SIGNAL_SECONDS, end - time.monotonic())
            if point.reached(max(left, 0.0)):
                break
            if left <= 0:
                return False
        return True
