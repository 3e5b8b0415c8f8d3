"""Closed devices: what is still in use stays, what is freed later is taken back, and nothing else is left."""

from __future__ import annotations

import gc
from collections.abc import Callable

import numpy as np
import pytest

from xla_conformance.device.gates import settles
from xla_conformance.device.memories import SMALLEST, allocated, known_memory
from xla_conformance.device.patterns import pattern, require_bytes
from xla_conformance.device.processes import open_files, thread_count
from xla_conformance.failures import Failure
from xla_core import Client

ROUNDS = 12
_MOST = 8
_DEVICES = 64


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


@pytest.mark.promise("executor.close", "executor.deallocate-after-close")
def test_memory_freed_behind_its_device_is_given_to_later_ones(open_client: Callable[[], Client]) -> None:
    """Together, blocks that were in use as their devices closed are larger than a device."""
    with open_client() as client:
        executor = client.devices[0].executor
        said = known_memory(executor)
        size = said // 8
        while (memory := executor.allocate(size)) is None and size > SMALLEST:  # others may use the device too
            size //= 2
    if memory is not None:
        executor.deallocate(memory)
    for number in range(min(said // size, _DEVICES) + 2):
        with open_client() as client:
            executor = client.devices[0].executor
            memory = executor.allocate(size)
        if memory is None:
            raise Failure(
                f"Memory that is freed when its device is closed can be given again, but {number + 1} devices, opened "
                f"one after another, had no {size} bytes, of {said}.",
                promise="executor.deallocate-after-close",
            )
        executor.deallocate(memory)
