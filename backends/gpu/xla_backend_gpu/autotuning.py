"""Chooses the plans of kernels by their time on a GPU, or by the emulated device's counts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from xla_backend_gpu import __version__
from xla_backend_gpu.abi import PtxAbi
from xla_backend_gpu.cublas.matmul import Matmul
from xla_backend_gpu.device import GpuExecutor, GpuStream, GraphRecorder
from xla_backend_gpu.driver import Step
from xla_backend_gpu.emulated_driver import EmulatedDriver
from xla_backend_gpu.emulator import SECTOR_BYTES, Counters
from xla_backend_gpu.executable import GpuExecutable
from xla_backend_gpu.matmul_thunk import MatmulThunk
from xla_backend_gpu.measured_inputs import example_values
from xla_core.backend import DeviceMemory
from xla_core.codegen.llvm import Autotuner, TuningCache
from xla_core.errors import ResourceExhaustedError
from xla_core.hlo import HloModule
from xla_core.schedule import KernelThunk

# Figures of an H100, for the estimate from an emulated device's counts.
_PROCESSORS = 132
_CYCLES = 1.755e9  # a second
_ISSUED = 4  # instructions of warps that a processor issues in a cycle
_LATENCY = 4  # cycles until a thread's next instruction
_MEMORY_BYTES = 3.35e12  # a second
_CACHE_BYTES = 7e12  # a second
_LAUNCH_SECONDS = 2e-6
_REACHED = 0.7  # of the peak, by the library
_PEAKS = {
    ("f32", 0): 67e12,
    ("f32", 1): 1979e12,
    ("f32", 2): 989e12,
    ("tf32", 0): 494e12,
    ("f64", 0): 67e12,
    ("s32", 0): 1979e12,
}
"""Operations a second with tensor cores, by the type of the sums, and the bytes of the operands of sums in f32."""


def autotuner(
    executor: GpuExecutor, abi: PtxAbi, compile: Callable[[HloModule], GpuExecutable], cache: str
) -> Autotuner:
    """Returns the autotuner of a compilation.

    Args:
        executor: the device that kernels are measured on.
        abi: the compilation's.
        compile: compiles an unscheduled module as the compilation does, for the checked engine.
        cache: a file for the chosen plans, or "".
    """
    device = f"gpu {__version__}, {executor.description.name}"

    def measure(module: HloModule) -> float:
        return seconds_of(executor, compile(module).kernels())

    return Autotuner(abi, measure, cache=TuningCache(cache), device=device)


def estimated_seconds(counters: Counters) -> float:
    """Estimates the time on an H100 from the counts of an emulated device.

    The slowest of these decides: the memory, the cache, the processors that have blocks, and the longest chain of a
    thread's instructions. Each launch adds to it.
    """
    busy = max(1, min(_PROCESSORS, counters.blocks // max(counters.launches, 1))) * _CYCLES
    shared = counters.shared_accesses + counters.shared_bank_conflicts
    slowest: float = max(
        SECTOR_BYTES * counters.touched_sectors / _MEMORY_BYTES,
        SECTOR_BYTES * counters.global_sectors / _CACHE_BYTES,
        (counters.warp_instructions / _ISSUED + counters.local_bytes / SECTOR_BYTES) / busy,
        shared / busy,
        _LATENCY * counters.instructions / max(counters.threads, 1) / _CYCLES,
    )
    return counters.launches * _LAUNCH_SECONDS + slowest


def estimated_seconds_of_library(matmul: Matmul) -> float:
    """Estimates the time of a product by cuBLASLt on an H100, where an emulated device can't tell it."""
    matrices = (matmul.a, matmul.b, matmul.d, *([matmul.c] if matmul.c is not None else []))
    moved = sum(matrix.byte_size(matmul.batch) for matrix in matrices)
    compute = matmul.config.compute_type
    width = matmul.a.element_type.byte_width if compute == "f32" else 0
    peak = _PEAKS.get((compute, width), _PEAKS[compute, 0])
    return _LAUNCH_SECONDS + max(moved / _MEMORY_BYTES, 2 * matmul.multiplications / (peak * _REACHED))


def seconds_of(executor: GpuExecutor, thunks: Sequence[KernelThunk | MatmulThunk]) -> float:
    """Returns the time of steps, which run one after another on random operands.

    Raises:
        ResourceExhaustedError: the device has no memory for their buffers.
    """
    stream = GpuStream(executor)
    memory: dict[int, DeviceMemory] = {}
    try:
        for allocation in {
            p.allocation.index: p.allocation for t in thunks for p in (*t.operands, *t.results)
        }.values():
            found = executor.allocate(max(allocation.size, 1))
            if found is None:
                raise ResourceExhaustedError(f"there are no {allocation.size} bytes to measure a kernel with")
            memory[allocation.index] = found
            stream.memset(found, 0)
        for thunk in thunks:
            for place, data in example_values(thunk):
                _fill(stream, memory[place.allocation.index].slice(place.offset, place.size), data)
        stream.synchronize()
        driver = executor.driver
        if not isinstance(driver, EmulatedDriver):
            steps: list[Step] = []
            _enqueue(GraphRecorder(driver, steps), thunks, memory)
            return driver.seconds([step.enqueue for step in steps])
        before = driver.counters
        _enqueue(stream, thunks, memory)
        stream.synchronize()
        calls = sum(estimated_seconds_of_library(t.matmul) for t in thunks if isinstance(t, MatmulThunk))
        return calls + estimated_seconds(driver.counters - before)
    finally:
        stream.synchronize()
        stream.close()
        for each in memory.values():
            executor.deallocate(each)


def _enqueue(
    stream: GpuStream, thunks: Sequence[KernelThunk | MatmulThunk], memory: Mapping[int, DeviceMemory]
) -> None:
    for thunk in thunks:
        places = (*thunk.operands, *thunk.results)
        arguments = [memory[p.allocation.index].slice(p.offset, p.size) for p in places]
        if isinstance(thunk, MatmulThunk):
            stream.multiply(thunk.matmul, arguments, thunk.name)
        else:
            stream.launch(thunk.kernel, arguments, thunk.dimensions)


def _fill(stream: GpuStream, memory: DeviceMemory, data: np.ndarray) -> None:
    """Fills memory with bytes, which are repeated."""
    stream.memcpy_h2d(memory.slice(0, data.size), data)
    filled = data.size
    while filled < memory.size:
        more = min(filled, memory.size - filled)
        stream.memcpy_d2d(memory.slice(filled, more), memory.slice(0, more))
        filled += more
