"""The compiler: says what the device's kernels compute, and makes a thunk for each instruction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

from xla_backend_queue_device.kernels import CONSTRAINTS, ELEMENTWISE, MOVEMENT, QueueKernel
from xla_core.analysis import BufferSlice, assign_buffers
from xla_core.backend import (
    CompilationReport,
    CompileOptions,
    Compiler,
    DeviceMemory,
    Executable,
    RunOptions,
    StreamExecutor,
)
from xla_core.errors import UnimplementedError
from xla_core.hlo import ElementType, HloInstruction, HloModule
from xla_core.runtime import ThunkExecutor
from xla_core.schedule import KernelThunk, Thunk, ThunkProgram, emit_thunks, walk
from xla_core.target import Capabilities, FusionPreferences, TargetConfig

F32, S32, PRED = ElementType.F32, ElementType.S32, ElementType.PRED


class QueueExecutable(Executable):
    """Runs thunks. The core enqueues them and drives control flow."""

    def __init__(self, module: HloModule, program: ThunkProgram, report: CompilationReport) -> None:
        super().__init__(module, report)
        self._thunks = "\n".join(f"{type(thunk).__name__} {thunk.name}" for thunk in walk(program.thunks))
        self._executor = ThunkExecutor(program)

    def execute_async_on_stream(
        self, run_options: RunOptions, arguments: Sequence[DeviceMemory]
    ) -> Sequence[DeviceMemory]:
        return self._executor.execute(run_options, arguments)

    def close(self) -> None:
        self._executor.cancel()

    def artifacts(self) -> Mapping[str, str | bytes]:
        return {**super().artifacts(), "thunks": self._thunks + "\n"}


class QueueCompiler(Compiler):
    """Each instruction becomes a kernel. The device has f32, s32 and pred; the host runs the rest where that is asked."""

    host_fallback = True

    @cached_property
    def target_config(self) -> TargetConfig:
        capabilities = Capabilities()
        for element_type in (F32, S32, PRED):
            ops = [op for op, types in ELEMENTWISE.items() if element_type.value in types]
            capabilities = capabilities.with_ops([*ops, *MOVEMENT], [element_type])
        capabilities = capabilities.with_ops(["dot", "reduce"], [F32, S32])
        for opcode, constraint in CONSTRAINTS.items():
            capabilities = capabilities.with_constraint(opcode, constraint)
        return TargetConfig(name="queue-device", capabilities=capabilities, fusion=FusionPreferences(enabled=False))

    def run_backend(
        self, module: HloModule, options: CompileOptions, executor: StreamExecutor | None = None
    ) -> Executable:
        assignment = assign_buffers(module, size=self.shape_size_bytes)
        on_host = options.fallback == "host"
        program = emit_thunks(assignment, self._kernel, self.target_config.supports if on_host else None)
        report = CompilationReport(
            kernels=sum(isinstance(thunk, KernelThunk) for thunk in walk(program.thunks)),
            temp_bytes=assignment.temp_bytes,
            temp_bytes_without_reuse=assignment.temp_bytes_without_reuse,
        )
        return QueueExecutable(module, program, report)

    def _kernel(
        self, instruction: HloInstruction, operands: tuple[BufferSlice, ...], results: tuple[BufferSlice, ...]
    ) -> Thunk:
        supported = self.target_config.supports(instruction)
        if not supported:
            raise UnimplementedError(f"the device does not run {instruction.opcode}: {supported.reason}")
        return KernelThunk(instruction.name, QueueKernel(instruction), operands, results)
