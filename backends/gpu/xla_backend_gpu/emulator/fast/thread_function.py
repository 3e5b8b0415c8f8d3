"""Emits the thread function: the instructions of a kernel as LLVM IR.

    i32 @NAME(ptr context, ptr shared, ptr state, ptr place)

returns 0 at the thread's end, -1 after a fault, and the number of the site where the thread waits for others. The
driver calls it again later. It then restores the registers from the thread's state and continues after the site.
"""

from __future__ import annotations

from collections import Counter

from xla_backend_gpu.emulator.fast.accesses import Accesses
from xla_backend_gpu.emulator.fast.fault_reports import FaultReports
from xla_backend_gpu.emulator.fast.group_products import emit_product
from xla_backend_gpu.emulator.fast.layout import WAITING, Context, Faults, StateLayout
from xla_backend_gpu.emulator.fast.operands import Known, Operands, context_word
from xla_backend_gpu.emulator.ptx.dataflow import continued, kept_in_memory, leaders, targets
from xla_backend_gpu.emulator.ptx.program import Instruction, Kernel
from xla_backend_gpu.emulator.table import Effect
from xla_backend_gpu.emulator.table.group_products import FRAGMENTS, GATHERED
from xla_backend_gpu.emulator.table.matrix_loads import ROW_WORDS
from xla_core.codegen.llvm import Block, IrBuilder, IrFunction, IrModule, Value
from xla_core.errors import UnimplementedError


def emit_thread_function(module: IrModule, kernel: Kernel, layout: StateLayout, name: str) -> IrFunction:
    """Adds the thread function to a module, under a name.

    Raises:
        UnimplementedError: the kernel has an instruction that the engine doesn't run.
    """
    parameters = [
        ("ptr", "noalias", "context"),
        ("ptr", "noalias", "shared"),
        ("ptr", "noalias", "state"),
        ("ptr", "noalias", "place"),
    ]
    function = IrFunction(name, "i32", parameters, attributes="nounwind")
    _ThreadFunction(IrBuilder(module, function), kernel, layout).emit()
    return module.add_function(function)


