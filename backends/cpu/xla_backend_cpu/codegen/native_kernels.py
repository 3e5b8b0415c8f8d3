"""Chooses, emits and costs the kernels of a module. Instructions that compute the same share a kernel."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Container, Hashable

from xla_backend_cpu.codegen.blocked_product import ProductEmitter, with_best_rows
from xla_backend_cpu.codegen.convolution import convolution_product, is_canonical
from xla_backend_cpu.codegen.denormals import flushed_denormals
from xla_backend_cpu.codegen.dot import Product, dot_kernel
from xla_backend_cpu.codegen.kernel_times import (
    is_simple,
    kernel_nanoseconds,
    memory_nanoseconds,
    unoptimized_nanoseconds,
)
from xla_backend_cpu.codegen.lapack_kernel import emit_lapack
from xla_backend_cpu.codegen.library_product import LibraryEmitter, LibraryProduct
from xla_backend_cpu.codegen.narrow_product import NarrowEmitter, is_narrow
from xla_backend_cpu.codegen.packed_product import PackedEmitter, PackedProduct
from xla_backend_cpu.codegen.panels import PanelOps
from xla_backend_cpu.codegen.processor import Processor
from xla_backend_cpu.codegen.row_product import RowEmitter, RowProduct
from xla_backend_cpu.codegen.streamed_product import StreamedProduct, StreamedProductEmitter
from xla_backend_cpu.codegen.vectors import VectorOps
from xla_backend_cpu.lapack import LapackCall
from xla_core.analysis import BufferAssignment, HloCostAnalysis
from xla_core.codegen.llvm import (
    IrModule,
    KernelEmitter,
    KernelFrame,
    KernelParameter,
    KernelPlan,
    KernelResources,
    LoopAbi,
)
from xla_core.hlo import (
    ElementType,
    HloInstruction,
    HloModule,
    Opcode,
    StructuralKeys,
    Trait,
    fused_instructions,
    fused_roots,
)

_CALL_NANOSECONDS = 1000.0  # the time of a LAPACK routine for the smallest matrix
_LIBRARY_FLOPS_PER_NANOSECOND = 100.0
_TINY_FLOPS = 2048.0  # for products of fewer operations, plain loops are as fast as register blocks
_FEW_ELEMENTS = 8
_LITTLE_CODE = 48  # simple instructions
_CODE_OF_FUNCTION = 12
_LITTLE_NANOSECONDS = 500.0
"""The time without optimization of a kernel that isn't worth the milliseconds in which LLVM optimizes it, if it runs
once. To call a program takes ten times as long.
"""
_SCALARS = {ElementType.F32: "float", ElementType.F64: "double"}

InPlace = Callable[[HloInstruction], Container[int]]
"""See `NativeKernels.in_place`."""


@dataclasses.dataclass(frozen=True, slots=True)
class NativeKernel:
    """A kernel in the LLVM module.

    Attributes:
        name: the symbol of its function.
        size: the number of its units of work.
        grain: the fewest units of work that a thread takes at a time.
        nanoseconds: an estimate of its time on one core.
        routine: the BLAS or LAPACK routine that it calls, or "".
        plan: how it is computed, for display.
        is_inlined: whether LLVM makes it a part of the function that calls it.
        resources: what else it needs. A program has scratch memory of threads for one thread only.
    """

    name: str
    size: int
    grain: int
    nanoseconds: float
    routine: str = ""
    plan: str = ""
    is_inlined: bool = False
    resources: KernelResources = dataclasses.field(default_factory=KernelResources)


class NativeKernels:
    """The kernels of one module, each emitted into `module` on first use.

    If `blas`, kernels may call OpenBLAS. `library_calls` maps a routine to the number of instructions whose kernel
    calls it.
    """

    def __init__(
        self,
        hlo: HloModule,
        assignment: BufferAssignment,
        abi: LoopAbi,
        processor: Processor,
        threads: int,
        module: IrModule,
        blas: bool,
        quick: bool,
    ) -> None:
        self.library_calls: Counter[str] = Counter()
        self._assignment = assignment
        self._abi = abi
        self._processor = processor
        self._threads = threads
        self._blas = blas
        self._quick = quick
        self._module = module
        self._emitter = KernelEmitter(abi, module)
        self._inliner = KernelEmitter(abi.inlined(), module)
        self._plain_emitter = KernelEmitter(abi.plain(), module)
        self._keys = StructuralKeys()
        self._costs = HloCostAnalysis(hlo)
        self._kernels: dict[Hashable, NativeKernel] = {}

    def __len__(self) -> int:
        return len(self._kernels)

    def plan_text(self) -> str:
        """Returns a line for each kernel: its name, its form and its loops."""
        return "".join(f"{kernel.name}: {kernel.plan}\n" for kernel in self._kernels.values())

    def of(self, instruction: HloInstruction, *, in_loop: bool = False) -> NativeKernel:
        """The kernel of an instruction. Instructions that differ only in the addresses of their buffers share it.

        In a loop, a small one is inlined. With `quick`, LLVM doesn't optimize one of little work that runs once.
        """
        plain = self._quick and not in_loop and self._has_little_work(instruction)
        in_loop = in_loop and is_small(instruction, self.in_place)
        aliasing = self._aliasing(instruction)
        # A kernel of f(x, x) reads one buffer twice, so it cannot serve f(x, y).
        operands = tuple((o.shape, instruction.operands.index(o)) for o in instruction.operands)
        key = (self._keys.instruction(instruction), operands, frozenset(aliasing), in_loop, plain)
        if key not in self._kernels:
            self._kernels[key] = self._new(instruction, aliasing, in_loop, plain)
        kernel = self._kernels[key]
        if kernel.routine:
            self.library_calls[kernel.routine] += 1
        return kernel

    def _new(
        self, instruction: HloInstruction, aliasing: set[tuple[int, int]], inlined: bool, plain: bool
    ) -> NativeKernel:
        name = self._module.symbol(f"kernel_{len(self._kernels)}_{instruction.opcode}")
        product = self._product(instruction)
        if product is not None:
            return self._multiply(name, instruction, product)
        lapack = LapackCall.of(instruction)
        if lapack is not None:
            frame = self._frame(name, instruction, lapack.batch)
            emit_lapack(lapack, frame, self._abi)
            self._abi.end_kernel(frame)
            nanoseconds = lapack.batch * (_CALL_NANOSECONDS + 10.0 * instruction.operand(0).shape.dimensions[-1] ** 3)
            return NativeKernel(
                name,
                lapack.batch,
                1,
                nanoseconds,
                lapack.symbol,
                f"{lapack.symbol}: {KernelPlan(lapack.batch)}",
                resources=frame.resources,
            )
        cost = self._costs.instruction(instruction)
        nanoseconds = kernel_nanoseconds(instruction, cost, self._processor)
        undivided = self._threads == 1 or nanoseconds <= self._abi.parallel.kernel_nanoseconds
        emitter = self._inliner if inlined else self._plain_emitter if plain else self._emitter
        emitted = emitter.emit(instruction, name, aliasing=aliasing, undivided=undivided or inlined)
        return NativeKernel(
            name,
            emitted.partition_count,
            emitted.grain,
            nanoseconds,
            plan=emitted.plan,
            is_inlined=inlined,
            resources=emitted.resources,
        )

    def _has_little_work(self, instruction: HloInstruction) -> bool:
        """Whether a kernel that runs once takes less time without optimization than LLVM would need to optimize it."""
        cost, written = self._costs.instruction(instruction), _written_elements(instruction, self.in_place)
        return unoptimized_nanoseconds(instruction, cost, written, self._processor) <= _LITTLE_NANOSECONDS

    def _product(self, instruction: HloInstruction) -> Product | None:
        product: Product | None = None
        if instruction.opcode == Opcode.DOT:
            product = dot_kernel(instruction, self._processor, self._blas)
        elif instruction.opcode == Opcode.CONVOLUTION and self._processor.registers and is_canonical(instruction):
            element_bytes = instruction.shape.element_type.byte_width
            product = with_best_rows(convolution_product(instruction), element_bytes, self._processor)
        return product if product is not None and product.flops > _TINY_FLOPS else None

    def _frame(self, name: str, instruction: HloInstruction, count: int) -> KernelFrame:
        parameters = [KernelParameter(o.name, o.shape) for o in instruction.operands]
        leaves = instruction.shape.array_leaves()
        parameters += [KernelParameter(f"{instruction.name}.{i}", s, is_result=True) for i, s in enumerate(leaves)]
        return self._abi.begin_kernel(self._module, name, parameters, count)

    def _multiply(self, name: str, instruction: HloInstruction, product: Product) -> NativeKernel:
        element_type = instruction.shape.element_type
        flops_per_nanosecond, routine = 8.0 * self._processor.register_bytes / element_type.byte_width, ""
        emitter: ProductEmitter | RowEmitter | StreamedProductEmitter | LibraryEmitter | PackedEmitter | NarrowEmitter
        if isinstance(product, PackedProduct):
            emitter = PackedEmitter(product, self._processor, self._threads)
            flops_per_nanosecond *= product.format.depth
        elif isinstance(product, LibraryProduct):
            emitter = LibraryEmitter(product, self._threads)
            flops_per_nanosecond, routine = _LIBRARY_FLOPS_PER_NANOSECOND, product.symbol
        elif isinstance(product, RowProduct):
            emitter = RowEmitter(product, self._processor)
        elif isinstance(product, StreamedProduct):
            emitter = StreamedProductEmitter(product, element_type.byte_width, self._processor, self._threads)
        elif is_narrow(product, element_type.byte_width, self._processor):
            emitter = NarrowEmitter(product, element_type.byte_width, self._processor)
        else:
            emitter = ProductEmitter(product, element_type.byte_width, self._processor, self._threads)
        frame = self._frame(name, instruction, emitter.pieces)
        frame.builder.function.optimized = True
        if not isinstance(product, LibraryProduct) and product.swapped:
            frame.buffers[:2] = reversed(frame.buffers[:2])
        if isinstance(emitter, PackedEmitter | NarrowEmitter):
            scratch = self._abi.allocate(frame.builder, emitter.scratch_bytes)
        with flushed_denormals(frame.builder, self._abi.triple):
            if isinstance(emitter, LibraryEmitter):
                emitter.emit(frame)
            elif isinstance(emitter, PackedEmitter):
                emitter.emit(frame, PanelOps(frame.builder, emitter.product.format, self._processor), scratch)
            elif isinstance(emitter, NarrowEmitter):
                emitter.emit(frame, VectorOps(frame.builder, _SCALARS[element_type], self._processor), scratch)
            else:
                emitter.emit(frame, VectorOps(frame.builder, _SCALARS[element_type], self._processor))
        if isinstance(emitter, PackedEmitter | NarrowEmitter):
            self._abi.release(frame.builder, scratch, emitter.scratch_bytes)
        self._abi.end_kernel(frame)
        plan = f"{product}: {KernelPlan(emitter.pieces)}"
        if isinstance(emitter, NarrowEmitter):
            plan += f", vectors of taps, {emitter.points} points at a time"
        nanoseconds = product.flops / flops_per_nanosecond
        return NativeKernel(name, emitter.pieces, 1, nanoseconds, routine, plan, resources=frame.resources)

    def copy_nanoseconds(self, instruction: HloInstruction) -> float:
        """Estimates the time in which one core reads as many bytes as a result has, and writes it."""
        return memory_nanoseconds(2 * instruction.shape.byte_size, self._processor)

    def in_place(self, instruction: HloInstruction) -> set[int]:
        """The numbers of an instruction's results that are in the memory of an operand."""
        return {result for result, _ in self._aliasing(instruction)}

    def _aliasing(self, instruction: HloInstruction) -> set[tuple[int, int]]:
        """The pairs (leaf of the result, leaf of the operands) whose buffers overlap."""
        results = self._assignment.leaf_slices(instruction)
        operands = [s for o in instruction.operands for s in self._assignment.leaf_slices(o)]
        return {
            (i, j) for i, result in enumerate(results) for j, place in enumerate(operands) if result.overlaps(place)
        }


def is_small(instruction: HloInstruction, in_place: InPlace) -> bool:
    """Whether a kernel computes few elements by little code, so that calling it takes longer than its work."""
    parts = fused_instructions(instruction)
    code = sum(_CODE_OF_FUNCTION if Trait.TRANSCENDENTAL in i.op.traits else 1 for i in parts)
    few = _written_elements(instruction, in_place) <= _FEW_ELEMENTS
    return few and code <= _LITTLE_CODE and all(map(is_simple, parts))


def _written_elements(instruction: HloInstruction, in_place: InPlace) -> int:
    """Returns how many elements a kernel writes.

    An update in place writes the elements of the update; another one also copies those around it.
    """
    written = [
        r.operand(1) if r.opcode == Opcode.DYNAMIC_UPDATE_SLICE and number in in_place(instruction) else r
        for number, r in enumerate(fused_roots(instruction))
    ]
    return sum(leaf.num_elements for value in written for leaf in value.shape.array_leaves())
