"""GpuAbi: the common properties of GPUs as LLVM targets."""

from __future__ import annotations

from typing import ClassVar

from xla_core.codegen.llvm.grid_abi import GridAbi
from xla_core.codegen.llvm.ir.builder import IrBuilder
from xla_core.codegen.llvm.ir.module import Value
from xla_core.codegen.llvm.ir.types import type_bits
from xla_core.errors import FailedPreconditionError
from xla_core.hlo.values.element_type import ElementType
from xla_core.sizes import round_up

_LAUNCH_ALIGNMENT = 1024  # of the shared memory that a launch asks for


class GpuAbi(GridAbi):
    """A grid of threads with indices by intrinsic functions of i32, and memory that a block shares.

    A subclass sets the names that its target has for these, and defines `barrier` and `exchange`. A kernel that sorts
    long rows needs more memory than a thread's stack has: override `allocate` for those.

    Attributes:
        block_index_intrinsic, thread_index_intrinsic, block_count_intrinsic: LLVM's names of the functions; a target
            without the last defines `block_count`.
        shared_address_space: the number of the memory that a block shares.
    """

    vector_width = 0  # a lane computes single elements
    native_floats = frozenset({ElementType.F16})
    address_space = 1
    constant_address_space = 1  # of constants, which may be larger than constant memory is
    shared_address_space: ClassVar[int] = 3
    block_index_intrinsic: ClassVar[str]
    thread_index_intrinsic: ClassVar[str]
    block_count_intrinsic: ClassVar[str] = ""

    def block_index(self, builder: IrBuilder) -> Value:
        return self.index(builder, self.block_index_intrinsic)

    def thread_index(self, builder: IrBuilder) -> Value:
        return self.index(builder, self.thread_index_intrinsic)

    def block_count(self, builder: IrBuilder) -> Value:
        if not self.block_count_intrinsic:
            raise FailedPreconditionError(
                f"{type(self).__name__} has no `block_count_intrinsic`, and doesn't define `block_count`"
            )
        return self.index(builder, self.block_count_intrinsic)

    def index(self, builder: IrBuilder, intrinsic: str) -> Value:
        """Calls an intrinsic function that returns an i32; returns an i64."""
        return builder.cast("zext", builder.call(intrinsic, "i32", []), "i64")

    def shared_array(self, builder: IrBuilder, type_: str, count: int, *, align: int = 16) -> Value:
        space = f"addrspace({self.shared_address_space})"
        size = count * max(1, type_bits(type_) // 8)
        resources = builder.function.resources
        declared = round_up(resources.shared_bytes, align) + size
        if self.parallel.launch_shared_bytes and declared > self.parallel.shared_bytes:
            return self._launch_array(builder, space, size, align)
        resources.shared_bytes = declared
        name = builder.module.symbol(f"{builder.function.name}_shared")
        builder.module.add_global(name, f"internal {space} global [{count} x {type_}] poison, align {align}")
        return Value(f"ptr {space}", f"@{name}")

    def _launch_array(self, builder: IrBuilder, space: str, size: int, align: int) -> Value:
        """A part of the array without a size, which has the memory that the launch asks for."""
        resources = builder.function.resources
        if not resources.launch_shared_array:
            resources.launch_shared_array = builder.module.symbol(f"{builder.function.name}_launch_shared")
            definition = f"external {space} global [0 x i8], align {_LAUNCH_ALIGNMENT}"
            builder.module.add_global(resources.launch_shared_array, definition)
        start = round_up(resources.launch_shared_bytes, align)
        resources.launch_shared_bytes = start + size
        return builder.gep("i8", Value(f"ptr {space}", f"@{resources.launch_shared_array}"), builder.int_(start))
