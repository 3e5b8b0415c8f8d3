"""A GPU as a device of xla-core: memory, streams and events over a `Driver`.

A stream has two queues. The host's queue, a `HostStream`, decides what is enqueued on the device: it runs callbacks,
skips work after a failure, and waits for events that aren't recorded yet. The device's queue runs copies and kernels.
If the host's queue is idle, the caller's thread enqueues the work on the device at once.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

from xla_backend_gpu.driver import Driver
from xla_backend_gpu.events import SIGNAL_SECONDS, GpuEvent, Point
from xla_backend_gpu.work_stream import WorkStream
from xla_core.backend import DeviceFeatures, DeviceMemory, Event, Stream, StreamExecutor
from xla_core.errors import InternalError, XlaError
from xla_core.runtime import HostEvent, HostStream
from xla_core.target import DeviceDescription


class GpuStream(WorkStream):
    """A stream of the device, behind a queue of the host."""

    def __init__(self, executor: GpuExecutor) -> None:
        super().__init__(executor.driver)
        self._order = HostStream(executor)
        self._queue: Any = self.driver.create_stream(executor)  # the device's

    @property
    def name(self) -> str:
        return self._order.name

    @name.setter
    def name(self, name: str) -> None:
        self._order.name = name
        self.driver.name_stream(self._queue, name)

    def enqueue_work(
        self, work: Callable[[Any], None], microseconds: float = 0.0, is_short: Callable[[Any], bool] | None = None
    ) -> None:
        """Enqueues work on the host's queue.

        After a failure it waits for the device's earlier work, because later work on the host may free memory.
        """

        def in_turn() -> None:
            try:
                self.driver.require_alive()
                work(self._queue)
            except XlaError:
                with contextlib.suppress(XlaError):  # the first failure is the one to report
                    self._drain()
                raise

        def attempt() -> bool:
            if is_short is None or not is_short(self._queue):
                return False
            in_turn()
            return True

        self._order.enqueue(in_turn, microseconds, attempt=attempt if is_short is not None else None)

    def _drain(self) -> None:
        """Waits for the work on the device, unless the device is lost."""
        if self.driver.lost is None:
            mark = self.driver.record(self._queue)
            while not self.driver.reached(mark, SIGNAL_SECONDS):
                pass

    def launch_graph(self, graph: Callable[[], Any]) -> None:
        """Enqueues a graph of the driver. `graph` returns or captures it when this work is run."""
        self.enqueue_work(lambda queue: self.driver.launch_graph(queue, graph()))

    def host_callback(self, callback: Callable[[], None]) -> None:
        def call(queue: Any) -> None:
            self._drain()
            callback()

        self.enqueue_work(call, float("inf"))

    # -- events ------------------------------------------------------------------------------------------------------

    def record(self, event: Event) -> None:
        if not isinstance(event, GpuEvent):
            raise InternalError(f"a {type(event).__name__} is not an event of a GPU")
        point = Point(self.driver)

        def mark(queue: Any) -> None:
            point.mark = self.driver.record(queue)

        self.enqueue_work(mark)
        self._order.record(point.passed)
        event.point = point

    def wait(self, event: Event) -> None:
        point = event.point if isinstance(event, GpuEvent) else None
        if point is None and isinstance(event, GpuEvent):
            return  # it was never recorded, so there is nothing to wait for; a later record doesn't count
        passed = point.passed if point is not None else event

        def wait_in_turn(queue: Any) -> None:
            self._order.awaited = passed.point if isinstance(passed, HostEvent) else None
            try:
                passed.synchronize()
            finally:
                self._order.awaited = None
            if passed.error is not None:
                raise passed.error
            if point is not None and point.mark is not None:
                self.driver.wait(queue, point.mark)

        self.enqueue_work(wait_in_turn, 0.0 if passed.ready and passed.error is None else float("inf"))

    def synchronize(self) -> None:
        event = self.create_event()
        self.record(event)
        event.synchronize()

    # -- failures ----------------------------------------------------------------------------------------------------

    @property
    def error(self) -> XlaError | None:
        return self._order.error or self.driver.lost

    def recover(self) -> None:
        self._order.recover()
        self.driver.recover(self._queue)

    def run_inline(self) -> None:
        self._order.run_inline()

    def close(self) -> None:
        self.synchronize()
        self._order.close()
        queue, self._queue = self._queue, None
        if queue is not None:
            self.driver.close_stream(queue)


class GpuExecutor(StreamExecutor):
    """One GPU. The handle of device memory is its address."""

    def __init__(self, ordinal: int, driver: Driver) -> None:
        super().__init__(ordinal)
        self.driver = driver
        self.features = DeviceFeatures(memory_slices=True, callbacks_may_enqueue=True, peer_copies=driver.has_peers)

    @property
    def description(self) -> DeviceDescription:
        return self.driver.description

    def allocate(self, size: int, memory_space: int = 0) -> DeviceMemory | None:
        loss = self.driver.loss()
        if loss is not None:
            raise loss
        address = self.driver.allocate(size)
        return None if address is None else DeviceMemory(address, size, memory_space=memory_space)

    def deallocate(self, memory: DeviceMemory) -> None:
        self.driver.free(memory.handle)

    def create_stream(self) -> Stream:
        return GpuStream(self)

    def close(self) -> None:
        self.driver.close()
