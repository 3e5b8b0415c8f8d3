"""A GPU as a device of xla-core: memory, streams and events over a `Driver`.

A stream has two queues. The host's queue, a `HostStream`, decides what is enqueued on the device: it runs callbacks,
skips work after a failure, and waits for events that aren't recorded yet. The device's queue runs copies and kernels.
If the host's queue is idle, the caller's thread enqueues the work on the device at once.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from xla_backend_gpu.driver import Driver, LaunchArguments, Step
from xla_core.backend import DeviceFeatures, DeviceMemory, Event, HostBytes, Stream, StreamExecutor
from xla_core.errors import InternalError, XlaError
from xla_core.runtime import HostEvent, HostStream
from xla_core.schedule import LaunchDimensions
from xla_core.target import DeviceDescription

if TYPE_CHECKING:
    from xla_backend_gpu.cublas.matmul import Matmul
    from xla_backend_gpu.kernel import GpuKernel


_COPY_MICROSECONDS_PER_BYTE = 1e-4  # 10 GB/s
_SHORT_MICROSECONDS = 100.0  # of a copy to the host that its caller may do
_MATMUL_MICROSECONDS = 10.0  # to call cuBLASLt
_SIGNAL_SECONDS = 0.05  # waits are split, so that Ctrl-C gets through


def _address(memory: DeviceMemory) -> int:
    return int(memory.handle) + memory.offset


class _Point:
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
        self.point: _Point | None = None

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
            left = _SIGNAL_SECONDS if end is None else min(_SIGNAL_SECONDS, end - time.monotonic())
            if point.reached(max(left, 0.0)):
                break
            if left <= 0:
                return False
        return True


class GpuStream(Stream):
    """A stream of the device, behind a queue of the host."""

    def __init__(self, executor: GpuExecutor) -> None:
        self.driver = executor.driver
        self._order = HostStream(executor)
        self._queue: Any = self.driver.create_stream(executor)  # the device's

    @property
    def name(self) -> str:
        return self._order.name

    @name.setter
    def name(self, name: str) -> None:
        self._order.name = name
        self.driver.name_stream(self._queue, name)

    def _enqueue(
        self, work: Callable[[Any], None], microseconds: float = 0.0, is_short: Callable[[Any], bool] | None = None
    ) -> None:
        """Enqueues, on the host's queue, a call that enqueues work on the device and takes about `microseconds`.

        After a failure it waits for the device's earlier work, because later work on the host may free memory.

        `is_short`, if given, tells when its turn has come whether the call is so short after all that the caller's
        thread may do it.
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
            while not self.driver.reached(mark, _SIGNAL_SECONDS):
                pass

    # -- work --------------------------------------------------------------------------------------------------------

    def memcpy_h2d(self, destination: DeviceMemory, source: HostBytes) -> None:
        address, cost = _address(destination), source.size * _COPY_MICROSECONDS_PER_BYTE
        self._enqueue(lambda queue: self.driver.write(queue, address, source), cost)

    def memcpy_d2h(self, destination: HostBytes, source: DeviceMemory) -> None:
        address = _address(source)
        cost = destination.size * _COPY_MICROSECONDS_PER_BYTE
        self._enqueue(
            lambda queue: self.driver.read(queue, destination, address),
            float("inf"),  # the device's earlier work
            self.driver.is_idle if cost < _SHORT_MICROSECONDS else None,
        )

    def memcpy_d2d(self, destination: DeviceMemory, source: DeviceMemory) -> None:
        to, address, size = _address(destination), _address(source), min(destination.size, source.size)
        self._enqueue(lambda queue: self.driver.copy(queue, to, address, size))

    def memset(self, destination: DeviceMemory, value: int) -> None:
        address, size = _address(destination), destination.size
        self._enqueue(lambda queue: self.driver.fill(queue, address, value, size))

    def launch(self, kernel: GpuKernel, arguments: Sequence[DeviceMemory], dimensions: LaunchDimensions) -> None:
        """Enqueues a kernel."""
        launch = LaunchArguments(
            dimensions.blocks,
            dimensions.threads,
            dimensions.shared_memory_bytes,
            tuple(map(_address, arguments)),
            kernel.instruction,
        )
        loaded = kernel.code.is_loaded(self.driver)
        self._enqueue(
            lambda queue: self.driver.launch(queue, kernel.code.function(self.driver, kernel.name), launch),
            0.0 if loaded else float("inf"),
        )

    def multiply(self, matmul: Matmul, memories: Sequence[DeviceMemory], name: str) -> None:
        """Enqueues a product of cuBLASLt; see `Driver.multiply`."""
        places = [(_address(memory), memory.size) for memory in memories]
        opened = self.driver.has_opened_blas
        self._enqueue(
            lambda queue: self.driver.multiply(queue, matmul, places, name),
            _MATMUL_MICROSECONDS if opened else float("inf"),
        )

    def launch_graph(self, graph: Callable[[], Any]) -> None:
        """Enqueues a graph of the driver. `graph` returns or captures it when this work is run."""
        self._enqueue(lambda queue: self.driver.launch_graph(queue, graph()))

    def host_callback(self, callback: Callable[[], None]) -> None:
        def call(queue: Any) -> None:
            self._drain()
            callback()

        self._enqueue(call, float("inf"))

    # -- events ------------------------------------------------------------------------------------------------------

    def create_event(self) -> Event:
        return GpuEvent(self.driver)

    def record(self, event: Event) -> None:
        if not isinstance(event, GpuEvent):
            raise InternalError(f"a {type(event).__name__} is not an event of a GPU")
        point = _Point(self.driver)

        def mark(queue: Any) -> None:
            point.mark = self.driver.record(queue)

        self._enqueue(mark)
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

        self._enqueue(wait_in_turn, 0.0 if passed.ready and passed.error is None else float("inf"))

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


class GraphRecorder(GpuStream):
    """A stream that keeps the work that is enqueued on it, for a graph.

    Args:
        driver: the device's.
        work: a list for the steps of the graph.
        branch: the stream's number in the graph.
    """

    def __init__(self, driver: Driver, work: list[Step], branch: int = 0) -> None:
        self.driver = driver
        self._work, self._branch = work, branch

    def branch(self, number: int) -> GraphRecorder:
        """Returns the stream of a branch of the same graph."""
        return GraphRecorder(self.driver, self._work, number)

    def _enqueue(
        self, work: Callable[[Any], None], microseconds: float = 0.0, is_short: Callable[[Any], bool] | None = None
    ) -> None:
        self._work.append(Step(work, self._branch))

    def record(self, event: Event) -> None:
        assert isinstance(event, GpuEvent)
        point = event.point = _Point(self.driver)

        def mark(queue: Any) -> None:
            point.mark = self.driver.record(queue)

        self._enqueue(mark)

    def wait(self, event: Event) -> None:
        assert isinstance(event, GpuEvent)
        assert event.point is not None
        point = event.point
        self._enqueue(lambda queue: self.driver.wait(queue, point.mark))

    def recover(self) -> None:
        """A failure is that of the stream that runs the graph."""

    def close(self) -> None:
        self._work.clear()


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
