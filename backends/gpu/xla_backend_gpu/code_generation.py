"""Compiles programs for the GPU: capabilities, HLO passes, LLVM IR and PTX.

`GpuCompiler` imports this module at its first compilation.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Mapping, Sequence

from xla_backend_gpu.abi import PtxAbi, parallel_model
from xla_backend_gpu.assignment import assign, may_share
from xla_backend_gpu.chips import Chip
from xla_backend_gpu.cublas.call import TARGET, is_matmul
from xla_backend_gpu.executable import GpuExecutable
from xla_backend_gpu.processors import ALIGNMENT
from xla_backend_gpu.program import Engine, GpuProgram, Launch, place_of
from xla_backend_gpu.ptxas import ptxas_report
from xla_backend_gpu.tf32 import Tf32
from xla_core import profiler
from xla_core.analysis import BufferAssignment, BufferSlice
from xla_core.backend import Artifacts, CompilationReport
from xla_core.codegen.llvm import Autotuner, EmittedKernel, KernelEmitter, compile_ir, emitter_capabilities
from xla_core.hlo import OPS, ElementType, HloInstruction, HloModule, Opcode, StructuralKeys, Trait
from xla_core.passes import HloPass, HloPassPipeline, ModuleDump, create_pass, scheduling_pipeline
from xla_core.schedule import Thunk, emit_thunks
from xla_core.target import AlignmentRules, Capabilities, FusionCosts, FusionPreferences, TargetConfig

TRIPLE = PtxAbi.triple

_SAVED_LAUNCH_SECONDS = 0.34e-6  # by a launch less, where each is enqueued while the one before it runs

_HOST_OPCODES = frozenset(
    op.opcode
    for op in OPS.values()
    if op.opcode == Opcode.RNG_GET_AND_UPDATE_STATE
    or not op.traits.isdisjoint({Trait.HOST_TRANSFER, Trait.PER_DEVICE})
    or (Trait.COLLECTIVE in op.traits and Trait.ASYNC not in op.traits)
)
"""Ops that the runtime's thunks run. A pass has replaced asynchronous collectives with synchronous ones."""

_TARGET_PASSES = (
    "while-loop-unroller",
    "async-to-sync",
    "fft-decomposer",
    "scan-expander",
    "dot-strength-reduction",
)


@functools.cache
def capabilities() -> Capabilities:
    """The capabilities of the shared emitter, the ops of thunks, and the calls of cuBLASLt."""
    own = emitter_capabilities().with_ops(_HOST_OPCODES, [t for t in ElementType if t.is_array])
    return own.model_copy(update={"custom_calls": own.custom_calls | {TARGET}})


def target_config(processor: str, chip: Chip) -> TargetConfig:
    """The target of programs that are planned for a chip."""
    return TargetConfig(
        name="gpu",
        triple=TRIPLE,
        capabilities=capabilities(),
        alignment=AlignmentRules(buffer=ALIGNMENT, allocation=ALIGNMENT),
        fusion=_fusion_preferences(chip),
        parallel=parallel_model(chip),
        features=(processor,),
    )


def _fusion_preferences(chip: Chip) -> FusionPreferences:
    """The costs of a device whose threads compute faster than its memory moves bytes, and whose launches cost much."""
    kernel = _SAVED_LAUNCH_SECONDS * chip.instructions
    costs = FusionCosts(byte=chip.byte_instructions, kernel=kernel, transcendental=24.0)
    return FusionPreferences(fuse_products=True, least_shared_bytes=0, costs=costs)


def hlo_stages(
    config: TargetConfig, *, deterministic: bool = True, tf32: bool = False, split_products: bool = True
) -> Mapping[str, HloPass]:
    """See `GpuCompiler.hlo_stages`. Without `split_products`, long sums stay whole for cuBLASLt, which divides them."""
    sorter = create_pass("scatter-sorter", parallel=config.parallel, floats=not deterministic)
    passes = [sorter, *map(create_pass, _TARGET_PASSES), *([Tf32()] if tf32 else [])]
    passes += [product_splitter(config)] if split_products else []
    scheduling = scheduling_pipeline(config, may_share)
    if not deterministic:
        merger = create_pass("reduction-merger", parallel=config.parallel, costs=config.fusion.costs)
        scheduling = HloPassPipeline("scheduling", [merger, *scheduling.passes])
    return {"target": HloPassPipeline("target", passes), "scheduling": scheduling}


def product_splitter(config: TargetConfig) -> HloPass:
    """Returns the pass that divides long sums of products over blocks."""
    return create_pass("product-splitter", parallel=config.parallel, costs=config.fusion.costs)


