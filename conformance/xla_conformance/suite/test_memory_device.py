"""The device's own memory, below the core's pool: how much there is, that blocks are apart, and that all comes back."""

from __future__ import annotations

import functools
import sys
import threading

import numpy as np
import pytest

from xla_conformance.claims import not_supported, require_devices
from xla_conformance.device.blocks import Blocks, churn, sizes_up_to
from xla_conformance.device.gates import PATIENCE
from xla_conformance.device.memories import (
    SMALLEST,
    allocated,
    capacity,
    drain,
    fill,
    require_memory,
    require_no_leak,
    size_given,
)
from xla_conformance.device.patterns import pattern
from xla_conformance.device.threads import run_at_once
from xla_conformance.failures import Failure
from xla_conformance.wording import counted
from xla_core import Client, Device
from xla_core.backend import DeviceMemory, StreamExecutor
from xla_core.target import TargetConfig

pytestmark = pytest.mark.alone
"""These tests fill the device, so no other process may use its memory meanwhile."""

GAP = 256 << 10
_MEBIBYTE = 1 << 20


@pytest.mark.promise("executor.allocate-none", "executor.description")
def test_the_device_has_the_memory_that_it_says(idle: Device) -> None:
    said = idle.description.memory_bytes
    has = capacity(idle.executor) + idle.memory_stats().bytes_reserved
    if not 0.6 * said <= has <= 1.02 * said:
        raise Failure(
            f"The description says {said} bytes of memory, but the device gave {has} until it said None.",
            promise="executor.description",
        )


