"""The code of a function that runs the instructions of a computation: where values are, and how it returns early."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from xla_backend_cpu.calling_convention import CONTEXT_WORDS, ContextField, Status
from xla_core.analysis import AllocationKind, BufferSlice
from xla_core.codegen.llvm import Block, IrBuilder, IrFunction, Value
from xla_core.hlo import Environment

_FIRST_RANDOM_STATE = Environment.rng_state  # the initial state of the reference evaluator


class FunctionCode:
    """A function while it is emitted. It returns a `Status`.

    A function that host calls interrupt has the block `start`, and `sites`: for each call, where it goes on afterwards.

    Args:
        builder: writes the function.
        allocations: the table of addresses: the run's context, then one for each allocation.
        table: the place of the arguments of kernels.
        start: the block where the function begins, unless it goes on after a call; None if nothing interrupts it.
        in_loop: whether the function is called in a loop.
    """

    def __init__(
        self, builder: IrBuilder, allocations: Value, table: Value, start: Block | None, *, in_loop: bool
    ) -> None:
        self.builder = builder
        self.allocations = allocations
        self.table = table
        self.start = start
        self.sites: list[tuple[range, Block]] = []
        self._in_loop = in_loop
        self._bases: dict[int, Value] = {}
        self._in_block = _InBlock(None)

    def finished(self) -> IrFunction:
        """Ends the function, which returns OK there, and returns it.

        Where it is called again, it goes on after the call that the context names.
        """
        b = self.builder
        b.ret(b.int_(Status.OK, "i32"))
        if self.start is not None:
            b.block = b.function.blocks[0]
            pending = b.load("i32", self.context(ContextField.HOST_CALL), align=4)
            cases = " ".join(f"i32 {1 + n}, {site}" for numbers, site in self.sites for n in numbers)
            b.line(f"switch {pending}, {self.start} [ {cases} ]")
        return b.function

    def check(self, status: Value, fine: Value | None = None) -> None:
        """Returns `status` from the function unless it is OK, or unless `fine` is true."""
        b = self.builder
        fine = fine or b.icmp("eq", status, b.int_(Status.OK, "i32"))
        after, failed = b.function.add_block("fine"), b.function.add_block("failed")
        b.branch_if(fine, after, failed)
        failed.lines.append(f"ret {status}")
        b.block = after

    def call(self, symbol: str, host_calls: range) -> None:
        """Calls a function that makes the host calls of these numbers, and returns its status unless it is OK."""
        b = self.builder
        if host_calls:
            site = b.function.add_block("site")
            b.branch(site)
            b.block = site
            self.sites.append((host_calls, site))
        self.check(b.call(symbol, "i32", [self.allocations]))

    def return_to_host(self, number: int, places: Sequence[BufferSlice]) -> None:
        """Returns to the host for its call of this number, with buffers, and goes on here afterwards."""
        b = self.builder
        for position, place in enumerate(places, CONTEXT_WORDS // 2):
            b.store(self.address(place), b.gep("ptr", self.base(0), b.int_(position)), align=8)
        b.store(b.int_(number + 1, "i32"), self.context(ContextField.HOST_CALL), align=4)
        b.ret(b.int_(Status.HOST_CALL, "i32"))
        b.block = b.function.add_block("called")
        self.sites.append((range(number, number + 1), b.block))
        b.store(b.int_(0, "i32"), self.context(ContextField.HOST_CALL), align=4)

    # -- the run's context -------------------------------------------------------------------------------------------

    def context(self, field: ContextField) -> Value:
        """The address of a word of the run's context."""
        b = self.builder
        return b.gep("i32", self.base(0), b.int_(field))

    def not_cancelled(self) -> Value:
        b = self.builder
        word = b.emit("i32", f"load volatile i32, {self.context(ContextField.CANCELLED)}, align 4")
        return b.icmp("eq", word, b.int_(0, "i32"))

    def failures(self) -> Value:
        """The number of allocations that failed."""
        return self.builder.emit("i32", f"load volatile i32, {self.context(ContextField.FAILURES)}, align 4")

    def store_word(self, field: ContextField, place: BufferSlice) -> None:
        """Stores a word of the context in a buffer."""
        b = self.builder
        value = b.load("i32", self.context(field), align=4)
        b.store(value, self.address(place), align=4)

    def take_random_state(self, step: int, place: BufferSlice) -> None:
        """Copies the executable's random state to a buffer, then adds `step` to it. Its high word is always 0.

        The state starts with the same number in every process. (XLA: xla/service/cpu/ir_emitter.cc.)
        """
        b = self.builder
        state = b.module.add_global("random_state", f"internal global i64 {_FIRST_RANDOM_STATE}, align 8")
        low = b.emit("i64", f"atomicrmw add ptr {state}, i64 {step} monotonic, align 8")
        address = self.address(place)
        b.store(low, address, align=8)
        b.store(b.int_(0), b.gep("i64", address, b.int_(1)), align=8)

    # -- addresses ---------------------------------------------------------------------------------------------------

    def base(self, slot: int) -> Value:
        """The address in a slot of the table.

        In a loop it is loaded once, at the function's start. Elsewhere it is loaded where it is used: thousands of
        addresses that live through a function take LLVM's register allocation quadratic time.
        """
        b = self.builder
        if not self._in_loop:
            place = b.gep("ptr", self.allocations, b.int_(slot))
            return b.emit("ptr", f"load {place.type}, {place}, align 8, !invariant.load {b.module.metadata('!{}')}")
        if slot not in self._bases:
            entry = b.function.blocks[0]
            place, base = Value("ptr", b.function.fresh()), Value("ptr", b.function.fresh())
            empty = b.module.metadata("!{}")
            entry.lines[1:1] = [
                f"{place.name} = getelementptr inbounds ptr, {self.allocations}, i64 {slot}",
                f"{base.name} = load ptr, {place}, align 8, !invariant.load {empty}",
            ]
            self._bases[slot] = base
        return self._bases[slot]

    def address(self, place: BufferSlice) -> Value:
        b = self.builder
        slot = 1 + place.allocation.index
        temporaries = self._known.temporaries
        base = temporaries.get(slot) or self.base(slot)
        if place.allocation.kind is AllocationKind.TEMP:
            temporaries[slot] = base
        return b.gep("i8", base, b.int_(place.offset))

    def store_argument(self, position: int, place: BufferSlice) -> None:
        """Makes a buffer the argument of the next kernel at a position, unless it was that of the kernel before."""
        b, known = self.builder, self._known
        key = (place.allocation.index, place.offset)
        if known.arguments.get(position) != key:
            known.arguments[position] = key
            if position not in known.positions:
                known.positions[position] = b.gep("ptr", self.table, b.int_(position))
            b.store(self.address(place), known.positions[position], align=8)

    @property
    def _known(self) -> _InBlock:
        if self._in_block.block is not self.builder.block:
            self._in_block = _InBlock(self.builder.block)
        return self._in_block


@dataclasses.dataclass(slots=True)
class _InBlock:
    """What the code of the current block has computed, so that the rest of the block needn't.

    Attributes:
        block: the block; None before the first use.
        temporaries: the addresses of allocations of temporary buffers, by slot. Many arguments are in these few.
        positions: the places of arguments in the table of arguments, by position.
        arguments: the arguments that are stored there: (number of the allocation, offset).
    """

    block: Block | None
    temporaries: dict[int, Value] = dataclasses.field(default_factory=dict)
    positions: dict[int, Value] = dataclasses.field(default_factory=dict)
    arguments: dict[int, tuple[int, int]] = dataclasses.field(default_factory=dict)
