"""Copies of bytes by streams: all of them, nothing beside them, at any size, offset and alignment."""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Iterator

import numpy as np
import pytest

from xla_conformance.claims import not_supported, require_devices
from xla_conformance.device.arrays import require_same_bits
from xla_conformance.device.gates import Gate
from xla_conformance.device.memories import allocated, require_memory
from xla_conformance.device.patterns import LARGE_SIZES, PAGES_AND_MORE, SIZES, pattern, require_bytes
from xla_conformance.failures import Failure
from xla_core import Client
from xla_core.backend import DeviceMemory, HostBytes, Stream, StreamExecutor
from xla_core.target import TargetConfig

GUARD = 256
_GAP = 0x5C
_VALUES = (0xA5, 0x5A, 0, 0xFF, 1)

Blocks = dict[int, DeviceMemory]


@pytest.fixture
def memories(executor: StreamExecutor, stream: Stream) -> Iterator[list[DeviceMemory]]:
    """Memory that the test allocates, to be freed when it ends."""
    made: list[DeviceMemory] = []
    yield made
    _free(executor, stream, made)


def _free(executor: StreamExecutor, stream: Stream, memories: list[DeviceMemory]) -> None:
    stream.synchronize()
    for memory in memories:
        executor.deallocate(memory)


@contextlib.contextmanager
def _stream_of(client: Client, ordinal: int) -> Iterator[tuple[StreamExecutor, Stream, list[DeviceMemory]]]:
    """A device's executor, a stream of its own, and a list of memory to be freed at the end."""
    executor = client.devices[ordinal].executor
    stream = executor.create_stream()
    memories: list[DeviceMemory] = []
    try:
        yield executor, stream, memories
    finally:
        _free(executor, stream, memories)
        stream.close()


def _guarded(size: int, misaligned: int) -> tuple[HostBytes, HostBytes]:
    """Host memory for `size` bytes at an odd address, and all of it, with guard bytes on both sides."""
    whole = np.full(size + 2 * GUARD, _GAP, np.uint8)
    return whole[GUARD + misaligned : GUARD + misaligned + size], whole


def _require_guards(whole: HostBytes, size: int, misaligned: int) -> None:
    sides = np.concatenate([whole[: GUARD + misaligned], whole[GUARD + misaligned + size :]])
    sentence = f"`memcpy_d2h` fills all of its destination and nothing else, but beside {size} bytes"
    require_bytes(sentence, sides, np.full_like(sides, _GAP), "stream.d2h")


def _copies(
    executor: StreamExecutor,
    stream: Stream,
    memories: list[DeviceMemory],
    sizes: list[int],
    salt: int,
    gate: Gate | None,
) -> None:
    """For each size: h2d into a larger block, d2d into one that is larger still, and d2h of all, all in one queue."""
    read: list[tuple[int, int, HostBytes, HostBytes, HostBytes]] = []
    if gate is not None:
        gate.hold(stream)
    for number, size in enumerate(sizes):
        first, second = allocated(executor, size + GUARD), allocated(executor, size + 2 * GUARD)
        memories += [first, second]
        odd = number % 17
        source = _guarded(size, odd)[0]
        source[:] = pattern(size, salt + number)
        source.flags.writeable = bool(number % 2)
        values = _VALUES[number % len(_VALUES)], _VALUES[(number + 1) % len(_VALUES)]
        for memory, value in zip((first, second), values, strict=True):
            stream.memset(memory, value ^ 0xFF)  # so that the next one changes every byte
            stream.memset(memory, value)
        stream.memcpy_h2d(first, source)
        stream.memcpy_d2d(second, first)
        back, whole = _guarded(size + 2 * GUARD, odd)
        wanted = np.full(back.size, values[1], np.uint8)
        wanted[: min(first.size, second.size)] = values[0]
        wanted[:size] = source
        stream.memcpy_d2h(back, second)
        part, around = _guarded(size, odd)
        stream.memcpy_d2h(part, second)
        read += [(size, odd, back, whole, wanted), (size, odd, part, around, wanted)]
        if gate is not None:
            gate.require_closed("a copy")
    if gate is not None:
        gate.open()
    stream.synchronize()
    if stream.error is not None:
        raise Failure(f"No copy failed, but the stream has {stream.error!r}.", promise="stream.error")
    for size, odd, back, whole, wanted in read:
        sentence = f"Copies copy all of the given bytes and nothing else, but of {size} bytes"
        require_bytes(sentence, back, wanted[: back.size], "stream.h2d")
        _require_guards(whole, back.size, odd)