@pytest.mark.promise("executor.allocate-large")
def test_an_empty_device_gives_a_large_block(idle: Device) -> None:
    free = idle.description.memory_bytes - idle.memory_stats().bytes_reserved
    for size in (free // 64 * 17, free // 64 * 21):
        memory = idle.executor.allocate(size)
        if memory is None:
            raise Failure(
                f"An empty device gives a block of a third of its memory, but refused {size} of {free}.",
                promise="executor.allocate-large",
            )
        idle.executor.deallocate(memory)


@pytest.mark.promise("executor.allocate-none", "executor.description", "platform.create-executor")
def test_a_full_device_leaves_the_others_their_memory(idle: Device, client: Client) -> None:
    require_devices(client, 2)
    other = client.devices[1]
    other.allocator.trim()
    descriptions = [device.description for device in client.devices]
    blocks = fill(idle.executor)
    try:
        said = other.description.memory_bytes
        has = capacity(other.executor) + other.memory_stats().bytes_reserved
        if not 0.6 * said <= has <= 1.02 * said:
            raise Failure(
                f"While {idle} was full, {other} gave {has} bytes; its description says {said}.",
                promise="executor.allocate-none",
            )
        if [device.description for device in client.devices] != descriptions:
            raise Failure(
                "The description of a device doesn't depend on how much of its memory is in use.",
                promise="executor.description",
            )
    finally:
        drain(idle.executor, blocks)


@pytest.mark.promise("executor.deallocate", "executor.allocate-none")
def test_a_full_device_is_filled_again(idle: Device, random: np.random.Generator) -> None:
    """Whatever the order in which blocks are freed, and the thread, nothing is lost, and large blocks fit again."""
    executor = idle.executor
    blocks = fill(executor)
    first = sum(block.size for block in blocks)
    largest = max(block.size for block in blocks)
    count = sum(block.size >= largest for block in blocks)
    for size, block in {block.size: block for block in blocks}.items():
        executor.deallocate(block)
        blocks[blocks.index(block)] = allocated(executor, size)
    for turn in range(3):
        if executor.allocate(largest) is not None:
            raise Failure(
                "The device said that it has no memory left, but then it gave a large block.",
                promise="executor.allocate-none",
            )
        order = random.permutation(len(blocks))
        half = [blocks[i] for i in order[: len(order) // 2]]
        rest = [blocks[i] for i in order[len(order) // 2 :]]
        freed = sum(block.size for block in half)
        run_at_once([functools.partial(drain, executor, half)], PATIENCE, "executor.deallocate")
        refilled = fill(executor)
        if sum(block.size for block in refilled) < 0.95 * freed - SMALLEST:
            drain(executor, [*rest, *refilled])
            raise Failure(
                f"{freed} bytes were freed, but only {sum(b.size for b in refilled)} were allocated again.",
                promise="executor.deallocate",
            )
        drain(executor, [*rest, *refilled])
        smaller = fill(executor, idle.description.memory_bytes // 256)  # the gaps that these leave must merge again
        if executor.allocate(largest) is not None:
            raise Failure(
                "The device was full of small blocks, but then it gave a large block.", promise="executor.allocate-none"
            )
        places = np.arange(len(smaller))
        order = (places, places[::-1], random.permutation(places))[turn]
        drain(executor, [smaller[i] for i in order])
        blocks = fill(executor)
        again = sum(block.size for block in blocks)
        large = sum(block.size >= largest for block in blocks)
        if again < first - 64 * SMALLEST or large < 0.75 * count:
            drain(executor, blocks)
            raise Failure(
                f"The device gave {first} bytes, with {count} blocks of {largest} bytes; after all was freed, it gave "
                f"{again}, with {large} such blocks.",
                promise="executor.deallocate",
            )
    drain(executor, blocks)


@pytest.mark.promise("executor.allocate-none")
@pytest.mark.parametrize("factor", [2, 64, 1 << 20])
def test_a_block_larger_than_the_device_is_none(idle: Device, factor: int) -> None:
    size = idle.description.memory_bytes * factor
    if idle.executor.allocate(min(size, (1 << 63) - 1)) is not None:
        raise Failure(
            f"`allocate` returns None if there isn't enough memory, but it gave {size} bytes.",
            promise="executor.allocate-none",
        )
    idle.executor.deallocate(allocated(idle.executor, SMALLEST))  # a refused allocation changes nothing


@pytest.mark.promise("executor.deallocate", "executor.allocate-large")
@pytest.mark.parametrize("size", [1, 64, 100, 255, 256, 1000, 4096, 65537])
def test_small_blocks_come_back_to_a_full_device(idle: Device, size: int) -> None:
    """In a gap of 256 KiB, or of one block, more blocks are allocated and freed one by one than fit there."""
    executor = idle.executor
    smallest = size_given(executor, 1)
    gap = max(GAP, smallest)
    blocks = fill(executor)
    try:
        chosen = min((b for b in blocks if b.size >= gap), key=lambda b: b.size, default=None)
        if chosen is None:
            raise Failure(
                f"An empty device of {counted(idle.description.memory_bytes, 'byte')} gave no block of {gap} bytes.",
                promise="executor.allocate-large",
            )
        left = chosen.size
        blocks.remove(chosen)
        executor.deallocate(chosen)
        while left > gap:
            left //= 2
            blocks.append(allocated(executor, left))
        for number in range(2 * gap // max(size, smallest, 64)):
            memory = executor.allocate(size)
            if memory is None:
                if number == 0:
                    not_supported(f"a gap of {gap} bytes has no room for {size} bytes")
                raise Failure(
                    f"`deallocate` frees memory, but a gap of {gap} bytes was full after {counted(number, 'block')} of "
                    f"{counted(size, 'byte')}, each of which was freed before the next.",
                    promise="executor.deallocate",
                )
            executor.deallocate(memory)
    finally:
        drain(executor, blocks)


@pytest.mark.promise("executor.deallocate")
def test_blocks_of_any_size_come_back_whole(idle: Device, random: np.random.Generator) -> None:
    """Sizes of each magnitude with any remainder, which an allocator may forget when it frees whole pages."""
    executor = idle.executor
    magnitudes = (idle.description.memory_bytes // 16).bit_length() - 1

    def work() -> None:
        for _ in range(50):
            for size in random.integers(1 << np.arange(magnitudes), 2 << np.arange(magnitudes)).tolist():
                executor.deallocate(allocated(executor, size))

    require_no_leak(idle, f"{counted(50 * magnitudes, 'block')} of any size", work)


@pytest.mark.promise("executor.deallocate", "stream.close", "executor.write-at", "executor.read-at", "stream.upload")
def test_hundreds_of_uses_leave_the_device_its_memory(idle: Device, client: Client) -> None:
    executor = idle.executor
    data = pattern(70_000)
    back = np.zeros(1000, np.uint8)

    def work() -> None:
        for i in range(100):
            stream = executor.create_stream()
            memory = allocated(executor, 70_000 + i)
            stream.upload(memory, data)
            executor.write_at(stream, memory, data[:999], i)
            executor.read_at(stream, back, memory, 100 * i)
            stream.record(stream.create_event())
            stream.host_callback(lambda: None)
            stream.close()
            executor.deallocate(memory)
            client.buffer_from_host(data[: 600 * i]).delete()

    require_no_leak(idle, "300 uses of memory and streams", work)


# -- blocks are apart -------------------------------------------------------------------------------------------------


@pytest.mark.promise("executor.allocate", "executor.deallocate")
def test_blocks_do_not_overlap(idle: Device, random: np.random.Generator) -> None:
    """Blocks of all sizes up to 16 MiB, each full of its own bytes."""
    churn(idle.executor, random, sizes_up_to(min(96 * _MEBIBYTE, idle.description.memory_bytes // 2)), 1)


@pytest.mark.promise("executor.allocate", "executor.deallocate", "stream.memset")
@pytest.mark.parametrize("size", [(32 << 20) + 100, 64 << 20])
def test_large_blocks_do_not_overlap(idle: Device, size: int) -> None:
    """Three in a row, the middle one of which is filled last."""
    executor = idle.executor
    require_memory(executor, 4 * size)
    stream = executor.create_stream()
    blocks = [allocated(executor, size) for _ in range(3)]
    back = np.zeros(size, np.uint8)
    try:
        for number in (0, 2, 1):
            stream.memset(blocks[number], number + 1)
        for number, memory in enumerate(blocks):
            stream.memcpy_d2h(back, memory)
            stream.synchronize()
            if back.min() != number + 1 or back.max() != number + 1:
                raise Failure(
                    f"Blocks of memory are apart, but one of {size} bytes has the bytes of another.",
                    promise="executor.allocate",
                )
    finally:
        stream.close()
        drain(executor, blocks)


@pytest.mark.promise("executor.allocate", "executor.deallocate")
def test_many_blocks_do_not_overlap(idle: Device, random: np.random.Generator) -> None:
    sizes = np.exp(random.uniform(0, np.log(40_000), 400)).astype(int) + 1
    churn(idle.executor, random, sizes.tolist(), 4)


@pytest.mark.promise("executor.allocate", "executor.deallocate")
@pytest.mark.parametrize("count", [5_000, pytest.param(70_000, marks=pytest.mark.profile("full"))])
def test_thousands_of_small_blocks_do_not_overlap(idle: Device, count: int) -> None:
    """More blocks at the same time than a table of 12 bits has entries; in the full profile, than one of 16 bits."""
    executor = idle.executor
    stream = executor.create_stream()
    wanted = np.arange(1, count + 1, dtype=np.uint64)
    back = np.zeros_like(wanted)
    blocks: list[DeviceMemory] = []
    try:
        for number in range(count):
            memory = executor.allocate(8)
            if memory is None:  # that is all that the device has
                break
            blocks.append(memory)
            stream.memcpy_h2d(memory, wanted[number : number + 1].view(np.uint8))
        for number, memory in enumerate(blocks):
            stream.memcpy_d2h(back[number : number + 1].view(np.uint8), memory)
        stream.synchronize()
    finally:
        stream.close()
        given = len(blocks)
        drain(executor, blocks)
    shared = np.flatnonzero(back[:given] != wanted[:given])
    if shared.size:
        raise Failure(
            f"Blocks of memory are apart, but of {given} blocks of 8 bytes {shared.size} have the bytes of "
            f"others; the first is number {shared[0] + 1}.",
            promise="executor.allocate",
        )


@pytest.mark.promise("executor.allocate", "executor.deallocate")
@pytest.mark.profile("full")
def test_very_large_blocks_do_not_overlap(idle: Device, random: np.random.Generator) -> None:
    churn(idle.executor, random, sizes_up_to(min(2048 * _MEBIBYTE, idle.description.memory_bytes // 2)), 2)


@pytest.mark.promise("executor.allocate", "executor.deallocate", "platform.create-executor")
def test_devices_have_memory_of_their_own(client: Client, random: np.random.Generator) -> None:
    """Blocks of two devices, allocated, written and freed in turns."""
    require_devices(client, 2)
    streams = [device.executor.create_stream() for device in client.devices[:2]]
    pairs = [
        Blocks(device.executor, stream, random, 4 << 20)
        for device, stream in zip(client.devices, streams, strict=False)
    ]
    for _ in range(4):
        for size in (1, 64, 100, 4096, 65536, (3 << 20) + 5, 1000, 4096):
            for blocks in pairs:
                blocks.add(size)
        for blocks in pairs:
            blocks.check()
            for memory in list(blocks.held)[::3]:
                blocks.remove(memory)
    for blocks, stream in zip(pairs, streams, strict=True):
        blocks.close()
        stream.close()


@pytest.mark.promise("executor.thread-safe")
def test_threads_allocate_at_the_same_time(idle: Device, random: np.random.Generator) -> None:
    problems: list[BaseException] = []

    def run(random: np.random.Generator) -> None:
        try:
            sizes = np.exp(random.uniform(0, np.log(20_000), 60)).astype(int) + 1
            churn(idle.executor, random, sizes.tolist(), 6)
        except BaseException as problem:
            problems.append(problem)

    before = capacity(idle.executor)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    threads = [threading.Thread(target=run, args=(r,), daemon=True) for r in random.spawn(5)]
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(2 * PATIENCE)
    finally:
        sys.setswitchinterval(interval)
    if any(thread.is_alive() for thread in threads):
        raise Failure("Threads that allocate memory at the same time hang.", promise="executor.thread-safe")
    if problems:
        raise problems[0]
    if before - capacity(idle.executor) > 64 * SMALLEST:
        raise Failure(
            "A StreamExecutor is thread-safe, but memory was lost as threads allocated at the same time.",
            promise="executor.thread-safe",
        )


@pytest.mark.promise("executor.allocate-aligned", "executor.allocate-space")
def test_memory_is_aligned_and_of_its_space(executor: StreamExecutor, target: TargetConfig) -> None:
    large = [size for size in (_MEBIBYTE << n for n in range(1, 9)) if 4 * size <= executor.description.memory_bytes]
    for space in [space.number for space in target.memory_spaces]:
        for size in (1, 3, 100, 4096, 65537, _MEBIBYTE + 1, *large):
            memories = [allocated(executor, size, space) for _ in range(3 if size <= 2 * _MEBIBYTE else 1)]
            for memory in memories:
                if memory.memory_space != space:
                    raise Failure(
                        f"Memory of space {space} was asked for, not of space {memory.memory_space}.",
                        promise="executor.allocate-space",
                    )
                address = executor.address(memory)
                if address is not None and address % target.alignment.allocation:
                    raise Failure(
                        f"Memory is aligned as the target says, to {target.alignment.allocation} bytes.",
                        promise="executor.allocate-aligned",
                    )
                executor.deallocate(memory)
