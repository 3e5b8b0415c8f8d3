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
    """The threads [number * size, (number + 1) * size) of a block.

    Args:
        context: the kernel under construction.
        size: threads of the team, a power of two that divides `threads`.
        threads: threads of the block.

    Attributes:
        number: i64, which team of the block this thread belongs to.
        member: i64, which thread of the team this thread is.
    """

    def __init__(self, context: EmissionContext, size: int, threads: int) -> None:
        self._context = context
        self._size, self._threads = size, threads
        b = context.builder
        thread = context.abi.thread_index(b)
        self.number = b.udiv(thread, b.int_(size))
        self.member = b.urem(thread, b.int_(size))

    @property
    def is_first(self) -> Value:
        """i1, whether this is the team's first thread."""
        return self._context.builder.icmp("eq", self.member, self._context.builder.int_(0))

    @property
    def uses_shared_memory(self) -> bool:
        """Whether `combine` uses shared memory. Before it does so again, there must be a barrier."""
        return self._size > self._lanes

    @property
    def _lanes(self) -> int:
        return self._context.abi.parallel.lanes

    def combine(self, registers: Sequence[Value], combine: Combine, *, commutes: bool = False) -> list[Value]:
        """Combines the registers of all threads of the team; every thread has the result.

        All threads of the block call it together. The order of the operands is that of the threads, unless `combine`
        commutes.
        """
        lanes = min(self._lanes, self._size)
        values = self._exchanged(registers, combine, 1, lanes, commutes)
        if self._size == lanes:
            return values
        b = self._context.builder
        groups = self._size // lanes
        memory = [
            self._context.abi.shared_array(b, "i8" if v.type == "i1" else v.type, self._threads // lanes)
            for v in values
        ]
        group = b.udiv(self.member, b.int_(lanes))
        first = b.mul(self.number, b.int_(groups))

        def put(items: Sequence[Value], place: Value) -> None:
            for item, array in zip(items, memory, strict=True):
                b.store_register(item, array, b.add(first, place))

        def take(place: Value) -> list[Value]:
            return [
                b.load_register(v.type, array, b.add(first, place)) for v, array in zip(values, memory, strict=True)
            ]

        leads = b.icmp("eq", b.urem(self.member, b.int_(lanes)), b.int_(0))
        self._context.when(leads, lambda: put(values, group))
        self._context.abi.barrier(b)
        if groups <= lanes:  # each group of lanes combines the results of all groups
            return self._exchanged(take(b.urem(self.member, b.int_(groups))), combine, 1, groups, commutes)
        distance = 1
        while distance < groups:

            def fold(distance: int = distance) -> None:
                put(combine(take(group), take(b.add(group, b.int_(distance)))), group)

            folds = b.icmp("eq", b.urem(group, b.int_(2 * distance)), b.int_(0))
            self._context.when(b.and_(leads, folds), fold)
            self._context.abi.barrier(b)
            distance *= 2
        return take(b.int_(0))

    def _exchanged(
        self, registers: Sequence[Value], combine: Combine, distance: int, limit: int, commutes: bool
    ) -> list[Value]:
        """Combines the registers of lanes whose numbers differ in the bits from `distance` to below `limit`."""
        b, values = self._context.builder, list(registers)
        while distance < limit:
            others = [self._exchange(value, distance) for value in values]
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
