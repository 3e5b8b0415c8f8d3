"""Memory of the device itself, below the core's pool: how much it gives, and whether it takes all of it back."""

from __future__ import annotations

from collections.abc import Callable

from xla_conformance.claims import not_supported
from xla_conformance.failures import Failure
from xla_core import Device
from xla_core.backend import DeviceMemory, StreamExecutor

LEAST_MEMORY = 64 << 20
"""The bytes of memory that the suite needs of a device."""

SMALLEST = 1024
"""The bytes of the smallest blocks with which a device is filled."""

_SLACK = 16 << 10
_MOST = 4  # the suite stops when a device has given this many times the memory that it reports


def allocated(executor: StreamExecutor, size: int, memory_space: int = 0) -> DeviceMemory:
    """Allocates memory of the device; raises Failure if it has none."""
    memory = executor.allocate(size, memory_space)
    if memory is None:
        raise Failure(f"The device has no {size} bytes.", promise="executor.allocate")
    return memory


def known_memory(executor: StreamExecutor) -> int:
    """The bytes of memory that the device reports. Ends the test with NOT_SUPPORTED if it reports none."""
    said = executor.description.memory_bytes
    if not said:
        not_supported("its description doesn't say how much memory it has")
    return said


def require_memory(executor: StreamExecutor, size: int) -> None:
    """Ends the test with NOT_SUPPORTED unless the device reports at least `size` bytes.

    Tests that need more than `LEAST_MEMORY` call this.
    """
    if known_memory(executor) < size:
        not_supported(f"the test needs {size} bytes of memory")


def fill(executor: StreamExecutor, largest: int = 0) -> list[DeviceMemory]:
    """Allocates until the device says None: first blocks of an eighth of its memory, then half as large, and so on.

    Raises Failure if it gives several times as much memory as it reports.
    Ends the test with NOT_SUPPORTED if it doesn't report how much it has.
    """
    said = known_memory(executor)
    size = 1 << (max(said // 8, SMALLEST).bit_length() - 1)
    size = min(size, largest) if largest else size
    blocks: list[DeviceMemory] = []
    total = 0
    while size >= SMALLEST:
        memory = executor.allocate(size)
        if memory is None:
            size //= 2
            continue
        blocks.append(memory)
        total += memory.size
        if total > _MOST * said:
            drain(executor, blocks)
            raise Failure(
                f"The device says that it has {said} bytes of memory, but it gave {total} and went on.",
                promise="executor.allocate-none",
            )
    return blocks


def size_given(executor: StreamExecutor, size: int) -> int:
    """The bytes of the block that the device gives for `size` bytes, such as a whole page."""
    memory = allocated(executor, size)
    given = memory.size
    executor.deallocate(memory)
    return given


def drain(executor: StreamExecutor, blocks: list[DeviceMemory]) -> None:
    """Returns all blocks to the device, and empties the list."""
    while blocks:
        executor.deallocate(blocks.pop())


def capacity(executor: StreamExecutor) -> int:
    """The bytes that the device gives now, to a kilobyte."""
    blocks = fill(executor)
    total = sum(block.size for block in blocks)
    drain(executor, blocks)
    return total


def require_no_leak(device: Device, what: str, work: Callable[[], None]) -> None:
    """Raises Failure if `work` loses memory of the device each of three times. Once is a cache that fills."""
    lost: list[int] = []
    device.allocator.trim()
    before = capacity(device.executor)
    for _ in range(3):
        work()
        device.synchronize()
        device.allocator.trim()
        after = capacity(device.executor)
        lost.append(before - after)
        before = after
        if lost[-1] <= _SLACK:
            return
    raise Failure(
        f"Memory that is freed can be allocated again, but {what} lost {lost} bytes of the device.",
        promise="executor.deallocate",
    )
