"""KernelForm: the interface of kernel forms, their plans, and the emitted kernel."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Generic, TypeVar

from xla_core.analysis.indexing import Loops, one_loop
from xla_core.codegen.kernel_choice import KernelChoice
from xla_core.codegen.llvm.ir.module import Value
from xla_core.codegen.llvm.ir.resources import KernelResources
from xla_core.codegen.llvm.loops.context import EmissionContext
from xla_core.codegen.llvm.loops.ir_array import IrArray
from xla_core.codegen.llvm.target_abi import KernelFrame, KernelParameter, TargetAbi
from xla_core.hlo.ir.fused import fused_instructions, fused_parameters, fused_root, fused_roots
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.opcode import Opcode
from xla_core.wording import counted


@dataclasses.dataclass(frozen=True)
class EmittedKernel:
    """A kernel function in an IrModule.

    Attributes:
        name: the function's.
        parameters: the buffers in the order that it takes them: each operand's array leaves, then the result's.
        partition_count: the number of units of work. A call works on units [begin, end), and the calls may split the
            range at any multiples of the grain. A kernel of 0 units need not be called.
        grain: the fewest units that are worth a thread. Threads then don't write to the same cache line, and
            results don't depend on the number of threads.
        threads: the threads that work on a unit together, as a block; with 1, a block may have any number of threads,
            each with units of its own.
        plan: the form and the plan of the kernel, for display.
        scratch_bytes: if not 0, every function takes one more buffer, the last, of so many bytes. Its contents before
            and after the call don't matter.
        later: further functions, which run after this one in their order, with the same buffers. Each begins when all
            units of the function before it are done.
        resources: what else this function needs of a launch.
    """

    name: str
    parameters: tuple[KernelParameter, ...]
    partition_count: int
    grain: int = 1
    threads: int = 1
    plan: str = ""
    scratch_bytes: int = 0
    later: tuple[EmittedKernel, ...] = ()
    resources: KernelResources = dataclasses.field(default_factory=KernelResources)

    @property
    def phases(self) -> tuple[EmittedKernel, ...]:
        """This function and the later ones."""
        return (self, *self.later)


@dataclasses.dataclass(frozen=True, slots=True)
class KernelPlan:
    """How a kernel is written, decided before it is emitted. A form may add to it.

    Attributes:
        count, grain, threads: the units of work; see `EmittedKernel`.
        loops: the loops over spaces inside a unit, such as the elements that an instruction accumulates.
        scratch_bytes: memory that all units of all phases share.
        later: plans of the same form for the phases after this one. Each waits for all units of the one before it.
    """

    count: int
    _: dataclasses.KW_ONLY
    grain: int = 1
    threads: int = 1
    loops: Loops = one_loop
    scratch_bytes: int = 0
    later: Sequence[KernelPlan] = ()

    def __str__(self) -> str:
        return " | ".join(phase.describe() for phase in (self, *self.later))

    def describe(self) -> str:
        """Returns one phase, for display."""
        return (
            counted(self.count, "unit")
            + (f" of {self.threads} threads" if self.threads > 1 else "")
            + self.describe_loops()
        )

    def describe_loops(self) -> str:
        """Returns the form's own part of the description, such as its loops."""
        return ""


class KernelBody:
    """The instruction of a kernel and its buffers.

    Attributes:
        root: the fusion's root, or the instruction itself.
        bindings: the arrays of the operands.
        results: the arrays of the result's leaves.
        aliasing: as in `KernelEmitter.emit`.
        choice: the choice in the instruction's `backend_config`.
        parallel: the target's model, with the figures of the choice. Plans follow from it.
        scratch: the plan's scratch memory, if it has any.
    """

    def __init__(
        self,
        abi: TargetAbi,
        instruction: HloInstruction,
        aliasing: Collection[tuple[int, int]],
    ) -> None:
        self.abi = abi
        self.instruction = instruction
        self.root = fused_root(instruction)
        self.aliasing = frozenset(aliasing)
        self.choice = KernelChoice.of(instruction)
        self.parallel = self.choice.applied(abi.parallel, instruction)
        self.bindings: Mapping[HloInstruction, IrArray | list[IrArray]] = {}
        self.results: list[IrArray] = []
        self.scratch: Value | None = None

    @functools.cached_property
    def roots(self) -> Sequence[HloInstruction]:
        """The root, or a multi-output root's parts."""
        return fused_roots(self.instruction)

    @functools.cached_property
    def members(self) -> Sequence[HloInstruction]:
        """The instructions that the kernel computes, operands first."""
        return fused_instructions(self.instruction)

    @property
    def size(self) -> int:
        """How many instructions the kernel computes."""
        return len(self.members)

    @property
    def bound(self) -> Sequence[HloInstruction]:
        """The instructions whose values are in memory: parameters of the fusion, or operands."""
        return fused_parameters(self.instruction)

    @functools.cached_property
    def inner_reductions(self) -> Sequence[HloInstruction]:
        """The reductions inside the fusion that an instruction inside it uses."""
        inside = (i for i in self.members if i is not self.instruction)
        return [i for i in inside if i.opcode == Opcode.REDUCE and i.user_count]

    def operand_leaf(self, inner: HloInstruction) -> int:
        """Returns the number of a parameter (or operand) among the operands' leaves; -1 for any other instruction."""
        leaf = 0
        for source in self.bound:
            if source is inner:
                return leaf
            leaf += len(source.shape.array_leaves())
        return -1


P = TypeVar("P", bound=KernelPlan)


@dataclasses.dataclass(frozen=True, slots=True)
class KernelForm(Generic[P]):
    """One way in which a kernel is written.

    Attributes:
        name: for display.
        matches: a cheap test, which is true for every kernel that the form can write.
        plan: decides how the kernel is written; None if the form can't write it. Nothing is emitted yet.
        emit: writes the body of one phase as planned.
        opcodes: those that only this form can write.
    """

    name: str
    matches: Callable[[KernelBody], bool]
    plan: Callable[[KernelBody], P | None]
    emit: Callable[[KernelBody, P, KernelFrame, EmissionContext], None]
    opcodes: tuple[Opcode, ...] = ()
