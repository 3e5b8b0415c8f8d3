"""Emits the functions that release waiting threads: the lanes of a warp, and the threads of a block.

i32 @NAME(ptr states, i32 lanes)  is a kernel's, for its warp instructions. It returns how many lanes continue.
i32 @release_block(ptr states, i64 threads, i64 stride)
    returns how many threads continue; 0: all have ended; -1 - T: thread T never can, or waits at another barrier than
    lanes of its warp that could go on with it.
"""

from __future__ import annotations

from collections.abc import Hashable

from xla_backend_gpu.emulator.fast.layout import WAITING, StateLayout
from xla_backend_gpu.emulator.fast.thread_function import value_bits
from xla_backend_gpu.emulator.ptx.program import Instruction, Kernel
from xla_backend_gpu.emulator.ptx.types import TYPES
from xla_backend_gpu.emulator.table import Effect
from xla_backend_gpu.emulator.table.group_products import FRAGMENTS
from xla_backend_gpu.emulator.table.matrix_loads import ROW_WORDS
from xla_core.codegen.llvm import IrBuilder, IrFunction, IrModule, Value

_BARRIERS = 16


def _waits(b: IrBuilder, state: Value, effect: Effect) -> Value:
    waits = b.load("i32", b.gep("i8", state, b.int_(StateLayout.WAITS_FOR)), align=4)
    return b.icmp("eq", waits, b.int_(WAITING[effect], "i32"))


def _go_on(b: IrBuilder, state: Value) -> None:
    b.store(b.int_(0, "i32"), b.gep("i8", state, b.int_(StateLayout.WAITS_FOR)), align=4)


def _increment(b: IrBuilder, counter: Value, by: Value | None = None) -> None:
    b.store(b.add(b.load("i32", counter), by or b.int_(1, "i32")), counter)


# -- a warp ------------------------------------------------------------------------------------------------------------


class _Lane:
    """A warp while one lane's result of a warp instruction is computed, for the instruction's IR function."""

    def __init__(
        self, b: IrBuilder, layout: StateLayout, types: list[str], states: Value, lane: Value, members: Value
    ) -> None:
        self.b, self.layout, self.types, self.states = b, layout, types, states
        self.lane, self.members = lane, members

    def fetch(self, operand: int, lane: Value) -> Value:
        b, layout = self.b, self.layout
        state = b.gep("i8", self.states, b.mul(b.cast("zext", lane, "i64"), b.int_(layout.stride)))
        bits = b.load("i64", b.gep("i8", state, b.int_(layout.OPERANDS + 8 * operand)), align=8)
        type_ = self.types[operand]
        return b.bitcast(b.cast("trunc", bits, f"i{value_bits(Value(type_, ''))}"), type_)


def emit_warp_release(module: IrModule, kernel: Kernel, layout: StateLayout, name: str) -> IrFunction | None:
    """Emits the function that releases the lanes of a warp, if the kernel has instructions for which they wait."""
    sites = _alike(kernel, layout)
    if not sites:
        return None
    function = IrFunction(name, "i32", [("ptr", "", "states"), ("i32", "", "lanes")], attributes="nounwind")
    b = IrBuilder(module, module.add_function(function))
    states, lanes = function.parameters
    released, alive, arrived = (b.alloca("i32") for _ in range(3))
    zero = b.int_(0, "i32")
    for counter in (released, alive):
        b.store(zero, counter)

    def state_of(lane: Value) -> Value:
        return b.gep("i8", states, b.mul(b.cast("zext", lane, "i64"), b.int_(layout.stride)))

    def set_bit(word: Value, lane: Value) -> None:
        b.store(b.or_(b.load("i32", word), b.binary("shl", b.int_(1, "i32"), lane)), word)

    loop, _ = b.open_loop(zero, lanes, name="alive")
    with b.if_(b.icmp("sge", b.load("i32", state_of(loop.index), align=4), zero)):
        set_bit(alive, loop.index)
    b.close_loop(loop)

    outer, _ = b.open_loop(zero, lanes, name="waiting")
    state = state_of(outer.index)
    with b.if_(_waits(b, state, Effect.WARP)):
        site = b.load("i32", state, align=4)
        b.store(zero, arrived)
        inner, _ = b.open_loop(zero, lanes, name="arrived")
        other = state_of(inner.index)
        same = b.icmp("eq", b.load("i32", other, align=4), site)
        with b.if_(b.and_(same, _waits(b, other, Effect.WARP))):
            set_bit(arrived, inner.index)
        b.close_loop(inner)
        over, unknown = b.function.add_block("over"), b.function.add_block("unknown")
        blocks = [b.function.add_block("site") for _ in sites]
        cases = " ".join(
            f"i32 {number}, {block}" for (_, numbers), block in zip(sites, blocks, strict=True) for number in numbers
        )
        b.line(f"switch {site}, {unknown} [ {cases} ]")
        b.block = unknown
        b.line("unreachable")
        for (instruction, _), block in zip(sites, blocks, strict=True):
            b.block = block
            _release_site(b, layout, instruction, states, lanes, outer.index, alive, arrived)
            b.branch(over)
        b.block = over
        members = b.load("i32", arrived)
        with b.if_(b.icmp("ne", members, zero)):
            inner, _ = b.open_loop(zero, lanes, name="go")
            bit = b.binary("and", b.binary("lshr", members, inner.index), b.int_(1, "i32"))
            with b.if_(b.icmp("ne", bit, zero)):
                _go_on(b, state_of(inner.index))
                _increment(b, released)
            b.close_loop(inner)
    b.close_loop(outer)
    b.ret(b.load("i32", released))
    return function


