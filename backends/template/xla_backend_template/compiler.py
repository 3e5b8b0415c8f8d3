"""The compiler: runs the core's pipeline for this target, then makes one thunk for each instruction."""

from __future__ import annotations

import zlib
from functools import cached_property

from xla_backend_template.executable import TemplateExecutable
from xla_backend_template.kernel import HloKernel
from xla_core.analysis import BufferSlice, assign_buffers
from xla_core.backend import CompilationReport, CompileOptions, Compiler, Executable, StreamExecutor
from xla_core.hlo import Environment, HloInstruction, HloModule
from xla_core.schedule import KernelThunk, Thunk, emit_thunks, walk
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

        def kernel(
            instruction: HloInstruction, operands: tuple[BufferSlice, ...], results: tuple[BufferSlice, ...]
        ) -> Thunk:
            made = HloKernel(instruction)
            made.context.environment = environment
            return KernelThunk(instruction.name, made, operands, results)

        program = emit_thunks(assignment, kernel, self.target_config.supports if on_host else None)
        report = CompilationReport(
            kernels=sum(isinstance(thunk, KernelThunk) for thunk in walk(program.thunks)),
            temp_bytes=assignment.temp_bytes,
            temp_bytes_without_reuse=assignment.temp_bytes_without_reuse,
        )
        artifacts = {
            "buffer-assignment": assignment.to_text(),
            "thunks": "\n".join(f"{type(thunk).__name__} {thunk.name}" for thunk in walk(program.thunks)) + "\n",
        }
        return TemplateExecutable(module, program, report, artifacts)
