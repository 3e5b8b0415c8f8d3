"""The host as a device: its memory has an end."""

from __future__ import annotations

from xla_backend_cpu.executor import CpuExecutor


def test_the_device_runs_out_at_the_hosts_memory() -> None:
    executor = CpuExecutor(0)
    size = executor.description.memory_bytes // 4
    blocks = [executor.allocate(size) for _ in range(6)]
    assert [block is not None for block in blocks] == [True] * 4 + [False] * 2
    for block in blocks[:4]:
        assert block is not None
        executor.deallocate(block)
    again = executor.allocate(3 * size)
    assert again is not None
    executor.deallocate(again)


def test_a_size_that_no_host_has() -> None:
    executor = CpuExecutor(0)
    assert executor.allocate(1 << 62) is None
    assert executor.allocate(1 << 70) is None
