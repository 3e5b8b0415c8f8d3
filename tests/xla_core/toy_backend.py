"""A backend in one file, for tests of the runtime: host memory, host streams, programs run by the evaluator.

Each execution takes its time, or waits, as its test says.
"""

from __future__ import annotations

import ctypes
import threading

import numpy as np

from xla_core.backend import (
    Availability,
    BackendOptions,
    BackendSpec,
    Compiler,
    DeviceFeatures,
    DeviceMemory,
    Executable,
    Platform,
    StreamExecutor,
    hookimpl,
)
from xla_core.errors import XlaError
from xla_core.hlo.evaluator import evaluate
from xla_core.hlo.values.shape import Shape
from xla_core.runtime import HostStream
from xla_core.target import Capabilities, DeviceDescription, TargetConfig


class ToyOptions(BackendOptions):
    speed: int = 1


class ToyExecutor(StreamExecutor):
    features = DeviceFeatures(memory_slices=True, host_addressable=True, callbacks_may_enqueue=True)
    dlpack_device_type = 1
    system_bytes = 1 << 32

    def __init__(self, ordinal: int) -> None:
        super().__init__(ordinal)
        self.live: dict[int, object] = {}
        self.allocated = 0

    @property
    def description(self):
        return DeviceDescription(name="toy")

    def allocate(self, size, memory_space=0):
        if self.allocated + size > self.system_bytes:
            return None
        block = np.empty(size + 64, np.uint8)
        address = -(-block.ctypes.data // 64) * 64
        self.live[address] = block
        self.allocated += size
        return DeviceMemory(address, size, memory_space=memory_space)

    def deallocate(self, memory):
        del self.live[memory.handle]
        self.allocated -= memory.size

    def create_stream(self):
        return HostStream(self)

    def host_view(self, memory):
        return memoryview((ctypes.c_char * memory.size).from_address(memory.handle + memory.offset)).cast("B")

    def address(self, memory):
        return memory.handle + memory.offset


class ToyExecutable(Executable):
    """`gate`, where a test sets it, holds every execution until it is set; `failure` is raised in its place."""

    gate: threading.Event | None = None
    failure: Exception | None = None
    microseconds = 1.0

    def execute_async_on_stream(self, run_options, arguments):
        results: list[DeviceMemory] = []
        try:
            for shape in self.result_shapes:
                results.append(run_options.allocator.allocate(shape.byte_size))
        except XlaError:
            for memory in results:
                run_options.allocator.free(memory)
            raise
        view = run_options.executor.host_view

        def array(memory: DeviceMemory, shape: Shape) -> np.ndarray:
            data = np.frombuffer(view(memory), np.uint8)[: shape.byte_size]
            return data.view(shape.dtype).reshape(shape.dimensions)

        gate, failure, outputs = self.gate, self.failure, list(results)

        def run() -> None:
            if gate is not None:
                assert gate.wait(30)
            if failure is not None:
                raise failure
            inputs = [array(m, s).copy() for m, s in zip(arguments, self.parameter_shapes, strict=True)]
            for memory, shape, value in zip(outputs, self.result_shapes, evaluate(self.module, *inputs), strict=True):
                array(memory, shape)[...] = value

        run_options.stream.enqueue(run, float("inf") if gate is not None else self.microseconds)
        taken = set()
        for alias in self.module.input_output_aliases:
            index = alias.output_index[0] if alias.output_index else 0
            if index not in taken:  # donated memory takes the result, as a compiler would have it
                taken.add(index)
                donated = arguments[alias.parameter_number]
                run_options.stream.memcpy_d2d(donated, results[index])
                run_options.allocator.free(results[index])
                results[index] = donated
        return results


class ToyCompiler(Compiler):
    @property
    def target_config(self):
        return TargetConfig(name="toy", capabilities=Capabilities.all_of())

    def run_hlo_passes(self, module, options, executor=None):
        return module

    def run_backend(self, module, options, executor=None):
        return ToyExecutable(module)


class ToyPlatform(Platform):
    def visible_device_count(self):
        return 2

    def create_executor(self, ordinal):
        return ToyExecutor(ordinal)

    def create_compiler(self):
        return ToyCompiler()


def spec(**changes: object) -> BackendSpec:
    fields: dict = {
        "version": "1.0",
        "contract_versions": ((1, 0),),
        "platform": ToyPlatform,
        "compiler": ToyCompiler,
        "executable": ToyExecutable,
        "stream_executor": ToyExecutor,
        "probe": lambda: Availability(True),
        "priority": -5,
        "options": ToyOptions,
        "description": "for tests",
    }
    return BackendSpec(**{**fields, **changes})


@hookimpl
def xla_backend() -> BackendSpec:
    return spec()
