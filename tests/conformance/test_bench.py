"""The allocator that checks what an execution does with memory."""

from __future__ import annotations

import pytest
from xla_conformance.bench import ExecutableBench, WatchedAllocator

import xla_core as xla


@pytest.mark.parametrize("backend", ["cpu", "template"])
@pytest.mark.parametrize("size", [1, 100, 4096])
def test_bytes_beside_a_block_are_watched(backend: str, size: int) -> None:
    with xla.Client(backend) as client:
        executor = client.devices[0].executor
        stream = executor.create_stream()
        allocator = WatchedAllocator(executor, stream, alignment=64)
        first, second = allocator.allocate(size), allocator.allocate(size)
        assert allocator.canaries_live()
        if executor.features.memory_slices:
            for memory, place in ((first, -1), (second, size)):
                whole = memory.base
                assert whole is not None
                at = memory.offset - whole.offset + place
                stream.memset(whole.slice(at, 1), 0)
                assert not allocator.canaries_live()
                stream.memset(whole.slice(at, 1), 0xC3)
                assert allocator.canaries_live()
        for memory in (first, second):
            allocator.free(memory)
        stream.synchronize()
        allocator.close()
        stream.close()


def test_memory_that_the_core_keeps_makes_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XLA_CORE_FLAGS", f"--xla_template_memory_bytes={64 << 20}")
    program = "HloModule m\nENTRY main { ROOT x = u8[4] parameter(0) }"
    with xla.Client("template") as client:
        device = client.devices[0]
        device.allocator.free(device.allocator.allocate(48 << 20))
        assert device.memory_stats().bytes_reserved >= 48 << 20
        with ExecutableBench(client.compile(program)) as bench:
            bench.allocator.free(bench.allocator.allocate(32 << 20))
