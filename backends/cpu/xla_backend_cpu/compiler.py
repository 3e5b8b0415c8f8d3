"""CpuCompiler: the core's pipeline with the CPU's own passes, then LLVM."""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np
from pydantic import Field

from xla_backend_cpu.codegen.module_emitter import ModuleEmitter
from xla_backend_cpu.codegen.vectors import VectorIsa
from xla_backend_cpu.executable import CpuExecutable, NativeProgram, ResultPlace
from xla_backend_cpu.executor import ALIGNMENT, worker_threads
from xla_backend_cpu.host import host_cpu, host_features, host_triple
from xla_core.analysis import AllocationKind, BufferAssignment, assign_buffers
from xla_core.backend import (
    BackendOptions,
    CompilationReport,
    CompileOptions,
    Compiler,
    Executable,
    StreamExecutor,
)
from xla_core.codegen.llvm import LoopAbi, compile_ir
from xla_core.hlo import HloModule, Shape
from xla_core.target import TargetConfig

__all__ = ["CpuCompiler", "CpuOptions"]


class CpuOptions(BackendOptions):
    """Options of the CPU backend.

    Attributes:
        threads: how many threads a program may use; None takes the process's affinity mask.
        llvm_optimization_level: 0 to 3.
        keep_artifacts: keep LLVM IR and assembly for `Executable.artifacts`.
    """

    threads: int | None = Field(default=None, ge=1)
    llvm_optimization_level: int = Field(default=3, ge=0, le=3)
    keep_artifacts: bool = False


class CpuCompiler(Compiler):
    """Compiles for the host. A vendor of another processor subclasses it: `triple`, `cpu`, `features`."""

    @functools.cached_property
    def triple(self) -> str:
        return host_triple()

    @functools.cached_property
    def cpu(self) -> str:
        return host_cpu()

    @functools.cached_property
    def features(self) -> frozenset[str]:
        """LLVM's names of the processor's features."""
        return host_features()
