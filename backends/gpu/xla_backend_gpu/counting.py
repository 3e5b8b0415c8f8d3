"""counted: what the kernels of a run do on emulated devices."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator

from xla_backend_gpu.device import GpuExecutor
from xla_backend_gpu.emulated_driver import EmulatedDriver
from xla_backend_gpu.emulator import Counters
from xla_core.errors import InvalidArgumentError
from xla_core.runtime import Client

__all__ = ["Count", "counted"]


@dataclasses.dataclass(slots=True)
class Count:
    """The counters of a `with` statement, which are there when it ends."""

    counters: Counters = dataclasses.field(default_factory=Counters)


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


def _driver(client: Client, device: int) -> EmulatedDriver:
    executor = client.platform.executor(device)
    if not isinstance(executor, GpuExecutor) or not isinstance(executor.driver, EmulatedDriver):
        raise InvalidArgumentError(
            f"launches are counted on emulated GPUs, not on {client.platform_name}",
            hint='use xla_core.Client("gpu"), with XLA_CORE_FLAGS=--xla_gpu_emulate where there is a GPU',
        )
    return executor.driver
