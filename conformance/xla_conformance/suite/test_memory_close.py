"""Closed devices: what is still in use stays, what is freed later is taken back, and nothing else is left."""

from __future__ import annotations

import gc
from collections.abc import Callable

import numpy as np
import pytest

from xla_conformance.device.gates import settles
from xla_conformance.device.memories import allocated
from xla_conformance.device.patterns import pattern, require_bytes
from xla_conformance.device.processes import open_files, thread_count
from xla_conformance.failures import Failure
from xla_core import Client

ROUNDS = 12
_MOST = 8


def _use(open_client: Callable[[], Client]) -> np.ndarray:
    """Opens the devices, uses and closes them, and returns an array that was read, which may be device memory."""
    with open_client() as client:
        kept = [(device.executor, allocated(device.executor, 70_000)) for device in client.devices]
        array = np.asarray(client.buffer_from_host(pattern(70_000, 4)))
        held = client.buffer_from_host(pattern(1000, 5))
        client.synchronize()
    for executor, memory in kept:
        try:
            executor.deallocate(memory)
        except Exception as error:
            raise Failure(
                f"`deallocate` is called after `close`, for memory that is still in use, but it raised {error!r}.",
                promise="executor.deallocate-after-close",
            ) from error
    del held
    return array


@pytest.mark.promise("executor.close", "executor.deallocate-after-close", "platform.close")
def test_memory_in_use_outlives_its_device(open_client: Callable[[], Client]) -> None:
    arrays = [_use(open_client) for _ in range(4)]
    gc.collect()
    for array in arrays:
        require_bytes(
            "An array that was read stays as it is when the device is closed, but",
            array,
            pattern(70_000, 4),
            promise="executor.deallocate-after-close",
        )


@pytest.mark.promise("executor.close", "platform.close")
def test_closed_devices_leave_nothing(open_client: Callable[[], Client]) -> None:
    _use(open_client)
    gc.collect()
    before = thread_count(), open_files()
    for _ in range(ROUNDS):
        _use(open_client)
    gc.collect()
    left = settles(thread_count, before[0] + _MOST) - before[0], settles(open_files, before[1] + _MOST) - before[1]
    if max(left) > _MOST:
        raise Failure(
            f"Closing devices gives back what they took, but {ROUNDS} times left {left} threads and files.",
            promise="executor.close",
        )
