"""Requests for memory that the device refuses: they change nothing of what it gives before, between and after them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from xla_conformance.device.memories import allocated, capacity
from xla_conformance.failures import Failure
from xla_core import Device
from xla_core.backend import DeviceMemory, StreamExecutor

pytestmark = pytest.mark.alone
"""These tests fill the device, so no other process may use its memory meanwhile."""

_LARGEST = (1 << 63) - 1


@pytest.mark.promise("executor.allocate-none", "executor.allocate-large", "executor.deallocate")
@pytest.mark.parametrize("order", ["first to last", "last to first", "any"])
def test_a_refused_block_fits_once_smaller_ones_are_freed(
    idle: Device, random: np.random.Generator, order: str
) -> None:
    """Small blocks leave no room for a third of the memory. It is asked for before each of them is freed."""
    executor, free = idle.executor, idle.description.memory_bytes - idle.memory_stats().bytes_reserved
    third = free // 64 * 21
    blocks = _leaving_less_than(executor, third, free // 64)
    places = np.arange(len(blocks))
    places = {"first to last": places, "last to first": places[::-1], "any": random.permutation(places)}[order]
    _free_with_refusals(executor, [blocks[place] for place in places], (third, free, 2 * free, _LARGEST))
    memory = executor.allocate(third)
    if memory is None:
        raise Failure(
            f"An empty device gives a block of a third of its memory, but it refused {third} of {free} bytes, after it "
            f"had refused them while {len(blocks)} smaller blocks were in use.",
            promise="executor.allocate-large",
        )
    executor.deallocate(memory)


def _leaving_less_than(executor: StreamExecutor, room: int, size: int) -> list[DeviceMemory]:
    """Allocates blocks of a size until `room` bytes can't be free any more. None of them is refused."""
    left = capacity(executor)
    blocks = []
    while left >= room:
        blocks.append(allocated(executor, size))
        left -= blocks[-1].size
    return blocks


def _free_with_refusals(executor: StreamExecutor, blocks: Sequence[DeviceMemory], sizes: Sequence[int]) -> None:
    """Frees the blocks one by one. Before each it asks for what may not fit, and for the last one freed."""
    for number, block in enumerate(blocks):
        for size in sizes:
            memory = executor.allocate(size)
            if memory is not None:
                executor.deallocate(memory)
        if number:
            executor.deallocate(allocated(executor, blocks[number - 1].size))
        executor.deallocate(block)
