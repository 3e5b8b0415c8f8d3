"""PtxAbi: kernel parameters, thread indices, barriers and memory of the shared emitter's kernels in PTX.

A kernel is `.entry name(buffer, ...)`. Its threads stride over the units of work, or the threads of a block
work on a unit together. The module is `nvptx64-nvidia-cuda`; LLVM chooses the least version of PTX that has the
processor's instructions. Math functions are the emitter's own formulas, so no library of device functions is needed.
"""

from __future__ import annotations

from collections.abc import Sequence

from xla_backend_gpu.chips import DEFAULT, Chip
from xla_backend_gpu.copies import COPY_BYTES, has_asynchronous_copies, start_copy
from xla_backend_gpu.group_products import await_shared_products, multiply_shared_matrices, show_shared_matrices
from xla_backend_gpu.matrices import (
    load_matrices,
    matrix_shapes,
    multiply_accumulate,
    needed_features,
    type_names,
)
from xla_backend_gpu.processors import ALIGNMENT, DECLARED_SHARED_BYTES, check_processor, common_shared_bytes
from xla_backend_gpu.remainder import remainder
from xla_core.codegen.llvm import GpuAbi, IrBuilder, SharedMatrix, Value
from xla_core.target import MatrixShape, ParallelModel

_WARP = 32
_MOST_BLOCKS = 1 << 16  # of a kernel whose blocks work on a unit together; they stride over more units


def parallel_model(chip: Chip) -> ParallelModel:
    """Returns the limits that all processors have, and what a chip runs at once."""
    return ParallelModel(
        units=chip.units,
        split_reduction_elements=1 << 15,
        threads=1024,
        lanes=_WARP,
        vector_bytes=16,
        transaction_bytes=32,
        shared_bytes=DECLARED_SHARED_BYTES,
        registers=32,
        resident_threads=chip.resident_threads,
        index_bits=32,
        matrix_loads=True,
    )


class PtxAbi(GpuAbi):
    """The target of the shared emitter for PTX: a grid of blocks of threads.

    Args:
        processor: one of PROCESSORS.
        chip: the chip that kernels are planned for.
        fast_math: LLVM's fast-math flags of the program's own floating-point operations.
        deterministic: whether the result of a program must be the same in each run.
    """

    triple = "nvptx64-nvidia-cuda"
    kernel_prefix = "ptx_kernel"
    alignment = ALIGNMENT
    block_index_intrinsic = "llvm.nvvm.read.ptx.sreg.ctaid.x"
    thread_index_intrinsic = "llvm.nvvm.read.ptx.sreg.tid.x"
    block_count_intrinsic = "llvm.nvvm.read.ptx.sreg.nctaid.x"
    threads_attribute = '"nvvm.reqntid"="{0}"'
    atomic_scope = "device"

    def __init__(
        self, processor: str, chip: Chip = DEFAULT, *, fast_math: str = "", deterministic: bool = True
    ) -> None:
        self.atomic_floats = not deterministic
        self.cpu = check_processor(processor)
        self.fast_math = fast_math
        # LLVM's own choice for this processor is older than its products of matrices.
        self.features = "+ptx65" if self.cpu == "sm_75" else ""
        copies = COPY_BYTES if has_asynchronous_copies(self.cpu) else ()
        shared = common_shared_bytes(self.cpu)
        own = {"matrix_shapes": matrix_shapes(self.cpu), "copy_bytes": copies, "launch_shared_bytes": shared}
        self.parallel = parallel_model(chip).model_copy(update=own)

    def blocks(self, count: int, threads: int) -> int:
        """Returns the number of blocks of the grid of a kernel; see `covers`."""
        alone = self.parallel.resident_threads // self.block_threads(count, threads)
        return max(1, min(self._wanted_blocks(count, threads), _MOST_BLOCKS if threads > 1 else alone))

    def covers(self, count: int, threads: int) -> bool:
        return self.blocks(count, threads) >= self._wanted_blocks(count, threads)

    def _wanted_blocks(self, count: int, threads: int) -> int:
        """The number of blocks with which no thread, or no block, works on several units."""
        return count if threads > 1 else -(-count // self.block_threads(count, threads))

    # -- threads of a block ------------------------------------------------------------------------------------------

    def barrier(self, builder: IrBuilder) -> None:
        builder.call("llvm.nvvm.barrier.cta.sync.aligned.all", "void", [builder.int_(0, "i32")])

    def exchange(self, builder: IrBuilder, word: Value, distance: int) -> Value:
        operands = [builder.int_(n, "i32") for n in (-1, distance, _WARP - 1)]
        return builder.call("llvm.nvvm.shfl.sync.bfly.i32", "i32", [operands[0], word, *operands[1:]])

    def matrix_multiply_accumulate(
        self,
        builder: IrBuilder,
        shape: MatrixShape,
        left: Sequence[Value],
        right: Sequence[Value],
        total: Sequence[Value],
    ) -> list[Value]:
        builder.module.features |= needed_features(self.cpu, shape)
        return multiply_accumulate(builder, shape, left, right, total)

    def multiply_shared_matrices(
        self,
        builder: IrBuilder,
        shape: MatrixShape,
        left: SharedMatrix,
        right: SharedMatrix,
        steps: int,
        total: Sequence[Value],
    ) -> list[Value]:
        return multiply_shared_matrices(builder, shape, type_names(shape), left, right, steps, total)

    def await_shared_products(self, builder: IrBuilder, total: Sequence[Value]) -> list[Value]:
        return await_shared_products(builder, total)

    def show_shared_matrices(self, builder: IrBuilder) -> None:
        show_shared_matrices(builder)

    def load_matrices(self, builder: IrBuilder, row: Value, count: int, *, transposed: bool) -> list[Value]:
        return load_matrices(builder, row, count, transposed=transposed)

    def start_copy(self, builder: IrBuilder, target: Value, source: Value, size: int, holds: Value) -> None:
        start_copy(builder, target, source, size, holds)

    def commit_copies(self, builder: IrBuilder) -> None:
        builder.call("llvm.nvvm.cp.async.commit.group", "void", [])

    def await_copies(self, builder: IrBuilder, running: int) -> None:
        builder.call("llvm.nvvm.cp.async.wait.group", "void", [builder.int_(running, "i32")])

    # -- math --------------------------------------------------------------------------------------------------------

    def math(self, builder: IrBuilder, name: str, arguments: Sequence[Value]) -> Value | None:
        """Emits an exact remainder. LLVM would expand its own to x - trunc(x / y) * y, which rounds."""
        return remainder(builder, *arguments) if name == "remainder" else None
