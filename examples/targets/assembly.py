"""Compiles a program's kernels to assembly, for a device that this machine doesn't have.

    python -m examples.targets.assembly gfx942 program.mlir

A compiler that runs nothing yet needs a `TargetAbi`, and a `TargetConfig` that declares the ops that the shared emitter
supports. The core's passes rewrite the program into these ops.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NoReturn

import xla_core
from examples.targets.amdgpu import PROCESSORS, AmdgpuAbi
from examples.targets.hexagon import HexagonAbi
from xla_core.analysis import BufferSlice, assign_buffers
from xla_core.backend import CompileOptions, Compiler, DeviceMemory, Executable, RunOptions, StreamExecutor
from xla_core.codegen.llvm import KernelEmitter, TargetAbi, compile_ir, emitter_capabilities
from xla_core.errors import UnimplementedError
from xla_core.hlo import HloInstruction, HloModule
from xla_core.passes import HloPass, HloPassPipeline, create_pass
from xla_core.schedule import Thunk, emit_thunks
from xla_core.target import FusionCosts, FusionPreferences, TargetConfig

__all__ = ["TARGETS", "AssemblyCompiler"]

TARGETS: Mapping[str, Callable[[], TargetAbi]] = {
    **{processor: functools.partial(AmdgpuAbi, processor) for processor in PROCESSORS},
    "hexagon": HexagonAbi,
}

_TARGET_PASSES = (
    "fft-decomposer",
    "float-upcaster",
    "dot-decomposer",
    "scan-expander",
    "dot-strength-reduction",
)

_FUSION_ON_GRIDS = FusionPreferences(costs=FusionCosts(byte=8.0, kernel=1e7, transcendental=24.0))
"""For devices whose threads compute faster than memory moves bytes, and whose launches are expensive."""


class AssemblyExecutable(Executable):
    """A program whose artifacts are the code of its kernels."""

    def execute_async_on_stream(self, run_options: RunOptions, arguments: Sequence[DeviceMemory]) -> NoReturn:
        raise UnimplementedError(f"{self.module.name} is compiled to assembly; there is no device to run it")


class AssemblyCompiler(Compiler):
    """Compiles for the device of an ABI."""

    def __init__(self, abi: TargetAbi) -> None:
        self.abi = abi

    @functools.cached_property
    def target_config(self) -> TargetConfig:
        return TargetConfig(
            name=self.abi.cpu,
            triple=self.abi.triple,
            capabilities=emitter_capabilities(),
            fusion=_FUSION_ON_GRIDS if self.abi.parallel.has_blocks else FusionPreferences(),
            parallel=self.abi.parallel,
        )

    def hlo_stages(self, options: CompileOptions) -> Mapping[str, HloPass]:
        passes = [create_pass(name) for name in _TARGET_PASSES]
        if self.abi.parallel.has_blocks:
            passes.insert(0, create_pass("scatter-sorter", parallel=self.abi.parallel))
        else:
            passes.append(create_pass("reduce-window-rewriter"))  # blocks scan rows
        return {"target": HloPassPipeline("target", passes)}

    def run_backend(
        self, module: HloModule, options: CompileOptions, executor: StreamExecutor | None = None
    ) -> AssemblyExecutable:
        """Emits a kernel for each instruction into one LLVM module, and compiles it."""
        emitter, plans = KernelEmitter(self.abi), []

        def emit(
            instruction: HloInstruction, operands: tuple[BufferSlice, ...], results: tuple[BufferSlice, ...]
        ) -> Sequence[Thunk]:
            aliasing = {(i, j) for i, r in enumerate(results) for j, o in enumerate(operands) if r.overlaps(o)}
            kernel = emitter.emit(instruction, aliasing=aliasing)
            plans.append(f"{kernel.name}: {kernel.plan}\n")
            return ()

        emit_thunks(assign_buffers(module, alignment=self.abi.alignment), emit)
        text = emitter.module.to_text()
        compiled = compile_ir(text, self.abi, what=module.name)
        artifacts = {"plan": "".join(plans), "llvm": compiled.ir(), "asm": compiled.assembly()}
        return AssemblyExecutable(module, artifacts=artifacts)


def main(arguments: Sequence[str]) -> int:
    """Prints the assembly. Returns 2 for arguments that name no target."""
    if len(arguments) != 2 or arguments[0] not in TARGETS:
        print(f"usage: python -m examples.targets.assembly {{{','.join(TARGETS)}}} PROGRAM", file=sys.stderr)
        return 2
    target, file = arguments
    module = xla_core.parse(Path(file).read_text(), file=file)
    print(AssemblyCompiler(TARGETS[target]()).compile(module).artifacts()["asm"], end="")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
