"""CpuCompiler: runs the core's pipeline with the CPU's own passes, then a code generator: LLVM, or another.

The compilation itself is in `code_generation`, which is imported at the first compilation.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import TYPE_CHECKING

from pydantic import Field

from xla_backend_cpu.executable import CpuExecutable
from xla_backend_cpu.executor import ALIGNMENT, describe_host, worker_threads
from xla_backend_cpu.host import architecture, host_cpu, host_feature_names, host_features, host_triple
from xla_backend_cpu.machine_code import CodeGenerator, LlvmCodeGenerator
from xla_core.backend import AheadOfTimeOptions, BackendOptions, CompileOptions, Compiler, Executable, StreamExecutor
from xla_core.target import AlignmentRules, FusionCosts, FusionPreferences, ParallelModel, TargetConfig

if TYPE_CHECKING:
    from xla_core.codegen.llvm import LoopAbi
    from xla_core.hlo import HloModule
    from xla_core.passes import HloPass


class CpuOptions(BackendOptions):
    """Options of the CPU backend.

    Attributes:
        threads: the number of threads that a program may use; None takes the size of the process's affinity mask.
        llvm_optimization_level: LLVM's optimization level, 0 to 3; None takes 0 if the program's level is 0, else 2.
        collective_timeout: the seconds that a device waits for the others in a collective.
    """

    threads: int | None = Field(default=None, ge=1, le=1024)
    llvm_optimization_level: int | None = Field(default=None, ge=0, le=3)
    collective_timeout: float = Field(default=60.0, gt=0)


class CpuCompiler(Compiler):
    """Compiles for the host. For another processor, override `triple`, `cpu` and `features` in a subclass."""

    @functools.cached_property
    def triple(self) -> str:
        return host_triple()

    @functools.cached_property
    def cpu(self) -> str:
        return host_cpu()

    @functools.cached_property
    def features(self) -> frozenset[str]:
        """LLVM's names of the features that the processor has."""
        return host_features()

    @functools.cached_property
    def code_generator(self) -> CodeGenerator:
        """The step from LLVM IR to machine code: LLVM's own. Override it for a processor without an LLVM target."""
        return LlvmCodeGenerator()

    @functools.cached_property
    def target_config(self) -> TargetConfig:
        """The description of the host that the core's passes use."""
        from xla_backend_cpu import code_generation

        return TargetConfig(
            name="cpu",
            triple=self.triple,
            device=describe_host(self.cpu, architecture(self.triple)),
            capabilities=code_generation.capabilities(),
            alignment=AlignmentRules(buffer=ALIGNMENT, allocation=ALIGNMENT),
            fusion=FusionPreferences(costs=FusionCosts(kernel=10_000.0)),  # half a microsecond
            parallel=ParallelModel(kernel_nanoseconds=12_000.0, chunk_nanoseconds=100_000.0),
            features=tuple(sorted(self.features)),
            flushes_products=True,
        )

    def abi(self) -> LoopAbi:
        """The processor's properties that the shared emitter needs."""
        from xla_backend_cpu import code_generation

        return code_generation.loop_abi(self.triple, self.cpu, self.features, self._absent, self.target_config.parallel)

    @property
    def _absent(self) -> frozenset[str]:
        """Features that a virtual machine may hide, which processors of this name have, such as AVX-512."""
        return frozenset(host_feature_names() - self.features if self.cpu == host_cpu() else ())

    @property
    def has_blas(self) -> bool:
        """Whether programs may call OpenBLAS: only code for the architecture of this process can."""
        return architecture(self.triple) == architecture(host_triple())

    def hlo_stages(self, options: CompileOptions) -> Mapping[str, HloPass]:
        """The `target` and `scheduling` stages. CPU kernels may overwrite fewer operands than the core assumes."""
        from xla_backend_cpu import code_generation

        config = self.target_config
        return code_generation.hlo_stages(config, code_generation.processor_of(config), self.has_blas)

    def run_backend(
        self, module: HloModule, options: CompileOptions, executor: StreamExecutor | None = None
    ) -> Executable:
        """Assigns buffers, emits LLVM IR for the whole module, generates code, and links it into the process."""
        from xla_backend_cpu import code_generation

        own = CpuOptions.model_validate(options.backend) if isinstance(options.backend, dict) else options.backend
        level = own.llvm_optimization_level
        return code_generation.compile_module(
            module,
            self.abi(),
            self.target_config,
            self.code_generator,
            threads=own.threads or worker_threads(),
            blas=self.has_blas,
            level=level if level is not None else 2 if options.optimization_level else 0,
            collective_timeout=own.collective_timeout,
            keep_artifacts=options.keep_artifacts,
        )

    def ahead_of_time_files(
        self, module: HloModule, target: AheadOfTimeOptions, options: CompileOptions | None = None
    ) -> Mapping[str, str | bytes]:
        """An object file, its C header, a small runtime in C, a CMake file, and an example."""
        from xla_backend_cpu.ahead_of_time import compile_files

        return compile_files(self, module, target, options or CompileOptions())

    def deserialize(
        self, data: bytes, options: CompileOptions | None = None, executor: StreamExecutor | None = None
    ) -> Executable:
        return CpuExecutable.deserialize(data, self.code_generator)

    def fingerprint(self) -> str:
        processor = f"{self.cpu} {','.join(sorted(self.features))} without {','.join(sorted(self._absent))}"
        return f"{processor} by {self.code_generator.fingerprint()}"
