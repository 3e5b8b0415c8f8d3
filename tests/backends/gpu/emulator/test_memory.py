"""The emulated device's memory."""

from __future__ import annotations

import numpy as np
import pytest
from xla_backend_gpu.emulator import Memory

from xla_core.errors import InvalidArgumentError


def test_blocks_are_aligned_and_apart() -> None:
    memory = Memory(1 << 20)
    first, second = memory.allocate(100, 256), memory.allocate(100, 4096)
    assert first is not None
    assert second is not None
    assert first >= Memory.base > 0
    assert (first % 256, second % 4096) == (0, 0)
    assert abs(second - first) >= 100 + 256
    assert memory.blocks() == sorted([(first, 100), (second, 100)])


def test_what_is_written_is_read() -> None:
    memory = Memory(1 << 16)
    address = memory.allocate(64)
    memory.write(address, np.arange(16, dtype=np.int32))
    assert np.frombuffer(memory.read(address, 64), np.int32).tolist() == list(range(16))
    assert memory.read(address + 4, 4) == b"\1\0\0\0"


def test_a_full_memory_allocates_nothing_until_a_block_is_freed() -> None:
    memory = Memory(1 << 14)
    address = memory.allocate(1 << 14)
    assert address is not None
    assert memory.allocate(1) is None
    memory.free(address)
    assert memory.allocate(1 << 14) == address


def test_a_freed_block_is_uninitialized_when_it_is_allocated_again() -> None:
    memory = Memory(1 << 14)
    address = memory.allocate(16)
    memory.write(address, bytes(16))
    assert memory.initialized[:16].all()
    memory.free(address)
    assert memory.allocate(16) == address
    assert not memory.initialized[:16].any()


def test_what_a_kernel_wrote_is_uninitialized_in_a_later_block() -> None:
    memory = Memory(1 << 14)
    address = memory.allocate(16)
    memory.expect_writes()
    memory.initialized[:16] = True  # as a kernel does
    memory.free(address)
    assert memory.allocate(16) == address
    assert not memory.initialized[:16].any()


def test_a_block_has_the_first_gap_that_is_large_enough() -> None:
    memory = Memory(1 << 20)
    blocks = [memory.allocate(600) for _ in range(20)]
    for address in (blocks[12], blocks[3], blocks[4]):
        assert address is not None
        memory.free(address)
    assert memory.allocate(1200) == blocks[3]
    assert memory.allocate(600) == blocks[12]
    last = memory.allocate(600)
    assert last is not None
    assert blocks[-1] is not None
    assert last > blocks[-1]


@pytest.mark.parametrize(("offset", "size"), [(-1, 1), (0, 65), (64, 1), (1 << 20, 1)])
def test_bytes_outside_of_a_block_are_refused(offset: int, size: int) -> None:
    memory = Memory(1 << 16)
    address = memory.allocate(64)
    with pytest.raises(InvalidArgumentError, match="are not within allocated memory"):
        memory.read(address + offset, size)


def test_only_the_start_of_a_block_is_freed() -> None:
    memory = Memory(1 << 16)
    address = memory.allocate(64)
    with pytest.raises(InvalidArgumentError, match="no block"):
        memory.free(address + 8)
    memory.free(address)
    with pytest.raises(InvalidArgumentError, match="no block"):
        memory.free(address)