@pytest.mark.promise("stream.h2d", "stream.d2h", "stream.d2d", "stream.memset", "platform.ordinals")
@pytest.mark.parametrize("held", [False, True], ids=["idle", "held"])
@pytest.mark.parametrize("ordinal", [0, 1], ids=["the first device", "the second device"])
def test_copies_of_every_size(client: Client, random: np.random.Generator, ordinal: int, held: bool) -> None:
    require_devices(client, ordinal + 1)
    sizes = [0, *SIZES, *PAGES_AND_MORE]
    with _stream_of(client, ordinal) as (executor, stream, memories):
        _copies(executor, stream, memories, sizes, int(random.integers(1 << 20)), Gate() if held else None)


@pytest.mark.promise("stream.h2d", "stream.d2h", "stream.d2d", "stream.memset")
@pytest.mark.parametrize("size", LARGE_SIZES)
@pytest.mark.parametrize("ordinal", [0, 1], ids=["the first device", "the second device"])
def test_large_copies(client: Client, ordinal: int, size: int) -> None:
    require_devices(client, ordinal + 1)
    with _stream_of(client, ordinal) as (executor, stream, memories):
        _copies(executor, stream, memories, [size, size - 1 - size % 4096], size, None)


@pytest.mark.promise("stream.h2d", "stream.d2h", "stream.d2d", "stream.memset")
@pytest.mark.profile("full")
@pytest.mark.parametrize("size", [(32 << 20) + 1, (64 << 20) - 3, (256 << 20) + 5])
def test_very_large_copies(executor: StreamExecutor, stream: Stream, memories: list[DeviceMemory], size: int) -> None:
    require_memory(executor, 4 * size)
    _copies(executor, stream, memories, [size], size, None)


@pytest.mark.promise("stream.d2d")
def test_a_copy_on_the_device_is_of_the_smaller_size(
    executor: StreamExecutor, stream: Stream, memories: list[DeviceMemory], random: np.random.Generator
) -> None:
    for _ in range(80):
        source, destination = np.exp(random.uniform(0, 11.2, 2)).astype(int) + 1
        first, second = allocated(executor, int(source)), allocated(executor, int(destination))
        memories += [first, second]
        before, given = pattern(destination, 1), pattern(source, 2)
        stream.memset(first, _GAP)
        stream.memcpy_h2d(second, before)
        stream.memcpy_h2d(first, given)
        stream.memcpy_d2d(second, first)
        back, kept = np.zeros(destination, np.uint8), np.zeros(source, np.uint8)
        stream.memcpy_d2h(back, second)
        stream.memcpy_d2h(kept, first)
        stream.synchronize()
        size = min(first.size, second.size)
        copied = np.full(size, _GAP, np.uint8)  # `allocate` may give larger blocks
        copied[:source] = given[:size]
        sentence = f"`memcpy_d2d` copies min(sizes) bytes, but from {first.size} to {second.size} bytes"
        require_bytes(sentence, back, np.concatenate([copied, before[size:]])[:destination], "stream.d2d")
        require_bytes("`memcpy_d2d` leaves its source as it is, but", kept, given, "stream.d2d")


@pytest.mark.promise("stream.memset")
@pytest.mark.parametrize("value", [0, 1, 127, 128, 165, 255])
def test_memset_sets_every_byte_and_no_other(
    executor: StreamExecutor, stream: Stream, memories: list[DeviceMemory], value: int
) -> None:
    """Of three blocks that were allocated in a row, the second is set."""
    for size in SIZES:
        row = [allocated(executor, size) for _ in range(3)]
        sides = pattern(size, value)
        for memory in row:
            stream.memcpy_h2d(memory, sides)
        stream.memset(row[1], value)
        backs = [np.zeros(size, np.uint8) for _ in row]
        for back, memory in zip(backs, row, strict=True):
            stream.memcpy_d2h(back, memory)
        stream.synchronize()
        for back, wanted in zip(backs, (sides, np.full(size, value, np.uint8), sides), strict=True):
            sentence = f"`memset` to {value} sets every byte of a block and no other, but of blocks of {size} bytes,"
            require_bytes(sentence, back, wanted, "stream.memset")
        for memory in row:
            executor.deallocate(memory)