def _alike(kernel: Kernel, layout: StateLayout) -> list[tuple[Instruction, list[int]]]:
    """Returns the warp instructions that differ in more than their operands, and the numbers of the sites of each.

    One piece of code serves all of them, because the operands are in the states of the threads.
    """
    found: dict[Hashable, tuple[Instruction, list[int]]] = {}
    for number, position in enumerate(layout.sites, 1):
        one = kernel.instructions[position]
        if one.definition.effect is Effect.WARP or one.definition.shares_fragments:
            present = tuple(operand is not None for operand in one.operands)
            key = (id(one.definition), one.types, tuple(one.modifiers.items()), present)
            found.setdefault(key, (one, []))[1].append(number)
    return list(found.values())


def _release_site(
    b: IrBuilder,
    layout: StateLayout,
    instruction: Instruction,
    states: Value,
    lanes: Value,
    waiting: Value,
    alive: Value,
    arrived: Value,
) -> None:
    """Emits code that releases the lanes that wait at a site, if all lanes in their mask have arrived.

    It computes their results, and sets `arrived` to these lanes, or to 0 if some lane has not arrived.
    """
    types = [
        spec.type_of(instruction.types)
        for spec, operand in zip(instruction.definition.operands, instruction.operands, strict=True)
        if spec.is_typed and spec.is_read and operand is not None
    ]
    if instruction.definition.loads_rows:
        types = [TYPES["b32"]] * ROW_WORDS
    elif instruction.definition.shares_fragments:
        types = [TYPES["b32"]] * FRAGMENTS
    operand_types = [t.ir for t in types]
    here = b.load("i32", arrived)
    mask = b.int_(-1, "i32")
    if instruction.definition.has_mask:
        mask = _Lane(b, layout, operand_types, states, waiting, here).fetch(len(types) - 1, waiting)
    members = b.binary("and", here, mask)
    missing = b.binary("and", b.binary("and", mask, b.load("i32", alive)), b.not_(here))
    complete = b.icmp("eq", missing, b.int_(0, "i32"))
    b.store(b.select(complete, members, b.int_(0, "i32")), arrived)
    if not any(spec.written for spec in instruction.definition.operands):
        return
    with b.if_(complete):
        loop, _ = b.open_loop(b.int_(0, "i32"), lanes, name="member")
        bit = b.binary("and", b.binary("lshr", members, loop.index), b.int_(1, "i32"))
        with b.if_(b.icmp("ne", bit, b.int_(0, "i32"))):
            lane = _Lane(b, layout, operand_types, states, loop.index, members)
            values = [lane.fetch(place, loop.index) for place in range(len(types))]
            computed = instruction.definition.ir(b, instruction, lane, *values)
            state = b.gep("i8", states, b.mul(b.cast("zext", loop.index, "i64"), b.int_(layout.stride)))
            for place, value in enumerate(computed if isinstance(computed, tuple) else (computed,)):
                bits = b.cast("zext", b.bitcast(value, f"i{value_bits(value)}"), "i64")
                b.store(bits, b.gep("i8", state, b.int_(layout.results + 8 * place)), align=8)
        b.close_loop(loop)


