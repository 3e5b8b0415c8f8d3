"""GridAbi: a target that runs a kernel as a grid of threads, such as a GPU."""

from __future__ import annotations

import abc
from collections.abc import Sequence

from xla_core.codegen.llvm.ir.builder import IrBuilder
from xla_core.codegen.llvm.ir.module import IrFunction, IrModule, Value
from xla_core.codegen.llvm.target_abi import KernelFrame, KernelParameter, TargetAbi
from xla_core.sizes import ceil_div

_MOST_INDEPENDENT_THREADS = 256  # in a block whose threads don't cooperate


class GridAbi(TargetAbi):
    """A grid of threads. Buffers are parameters of the kernel; a thread, or a block, strides over the units.

    A subclass sets the calling convention and reads the indices of the thread and its block.

    Attributes:
        kernel_prefix: LLVM's calling convention of kernels.
        threads_attribute: the attribute of a kernel that says how many threads a block has, "{0}" for the number.
    """

    invariant_loads = True
    kernel_prefix: str = ""
    threads_attribute: str = ""

    @abc.abstractmethod
    def block_index(self, builder: IrBuilder) -> Value:
        """Returns the number of the block in the grid, an i64."""

    @abc.abstractmethod
    def block_count(self, builder: IrBuilder) -> Value:
        """Returns the number of blocks in the grid, an i64."""

    def block_size(self, builder: IrBuilder) -> Value:
        """Returns the number of threads in a block, an i64."""
        return builder.int_(builder.function.resources.block_threads)

    def block_threads(self, count: int, threads: int) -> int:
        """Returns how many threads a block of a kernel of `count` units has.

        If `threads` is above 1, it is that: they work on a unit together. Otherwise each thread has units of its own.
        """
        lanes = self.parallel.lanes
        whole_vectors = max(1, ceil_div(count, lanes)) * lanes
        return threads if threads > 1 else min(_MOST_INDEPENDENT_THREADS, self.parallel.threads, whole_vectors)

    def covers(self, count: int, threads: int) -> bool:
        """Whether every launch of a kernel has a thread for each of `count` units, or a block if `threads` is above 1.

        Such a kernel has no loop over its units. By default a launch may have fewer.
        """
        return False

    def begin_kernel(
        self, module: IrModule, name: str, parameters: Sequence[KernelParameter], count: int, *, threads: int = 1
    ) -> KernelFrame:
        signature = []
        for position, parameter in enumerate(parameters):
            alignment, length = self.buffer_alignment(parameter.shape), max(parameter.shape.byte_size, 1)
            facts = f"align {alignment} dereferenceable({length})"
            alone = not parameter.aliases and not any(position in p.aliases for p in parameters)
            if alone:
                facts = "noalias " + facts
            if not parameter.is_result:
                facts += " readonly" if alone else ""
            signature.append((self.pointer_type, facts, f"buffer{position}"))
        block_threads = self.block_threads(count, threads)
        attributes = f"nounwind {self.threads_attribute.format(block_threads)}".rstrip()
        function = IrFunction(name, "void", signature, prefix=self.kernel_prefix, attributes=attributes)
        function.resources.block_threads = block_threads
        module.add_function(function)
        builder = IrBuilder(module, function)
        begin, size = self.block_index(builder), builder.int_(1)
        if threads == 1:
            size = self.block_size(builder)
            begin = builder.add(builder.mul(begin, size), self.thread_index(builder))
        end = builder.int_(count)
        step = end if self.covers(count, threads) else builder.mul(self.block_count(builder), size)
        return KernelFrame(builder, list(function.parameters), begin, end, step)
