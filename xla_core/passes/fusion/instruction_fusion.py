"""instruction_fusion: fuses producers into the kernels of their users (XLA: xla/service/instruction_fusion.h).

Instructions are visited users first. Each is either computed inside all kernels that use it, or gets a kernel of its
own. Therefore fusion cannot create a cycle.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xla_core.analysis.control_flow import reachable_sequences
from xla_core.analysis.indexing import (
    Index,
    ReducedRows,
    accumulates,
    is_of_row,
    is_product,
    reduced_rows,
    scanned_rows,
)
from xla_core.hlo.ir.computation import HloComputation
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.ir.module import HloModule
from xla_core.hlo.table.op_table import Trait
from xla_core.hlo.table.opcode import Opcode
from xla_core.passes.fusion.fusion_node import replace_with_fusion
from xla_core.passes.fusion.index_space import IndexSpace, Use
from xla_core.passes.fusion.kernel_code import KernelCode
from xla_core.passes.fusion.policy import FusionPolicy
from xla_core.passes.pass_manager import HloPass


class InstructionFusion(HloPass):
    """Makes fusions with one result, in the entry and all computations that control flow reaches."""

    def __init__(self, policy: FusionPolicy | None = None) -> None:
        self._policy = policy or FusionPolicy()

    def run(self, module: HloModule) -> bool:
        if not self._policy.preferences.enabled:
            return False
        changed = False
        for computation in reachable_sequences(module):
            changed |= _Partition(computation, self._policy).run()
        if changed:
            module.remove_unreachable_computations()
        return changed


Indices = dict[Index, Use]
"""The indices at which a kernel computes an instruction."""


class _FusedKernel:
    """The instructions that one kernel computes, and the indices at which it computes each of them."""

    __slots__ = ("accumulated", "code", "indices", "operands", "policy", "repeated", "root", "rows", "space")

    def __init__(self, root: HloInstruction, policy: FusionPolicy, rows: ReducedRows | None = None) -> None:
        self.policy = policy
        self.root = root
        self.rows = rows or (reduced_rows(root) if policy.parallel.has_blocks else None)
        self.space = IndexSpace(root, policy.parallel, self.rows)
        self.code = KernelCode(root, self.space, policy)
        self.indices: dict[HloInstruction, Indices] = {root: {self.space.root: Use()}}
        self.operands: dict[HloInstruction, None] = dict.fromkeys(root.operands)
        self.accumulated: set[HloInstruction] = set()  # members from which another member accumulates its result
        self.repeated: dict[HloInstruction, float] = {}  # the cost of computing a member and its users again

    @property
    def has_product(self) -> bool:
        return any(is_product(i) for i in self.indices)

    @property
    def has_scan(self) -> bool:
        """Whether a block scans rows."""
        return self.policy.parallel.has_blocks and any(scanned_rows(i) is not None for i in self.indices)

    @property
    def is_elementwise(self) -> bool:
        """Whether each element of the result is computed by itself, from other kernels' results."""
        return self.rows is None and all(Trait.ACCUMULATES not in i.op.traits for i in self.indices)

    def is_accumulated(self, users: Sequence[HloInstruction]) -> bool:
        """Whether an accumulation of the kernel needs the operands of `users` at each of its steps."""
        return any(user in self.accumulated or Trait.ACCUMULATES in user.op.traits for user in users)

    def indices_of(self, producer: HloInstruction, users: Sequence[HloInstruction]) -> Indices:
        """Returns the indices at which `users`, which are in the kernel, read `producer`."""
        found: Indices = {}
        for user in users:
            mine = self.indices[user]
            for number, operand in enumerate(user.operands):
                if operand is producer:
                    for index, use in mine.items():
                        access = self.space.access(user, number, index, use.least if accumulates(user) else 0.0)
                        needed = self.space.use(user, access, index, use)
                        known = found.get(access.index)
                        found[access.index] = needed if known is None else known.and_also(needed)
        return found

    def by_rows(self, producer: HloInstruction) -> _FusedKernel | None:
        """Returns this kernel or a copy divided by rows, if that computes the reduction once a row; else None."""
        rows = reduced_rows(producer)
        if rows is None or not 1 < rows.elements <= self.policy.longest_row(rows):
            return None
        if self.rows is not None:
            return self if self.rows == rows else None
        if Trait.ACCUMULATES in self.root.op.traits or self.root.opcode == Opcode.DYNAMIC_UPDATE_SLICE:
            return None
        if not rows.fits(next(self.root.shape.leaves())):
            return None
        kernel = _FusedKernel(self.root, self.policy, rows)
        for member in list(self.indices)[1:]:  # users first
            users = [user for user in dict.fromkeys(member.users) if user in kernel.indices]
            kernel.indices[member] = kernel.indices_of(member, users)
            kernel.code.add(member)
        kernel.operands, kernel.accumulated, kernel.repeated = self.operands, self.accumulated, self.repeated
        return kernel

    def become(self, other: _FusedKernel) -> None:
        """Divides this kernel into rows as `other` is, which has the same instructions."""
        self.rows, self.space, self.code = other.rows, other.space, other.code
        self.indices, self.accumulated = other.indices, other.accumulated

    def add(self, producer: HloInstruction, indices: Indices) -> None:
        if self.is_accumulated([user for user in producer.users if user in self.indices]):
            self.accumulated.add(producer)
        self.indices[producer] = indices
        self.code.add(producer)
        self.operands.pop(producer, None)
        for operand in producer.operands:
            if operand not in self.indices:
                self.operands[operand] = None

    def remove(self, producer: HloInstruction) -> None:
        """Removes an instruction from the kernel; its operands must not be in the kernel."""
        self.code.remove(producer)
        del self.indices[producer]
        self.operands = dict.fromkeys(o for i in self.indices for o in i.operands if o not in self.indices)


