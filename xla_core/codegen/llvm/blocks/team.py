"""Team: neighbouring threads of a block that work on one thing, such as a row, together."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

from xla_core.codegen.llvm.ir.module import Value
from xla_core.codegen.llvm.ir.types import type_bits
from xla_core.codegen.llvm.loops.context import EmissionContext

Combine = Callable[[Sequence[Value], Sequence[Value]], list[Value]]
"""(registers, registers) -> registers. It is associative."""


class Team:
    """Threads of a block that are `stride` apart. Teams that lie between each other make a block of threads.

    Args:
        context: the kernel under construction.
        size: threads of the team, a power of two.
        threads: threads of the block, a multiple of `size`.
        stride: the distance between the team's threads: 1, or the number of teams, which is a power of two then.

    Attributes:
        number: i64, which team of the block this thread belongs to.
        member: i64, which thread of the team this thread is.
    """

    def __init__(self, context: EmissionContext, size: int, threads: int, stride: int = 1) -> None:
        self._context = context
        self._size, self._stride, self._teams = size, stride, threads // size
        b = context.builder
        thread = context.abi.thread_index(b)
        near, far = b.urem(thread, b.int_(stride)), b.udiv(thread, b.int_(stride))
        self.number = b.add(b.mul(b.udiv(far, b.int_(size)), b.int_(stride)), near)
        self.member = b.urem(far, b.int_(size))
        self._together = min(size, max(1, context.abi.parallel.lanes // stride))  # members that exchange registers

    @property
    def is_first(self) -> Value:
        """i1, whether this is the team's first thread."""
        return self._context.builder.icmp("eq", self.member, self._context.builder.int_(0))

    @property
    def uses_shared_memory(self) -> bool:
        """Whether `combine` uses shared memory. Before it does so again, there must be a barrier."""
        return self._size > self._together

    def combine(self, registers: Sequence[Value], combine: Combine, *, commutes: bool = False) -> list[Value]:
        """Combines the registers of all threads of the team; every thread has the result.

        All threads of the block call it together. The order of the operands is that of the threads, unless `combine`
        commutes.
        """
        values, together = self._exchanged(registers, combine, self._together, commutes), self._together
        if self._size == together:
            return values
        b, abi, groups = self._context.builder, self._context.abi, self._size // together
        memory = [abi.shared_array(b, "i8" if v.type == "i1" else v.type, groups * self._teams) for v in values]
        group = b.udiv(self.member, b.int_(together))

        def place(group: Value) -> Value:
            if self._stride == 1:
                return b.add(b.mul(self.number, b.int_(groups)), group)
            return b.add(b.mul(group, b.int_(self._teams)), self.number)  # neighbours use different banks

        def put(items: Sequence[Value], at: Value) -> None:
            for item, array in zip(items, memory, strict=True):
                b.store_register(item, array, place(at))

        def take(at: Value) -> list[Value]:
            return [b.load_register(v.type, array, place(at)) for v, array in zip(values, memory, strict=True)]

        leads = b.icmp("eq", b.urem(self.member, b.int_(together)), b.int_(0))
        self._context.when(leads, lambda: put(values, group))
        abi.barrier(b)
        if groups <= together:  # the members that exchange registers combine the results of all groups
            return self._exchanged(take(b.urem(self.member, b.int_(groups))), combine, groups, commutes)
        distance = 1
        while distance < groups:

            def fold(distance: int = distance) -> None:
                put(combine(take(group), take(b.add(group, b.int_(distance)))), group)

            folds = b.icmp("eq", b.urem(group, b.int_(2 * distance)), b.int_(0))
            self._context.when(b.and_(leads, folds), fold)
            abi.barrier(b)
            distance *= 2
        return take(b.int_(0))

    def _exchanged(self, registers: Sequence[Value], combine: Combine, count: int, commutes: bool) -> list[Value]:
        """Combines the registers of `count` members of a group whose members exchange registers."""
        b, values, distance = self._context.builder, list(registers), 1
        while distance < count:
            others = [self._exchange(value, distance * self._stride) for value in values]
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
