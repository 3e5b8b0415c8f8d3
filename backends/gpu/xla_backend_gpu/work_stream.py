"""WorkStream: turns the operations of a stream into work for a queue of the device."""

from __future__ import annotations

import abc
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from xla_backend_gpu.driver import Driver, LaunchArguments
from xla_backend_gpu.events import GpuEvent
from xla_core.backend import DeviceMemory, Event, HostBytes, Stream
from xla_core.schedule import LaunchDimensions

if TYPE_CHECKING:
    from xla_backend_gpu.cublas.matmul import Matmul
    from xla_backend_gpu.kernel import GpuKernel

_COPY_MICROSECONDS_PER_BYTE = 1e-4  # 10 GB/s
_SHORT_MICROSECONDS = 100.0  # of a copy to the host that its caller may do
_MATMUL_MICROSECONDS = 10.0  # to call cuBLASLt


def _address(memory: DeviceMemory) -> int:
    return int(memory.handle) + memory.offset


class WorkStream(Stream):
    """A stream whose operations are functions that enqueue them on a queue of the driver.

    Attributes:
        driver: the device's.
    """

    def __init__(self, driver: Driver) -> None:
        self.driver = driver

    @abc.abstractmethod
    def enqueue_work(
        self, work: Callable[[Any], None], microseconds: float = 0.0, is_short: Callable[[Any], bool] | None = None
    ) -> None:
        """Takes work, which enqueues something on the queue that it gets, and is called in the stream's order.

        Args:
            work: the work.
            microseconds: how long the call takes its thread, about.
            is_short: tells when its turn has come whether the call is so short after all that the caller's thread may
                do it.
        """

    # -- work --------------------------------------------------------------------------------------------------------

    def memcpy_h2d(self, destination: DeviceMemory, source: HostBytes) -> None:
        address, cost = _address(destination), source.size * _COPY_MICROSECONDS_PER_BYTE
        self.enqueue_work(lambda queue: self.driver.write(queue, address, source), cost)

    def memcpy_d2h(self, destination: HostBytes, source: DeviceMemory) -> None:
        address = _address(source)
        cost = destination.size * _COPY_MICROSECONDS_PER_BYTE
        self.enqueue_work(
            lambda queue: self.driver.read(queue, destination, address),
            float("inf"),  # the device's earlier work
            self.driver.is_idle if cost < _SHORT_MICROSECONDS else None,
        )

    def memcpy_d2d(self, destination: DeviceMemory, source: DeviceMemory) -> None:
        to, address, size = _address(destination), _address(source), min(destination.size, source.size)
        self.enqueue_work(lambda queue: self.driver.copy(queue, to, address, size))

    def memset(self, destination: DeviceMemory, value: int) -> None:
        address, size = _address(destination), destination.size
        self.enqueue_work(lambda queue: self.driver.fill(queue, address, value, size))

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
        self.enqueue_work(
            lambda queue: self.driver.launch(queue, kernel.code.function(self.driver, kernel.name), launch),
            0.0 if loaded else float("inf"),
        )

    def multiply(self, matmul: Matmul, memories: Sequence[DeviceMemory], name: str) -> None:
        """Enqueues a product of cuBLASLt; see `Driver.multiply`."""
        places = [(_address(memory), memory.size) for memory in memories]
        opened = self.driver.has_opened_blas
        self.enqueue_work(
            lambda queue: self.driver.multiply(queue, matmul, places, name),
            _MATMUL_MICROSECONDS if opened else float("inf"),
        )

    def create_event(self) -> Event:
        return GpuEvent(self.driver)
