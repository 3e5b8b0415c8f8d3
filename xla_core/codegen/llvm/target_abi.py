"""TargetAbi: the properties and hooks of a target of the shared emitter.

A vendor with an LLVM target writes a subclass of one of the two usual kinds: `LoopAbi` for a processor that runs a
kernel as a loop over its part of the work, `GridAbi` for one that runs it as a grid of threads. The rest of the emitter
is the same for both.
"""

from __future__ import annotations

import abc
import dataclasses
from collections.abc import Sequence
from typing import Literal

from xla_core.codegen.llvm.ir.builder import IrBuilder
from xla_core.codegen.llvm.ir.module import IrModule, Value, is_big_endian
from xla_core.codegen.llvm.ir.resources import KernelResources
from xla_core.errors import FailedPreconditionError
from xla_core.hlo.values.element_type import ElementType
from xla_core.hlo.values.shape import Shape
from xla_core.target import MatrixShape, ParallelModel


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