class _Partition:
    """The partition of one computation into kernels."""

    def __init__(self, computation: HloComputation, policy: FusionPolicy) -> None:
        self._computation = computation
        self._policy = policy
        self._kernels: dict[HloInstruction, _FusedKernel] = {}
        self._inside: dict[HloInstruction, list[_FusedKernel]] = {}  # the kernels that compute an instruction

    def run(self) -> bool:
        order = self._computation.post_order()
        for instruction in reversed(order):
            self._place(instruction)
        for instruction in order:
            self._take_out_bitcasts(instruction)
        changed = False
        # Visit users first, while instructions that are fused into them and have a kernel of their own still exist.
        for instruction in reversed(order):
            kernel = self._kernels.get(instruction)
            if kernel is not None and instruction in self._computation and self._is_worth_it(kernel):
                members = [i for i in kernel.indices if i is not instruction]
                replace_with_fusion([instruction], [*members, instruction])
                changed = True
        return changed

    def _place(self, instruction: HloInstruction) -> None:
        """Adds an instruction to the kernels of all its users, or else gives it a kernel of its own."""
        policy = self._policy
        kernels: dict[_FusedKernel, list[HloInstruction]] = {}
        for user in instruction.users:
            for kernel in self._inside.get(user, ()):
                kernels.setdefault(kernel, []).append(user)
        everywhere = not instruction.is_root and all(self._inside.get(user) for user in instruction.users)
        self._inside[instruction] = []
        if kernels and policy.can_be_inside(instruction):
            if policy.is_free(instruction):
                if self._fuse_where_possible(instruction, kernels) and everywhere:
                    return
            elif everywhere and self._fuse_everywhere(instruction, kernels):
                return
        if policy.can_be_root(instruction) and instruction.opcode != Opcode.BITCAST:
            self._kernels[instruction] = kernel = _FusedKernel(instruction, policy)
            self._inside[instruction].append(kernel)

    def _fuse_where_possible(
        self, instruction: HloInstruction, kernels: Mapping[_FusedKernel, list[HloInstruction]]
    ) -> bool:
        """Fuses a free instruction into every kernel that can take it; returns whether all could."""
        for kernel, users in kernels.items():
            found = self._indices_in(kernel, instruction, users)
            if found is not None:
                kernel.add(instruction, found[1])
                self._inside[instruction].append(kernel)
        return len(self._inside[instruction]) == len(kernels)

    def _fuse_everywhere(self, producer: HloInstruction, kernels: Mapping[_FusedKernel, list[HloInstruction]]) -> bool:
        """Fuses an instruction into all of the kernels if they can take it and it is profitable."""
        evaluations = repetitions = 0.0
        found = []
        for kernel, users in kernels.items():
            known = self._indices_in(kernel, producer, users)
            if known is None or (is_product(producer) and len(kernels) > 1):
                return False
            divided, indices = known
            times = [divided.space.times(producer, index, use) for index, use in indices.items()]
            evaluations += sum(times)
            repetitions += sum(max(0.0, t - producer.shape.num_elements) for t in times)
            found.append(known)
        repeated = 0.0
        if repetitions:
            repeated = max(kernel.repeated.get(user, 0.0) for kernel, users in kernels.items() for user in users)
        if not self._policy.is_profitable(producer, evaluations, len(kernels), repeated):
            return False
        repeated += self._policy.repetition_cost(producer, repetitions)
        for kernel, (divided, indices) in zip(kernels, found, strict=True):
            kernel.become(divided)
            kernel.add(producer, indices)
            kernel.repeated[producer] = repeated
        self._inside[producer] = list(kernels)
        return True

    def _indices_in(
        self, kernel: _FusedKernel, producer: HloInstruction, users: Sequence[HloInstruction]
    ) -> tuple[_FusedKernel, Indices] | None:
        """(the kernel, perhaps divided by rows, the indices at which it would compute `producer`).

        Returns None if `producer` cannot be fused.
        """
        preferences, policy = self._policy.preferences, self._policy
        if not policy.should_fuse(producer, kernel.root) or policy.makes_serial(producer, kernel.root):
            return None
        new = sum(1 for o in dict.fromkeys(producer.operands) if o not in kernel.operands and o not in kernel.indices)
        if new > 1 and len(kernel.operands) - 1 + new > preferences.max_operands:
            return None
        combines = Trait.ACCUMULATES in producer.op.traits
        if accumulates(producer) and (kernel.has_product or kernel.has_scan):
            return None
        if policy.parallel.has_blocks and scanned_rows(producer) is not None:
            indices, root = kernel.indices_of(producer, users), kernel.root
            is_whole = root.shape.num_elements == producer.shape.num_elements  # not a slice
            fits = kernel.is_elementwise and is_whole and list(indices) == [kernel.space.root]
            return (kernel, indices) if fits and root.opcode != Opcode.DYNAMIC_UPDATE_SLICE else None
        divided = kernel.by_rows(producer) if combines and policy.parallel.has_blocks else None
        kernel = divided or kernel
        indices = kernel.indices_of(producer, users)
        if len(indices) > policy.copies_allowed(producer):
            return None
        if not kernel.code.has_room(producer):
            return None
        if combines and (list(indices) != [kernel.space.root] or kernel.is_accumulated(users)):
            # A reduction over columns is fast only at the root, where the emitter keeps a tile of accumulators, and not
            # at each step of another reduction. With blocks of threads, every thread would repeat a computation that
            # isn't done once for each row.
            rows = reduced_rows(producer)
            if policy.parallel.has_blocks:
                is_fast = divided is not None and all(map(is_of_row, indices))
            else:
                is_fast = rows is not None and rows.inner == 1 and rows.is_regular
            if not is_fast:
                return None
        if is_product(producer) and not (kernel.is_elementwise and list(indices) == [kernel.space.root]):
            return None
        if kernel.root.opcode == Opcode.DYNAMIC_UPDATE_SLICE and not _keeps_in_place(kernel, producer, indices):
            return None
        return kernel, indices

    def _take_out_bitcasts(self, instruction: HloInstruction) -> None:
        """Removes bitcasts of kernel operands from kernels: outside a kernel they cost nothing."""
        if instruction.opcode != Opcode.BITCAST or instruction not in self._inside:
            return
        for kernel in self._inside[instruction]:
            if kernel.root is not instruction and instruction.operand(0) not in kernel.indices:
                kernel.remove(instruction)

    def _is_worth_it(self, kernel: _FusedKernel) -> bool:
        if self._policy.parallel.has_blocks and Trait.ACCUMULATES in kernel.root.op.traits:
            return len(kernel.indices) > 1  # every thread would load an initial value that is no part of the kernel
        return sum(1 for i in kernel.indices if i.opcode != Opcode.CONSTANT) > 1


def _keeps_in_place(kernel: _FusedKernel, producer: HloInstruction, indices: Indices) -> bool:
    """Whether the kernel, with `producer` fused, still reads the updated array only at the elements it updates."""
    target = kernel.root.operand(0)
    if target not in producer.operands:
        return True
    if producer.opcode != Opcode.DYNAMIC_SLICE or list(producer.operands[1:]) != list(kernel.root.operands[2:]):
        return False
    if producer.operands[0] is not target or target in producer.operands[1:]:
        return False
    update = kernel.space.access(kernel.root, 1, kernel.space.root).index
    return producer.shape.dimensions == kernel.root.operand(1).shape.dimensions and list(indices) == [update]