# -- a block -----------------------------------------------------------------------------------------------------------


def emit_block_release(module: IrModule) -> None:
    """Emits `@release_block`, which lets threads that wait at a barrier go on.

    A barrier releases its threads when as many have arrived as it asks for, or all threads that haven't ended. It
    counts the lanes that the last warp of the block lacks. Lanes of one warp can't go on from different instructions.
    """
    function = IrFunction(
        "release_block",
        "i32",
        [("ptr", "", "states"), ("i64", "", "threads"), ("i64", "", "stride")],
        prefix="internal",
        attributes="nounwind",
    )
    b = IrBuilder(module, module.add_function(function))
    states, threads, stride = function.parameters
    arrived, expected = b.alloca("i32", _BARRIERS), b.alloca("i32", _BARRIERS)
    released, alive, first, apart, site_of_warp = (b.alloca("i32") for _ in range(5))
    zero = b.int_(0, "i32")
    for counter in (released, alive):
        b.store(zero, counter)
    for least in (first, apart):
        b.store(b.int_(-1, "i32"), least)
    last = b.sub(threads, b.int_(1))
    lacking = b.cast("trunc", b.add(b.binary("and", b.sub(b.int_(0), threads), b.int_(31)), b.int_(1)), "i32")
    for number in range(_BARRIERS):
        for array in (arrived, expected):
            b.store(zero, b.gep("i32", array, b.int_(number)))

    def state_of(thread: Value) -> Value:
        return b.gep("i8", states, b.mul(thread, stride))

    def weight(thread: Value) -> Value:
        return b.select(b.icmp("eq", thread, last), lacking, b.int_(1, "i32"))

    def barrier(state: Value, array: Value) -> Value:
        number = b.load("i64", b.gep("i8", state, b.int_(StateLayout.OPERANDS)), align=8)
        return b.gep("i32", array, b.binary("and", number, b.int_(_BARRIERS - 1)))

    loop, _ = b.open_loop(b.int_(0), threads, name="arrived")
    state = state_of(loop.index)
    with b.if_(b.icmp("sge", b.load("i32", state, align=4), zero)):
        _increment(b, alive, weight(loop.index))
        low = b.intrinsic("umin", b.load("i32", first), b.cast("trunc", loop.index, "i32"))
        b.store(low, first)
        with b.if_(_waits(b, state, Effect.BARRIER)):
            _increment(b, barrier(state, arrived), weight(loop.index))
            asked = b.load("i64", b.gep("i8", state, b.int_(StateLayout.OPERANDS + 8)), align=8)
            b.store(b.cast("trunc", asked, "i32"), barrier(state, expected))
    b.close_loop(loop)
    loop, _ = b.open_loop(b.int_(0), threads, name="release")
    state = state_of(loop.index)
    with b.if_(b.icmp("eq", b.binary("and", loop.index, b.int_(31)), b.int_(0))):
        b.store(zero, site_of_warp)
    with b.if_(_waits(b, state, Effect.BARRIER)):
        asked = b.load("i32", barrier(state, expected))
        everyone = b.load("i32", alive)
        count = b.select(b.icmp("eq", asked, zero), everyone, b.intrinsic("umin", asked, everyone))
        with b.if_(b.icmp("uge", b.load("i32", barrier(state, arrived)), count)):
            _go_on(b, state)
            _increment(b, released)
            site, mates = b.load("i32", state, align=4), b.load("i32", site_of_warp)
            with b.if_(b.and_(b.icmp("ne", mates, zero), b.icmp("ne", mates, site))):
                thread = b.cast("trunc", loop.index, "i32")
                b.store(b.intrinsic("umin", b.load("i32", apart), thread), apart)
            b.store(site, site_of_warp)
    b.close_loop(loop)
    stuck = b.and_(b.icmp("eq", b.load("i32", released), zero), b.icmp("ne", b.load("i32", alive), zero))
    result = b.select(stuck, b.not_(b.load("i32", first)), b.load("i32", released))
    ordinary = b.icmp("eq", b.load("i32", apart), b.int_(-1, "i32"))
    b.ret(b.select(ordinary, result, b.not_(b.load("i32", apart))))
