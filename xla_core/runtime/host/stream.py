"""HostStream: a stream on host threads, for devices that are host code."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import numpy as np

from xla_core.backend.device_memory import DeviceMemory
from xla_core.backend.event import Event
from xla_core.backend.stream import HostBytes, Stream
from xla_core.errors import InternalError
from xla_core.runtime.host.event import HostEvent, ready_event
from xla_core.runtime.host.holding_queue import HoldingQueue
from xla_core.runtime.host.work import Work

if TYPE_CHECKING:
    from xla_core.backend.stream_executor import StreamExecutor

_COPY_MICROSECONDS_PER_BYTE = 1e-4  # 10 GB/s


class HostStream(HoldingQueue, Stream):
    """An in-order queue on the host.

    The device's memory is reached by `executor.host_view`; a backend whose memory has no such view overrides `write`,
    `read`, `copy` and `fill`.
    """

    def __init__(self, executor: StreamExecutor, name: str = "", *, inline: bool = True) -> None:
        super().__init__(name or executor.device_name, inline=inline)
        self.executor = executor

    # -- copies, called in the stream's turn -------------------------------------------------------------------------

    def write(self, destination: DeviceMemory, source: HostBytes) -> None:
        self._view(destination)[: source.size] = source

    def read(self, destination: HostBytes, source: DeviceMemory) -> None:
        destination[:] = self._view(source)[: destination.size]

    def copy(self, destination: DeviceMemory, source: DeviceMemory) -> None:
        size = min(destination.size, source.size)
        self._view(destination)[:size] = self._view(source)[:size]

    def fill(self, destination: DeviceMemory, value: int) -> None:
        self._view(destination).fill(value)

    def _view(self, memory: DeviceMemory) -> HostBytes:
        view = self.executor.host_view(memory)
        if view is None:
            raise InternalError(f"{type(self.executor).__name__} gives no host view of {memory!r}")
        return np.frombuffer(view, np.uint8)

    # -- Stream ------------------------------------------------------------------------------------------------------

    def memcpy_h2d(self, destination: DeviceMemory, source: HostBytes) -> None:
        self.enqueue(lambda: self.write(destination, source), source.size * _COPY_MICROSECONDS_PER_BYTE)

    def memcpy_d2h(self, destination: HostBytes, source: DeviceMemory) -> None:
        self.enqueue(lambda: self.read(destination, source), destination.size * _COPY_MICROSECONDS_PER_BYTE)

    def memcpy_d2d(self, destination: DeviceMemory, source: DeviceMemory) -> None:
        cost = min(destination.size, source.size) * _COPY_MICROSECONDS_PER_BYTE
        self.enqueue(lambda: self.copy(destination, source), cost)

    def memset(self, destination: DeviceMemory, value: int) -> None:
        self.enqueue(lambda: self.fill(destination, value), destination.size * _COPY_MICROSECONDS_PER_BYTE)

    def upload(self, destination: DeviceMemory, source: HostBytes) -> None:
        if self._inline_limit > 0 and self._idle():  # copying to a snapshot would cost as much
            try:
                if self._error is None:
                    self._run(functools.partial(self.write, destination, source))
            finally:
                self._busy.release()
        else:
            self.memcpy_h2d(destination, source.copy())

    def host_callback(self, callback: Work) -> None:
        self.enqueue(callback)

    def create_event(self) -> HostEvent:
        return HostEvent()

    def record(self, event: Event) -> None:
        if not isinstance(event, HostEvent):
            raise InternalError(f"a {type(event).__name__} is not an event of a host stream")
        point = event.arm(self)
        if self._idle():
            error = self._error
            self._busy.release()
            point.complete(error)
        else:
            self._push(point)

    def wait(self, event: Event) -> None:
        if event.ready and event.error is None:
            return
        point = event.point if isinstance(event, HostEvent) else None

        def wait_for_event() -> None:
            self.awaited = point
            try:
                if point is None:
                    event.synchronize()
                else:
                    point.wait()
            finally:
                self.awaited = None
            error = event.error if point is None else point.error
            if error is not None:
                raise error

        self.enqueue(wait_for_event, 0.0 if event.ready else float("inf"))

    def finish(self) -> Event:
        if self._idle():
            error = self._error
            if error is not None and not self._sticky:
                self._error = None
            self._busy.release()
            if error is None:
                return ready_event()
            event = HostEvent()
            event.arm().complete(error)
            return event
        event = HostEvent()
        point = event.arm(self)
        point.recovers = True
        self._push(point)
        return event

    def synchronize(self) -> None:
        event = self.create_event()
        self.record(event)
        event.synchronize()