class _ThreadFunction:
    def __init__(self, b: IrBuilder, kernel: Kernel, layout: StateLayout) -> None:
        self.b, self.kernel, self.layout = b, kernel, layout
        context, shared, self.state, self.place = b.function.parameters
        self.context = context
        starts = leaders(kernel)
        self.before = continued(kernel, starts)
        in_memory = kept_in_memory(kernel, set(starts), self.before)
        self.operands = Operands(b, kernel, context, self.place, in_memory, self.state, layout.resident or {})
        self.fuel = b.alloca("i64") if layout.resident is None else self._state(layout.FUEL)
        self.faults = FaultReports(b)
        if layout.sites:
            local = b.gep("i8", self.state, b.int_(layout.local))
        else:
            local = b.alloca("i8", max(kernel.local_bytes, 1), align=16)
        self.accesses = Accesses(b, kernel, self.operands, shared, local, self.faults.report_if)
        self.blocks = {position: b.function.add_block("at") for position in starts}
        self.position = self.start = 0
        self.known: dict[int, Known] = {}  # at the ends of blocks that are the only predecessor of another one
        self.continuing = Counter(self.before.values())  # how many successors of these blocks are not emitted yet

    def emit(self) -> None:
        b = self.b
        self._enter()
        b.block = self.blocks[0]
        for position, instruction in enumerate(self.kernel.instructions):
            if position in self.blocks:
                if b.block is not self.blocks[position] and not self._has_ended():
                    b.branch(self.blocks[position])
                b.block = self.blocks[position]
                self._change_block(position)
            elif self._has_ended():
                continue  # no branch leads here
            self.position = self.faults.position = position
            self._instruction(instruction)
        self.faults.emit(self.context, self.place)

    def _change_block(self, start: int) -> None:
        """Keeps the known values of registers for blocks that continue the last one, and enters the next block."""
        if self.continuing[self.start]:
            self.known[self.start] = self.operands.known()
        self.start, before = start, self.before.get(start)
        known: Known | None = None
        if before is not None:
            self.continuing[before] -= 1
            if self.continuing[before]:  # values that this block adds are not known in the others
                known = {index: dict(values) for index, values in self.known[before].items()}
            else:
                known = self.known.pop(before)
        self.operands.enter_block(known)

    def _has_ended(self) -> bool:
        lines = self.b.block.lines
        return bool(lines) and lines[-1].startswith(("br ", "ret ", "switch ", "unreachable"))

    def _enter(self) -> None:
        """Emits the branch to the first instruction, or to the instruction after the site where the thread waited."""
        b, layout = self.b, self.layout
        fuel = context_word(b, self.context, Context.FUEL)
        if not layout.sites:
            b.store(fuel, self.fuel)
            b.branch(self.blocks[0])
            return
        site = b.load("i32", self.state, align=4)
        entry, start = b.block, b.function.add_block("start")
        b.block = start
        b.store(fuel, self.fuel)
        b.branch(self.blocks[0])
        cases = []
        for number, (position, live) in enumerate(zip(layout.sites, layout.live, strict=True), 1):
            block = b.block = b.function.add_block("resumed")
            self.operands.enter_block()
            cases.append(f"i32 {number}, {block}")
            if layout.resident is None:
                b.store(self._load_state("i64", layout.FUEL), self.fuel)
                for place, register in enumerate(live):
                    bits = self._load_state("i64", layout.registers + 8 * place)
                    self.operands.store_register(register, b.cast("trunc", bits, f"i{register.bits}"))
            self.faults.position = position
            self._take_results(self.kernel.instructions[position])
            b.branch(self.blocks[position + 1])
        b.block = entry
        b.line(f"switch {site}, {start} [ {' '.join(cases)} ]")

    def _take_results(self, instruction: Instruction) -> None:
        place = self.layout.results
        if instruction.definition.shares_fragments:
            words = [self._load_state("i64", place + 8 * n) for n in range(GATHERED)]
            fragments = [self.b.cast("trunc", word, "i32") for word in words]
            emit_product(self.b, self.operands, self.accesses, instruction, fragments)
            return
        for spec, operand in zip(instruction.definition.operands, instruction.operands, strict=True):
            if spec.written:
                type_ = spec.type_of(instruction.types)
                bits = self.b.cast("trunc", self._load_state("i64", place), f"i{type_.bits}")
                self.operands.put(operand, type_, self.b.bitcast(bits, type_.ir))
                place += 8

    def _state(self, offset: int) -> Value:
        return self.b.gep("i8", self.state, self.b.int_(offset))

    def _load_state(self, type_: str, offset: int) -> Value:
        return self.b.load(type_, self._state(offset), align=4 if type_ == "i32" else 8)

    # -- instructions ------------------------------------------------------------------------------------------------

    def _instruction(self, instruction: Instruction) -> None:
        effect = instruction.definition.effect
        if effect is Effect.UNSUPPORTED:
            raise UnimplementedError(
                f"the emulator does not implement {instruction.definition.base} yet",
                op=self.kernel.name,
                hint=instruction.text,
            )
        if effect is Effect.BRANCH:
            self._branch(instruction)
        elif instruction.guard is None:
            self._effect(instruction)
        else:
            b = self.b
            after = self.blocks.get(self.position + 1) or b.function.add_block("skipped")
            run = b.function.add_block("guarded")
            self._branch_on_guard(instruction, run, after)
            b.block = run
            with self.operands.under_guard():
                self._effect(instruction)
            if not self._has_ended():
                b.branch(after)
            b.block = after

    def _effect(self, instruction: Instruction) -> None:
        b, effect = self.b, instruction.definition.effect
        if effect is Effect.VALUE:
            sources = self.operands.sources(instruction)
            self.operands.put_results(instruction, instruction.definition.ir(b, instruction, *sources))
        elif effect in (Effect.LOAD, Effect.STORE, Effect.ATOMIC, Effect.COPY):
            self.accesses.emit(instruction)
        elif effect is Effect.EXIT:
            b.line("ret i32 0")
        elif effect is Effect.TRAP:
            self.faults.report(Faults.TRAP)
        elif effect is Effect.GROUP_PRODUCT and not instruction.definition.shares_fragments:
            emit_product(b, self.operands, self.accesses, instruction)
        elif effect in WAITING:
            self._wait(instruction)

    def _branch_on_guard(self, instruction: Instruction, then: Block, otherwise: Block) -> None:
        assert instruction.guard is not None
        holds = self.operands.load_register(instruction.guard)
        if instruction.guard_negated:
            then, otherwise = otherwise, then
        self.b.branch_if(holds, then, otherwise)

    def _branch(self, instruction: Instruction) -> None:
        b = self.b
        goals = targets(instruction)
        back = [g for g in goals if g <= self.position]
        if back:
            self._burn(self.position - min(back) + 1)
        blocks = [self.blocks[g] for g in goals]
        if instruction.definition.base == "brx":
            index = self.operands.sources(instruction)[0]
            cases = " ".join(f"i32 {i}, {block}" for i, block in enumerate(blocks))
            b.line(f"switch {index}, {blocks[-1]} [ {cases} ]")
        elif instruction.guard is None:
            b.branch(blocks[0])
        else:
            self._branch_on_guard(instruction, blocks[0], self.blocks[self.position + 1])

    def _burn(self, instructions: int) -> None:
        """Emits code that consumes fuel in each iteration of a loop. A thread without fuel is reported as endless."""
        b = self.b
        left = b.sub(b.load("i64", self.fuel), b.int_(instructions))
        b.store(left, self.fuel)
        self.faults.report_if(b.icmp("slt", left, b.int_(0)), Faults.ENDLESS, b.int_(0))

    def _wait(self, instruction: Instruction) -> None:
        """Emits code that saves the live registers and returns to the driver."""
        b, layout = self.b, self.layout
        number = layout.sites.index(self.position) + 1
        sources = self.operands.sources(instruction)
        if instruction.definition.shares_fragments:
            first = sum(o.written for o in instruction.definition.operands)
            sources = sources[first : first + FRAGMENTS]
        for place, value in enumerate(sources):
            bits = b.bitcast(value, f"i{value_bits(value)}")
            b.store(b.cast("zext", bits, "i64"), self._state(layout.OPERANDS + 8 * place), align=8)
        if instruction.definition.loads_rows:
            places = [self._state(layout.OPERANDS + 8 * n) for n in range(ROW_WORDS)]
            self.accesses.row(instruction, places)
        if instruction.definition.effect is Effect.BARRIER and instruction.operands[1] is None:
            b.store(b.int_(0), self._state(layout.OPERANDS + 8), align=8)  # the barrier waits for the whole block
        if layout.resident is None:
            for place, register in enumerate(layout.live[number - 1]):
                bits = b.cast("zext", self.operands.load_register(register), "i64")
                b.store(bits, self._state(layout.registers + 8 * place), align=8)
            b.store(b.load("i64", self.fuel), self._state(layout.FUEL), align=8)
        waits_for = WAITING[instruction.definition.effect]
        b.store(b.int_(waits_for, "i32"), self._state(layout.WAITS_FOR), align=4)
        b.line(f"ret i32 {number}")


def value_bits(value: Value) -> int:
    return {"float": 32, "double": 64}.get(value.type) or int(value.type[1:])
