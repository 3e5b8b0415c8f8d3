"""LoopAbi: a target that runs a kernel as a loop over its part of the work, such as a processor or a DSP."""

from __future__ import annotations

import copy
from collections.abc import Sequence

from xla_core.codegen.llvm.ir.builder import IrBuilder
from xla_core.codegen.llvm.ir.module import IrFunction, IrModule, Value
from xla_core.codegen.llvm.target_abi import KernelFrame, KernelParameter, TargetAbi
from xla_core.hlo.values.element_type import ElementType
from xla_core.target import ParallelModel

_TABLE = "noalias nocapture readonly"


class LoopAbi(TargetAbi):
    """`void @kernel(ptr %buffers, i64 %begin, i64 %end)`: an array of buffer pointers and a range of units.

    The functions are `noinline`, because their aliasing metadata holds for one call only; those of `inlined()` have
    none. With `failure_counter`, the word before the array points to an i32, which counts the kernels whose allocation
    of scratch memory failed.
    """

    def __init__(
        self,
        triple: str = "",
        cpu: str = "",
        features: str = "",
        *,
        vector_width: int = 128,
        has_fma: bool = True,
        native_floats: frozenset[ElementType] = frozenset({ElementType.F16}),
        has_short_nans: bool = False,
        failure_counter: bool = False,
        parallel: ParallelModel | None = None,
    ) -> None:
        self.is_plain = False
        self.has_short_nans = has_short_nans
        self.triple, self.cpu, self.features = triple, cpu, features
        self.failure_counter = failure_counter
        self.parallel = parallel or ParallelModel()
        self.vector_width, self.has_fma, self.native_floats = vector_width, has_fma, native_floats

    def inlined(self) -> LoopAbi:
        """Returns the same target with kernels that LLVM inlines."""
        other = copy.copy(self)
        other.is_inlined = True
        return other

    def plain(self) -> LoopAbi:
        """Returns the same target with kernels that LLVM doesn't optimize, whatever the level."""
        other = copy.copy(self)
        other.is_plain = True
        return other

    def allocate(self, builder: IrBuilder, size: int) -> Value:
        """Allocates up to 16 KiB on the stack, and more by the C library's malloc.

        If malloc fails, the kernel increments the failure counter and returns; without a counter it traps.
        """
        if size <= 1 << 14:
            return super().allocate(builder, size)
        function = builder.function
        function.resources.allocates = True
        memory = builder.call("malloc", "ptr", [builder.int_(size, f"i{8 * self.pointer_bytes}")])
        found, failed = function.add_block("found"), function.add_block("exhausted")
        builder.branch_if(builder.icmp("ne", memory, Value("ptr", "null")), found, failed)
        builder.block = failed
        if self.failure_counter:
            place = builder.gep("ptr", function.parameters[0], builder.int_(-1))
            counter = builder.load("ptr", place, align=self.pointer_bytes)
            builder.emit("i32", f"atomicrmw add {counter}, i32 1 monotonic, align 4")
            builder.ret()
        else:
            builder.call("llvm.trap", "void", [])
            builder.line("unreachable")
        builder.block = found
        return memory

    def release(self, builder: IrBuilder, pointer: Value, size: int) -> None:
        if size > 1 << 14:
            builder.call("free", "void", [pointer])

    def function_attributes(self, parameters: Sequence[KernelParameter]) -> str:
        """LLVM's attributes of the function of a kernel with these parameters."""
        del parameters
        if self.is_inlined:
            return "alwaysinline nounwind"
        plain = " optnone" if self.is_plain else ""
        if not self.vector_width:
            return f"noinline nounwind{plain}"
        # Constants that don't fit into registers are spilled; loads of them must not cross cache lines.
        align = f" alignstack({self.vector_width // 8})" if self.vector_width > 128 else ""
        return f'noinline nounwind{plain}{align} "prefer-vector-width"="{self.vector_width}"'

    def begin_kernel(
        self, module: IrModule, name: str, parameters: Sequence[KernelParameter], count: int, *, threads: int = 1
    ) -> KernelFrame:
        function = IrFunction(
            name,
            "void",
            [("ptr", "" if self.is_inlined else _TABLE, "buffers"), ("i64", "", "begin"), ("i64", "", "end")],
            prefix="internal" if self.is_inlined else "",
            attributes=self.function_attributes(parameters),
        )
        module.add_function(function)
        builder = IrBuilder(module, function)
        table, begin, end = function.parameters
        buffers = []
        empty = module.metadata("!{}")
        for position, parameter in enumerate(parameters):
            slot = builder.gep("ptr", table, builder.int_(position))
            size = module.metadata(f"!{{i64 {parameter.shape.byte_size}}}")
            align = module.metadata(f"!{{i64 {self.buffer_alignment(parameter.shape)}}}")
            facts = "" if self.is_inlined else f", !invariant.load {empty}, !dereferenceable {size}, !align {align}"
            buffers.append(builder.load("ptr", slot, align=self.pointer_bytes, metadata=facts))
        return KernelFrame(builder, buffers, begin, end, builder.int_(1))
