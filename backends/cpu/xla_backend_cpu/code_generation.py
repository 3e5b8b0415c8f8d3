"""Compiles programs for the CPU: capabilities, HLO passes, LLVM IR and machine code.

`CpuCompiler` imports this module at its first compilation, so that opening a client stays fast.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from xla_backend_cpu.codegen.convolution import is_blocked_convolution
from xla_backend_cpu.codegen.dot import keeps_matrix_vector
from xla_backend_cpu.codegen.module_emitter import HOST_OPCODES, MODULE_OPCODES, ModuleEmitter
from xla_backend_cpu.codegen.processor import Processor
from xla_backend_cpu.executable import CpuExecutable
from xla_backend_cpu.executor import ALIGNMENT, allowed_processors
from xla_backend_cpu.machine_code import CodeGenerator
from xla_backend_cpu.native_program import NativeProgram, ResultPlace
from xla_backend_cpu.passes.dot_operand_transposer import DotOperandTransposer
from xla_backend_cpu.passes.integer_dot_upcaster import IntegerDotUpcaster
from xla_core import profiler
from xla_core.analysis import AllocationKind, BufferAssignment, assign_buffers, can_share_buffer
from xla_core.backend import Artifacts, CompilationReport
from xla_core.codegen.llvm import (
    IrPart,
    LoopAbi,
    emitter_capabilities,
    may_share_buffer,
)
from xla_core.hlo import ElementType, HloInstruction, HloModule, Opcode, Shape, is_custom_call_registered
from xla_core.passes import (
    ConvolutionCanonicalizer,
    HloPass,
    HloPassPipeline,
    ModuleDump,
    create_pass,
    scheduling_pipeline,
)
from xla_core.target import Capabilities, ParallelModel, TargetConfig

_LINES_OF_A_PART, _UNOPTIMIZED_LINES_OF_A_PART = 250, 2500
"""Lines of LLVM IR per part compiled on its own thread. An empty module costs LLVM 1 ms, as much as 5 lines with
optimization and as 100 without it."""

_SHORT_NANS = ("x86_64", "aarch64", "riscv")
"""The architectures known to have `LoopAbi.has_short_nans`."""

_SLOW_GATHERS = ("znver",)
"""Processors whose instructions that gather elements take longer than a load of each of them."""

_TARGET_PASSES = (
    "async-to-sync",
    "fft-decomposer",
    "float-upcaster",
    "dot-decomposer",
    "scan-expander",
    "reduce-window-rewriter",
)


def capabilities() -> Capabilities:
    """The capabilities of the shared emitter and the ops that `ModuleEmitter` adds to them."""
    types = [t for t in ElementType if t.is_array]
    with_own = emitter_capabilities().with_ops([*HOST_OPCODES, *MODULE_OPCODES], types)
    return with_own.with_constraint(Opcode.CUSTOM_CALL, _why_unknown)


def _why_unknown(call: HloInstruction) -> str | None:
    """The reason why the host can't run a custom call, or None if it can."""
    target = call.attribute("custom_call_target")
    return None if is_custom_call_registered(target) else f"there is no custom call {target!r}"


def loop_abi(
    triple: str, cpu: str, features: Collection[str], absent: Collection[str], parallel: ParallelModel
) -> LoopAbi:
    """The processor's properties that the shared emitter needs.

    LLVM derives features from the processor's name. Those that are `absent` are taken away.
    """
    is_aarch64 = triple.startswith("aarch64")
    half = "f16c" in features or is_aarch64
    tuning = ["+prefer-no-gather"] if cpu.startswith(_SLOW_GATHERS) else []
    return LoopAbi(
        triple,
        cpu,
        ",".join([*(f"+{name}" for name in sorted(features)), *(f"-{name}" for name in sorted(absent)), *tuning]),
        vector_width=8 * Processor.of(features, triple).register_bytes,
        has_fma="fma" in features or is_aarch64,
        native_floats=frozenset({ElementType.F16} if half else ()),
        has_short_nans=triple.startswith(_SHORT_NANS),
        failure_counter=True,
        parallel=parallel,
    )


def hlo_stages(config: TargetConfig, processor: Processor, blas: bool) -> Mapping[str, HloPass]:
    """See `CpuCompiler.hlo_stages`."""
    target = HloPassPipeline(
        "target",
        [
            IntegerDotUpcaster(),
            *map(create_pass, _TARGET_PASSES),
            create_pass("convolution-phase-splitter", only=is_blocked_convolution, costs=config.fusion.costs),
            ConvolutionCanonicalizer(is_blocked_convolution, plain=True),
            create_pass("dot-strength-reduction", only=lambda dot: not keeps_matrix_vector(dot, processor, blas)),
            *([DotOperandTransposer(processor, blas)] if processor.registers else []),
        ],
    )
    return {"target": target, "scheduling": scheduling_pipeline(config, can_share)}


def processor_of(config: TargetConfig) -> Processor:
    """Returns the processor for whose registers and caches the kernels of products are shaped."""
    return Processor.of(config.features, config.triple, config.device.caches)