@pytest.mark.promise("executor.read-at", "executor.write-at", "stream.in-order")
@pytest.mark.parametrize("size", [1, 256, 70_000])
def test_bytes_at_an_offset(
    executor: StreamExecutor, stream: Stream, memories: list[DeviceMemory], random: np.random.Generator, size: int
) -> None:
    """Reads and writes of parts, hundreds in one queue. What lies beside them stays."""
    memory = allocated(executor, size)
    memories.append(memory)
    expected = pattern(size, 5)
    stream.memcpy_h2d(memory, expected)
    reads: list[tuple[str, HostBytes, HostBytes]] = []
    for number in range(10 if size == 1 else 150):
        start, end = sorted(int(n) for n in random.integers(0, size + 1, 2))
        start, end = (
            (0, size) if number % 29 == 0 else (size - 1, size) if number % 31 == 0 else (start, max(end, start + 1))
        )
        start, end = {3: (start, size), 5: (0, end)}.get(number % 7, (start, end))
        start, end = min(start, size - 1), min(end, size)
        end = start if number % 37 > 34 else end  # no bytes
        if number % 2:
            data = pattern(end - start, number + 100)
            expected = np.concatenate([expected[:start], data, expected[end:]])
            executor.write_at(stream, memory, data, start)
        else:
            back = np.zeros(end - start, np.uint8)
            executor.read_at(stream, back, memory, start)
            reads.append(
                (f"`read_at` of {end - start} bytes from byte {start} on of {size}:", back, expected[start:end])
            )
    whole = np.zeros(size, np.uint8)
    stream.memcpy_d2h(whole, memory)
    stream.synchronize()
    for sentence, back, wanted in reads:
        require_bytes(sentence, back, wanted, "executor.read-at")
    require_bytes("`write_at` writes its bytes and keeps the others, but", whole, expected, "executor.write-at")


@pytest.mark.promise("features.memory-slices", "memory.slice")
def test_slices(
    executor: StreamExecutor, stream: Stream, memories: list[DeviceMemory], random: np.random.Generator
) -> None:
    """All kinds of copies between random ranges of two allocations, some of no bytes, and slices of slices."""
    if not executor.features.memory_slices:
        not_supported("it declares no memory_slices")
    size = 100_000
    blocks = [allocated(executor, size) for _ in range(2)]
    memories += blocks
    expected = [pattern(size, i) for i in range(2)]
    for memory, data in zip(blocks, expected, strict=True):
        stream.memcpy_h2d(memory, data)
    for number in range(300):
        start, length = int(random.integers(size + 1)), int(np.exp(random.uniform(0, 10))) if number % 9 else 0
        length = min(length, size - start)
        into, other = (0, 1) if number % 2 else (1, 0)
        outer = blocks[into].slice(start - start % 100, size - start + start % 100)
        part = outer.slice(start % 100, length)
        kind = random.integers(4)
        if kind == 0:
            data = pattern(length, number)
            stream.memcpy_h2d(part, data)
        elif kind == 1:
            stream.memset(part, number % 256)
            data = np.full(length, number % 256, np.uint8)
        elif kind == 2:
            source = int(random.integers(size - length + 1))
            stream.memcpy_d2d(part, blocks[other].slice(source, length))
            data = expected[other][source : source + length]
        else:
            back = np.zeros(length, np.uint8)
            stream.memcpy_d2h(back, part)
            stream.synchronize()
            require_bytes(
                "A slice is the range of its allocation, but",
                back,
                expected[into][start : start + length],
                promise="memory.slice",
            )
            continue
        expected[into] = np.concatenate([expected[into][:start], data, expected[into][start + length :]])
    for memory, wanted in zip(blocks, expected, strict=True):
        back = np.zeros(size, np.uint8)
        stream.memcpy_d2h(back, memory)
        stream.synchronize()
        require_bytes("Work on a slice changes no other bytes, but", back, wanted, "features.memory-slices")


