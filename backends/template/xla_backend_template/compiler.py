"""The compiler: runs the core's pipeline for this target, then makes one thunk for each instruction."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from functools import cached_property

from xla_backend_template.executable import TemplateExecutable
from xla_backend_template.kernel import HloKernel
from xla_core.analysis import BufferSlice, assign_buffers
from xla_core.backend import (
    Artifacts,
    CompilationReport,
    CompileOptions,
    Compiler,
    Executable,
    Kernel,
    StreamExecutor,
)
from xla_core.errors import FailedPreconditionError, UnimplementedError
from xla_core.hlo import Environment, HloInstruction, HloModule, Opcode
from xla_core.schedule import KernelThunk, Thunk, ThunkProgram, emit_thunks, walk
from xla_core.target import Capabilities, FusionPreferences, LayoutRules, TargetConfig


class TemplateCompiler(Compiler):
    """Each instruction becomes a kernel. Fusion is off, since the evaluator gains nothing from it; int4 is packed.

    Attributes:
        name: the platform's name.
        own_ops: the ops that the device computes by kernels of its own, which `make_own_kernel` makes. None at first.
        simulates_others: whether the target also has all other ops, which the reference evaluator computes on the host
            between two copies. Without it, the core rewrites programs into `own_ops`.
    """

    host_fallback = True
    name: str = "template"
    own_ops: Capabilities = Capabilities()
    simulates_others: bool = True

    @cached_property
    def target_config(self) -> TargetConfig:
        return TargetConfig(
            name=self.name,
            capabilities=Capabilities.all_of() if self.simulates_others else self.own_ops,
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
        artifacts: Artifacts = {
            "buffer-assignment": assignment.to_text,
            "thunks": lambda: "".join(f"{_describe(thunk)}\n" for thunk in walk(program.thunks)),
        }
        if options.keep_artifacts:
            artifacts = {**artifacts, **self.code_artifacts(computed)}
        return self.make_executable(module, program, report, artifacts)

    def make_kernel(self, instruction: HloInstruction, environment: Environment) -> Kernel:
        """Makes the kernel that computes one instruction: the device's own, or a simulated one.

        Args:
            instruction: the instruction, which the target supports.
            environment: the state of random numbers, which the kernels of a program share; for simulated kernels.
        """
        named = instruction.opcode in self.own_ops.ops or instruction.opcode == Opcode.CUSTOM_CALL
        if named and self.own_ops.check(instruction):  # it also supports ops that the core runs, such as copies
            kernel: object = self.make_own_kernel(instruction)
            if not isinstance(kernel, Kernel):
                raise FailedPreconditionError(
                    f"{type(self).__name__}.make_own_kernel gave {kernel!r} for {instruction.opcode}, not a Kernel"
                )
            return kernel
        return HloKernel(instruction, environment)

    def make_own_kernel(self, instruction: HloInstruction) -> Kernel:
        """Makes a kernel of the device for an instruction that `own_ops` supports."""
        raise UnimplementedError(
            f"{type(self).__name__}.own_ops has {instruction.opcode}, but make_own_kernel makes no kernel of it",
            hint="override make_own_kernel, or take the op out of own_ops",
        )

    def make_executable(
        self, module: HloModule, program: ThunkProgram, report: CompilationReport, artifacts: Artifacts
    ) -> Executable:
        """Makes the executable that runs `program`, the thunks of `module`."""
        return TemplateExecutable(module, program, report, artifacts)

    def code_artifacts(self, instructions: Sequence[HloInstruction]) -> Mapping[str, str]:
        """Returns the code of the kernels by the artifact's name ("llvm", "asm", ...). The simulation has none."""
        return {}


def _describe(thunk: Thunk) -> str:
    """The thunk's kind and name, and the class of its kernel, which says whether it is simulated."""
    kernel = f" ({type(thunk.kernel).__name__})" if isinstance(thunk, KernelThunk) else ""
    return f"{type(thunk).__name__} {thunk.name}{kernel}"
