"""Chooses the plans of kernels by their time on a GPU, or by the emulated device's counts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from xla_backend_gpu import __version__
from xla_backend_gpu.abi import PtxAbi
from xla_backend_gpu.chips import Chip
from xla_backend_gpu.device import GpuExecutor, GpuStream
from xla_backend_gpu.driver import Step
from xla_backend_gpu.emulated_driver import EmulatedDriver
from xla_backend_gpu.estimates import estimated_seconds, estimated_seconds_of_library
from xla_backend_gpu.executable import GpuExecutable
from xla_backend_gpu.graph_recorder import GraphRecorder
from xla_backend_gpu.matmul_thunk import MatmulThunk
from xla_backend_gpu.measured_inputs import example_values
from xla_backend_gpu.work_stream import WorkStream
from xla_core.backend import DeviceMemory
from xla_core.codegen.llvm import Autotuner, TuningCache
from xla_core.errors import ResourceExhaustedError
from xla_core.hlo import HloModule
from xla_core.schedule import KernelThunk


def autotuner(
    executor: GpuExecutor, chip: Chip, abi: PtxAbi, compile: Callable[[HloModule], GpuExecutable], cache: str
) -> Autotuner:
    """Returns the autotuner of a compilation.

    Args:
        executor: the device that kernels are measured on.
        chip: the chip that an emulated device stands for.
        abi: the compilation's.
        compile: compiles an unscheduled module as the compilation does, for the checked engine.
        cache: a file for the chosen plans, or "".
    """
    device = f"gpu {__version__}, {executor.description.name}, {chip.name}"

    def measure(module: HloModule) -> float:
        return seconds_of(executor, chip, compile(module).kernels())

    return Autotuner(abi, measure, cache=TuningCache(cache), device=device)


def seconds_of(executor: GpuExecutor, chip: Chip, thunks: Sequence[KernelThunk | MatmulThunk]) -> float:
    """Returns the time of steps, which run one after another on random operands.

    On an emulated device it is an estimate for a chip.

    Raises:
        ResourceExhaustedError: the device has no memory for their buffers.
        XlaError: a step failed.
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
        if stream.error is not None:
            raise stream.error
        calls = sum(estimated_seconds_of_library(t.matmul, chip) for t in thunks if isinstance(t, MatmulThunk))
        return calls + estimated_seconds(driver.counters - before, chip)
    finally:
        stream.synchronize()
        stream.close()
        for each in memory.values():
            executor.deallocate(each)


def _enqueue(
    stream: WorkStream, thunks: Sequence[KernelThunk | MatmulThunk], memory: Mapping[int, DeviceMemory]
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
