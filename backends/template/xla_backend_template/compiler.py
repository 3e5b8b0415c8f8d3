"""The compiler: runs the core's pipeline for this target, then makes one thunk for each instruction."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from functools import cached_property

from xla_backend_template.executable import TemplateExecutable
from xla_backend_template.kernel import HloKernel
from xla_core.analysis import BufferSlice, assign_buffers
from xla_core.backend import CompilationReport, CompileOptions, Compiler, Executable, Kernel, StreamExecutor
from xla_core.hlo import Environment, HloInstruction, HloModule
from xla_core.schedule import KernelThunk, Thunk, ThunkProgram, emit_thunks, walk
from xla_core.target import Capabilities, FusionPreferences, LayoutRules, TargetConfig

__all__ = ["TemplateCompiler"]


class TemplateCompiler(Compiler):
    """Each instruction becomes a kernel. Fusion is off, since the evaluator gains nothing from it; int4 is packed."""

    host_fallback = True

    @cached_property
    def target_config(self) -> TargetConfig:
        return TargetConfig(
            name="template",
            capabilities=Capabilities.all_of(),
            layouts=LayoutRules(packed=True),
            fusion=FusionPreferences(enabled=False),
        )

    def run_backend(
        self, module: HloModule, options: CompileOptions, executor: StreamExecutor | None = None
    ) -> Executable:
        assignment = assign_buffers(module, size=self.shape_size_bytes)
        on_host = options.fallback == "host"
        environment = Environment(seed=zlib.crc32(module.name.encode()))
        computed: list[HloInstruction] = []

        def emit(
            instruction: HloInstruction, operands: tuple[BufferSlice, ...], results: tuple[BufferSlice, ...]
        ) -> Thunk:
            computed.append(instruction)
            return KernelThunk(instruction.name, self.make_kernel(instruction, environment), operands, results)

        program = emit_thunks(assignment, emit, self.target_config.supports if on_host else None)
        report = CompilationReport(
            kernels=sum(isinstance(thunk, KernelThunk) for thunk in walk(program.thunks)),
            temp_bytes=assignment.temp_bytes,
            temp_bytes_without_reuse=assignment.temp_bytes_without_reuse,
        )
        artifacts = {
            "buffer-assignment": assignment.to_text(),
            "thunks": "\n".join(f"{type(thunk).__name__} {thunk.name}" for thunk in walk(program.thunks)) + "\n",
        }
        if options.keep_artifacts:
            artifacts |= self.code_artifacts(computed)
        return self.make_executable(module, program, report, artifacts)

    def make_kernel(self, instruction: HloInstruction, environment: Environment) -> Kernel:
        """Makes the kernel that computes one instruction.

        Args:
            instruction: the instruction, which the target supports.
            environment: the state of random numbers, which the kernels of a program share; for simulated kernels.
        """
        return HloKernel(instruction, environment)

    def make_executable(
        self, module: HloModule, program: ThunkProgram, report: CompilationReport, artifacts: Mapping[str, str]
    ) -> Executable:
        """Makes the executable that runs `program`, the thunks of `module`."""
        return TemplateExecutable(module, program, report, artifacts)

    def code_artifacts(self, instructions: Sequence[HloInstruction]) -> Mapping[str, str]:
        """Returns the code of the kernels by the artifact's name ("llvm", "asm", ...). The simulation has none."""
        return {}