@pytest.mark.promise("executor.host-view", "executor.host-view-none", "features.host-addressable")
@pytest.mark.parametrize("size", [1, 100, 4097, 65537, (1 << 20) + 1])
def test_host_view(executor: StreamExecutor, stream: Stream, memories: list[DeviceMemory], size: int) -> None:
    memory = allocated(executor, size)
    memories.append(memory)
    view = executor.host_view(memory)
    if (view is not None) != executor.features.host_addressable:
        raise Failure(
            "`host_view` returns None unless `host_addressable` is declared, and a view if it is.",
            promise="executor.host-view-none",
        )
    if view is None:
        not_supported("it is not host_addressable")
    stream.memcpy_h2d(memory, pattern(size, 1))
    stream.synchronize()
    array = np.frombuffer(view, np.uint8)[:size]
    require_bytes("The host's view shows the device's bytes, but", array, pattern(size, 1), "executor.host-view")
    if view.nbytes != memory.size:
        raise Failure(
            f"The host's view is of the bytes of the memory, {memory.size}, not of {view.nbytes}.",
            promise="executor.host-view",
        )
    view[:size] = pattern(size, 2).tobytes()
    back = np.zeros(size, np.uint8)
    stream.memcpy_d2h(back, memory)
    stream.synchronize()
    require_bytes(
        "The host's view is writable, but the device has other bytes:",
        back,
        pattern(size, 2),
        promise="executor.host-view",
    )
    if executor.features.memory_slices and size > 1:
        part = executor.host_view(memory.slice(size // 2, size - size // 2))
        assert part is not None
        require_bytes(
            "The view of a slice is of its bytes, but",
            np.frombuffer(part, np.uint8),
            pattern(size, 2)[size // 2 :],
            promise="features.memory-slices",
        )


@pytest.mark.promise("executor.address", "features.memory-slices")
def test_addresses(executor: StreamExecutor, memories: list[DeviceMemory]) -> None:
    """Blocks have addresses of their own, and a slice has that of its first byte."""
    memories += [allocated(executor, 1000) for _ in range(4)]
    addresses = [executor.address(memory) for memory in memories]
    if None in addresses:
        not_supported("its memory has no addresses")
    if len(set(addresses)) != len(addresses) or addresses != [executor.address(memory) for memory in memories]:
        raise Failure("Each block of memory has an address of its own, always the same.", promise="executor.address")
    if executor.features.memory_slices:
        for memory, address in zip(memories, addresses, strict=True):
            assert address is not None
            if executor.address(memory.slice(100, 50)) != address + 100:
                raise Failure("The address of a slice is that of its first byte.", promise="features.memory-slices")


@pytest.mark.promise("executor.wrap-memory", "executor.wrap-memory-none")
def test_foreign_memory_is_used_or_declined(client: Client, executor: StreamExecutor, target: TargetConfig) -> None:
    """Immutable arrays have the right values on the device, whether it uses their memory or copies it."""
    alignment = target.alignment.allocation
    for size in (1, 3, 256, 65537):
        raw = np.empty(4 * size + alignment, np.uint8)
        start = -raw.__array_interface__["data"][0] % alignment
        array = raw[start : start + 4 * size].view(np.float32)
        array[:] = np.arange(size)
        for given in (array, array[1:], array[:0], array[: size // 2]):
            buffer = client.buffer_from_host(given, immutable=True)
            require_same_bits("A buffer has the array's bits.", np.asarray(buffer), given, "executor.wrap-memory")
        wrapped = executor.wrap_memory(array.__array_interface__["data"][0], 4 * size)
        shared = np.shares_memory(np.asarray(client.buffer_from_host(array, immutable=True)), array)
        if wrapped is None and shared:
            raise Failure(
                "`wrap_memory` returned None, but a buffer uses the array's memory.",
                promise="executor.wrap-memory-none",
            )
        address = None if wrapped is None else executor.address(wrapped)
        if address not in (None, array.__array_interface__["data"][0]):
            raise Failure(
                "`wrap_memory` wraps the memory at an address, but `address` gives another one.",
                promise="executor.wrap-memory",
            )
        if not executor.features.host_addressable or address is None:
            continue
        if ctypes.string_at(address, 4 * size) != array.tobytes():
            raise Failure(
                "`wrap_memory` wraps the bytes at the address, but its memory has others.",
                promise="executor.wrap-memory",
            )
