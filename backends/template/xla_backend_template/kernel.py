"""A simulated kernel: one HLO instruction, which the reference evaluator computes on the host.

It runs on any stream, so a backend may have a stream of its own before it has kernels of its own.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np

from xla_core.backend import DeviceMemory, Kernel, Stream
from xla_core.hlo import (
    Environment,
    EvaluationContext,
    HloInstruction,
    Shape,
    evaluate_computation,
    extract_computation,
)
from xla_core.runtime import HostStream
from xla_core.schedule import LaunchDimensions
from xla_core.target import array_size_bytes, from_device_layout, to_device_layout


class HloKernel(Kernel):
    """Runs one instruction. Its arguments are the array leaves of the operands, then those of the result.

    Args:
        instruction: the optimized module's instruction, which is copied.
        environment: the state of random numbers, which the kernels of a program share.
    """

    def __init__(self, instruction: HloInstruction, environment: Environment | None = None) -> None:
        self.name = instruction.name
        self.computation = extract_computation(instruction)
        self.operand_shapes = tuple(s for o in instruction.operands for s in o.shape.array_leaves())
        self.result_shapes = instruction.shape.array_leaves()
        self.context = EvaluationContext(environment)  # it caches the plan of the computation between runs

    def launch(self, stream: Stream, arguments: Sequence[DeviceMemory], dimensions: LaunchDimensions) -> None:
        if isinstance(stream, HostStream):  # its work reads and writes the device's memory at once
            stream.enqueue(functools.partial(self._run, stream, arguments))
        else:
            self._launch_between_copies(stream, arguments)

    def _launch_between_copies(self, stream: Stream, arguments: Sequence[DeviceMemory]) -> None:
        """Enqueues copies of the operands to the host, the computation there, and copies of the results back."""
        operands = [np.empty(array_size_bytes(shape), np.uint8) for shape in self.operand_shapes]
        results = [np.empty(array_size_bytes(shape), np.uint8) for shape in self.result_shapes]

        def compute() -> None:
            arrays = [from_device_layout(data, s) for data, s in zip(operands, self.operand_shapes, strict=True)]
            values = evaluate_computation(self.computation, arrays, self.context)
            for data, shape, value in zip(results, self.result_shapes, values, strict=True):
                data[:] = to_device_layout(value, shape)

        for data, memory in zip(operands, arguments[: len(operands)], strict=True):
            stream.memcpy_d2h(data, memory)
        stream.host_callback(compute)
        for data, memory in zip(results, arguments[len(operands) :], strict=True):
            stream.memcpy_h2d(memory, data)

    def _run(self, stream: HostStream, arguments: Sequence[DeviceMemory]) -> None:
        operands = arguments[: len(self.operand_shapes)]
        arrays = [self._load(stream, m, s) for m, s in zip(operands, self.operand_shapes, strict=True)]
        values = evaluate_computation(self.computation, arrays, self.context)
        for memory, shape, value in zip(arguments[len(operands) :], self.result_shapes, values, strict=True):
            stream.write(memory, to_device_layout(value, shape))

    def _load(self, stream: HostStream, memory: DeviceMemory, shape: Shape) -> np.ndarray:
        data = np.empty(array_size_bytes(shape), np.uint8)
        stream.read(data, memory)
        return from_device_layout(data, shape)
