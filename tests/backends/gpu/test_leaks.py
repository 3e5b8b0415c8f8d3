"""The emulated device tells the memory that its backend forgot to free."""

from __future__ import annotations

import gc
import warnings

import numpy as np
import pytest

pytest.importorskip("xla_backend_gpu", reason="xla-backend-gpu is not installed")

from xla_backend_gpu.device import GpuExecutor
from xla_backend_gpu.emulated_driver import EmulatedDriver
from xla_backend_gpu.emulator import MemoryLeakWarning, Module

import xla_core as xla
from xla_core.backend import DeviceMemory


class _Forgetful(GpuExecutor):
    """Frees no more than 100 bytes at once."""

    def deallocate(self, memory: DeviceMemory) -> None:
        if memory.size <= 100:
            super().deallocate(memory)


def _allocate_all(executor: GpuExecutor) -> list[DeviceMemory]:
    return [memory for size in (64, 1000, 100, 3000) if (memory := executor.allocate(size)) is not None]


def _leaks(caught: list[warnings.WarningMessage]) -> list[MemoryLeakWarning]:
    """The findings among warnings. An error in their place would be lost in the finalizer."""
    return [w.message for w in caught if isinstance(w.message, MemoryLeakWarning)]


def test_memory_that_is_never_freed_is_found() -> None:
    executor = _Forgetful(0, EmulatedDriver(1 << 20))
    for memory in _allocate_all(executor):
        executor.deallocate(memory)
    executor.close()
    del memory
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        del executor
        gc.collect()
    (found,) = _leaks(caught)
    assert "4000 bytes in 2 blocks" in str(found)
    assert [size for _, size, _ in found.blocks] == [1000, 3000]
    assert all("_allocate_all" in [function for _, _, function in calls] for _, _, calls in found.blocks)
    assert "_allocate_all (" in str(found)


def test_memory_that_is_freed_after_the_close_is_no_leak() -> None:
    executor = GpuExecutor(0, EmulatedDriver(1 << 20))
    memories = _allocate_all(executor)
    executor.close()
    for memory in memories:
        executor.deallocate(memory)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        del executor
        gc.collect()
    assert not _leaks(caught)


VARIABLE = """
.version 8.0
.target sm_90
.address_size 64
.global .align 8 .b64 table[100];
.visible .entry reads()
{
    .reg .b64 %rd<2>;
    ld.global.u64 %rd1, [table];
    ret;
}
"""


def test_variables_of_a_module_that_is_still_there_are_no_leak() -> None:
    """The garbage collector may drop the device before the module, which frees its variables."""
    driver, module = EmulatedDriver(1 << 20), Module(VARIABLE)
    module.launch("reads", (1,), (1,), [], driver.memory)
    memory = driver.memory
    assert [size for _, size in memory.blocks()] == [800]
    driver.close()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        del driver
        gc.collect()
    assert not _leaks(caught)
    del module
    gc.collect()
    assert memory.blocks() == []


def test_the_core_leaks_nothing() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with xla.Client("gpu") as client:
            kept = client.buffer_from_host(np.arange(1000))
            client.buffer_from_host(np.arange(2000)).block_until_ready()
        del client, kept
        gc.collect()
    assert not _leaks(caught)
