"""AMD's GPUs (amdgcn): a grid of threads, as a subclass of `GpuAbi`.

LLVM's guide to the target is https://llvm.org/docs/AMDGPUUsage.html. `docs/port-to-your-accelerator.md` walks through
this file.
"""

from __future__ import annotations

from collections.abc import Sequence

from xla_core.codegen.llvm import GpuAbi, IrBuilder, IrModule, KernelFrame, KernelParameter, Value
from xla_core.errors import InvalidArgumentError
from xla_core.hlo import ElementType, Shape
from xla_core.target import ParallelModel

__all__ = ["PARALLEL", "PROCESSORS", "AmdgpuAbi"]

PROCESSORS = ("gfx90a", "gfx942")
"""Instinct MI200 and MI300. Both have waves of 64 lanes; the processors of gfx10 and later choose between 32 and 64."""

PARALLEL = ParallelModel(
    units=512,
    threads=1024,
    lanes=64,
    vector_bytes=16,
    transaction_bytes=64,
    shared_bytes=64 << 10,
    registers=64,  # of the 128 that a thread has in a block of 1024
)

MOST_BLOCKS = 1 << 16  # of a grid; their threads stride over more units

_STACK = 1 << 10  # bytes; more scratch memory of a thread lies in a buffer


class AmdgpuAbi(GpuAbi):
    """Kernels are `amdgpu_kernel name(buffer, ..., scratch)`.

    `scratch` is a buffer of `thread_scratch_bytes` of the kernel's resources for each thread of the grid, or any buffer
    if they need none. A grid of up to `MOST_BLOCKS` blocks has a thread, or a block, for each unit of the kernel.
    """

    triple = "amdgcn-amd-amdhsa"
    kernel_prefix = "amdgpu_kernel"
    constant_address_space = 4  # LLVM's numbers of the address spaces
    stack_address_space = 5
    block_index_intrinsic = "llvm.amdgcn.workgroup.id.x"
    thread_index_intrinsic = "llvm.amdgcn.workitem.id.x"
    threads_attribute = '"amdgpu-flat-work-group-size"="{0},{0}"'
    atomic_scope = "agent"  # the threads of one device
    parallel = PARALLEL

    def __init__(self, processor: str = "gfx90a") -> None:
        if processor not in PROCESSORS:
            raise InvalidArgumentError(f"{processor!r} is not one of {', '.join(PROCESSORS)}")
        self.cpu = processor

    def begin_kernel(
        self, module: IrModule, name: str, parameters: Sequence[KernelParameter], count: int, *, threads: int = 1
    ) -> KernelFrame:
        scratch = KernelParameter("scratch", Shape.array(ElementType.U8, (0,)), is_result=True)
        frame = super().begin_kernel(module, name, [*parameters, scratch], count, threads=threads)
        frame.buffers.pop()
        return frame

    def covers(self, count: int, threads: int) -> bool:
        return count <= MOST_BLOCKS * (self.block_threads(count, threads) if threads == 1 else 1)

    def block_count(self, builder: IrBuilder) -> Value:
        """The first of the arguments that the runtime adds to those of the kernel."""
        hidden = builder.call("llvm.amdgcn.implicitarg.ptr", f"ptr addrspace({self.constant_address_space})", [])
        return builder.cast("zext", builder.load("i32", hidden, align=8), "i64")

    # -- threads of a block ------------------------------------------------------------------------------------------

    def barrier(self, builder: IrBuilder) -> None:
        """Waits for the block. `s_barrier` alone doesn't wait until a wave's own writes have reached shared memory."""
        builder.line('fence syncscope("workgroup") release')
        builder.call("llvm.amdgcn.s.barrier", "void", [])
        builder.line('fence syncscope("workgroup") acquire')

    def exchange(self, builder: IrBuilder, word: Value, distance: int) -> Value:
        """Exchanges within four lanes by DPP, within 32 by ds_swizzle, and within a wave by ds_bpermute."""
        if distance < 4:  # a move whose operand comes from the lanes 0 ^ distance, ..., 3 ^ distance of the four
            control = sum((lane ^ distance) << 2 * lane for lane in range(4))
            arguments = [builder.int_(n, "i32") for n in (control, 15, 15)]
            return builder.call("llvm.amdgcn.mov.dpp.i32", "i32", [word, *arguments, Value("i1", "true")])
        if distance < 32:  # lane -> (lane & 31) ^ distance
            return builder.call("llvm.amdgcn.ds.swizzle", "i32", [word, builder.int_(distance << 10 | 31, "i32")])
        lane = builder.cast("trunc", self.thread_index(builder), "i32")
        address = builder.shl(builder.xor(lane, builder.int_(distance, "i32")), 2)  # in bytes, modulo the wave
        return builder.call("llvm.amdgcn.ds.bpermute", "i32", [address, word])

    # -- memory ------------------------------------------------------------------------------------------------------

    def allocate(self, builder: IrBuilder, size: int) -> Value:
        """Memory on the thread's stack if it is small, else the thread's part of the scratch buffer."""
        if size <= _STACK:
            return super().allocate(builder, size)
        size = -(-size // self.alignment) * self.alignment
        resources = builder.function.resources
        before, resources.thread_scratch_bytes = resources.thread_scratch_bytes, resources.thread_scratch_bytes + size
        first = builder.mul(self.block_index(builder), self.block_size(builder))
        thread = builder.add(first, self.thread_index(builder))
        threads = builder.mul(self.block_count(builder), self.block_size(builder))
        # An allocation of all threads follows the allocations before it.
        offset = builder.add(builder.mul(threads, builder.int_(before)), builder.mul(thread, builder.int_(size)))
        return builder.gep("i8", builder.function.parameters[-1], offset)
