"""Measures kernels on emulated devices: `counted` counts instructions and accesses, `observed` keeps each access of
memory.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterator

from xla_backend_gpu.device import GpuExecutor
from xla_backend_gpu.driver import LaunchArguments
from xla_backend_gpu.emulated_driver import EmulatedDriver
from xla_backend_gpu.emulator import Access, Counters
from xla_core.errors import InvalidArgumentError
from xla_core.runtime import Client


@dataclasses.dataclass(slots=True)
class Count:
    """The counters of a `with` statement, which are complete when it ends."""

    counters: Counters = dataclasses.field(default_factory=Counters)


@dataclasses.dataclass(slots=True)
class ObservedLaunch:
    """A launch, with its accesses of global memory in the order in which they were made.

    Attributes:
        kernel: the kernel's name.
        arguments: the sizes of the launch, the addresses of the kernel's buffers, and what it computes.
    """

    kernel: str
    arguments: LaunchArguments
    accesses: list[Access] = dataclasses.field(default_factory=list)


@contextlib.contextmanager
def counted(client: Client) -> Iterator[Count]:
    """Counts the launches inside of a `with` statement, on all devices of a client.

    Programs that are compiled with `engine="checked"` count everything; others count launches, blocks and threads.

    Raises:
        InvalidArgumentError: the client's devices are not emulated GPUs.
    """
    drivers = [_driver(client, device.id) for device in client.devices]
    client.synchronize()
    before = sum((driver.counters for driver in drivers), Counters())
    count = Count()
    yield count
    client.synchronize()
    count.counters = sum((driver.counters for driver in drivers), Counters()) - before


@contextlib.contextmanager
def observed(client: Client) -> Iterator[list[ObservedLaunch]]:
    """Keeps the accesses of the launches inside of a `with` statement, on all devices of a client.

    The list is complete when the statement ends. It has the launches of programs that were compiled with
    `engine="checked"`. Each access takes memory, so observe small arrays.

    Raises:
        InvalidArgumentError: the client's devices are not emulated GPUs.
    """
    drivers = [_driver(client, device.id) for device in client.devices]
    launches: list[ObservedLaunch] = []

    def observe(kernel: str, arguments: LaunchArguments) -> Callable[[Access], None]:
        launches.append(ObservedLaunch(kernel, arguments))
        return launches[-1].accesses.append

    client.synchronize()
    for driver in drivers:
        driver.observer = observe
    try:
        yield launches
        client.synchronize()
    finally:
        for driver in drivers:
            driver.observer = None


def _driver(client: Client, device: int) -> EmulatedDriver:
    executor = client.platform.executor(device)
    if not isinstance(executor, GpuExecutor) or not isinstance(executor.driver, EmulatedDriver):
        raise InvalidArgumentError(
            f"launches are observed on emulated GPUs, not on {client.platform_name}",
            hint='use xla_core.Client("gpu"), with XLA_CORE_FLAGS=--xla_gpu_emulate where there is a GPU',
        )
    return executor.driver