def compile_module(
    module: HloModule,
    abi: PtxAbi,
    *,
    engine: Engine,
    graphs: bool,
    level: int,
    supports: Callable[[HloInstruction], object] | None = None,
    tuner: Autotuner | None = None,
    keep_artifacts: bool = False,
) -> GpuExecutable:
    """Assigns buffers, emits a kernel for each instruction, and compiles them to one module of PTX.

    Args:
        module: the scheduled module.
        abi: the processor and how its code is written; of this compilation alone.
        engine, graphs: see `GpuOptions`.
        level: LLVM's optimization level.
        supports: the host runs the instructions that it refuses.
        tuner: chooses the plans of kernels, if given.
        keep_artifacts: see `CompileOptions`.
    """
    assignment = assign(module)
    kernels = _Kernels(assignment, abi, supports, tuner)
    with profiler.span("emit LLVM IR", category="compile"):
        kernels.emit()
        text = kernels.emitter.module.to_text()
    artifacts: Artifacts = {"buffer-assignment": assignment.to_text}
    ptx = ""
    with profiler.span("LLVM", category="compile"):
        if kernels.count:
            features = kernels.emitter.module.features
            # The emitter chooses the vectors of each thread; those that LLVM finds gain nothing.
            compiled = compile_ir(text, abi, level, what=module.name, vectorize=False, features=features)
            ptx = compiled.assembly()
    if kernels.count and (keep_artifacts or ModuleDump.active() is not None):
        artifacts = {
            **artifacts,
            "plan": "".join(kernels.plans),
            "llvm-unoptimized": text,
            "llvm": compiled.ir(),
            "ptxas": ptxas_report(ptx, abi.cpu),
        }
    program = GpuProgram(processor=abi.cpu, ptx=ptx, launches=kernels.launches, engine=engine, graphs=graphs)
    report = CompilationReport(
        kernels=kernels.count,
        temp_bytes=assignment.temp_bytes,
        temp_bytes_without_reuse=assignment.temp_bytes_without_reuse,
    )
    return GpuExecutable(program, assignment, report, artifacts)


class _Kernels:
    """Emits the kernels of a module, and records their launches by `place_of` the instruction."""

    def __init__(
        self,
        assignment: BufferAssignment,
        abi: PtxAbi,
        supports: Callable[[HloInstruction], object] | None,
        tuner: Autotuner | None,
    ) -> None:
        self.emitter = KernelEmitter(abi, debug_locations=True)
        self.launches: dict[str, tuple[Launch, ...]] = {}
        self.plans: list[str] = []
        self._assignment = assignment
        self._abi = abi
        self._supports = supports
        self._tuner = tuner
        self._keys = StructuralKeys()
        self._made: dict[Hashable, tuple[Launch, ...]] = {}

    @property
    def count(self) -> int:
        return len(self._made)

    def emit(self) -> None:
        """Emits the kernels in the order of the schedule."""
        emit_thunks(self._assignment, self._add)

    def _add(
        self, instruction: HloInstruction, operands: tuple[BufferSlice, ...], results: tuple[BufferSlice, ...]
    ) -> Sequence[Thunk]:
        if is_matmul(instruction):
            return ()
        on_host = instruction.opcode in _HOST_OPCODES or (self._supports and not self._supports(instruction))
        if not on_host and any(place.size for place in results):
            aliasing = frozenset(
                (i, j) for i, result in enumerate(results) for j, place in enumerate(operands) if result.overlaps(place)
            )
            if self._tuner is not None:
                self._tuner.tune(instruction, aliasing)
            # A kernel of f(x, x) reads one buffer twice, so it cannot serve f(x, y).
            buffers = tuple((o.shape, instruction.operands.index(o)) for o in instruction.operands)
            key = (self._keys.instruction(instruction), buffers, aliasing)
            if key not in self._made:
                self._made[key] = self._new(instruction, aliasing)
            self.launches[place_of(instruction)] = self._made[key]
        return ()

    def _new(self, instruction: HloInstruction, aliasing: frozenset[tuple[int, int]]) -> tuple[Launch, ...]:
        kernel = self.emitter.emit(instruction, aliasing=aliasing)
        self.plans.append(f"{kernel.name}: {kernel.plan}\n")
        return tuple(self._launch(phase) for phase in kernel.phases)

    def _launch(self, phase: EmittedKernel) -> Launch:
        return Launch(
            kernel=phase.name,
            blocks=self._abi.blocks(phase.partition_count, phase.threads),
            threads=phase.resources.block_threads,
            scratch_bytes=phase.scratch_bytes,
            shared_bytes=phase.resources.launch_shared_bytes,
        )