def compile_module(
    module: HloModule,
    abi: LoopAbi,
    config: TargetConfig,
    generator: CodeGenerator,
    *,
    threads: int,
    blas: bool,
    level: int,
    collective_timeout: float,
    keep_artifacts: bool,
) -> CpuExecutable:
    """Assigns buffers, emits LLVM IR for the whole module, and lets `generator` make machine code of it.

    `blas` allows calls of OpenBLAS, `level` is the generator's optimization level; see `CpuOptions` for the others.
    """
    assignment = _assign(module)
    emitter = ModuleEmitter(module, assignment, abi, processor_of(config), threads, blas, limits_loops=True, quick=True)
    keep = keep_artifacts or ModuleDump.active() is not None
    with profiler.span("emit LLVM IR", category="compile"):
        ir = emitter.emit()
        lines = _LINES_OF_A_PART if level else _UNOPTIMIZED_LINES_OF_A_PART
        parts = [IrPart(ir.to_text())] if keep else ir.split(lines)
    artifacts: Artifacts = {"buffer-assignment": lambda: _assign(module).to_text()}
    with profiler.span("generate code", category="compile"):
        if keep:  # compile one module, so that its IR can be kept as a whole
            objects, shown = generator.compile_with_artifacts(parts[0].text, abi, level, what=module.name)
            artifacts = {**artifacts, "plan": emitter.plan_text(), "llvm-unoptimized": parts[0].text, **shown}
        else:
            at_once = min(threads, allowed_processors())
            objects = generator.compile(parts, abi, level, what=module.name, threads=at_once)
    program = _program(assignment, emitter, objects, collective_timeout)
    report = CompilationReport(
        kernels=emitter.kernel_count,
        library_calls=dict(emitter.library_calls),
        temp_bytes=assignment.temp_bytes,
        temp_bytes_without_reuse=assignment.temp_bytes_without_reuse,
    )
    return CpuExecutable(module, program, report, artifacts, generator)


def _assign(module: HloModule) -> BufferAssignment:
    return assign_buffers(module, alignment=ALIGNMENT, can_share=can_share)


def can_share(instruction: HloInstruction, operand: int, leaf: int) -> bool:
    """Whether the emitted kernel (or the host) may write a result's leaf over an operand, an array."""
    if instruction.opcode in HOST_OPCODES:
        return can_share_buffer(instruction, operand, leaf)
    before = sum(s.is_array for o in instruction.operands[:operand] for s in o.shape.leaves())
    return may_share_buffer(instruction, leaf, before)


def _program(
    assignment: BufferAssignment, emitter: ModuleEmitter, objects: tuple[bytes, ...], collective_timeout: float
) -> NativeProgram:
    """Describes the code and the table of addresses that it expects, as data that can be serialized."""
    module = assignment.module
    leaves = _leaf_numbers([p.shape for p in module.entry.parameters])
    donors: dict[int, int] = {}
    parameters: dict[int, int] = {}
    constants = bytearray()
    constant_slots: dict[int, int] = {}
    temp_slot = temp_bytes = 0
    for allocation in assignment.allocations:
        slot = 1 + allocation.index
        if allocation.parameter is not None:
            number, index = allocation.parameter
            if (number, index) in leaves:
                parameters[leaves[number, index]] = slot
                donors[slot] = leaves[number, index]
        elif allocation.kind is AllocationKind.CONSTANT and allocation.constant is not None:
            constants += bytes(-len(constants) % ALIGNMENT)
            constant_slots[slot] = len(constants)
            constants += np.ascontiguousarray(allocation.constant.literal.array).tobytes()
        elif allocation.kind is AllocationKind.TEMP and allocation.size:
            temp_slot, temp_bytes = slot, allocation.size
    results = []
    root = module.entry.root
    for shape, place in zip(root.shape.leaves(), assignment.leaf_slices(root), strict=True):
        if shape.is_array:
            slot = 1 + place.allocation.index
            # A result without elements may share a parameter that isn't donated; it gets memory of its own.
            results.append(ResultPlace(slot, place.size, donors.get(slot) if place.size else None))
    return NativeProgram(
        triple=emitter.abi.triple,
        objects=objects,
        slots=1 + len(assignment.allocations) + (emitter.time_slot > 0),
        time_slot=emitter.time_slot,
        parameters=tuple(parameters[i] for i in range(len(parameters))),
        results=tuple(results),
        temp_slot=temp_slot,
        temp_bytes=temp_bytes,
        constants=bytes(constants),
        constant_slots=constant_slots,
        routines=tuple(emitter.library_calls),
        threads=emitter.threads,
        microseconds=emitter.nanoseconds / 1000,
        host_calls=tuple(emitter.host_calls),
        collective_timeout=collective_timeout,
    )


def _leaf_numbers(shapes: Sequence[Shape]) -> dict[tuple[int, tuple[int, ...]], int]:
    """Maps (parameter number, index) of each array leaf to its position among the flat arguments."""
    numbers: dict[tuple[int, tuple[int, ...]], int] = {}

    def visit(number: int, index: tuple[int, ...], shape: Shape) -> None:
        if shape.is_array:
            numbers[number, index] = len(numbers)
        for i, part in enumerate(shape.tuple_shapes):
            visit(number, (*index, i), part)

    for number, shape in enumerate(shapes):
        visit(number, (), shape)
    return numbers
