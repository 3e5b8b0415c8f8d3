"""GpuExecutable: a compiled program, which runs as a schedule of thunks."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

from xla_backend_gpu.cublas.call import TARGET, is_matmul, matmul_of_call
from xla_backend_gpu.cublas.find import missing
from xla_backend_gpu.device import GpuExecutor
from xla_backend_gpu.graphs import GraphExecutor
from xla_backend_gpu.kernel import DeviceCode, GpuKernel
from xla_backend_gpu.matmul_thunk import MatmulThunk
from xla_backend_gpu.program import GpuProgram, Launch, place_of
from xla_backend_gpu.ptxas import machine_code
from xla_core.analysis import (
    AllocationKind,
    BufferAllocation,
    BufferAssignment,
    BufferSlice,
)
from xla_core.backend import (
    Artifacts,
    CompilationReport,
    DeviceMemory,
    Executable,
    ExecutableMemoryStats,
    RunOptions,
    StreamExecutor,
)
from xla_core.errors import InvalidArgumentError
from xla_core.hlo import Environment, HloInstruction
from xla_core.schedule import KernelThunk, LaunchDimensions, Thunk, ThunkProgram, emit_thunks, host_thunk, walk

_STREAMS = 4
"""The most streams for independent branches of a program."""

Slices = tuple[BufferSlice, ...]


class GpuExecutable(Executable):
    """A compiled program whose kernels are in one module of PTX.

    Args:
        program: the launches and the PTX.
        assignment: the buffers of the module.
        report: see `Executable.report`.
        artifacts: those besides the PTX and the thunks.
    """

    def __init__(
        self,
        program: GpuProgram,
        assignment: BufferAssignment,
        report: CompilationReport | None = None,
        artifacts: Artifacts | None = None,
    ) -> None:
        self._program = program
        self._was_assembled = False
        self._code = DeviceCode(program.ptx, program.engine, program.cubin)
        self._thunks = thunks = make_thunks(program, assignment, self._code)
        own: Artifacts = {"ptx": program.ptx, "thunks": lambda: _listed(thunks)}
        super().__init__(assignment.module, report, {**(artifacts or {}), **own})
        self._executor = GraphExecutor(thunks, streams=_STREAMS, graphs=program.graphs)

    def execute_async_on_stream(
        self, run_options: RunOptions, arguments: Sequence[DeviceMemory]
    ) -> Sequence[DeviceMemory]:
        return self._executor.execute(run_options, arguments)

    def prepare(self, executor: StreamExecutor | None) -> None:
        """Loads the program's kernels on a device, and checks that the device has the library that it calls.

        A driver may take seconds to translate PTX, and the first run shouldn't wait for that.

        Raises:
            FailedPreconditionError: the program calls cuBLASLt, and the device doesn't have it.
            XlaError: the device can't run the PTX.
        """
        if not isinstance(executor, GpuExecutor):
            return
        calls = [thunk.name for thunk in self.device_thunks() if isinstance(thunk, MatmulThunk)]
        if calls and executor.driver.blas is None:
            raise missing(f"{self.module.name} ({calls[0]})")
        if self._program.launches:
            self._code.load(executor.driver)

    def serialize(self) -> bytes:
        if not self._program.cubin and not self._was_assembled:  # ptxas may be missing, or refuse the PTX
            cubin = machine_code(self._program.ptx, self._program.processor)
            self._program = self._program.model_copy(update={"cubin": cubin})
            self._was_assembled = True
        return self._program.to_bytes(self.module)

    def kernels(self) -> Sequence[KernelThunk]:
        """Returns the launches of all kernels in their order; those of a loop's body once."""
        return [thunk for thunk in self.device_thunks() if isinstance(thunk, KernelThunk)]

    def device_thunks(self) -> Sequence[KernelThunk | MatmulThunk]:
        """Returns the launches of kernels and the calls of cuBLASLt in their order; those of a loop's body once."""
        return [thunk for thunk in walk(self._thunks.thunks) if isinstance(thunk, KernelThunk | MatmulThunk)]

    def cost_analysis(self) -> Mapping[str, float]:
        """Returns estimates for one run. Products of cuBLASLt in the body of a loop count once."""
        costs = dict(super().cost_analysis())
        products = [thunk.matmul for thunk in self.device_thunks() if isinstance(thunk, MatmulThunk)]
        costs["flops"] += sum(2.0 * product.multiplications for product in products)
        return costs

    def memory_stats(self) -> ExecutableMemoryStats:
        sizes = dict.fromkeys(AllocationKind, 0)
        for allocation in self._thunks.allocations:
            sizes[allocation.kind] += allocation.size
        return dataclasses.replace(
            super().memory_stats(),
            temp_bytes=sizes[AllocationKind.TEMP],
            constant_bytes=sizes[AllocationKind.CONSTANT],
            generated_code_bytes=len(self._program.ptx),
        )

    def close(self) -> None:
        self._executor.cancel()


def _listed(program: ThunkProgram) -> str:
    """The kind and the name of each thunk."""
    return "\n".join(f"{type(thunk).__name__} {thunk.name}" for thunk in walk(program.thunks)) + "\n"


def make_thunks(program: GpuProgram, assignment: BufferAssignment, code: DeviceCode) -> ThunkProgram:
    """Makes the thunks of a compiled module, with the kernels of `code`. The host runs instructions without a kernel.

    Raises:
        InvalidArgumentError: the launches don't fit the module.
    """
    size = max((launch.scratch_bytes for phases in program.launches.values() for launch in phases), default=0)
    matmuls = {
        instruction: matmul_of_call(instruction)
        for computation in assignment.module.computations
        for instruction in computation.instructions
        if is_matmul(instruction)
    }
    size = max(size, *(matmul.config.workspace_bytes for matmul in matmuls.values())) if matmuls else size
    scratch = BufferAllocation(-1, size, AllocationKind.TEMP)  # no instruction's
    environment = Environment()  # the state of instructions on the host
    launches = dict(program.launches)

    def thunk(instruction: HloInstruction, operands: Slices, results: Slices) -> Thunk | Sequence[Thunk]:
        matmul = matmuls.get(instruction)
        if matmul is not None:
            workspace = matmul.config.workspace_bytes
            written = (*results, BufferSlice(scratch, 0, workspace)) if workspace else results
            return MatmulThunk(instruction.name, TARGET, operands, written, {"matmul": matmul})
        phases = launches.pop(place_of(instruction), None)
        if phases is None:
            computes = any(result.size for result in results)
            return host_thunk(instruction, operands, results, environment) if computes else ()
        return [kernel(instruction, phase, operands, results) for phase in phases]

    def kernel(instruction: HloInstruction, launch: Launch, operands: Slices, results: Slices) -> Thunk:
        written = (*results, BufferSlice(scratch, 0, size)) if launch.scratch_bytes else results
        dimensions = LaunchDimensions((launch.blocks, 1, 1), (launch.threads, 1, 1), launch.shared_bytes)
        kernel = GpuKernel(code, launch.kernel, instruction)
        return KernelThunk(instruction.name, kernel, operands, written, dimensions)

    made = emit_thunks(assignment, thunk)
    if launches:
        raise InvalidArgumentError(
            f"the serialized GPU program is damaged: its module has no instruction {next(iter(launches))}"
        )
    if size:
        made = dataclasses.replace(made, allocations=(*made.allocations, scratch))
    return made
