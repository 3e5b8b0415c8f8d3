"""TargetAbi: the properties and hooks of a target of the shared emitter, and the two usual kinds of targets.

A vendor with an LLVM target writes a subclass: `LoopAbi` for a processor that runs a kernel as a loop over its part of
the work, `GridAbi` for one that runs it as a grid of threads. The rest of the emitter is the same for both.
"""

from __future__ import annotations

import abc
import copy
import dataclasses
from collections.abc import Sequence
from typing import Literal

from xla_core.codegen.llvm.ir.builder import IrBuilder
from xla_core.codegen.llvm.ir.module import IrFunction, IrModule, Value, is_big_endian
from xla_core.codegen.llvm.ir.resources import KernelResources
from xla_core.errors import FailedPreconditionError
from xla_core.hlo.values.element_type import ElementType
from xla_core.hlo.values.shape import Shape
from xla_core.target import MatrixShape, ParallelModel

_TABLE = "noalias nocapture readonly"
_MOST_INDEPENDENT_THREADS = 256  # in a block whose threads don't cooperate


@dataclasses.dataclass(frozen=True, slots=True)
class KernelParameter:
    """A buffer that a kernel takes. `aliases` are the numbers of the results that may be the same buffer."""

    name: str
    shape: Shape
    is_result: bool = False
    aliases: tuple[int, ...] = ()


@dataclasses.dataclass(slots=True)
class KernelFrame:
    """A kernel's function after its prologue. `builder` writes the body.

    `buffers` are the pointers, one for each parameter. The kernel works on the units begin, begin + step, ... below
    end.
    """

    builder: IrBuilder
    buffers: list[Value]
    begin: Value
    end: Value
    step: Value

    @property
    def resources(self) -> KernelResources:
        """What the kernel needs of its launch, as far as it is emitted."""
        return self.builder.function.resources


@dataclasses.dataclass(frozen=True, slots=True)
class SharedMatrix:
    """A matrix in shared memory, for `TargetAbi.multiply_shared_matrices`.

    What is contiguous are the terms of a line, or the lines of a term. `width` bytes of it lie in a row. The rows of
    neighbouring lines (or terms) follow each other, and further along what is contiguous is another such block of rows.
    In a row, the number of a chunk of 16 bytes is its exclusive-or with the lowest bits of the address's number of 128
    bytes, so that eight rows use all banks.

    Attributes:
        start: the address of the first line's first term. The rows there begin at a multiple of eight rows.
        along_terms: whether the terms of a line are contiguous, and not the lines of a term.
        width: the bytes of a row.
        block: the bytes of a block of rows.
        step: the bytes from one shape's terms to the next ones.
    """

    start: Value
    along_terms: bool
    width: int
    block: int
    step: int


