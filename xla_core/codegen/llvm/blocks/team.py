"""Team: threads of a block that work together, for example on one row."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Sequence

from xla_core.codegen.llvm.blocks.register_arrays import RegisterArrays
from xla_core.codegen.llvm.ir.module import Value
from xla_core.codegen.llvm.ir.types import type_bits
from xla_core.codegen.llvm.loops.context import EmissionContext

Combine = Callable[[Sequence[Value], Sequence[Value]], list[Value]]
"""(registers, registers) -> registers. It is associative."""


@dataclasses.dataclass(frozen=True, slots=True)
class TeamLayout:
    """How a block of threads is divided into teams.

    With a stride of 1, the threads of a team are neighbours. With a larger one, neighbouring threads belong to
    different teams.

    Attributes:
        size: threads of a team, a power of two.
        threads: threads of the block, a multiple of `size`.
        stride: the distance between the threads of a team: 1, or the number of teams, which is a power of two then.
        lanes: how many neighbouring threads exchange registers without memory.
    """

    size: int
    threads: int
    stride: int
    lanes: int

    @property
    def teams(self) -> int:
        return self.threads // self.size

    @property
    def together(self) -> int:
        """How many threads of a team exchange registers without memory."""
        return min(self.size, max(1, self.lanes // self.stride))

    def shared_bytes(self, types: Sequence[str]) -> int:
        """Returns the bytes of shared memory in which the teams combine registers of these types."""
        return RegisterArrays.size(types, self.threads // self.together) if self.size > self.together else 0


class Team:
    """The team of a thread.

    Args:
        context: the kernel under construction.
        layout: the teams of the block.
        memory: bytes of shared memory for all combinations. If less is left than `combine` needs, the threads wait for
            each other and use it from its start again.

    Attributes:
        number: i64, which team of the block this thread belongs to.
        member: i64, which thread of the team this thread is.
    """

    def __init__(self, context: EmissionContext, layout: TeamLayout, memory: int) -> None:
        self._context, self._layout = context, layout
        b = context.builder
        thread, size, stride = context.abi.thread_index(b), b.int_(layout.size), b.int_(layout.stride)
        near, far = b.urem(thread, stride), b.udiv(thread, stride)
        self.number = b.add(b.mul(b.udiv(far, size), stride), near)
        self.member = b.urem(far, size)
        self._memory = context.abi.shared_array(b, "i8", memory) if memory else None
        self._bytes, self._used = memory, 0

    @property
    def is_first(self) -> Value:
        """i1, whether this is the team's first thread."""
        return self._context.builder.icmp("eq", self.member, self._context.builder.int_(0))

    def combine(self, registers: Sequence[Value], combine: Combine, *, commutes: bool = False) -> list[Value]:
        """Combines the registers of all threads of the team; every thread has the result.

        All threads of the block call it together. The order of the operands is that of the threads, unless `combine`
        commutes.
        """
        layout, together = self._layout, self._layout.together
        values = self._exchanged(registers, combine, together, commutes)
        memory = self._arrays([v.type for v in values])
        if memory is None:
            return values
        b, abi, groups, place = self._context.builder, self._context.abi, layout.size // together, self._place
        group, leads = self._share(memory, values)
        if groups <= together:  # the members that exchange registers combine the results of all groups
            found = memory.load(place(b.urem(self.member, b.int_(groups))))
            return self._exchanged(found, combine, groups, commutes)
        distance = 1
        while distance < groups:

            def fold(distance: int = distance) -> None:
                other = memory.load(place(b.add(group, b.int_(distance))))
                memory.store(place(group), combine(memory.load(place(group)), other))

            folds = b.icmp("eq", b.urem(group, b.int_(2 * distance)), b.int_(0))
            self._context.when(b.and_(leads, folds), fold)
            abi.barrier(b)
            distance *= 2
        return memory.load(place(b.int_(0)))

    def scan(
        self, registers: Sequence[Value], neutral: Sequence[Value], combine: Combine
    ) -> tuple[list[Value], list[Value]]:
        """Returns the combination of the registers of all threads before this one, and that of the whole team.

        All threads of the block call it together. The order of the operands is that of the threads. If this is done
        again in a loop, the threads must wait for each other at its end.

        Args:
            registers: those of this thread.
            neutral: registers that combine with others without changing them.
            combine: see `Combine`.
        """
        b, layout, distance = self._context.builder, self._layout, 1
        before, total = list(neutral), list(registers)
        while distance < layout.together:
            others = [self._exchange(value, distance * layout.stride) for value in total]
            is_left = b.icmp("eq", b.and_(self.member, b.int_(distance)), b.int_(0))
            left = [b.select(is_left, x, y) for x, y in zip(total, others, strict=True)]
            right = [b.select(is_left, y, x) for x, y in zip(total, others, strict=True)]
            longer = combine(others, before)
            before = [b.select(is_left, x, y) for x, y in zip(before, longer, strict=True)]
            total = combine(left, right)
            distance *= 2
        memory = self._arrays([v.type for v in total])
        if memory is None:
            return before, total
        group, _ = self._share(memory, total)

        def one(number: Value, carried: Sequence[Value]) -> list[Value]:
            """Combines the groups up to `number`, and separately the groups before this thread's."""
            found = memory.load(self._place(number))
            ahead, whole = carried[: len(found)], carried[len(found) :]
            longer, is_before = combine(ahead, found), b.icmp("ult", number, group)
            ahead = [b.select(is_before, x, y) for x, y in zip(longer, ahead, strict=True)]
            return [*ahead, *combine(whole, found)]

        groups = b.int_(layout.size // layout.together)
        found = self._context.loop(b.int_(0), groups, one, [*neutral, *neutral], name="groups")
        return combine(found[: len(before)], before), found[len(before) :]

    def _share(self, memory: RegisterArrays, values: Sequence[Value]) -> tuple[Value, Value]:
        """Stores the registers of each group, which its first thread writes.

        Returns the number of this thread's group, and whether the thread is its first.
        """
        b, together = self._context.builder, self._context.builder.int_(self._layout.together)
        group, leads = b.udiv(self.member, together), b.icmp("eq", b.urem(self.member, together), b.int_(0))
        self._context.when(leads, lambda: memory.store(self._place(group), values))
        self._context.abi.barrier(b)
        return group, leads

    def _place(self, group: Value) -> Value:
        """Returns where a group of this team is in shared memory."""
        b, layout = self._context.builder, self._layout
        if layout.stride == 1:
            return b.add(b.mul(self.number, b.int_(layout.size // layout.together)), group)
        return b.add(b.mul(group, b.int_(layout.teams)), self.number)  # neighbours use different banks

    def _arrays(self, types: Sequence[str]) -> RegisterArrays | None:
        """Arrays of an element for each group of the block, in shared memory; None where no team needs memory."""
        b, layout = self._context.builder, self._layout
        size = layout.shared_bytes(types)
        if self._memory is None or not size:
            return None
        if self._used + size > self._bytes:
            self._context.abi.barrier(b)
            self._used = 0
        start = b.gep("i8", self._memory, b.int_(self._used))
        self._used += size
        return RegisterArrays.at(b, start, types, layout.threads // layout.together)

    def _exchanged(self, registers: Sequence[Value], combine: Combine, count: int, commutes: bool) -> list[Value]:
        """Combines the registers of `count` members of a group whose members exchange registers."""
        b, values, distance = self._context.builder, list(registers), 1
        while distance < count:
            others = [self._exchange(value, distance * self._layout.stride) for value in values]
            if commutes:
                values = combine(values, others)
            else:
                low = b.icmp("eq", b.and_(self.member, b.int_(distance)), b.int_(0))
                left = [b.select(low, x, y) for x, y in zip(values, others, strict=True)]
                right = [b.select(low, y, x) for x, y in zip(values, others, strict=True)]
                values = combine(left, right)
            distance *= 2
        return values

    def _exchange(self, value: Value, distance: int) -> Value:
        """The value of another lane, moved in words of 32 bits."""
        b, abi, bits = self._context.builder, self._context.abi, type_bits(value.type)
        whole = b.bitcast(value, f"i{bits}")
        words = []
        for shift in range(0, bits, 32):
            word = abi.exchange(b, b.resize(b.lshr(whole, shift), "i32", signed=False), distance)
            words.append(b.shl(b.resize(word, whole.type, signed=False), shift))
        return b.bitcast(functools.reduce(b.or_, words), value.type)
