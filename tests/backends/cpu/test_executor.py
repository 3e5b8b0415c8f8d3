"""The host as a device: its memory has an end."""

from __future__ import annotations

import os
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from xla_backend_cpu.executor import CpuExecutor, worker_threads


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


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system has no affinity masks")
def test_a_thread_that_keeps_to_one_processor_compiles_for_those_of_the_device() -> None:
    """`xla conform` binds its workers in tests of ops, which must run the code of several threads all the same."""

    def in_thread() -> int:
        os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])
        return worker_threads()

    cores = CpuExecutor(0).description.core_count
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(in_thread).result() == cores


def test_a_size_that_no_host_has() -> None:
    executor = CpuExecutor(0)
    assert executor.allocate(1 << 62) is None
    assert executor.allocate(1 << 70) is None


@pytest.mark.skipif(
    not Path("/sys/kernel/mm/transparent_hugepage").is_dir() or not Path("/proc/self/smaps").is_file(),
    reason="this kernel has no transparent huge pages",
)
def test_large_memory_may_lie_in_huge_pages() -> None:
    executor = CpuExecutor(0)
    memory = executor.allocate(16 << 20)
    assert memory is not None
    advised = [
        int(start, 16) <= memory.handle and memory.handle + memory.size <= int(end, 16)
        for start, end, flags in re.findall(
            r"^([0-9a-f]+)-([0-9a-f]+) .*?^VmFlags:(.*?)$", Path("/proc/self/smaps").read_text(), re.M | re.S
        )
        if " hg" in flags
    ]
    executor.deallocate(memory)
    assert any(advised)