class TargetAbi(abc.ABC):
    """The calling convention and the properties of one target. A class or an instance may set the attributes.

    Attributes:
        triple, cpu, features, data_layout: for LLVM's target machine; an empty layout means the target's own.
        relocation: LLVM's relocation model of code for a linker: "pic" or "static".
        abi_name: LLVM's name of the calling convention, such as RISC-V's "lp64d"; "" is the target's own.
        vector_width: bits of the vector registers that loops are written for; 0 for none.
        fast_math: LLVM flags ("contract", "reassoc nsz", ...) on the program's own floating operations.
        has_fma: whether fused multiply-add of f32 and f64 is one instruction. Math functions are then shorter and more
            exact.
        native_floats: the types below 32 bits that `fpext` and `fptrunc` convert in hardware, exactly.
        has_short_nans: whether the NaN that f32 arithmetic makes of numbers has zeros in its last 16 bits, and the NaN
            that it makes of NaNs is one of them, quieted. A result then becomes a bf16 without a test for NaN.
        alignment: of every buffer, in bytes.
        pointer_bytes: the size of an address, and of C's size_t.
        address_space, constant_address_space, stack_address_space: of buffers, constant tables, stack memory.
        invariant_loads: whether operands that no result aliases are loaded with `!invariant.load`. That is sound only
            if a kernel is never inlined into code that writes its operands.
        atomic_scope: LLVM's name of the threads among which atomics of kernels are atomic; all threads by default.
        atomic_floats: whether sums and products of floats may be combined by atomics, in an order that differs from one
            run to the next.
        is_inlined: whether LLVM makes a kernel a part of the function that calls it. The kernel then carries no facts
            that hold for one call only.
        parallel: how a kernel's work is divided; `TargetConfig.parallel`. With several threads in a block,
            `thread_index`, `barrier` and `shared_array` are needed; with several lanes, `exchange`;
            with matrix shapes, `matrix_multiply_accumulate`; with matrix loads, `load_matrices`; with sizes of copies,
            `start_copy`, `commit_copies` and `await_copies`.
    """

    triple: str = ""
    cpu: str = ""
    features: str = ""
    data_layout: str = ""
    relocation: Literal["pic", "static"] = "pic"
    abi_name: str = ""
    vector_width: int = 128
    fast_math: str = ""
    has_fma: bool = True
    native_floats: frozenset[ElementType] = frozenset({ElementType.F16})
    has_short_nans: bool = False
    alignment: int = 64
    pointer_bytes: int = 8
    address_space: int = 0
    constant_address_space: int = 0
    stack_address_space: int = 0
    invariant_loads: bool = False
    atomic_scope: str = ""
    atomic_floats: bool = False
    is_inlined: bool = False
    parallel: ParallelModel = ParallelModel()

    @abc.abstractmethod
    def begin_kernel(
        self, module: IrModule, name: str, parameters: Sequence[KernelParameter], count: int, *, threads: int = 1
    ) -> KernelFrame:
        """Adds the function of a kernel to the module, with its prologue.

        `count` is its number of units. With several `threads`, blocks of so many threads each work on a unit together.
        """

    def end_kernel(self, frame: KernelFrame) -> None:
        """Ends the function."""
        frame.builder.ret()

    def math(self, builder: IrBuilder, name: str, arguments: Sequence[Value]) -> Value | None:
        """Emits the target's own code for a math function (an HLO opcode), or returns None.

        All arguments are f32, or all are f64.
        """
        return None

    def thread_index(self, builder: IrBuilder) -> Value:
        """Returns the i64 index of this thread within its block; 0 in blocks of one thread."""
        self._require_lone_threads("thread_index")
        return builder.int_(0)

    def barrier(self, builder: IrBuilder) -> None:
        """Waits for all threads of the block. Afterwards their writes to shared memory are visible."""
        self._require_lone_threads("barrier")
        del builder

    def exchange(self, builder: IrBuilder, word: Value, distance: int) -> Value:
        """Returns the `word` (i32) of the lane whose number is this lane's exclusive-or `distance`.

        All lanes of a group of `parallel.lanes` threads call it together.
        """
        raise FailedPreconditionError(
            f"{type(self).__name__} has {self.parallel.lanes} lanes, but doesn't define `exchange`"
        )

    def matrix_multiply_accumulate(
        self,
        builder: IrBuilder,
        shape: MatrixShape,
        left: Sequence[Value],
        right: Sequence[Value],
        total: Sequence[Value],
    ) -> list[Value]:
        """Returns the registers of total + left * right, for one of `parallel.matrix_shapes`.

        All lanes of a group call it together. A register of several elements is an integer.
        """
        raise FailedPreconditionError(
            f"{type(self).__name__} has matrix shapes, but doesn't define `matrix_multiply_accumulate`"
        )

    def multiply_shared_matrices(
        self,
        builder: IrBuilder,
        shape: MatrixShape,
        left: SharedMatrix,
        right: SharedMatrix,
        steps: int,
        total: Sequence[Value],
    ) -> list[Value]:
        """Starts total + left * right, for a shape whose operands are in shared memory; returns its registers.

        The sums have `steps` times the shape's terms. All lanes of a group call it together, after a barrier that
        follows `show_shared_matrices`. Nothing uses the registers but `await_shared_products`, which follows.
        """
        raise FailedPreconditionError(
            f"{type(self).__name__} has matrix shapes in shared memory, but doesn't define `multiply_shared_matrices`"
        )

    def await_shared_products(self, builder: IrBuilder, total: Sequence[Value]) -> list[Value]:
        """Waits for `multiply_shared_matrices`, whose registers it takes; returns the registers of the result.

        By default, nothing is left to wait for.
        """
        del builder
        return list(total)

    def show_shared_matrices(self, builder: IrBuilder) -> None:
        """Makes what this thread has stored or copied to shared memory visible to `multiply_shared_matrices`.

        A barrier follows. By default, the barrier is enough.
        """
        del builder

    def load_matrices(self, builder: IrBuilder, row: Value, count: int, *, transposed: bool) -> list[Value]:
        """Loads 1, 2 or 4 matrices from shared memory; see `ParallelModel.matrix_loads`. Returns an i32 of each.

        `row` is the address of a row, a multiple of 16: lanes 0 to 7 give those of the first matrix, and so on. All
        lanes of a group call it together.
        """
        raise FailedPreconditionError(f"{type(self).__name__} has matrix loads, but doesn't define `load_matrices`")

    def start_copy(self, builder: IrBuilder, target: Value, source: Value, size: int, holds: Value) -> None:
        """Starts a copy to shared memory of one of the sizes of `ParallelModel.copy_bytes`.

        Both addresses are multiples of the size. Where `holds` (an i1) doesn't hold, zeros are written, and the source
        is not accessed.
        """
        raise FailedPreconditionError(f"{type(self).__name__} has sizes of copies, but doesn't define `start_copy`")

    def commit_copies(self, builder: IrBuilder) -> None:
        """Makes a group of the copies that this thread has started since the last group."""
        raise FailedPreconditionError(f"{type(self).__name__} has sizes of copies, but doesn't define `commit_copies`")

    def await_copies(self, builder: IrBuilder, running: int) -> None:
        """Waits until no more than so many of this thread's groups of copies are unfinished."""
        raise FailedPreconditionError(f"{type(self).__name__} has sizes of copies, but doesn't define `await_copies`")

    def shared_array(self, builder: IrBuilder, type_: str, count: int, *, align: int = 16) -> Value:
        """Allocates memory that the threads of a block share. Each call returns another array.

        Its address is a multiple of `align` bytes. Only matrices that the device reads from shared memory need more
        than 16.

        By default it is stack memory, for blocks of one thread. Where shared memory is a variable of the module, name
        the variable by `builder.module.symbol`, so that two arrays of one type are two variables.
        """
        self._require_lone_threads("shared_array")
        return builder.alloca(type_, count, address_space=self.stack_address_space)

    def _require_lone_threads(self, member: str) -> None:
        """Refuses the default of a member that threads of a block need in order to work together."""
        if self.parallel.threads > 1:
            raise FailedPreconditionError(
                f"{type(self).__name__} has blocks of {self.parallel.threads} threads, but doesn't define `{member}`"
            )

    def allocate(self, builder: IrBuilder, size: int) -> Value:
        """Allocates `size` bytes of scratch memory until the end of the call, by default on the stack."""
        return builder.alloca("i8", size, align=64, address_space=self.stack_address_space)

    def release(self, builder: IrBuilder, pointer: Value, size: int) -> None:
        """Frees memory that `allocate` returned."""
        del builder, pointer, size

    def buffer_alignment(self, shape: Shape) -> int:
        """The alignment, in bytes, of the buffers of kernels that have this shape."""
        del shape
        return self.alignment

    @property
    def big_endian(self) -> bool:
        """Whether the target stores the highest byte of a number first."""
        return is_big_endian(self.triple)

    @property
    def pointer_type(self) -> str:
        """The LLVM type of a buffer."""
        return f"ptr addrspace({self.address_space})" if self.address_space else "ptr"


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
        if not self.vector_width:
            return "noinline nounwind"
        # Constants that don't fit into registers are spilled; loads of them must not cross cache lines.
        align = f" alignstack({self.vector_width // 8})" if self.vector_width > 128 else ""
        return f'noinline nounwind{align} "prefer-vector-width"="{self.vector_width}"'

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
        whole_vectors = max(1, -(-count // lanes)) * lanes
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
