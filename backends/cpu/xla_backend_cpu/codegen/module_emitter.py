"""Emits a module as one native function: `i32 xla_cpu_entry(ptr allocations)`.

`allocations` is a table of addresses: the run's context, then one for each allocation of the buffer assignment. Each
computation that control flow runs (the entry, while bodies, branches, called computations) becomes a function. The
function calls the kernels of its instructions in schedule order and returns a `Status`.

Custom calls, collectives and transfers run on the host. The entry returns `Status.HOST_CALL` for each. Called again
with the same context, it goes on after the instruction. The context has the number of the call, one more than its index
in `host_calls`, and the addresses of the array leaves of its operands and results. All values of a program are in its
buffers, so an interrupted function can jump to the place where it was.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Sequence

from xla_backend_cpu.calling_convention import ENTRY, ContextField, Status
from xla_backend_cpu.codegen.function_code import FunctionCode
from xla_backend_cpu.codegen.native_kernels import NativeKernels, is_small
from xla_backend_cpu.codegen.plain_writes import fill, filled_byte, is_copy, move
from xla_backend_cpu.codegen.processor import Processor
from xla_backend_cpu.lapack import LapackCall
from xla_core.analysis import BufferAssignment, known_trip_count
from xla_core.codegen.llvm import IrBuilder, IrFunction, IrModule, LoopAbi, Value
from xla_core.hlo import OPS, HloComputation, HloInstruction, HloModule, Opcode, Trait

HOST_OPCODES = frozenset(
    op.opcode
    for op in OPS.values()
    if op.opcode == Opcode.CUSTOM_CALL
    or Trait.HOST_TRANSFER in op.traits
    or (Trait.COLLECTIVE in op.traits and Trait.ASYNC not in op.traits)
)
"""Ops that run on the host. A pass has replaced asynchronous collectives with synchronous ones."""

MODULE_OPCODES = (Opcode.REPLICA_ID, Opcode.PARTITION_ID, Opcode.RNG_GET_AND_UPDATE_STATE)
"""Ops that read the run's context or the module's state."""


_INLINED_LOOPS = 4
"""How many nested loops LLVM may join in one function: the time of its passes grows with the square of the depth."""

_SEQUENCE_LENGTH = 256
"""The most instructions that one function calls: LLVM's time for a basic block grows with the square of its length."""

_FEW_CALLS = 4
"""How many kernels a loop may call for LLVM to look for vectors in it.

LLVM's time for the stores of their arguments grows with the square of their number.
"""

_COLLECTIVE_NANOSECONDS = 20_000.0  # on each of the devices that meet
_ITERATION_NANOSECONDS = 50.0  # of a loop, besides its kernels
_LONGEST_ITERATION = 1e6  # nanoseconds to count; more than a caller gives a loop, and far from the range of the word


class ModuleEmitter:
    """Emits one scheduled module with assigned buffers.

    Attributes, complete after `emit`:
        module: the LLVM module.
        kernel_count: the number of kernels.
        library_calls: routine -> the number of instructions whose kernels call it.
        host_calls: the (computation, instruction) names of the instructions that run on the host.
        nanoseconds: an estimate of a run's time, without loops whose number of iterations is not known; infinite if
            they make host calls, or if a function of the host runs.
        time_slot: the table's entry for the nanoseconds that such loops may take; 0 if there is none.
    """

    def __init__(
        self,
        hlo: HloModule,
        assignment: BufferAssignment,
        abi: LoopAbi,
        processor: Processor,
        threads: int,
        blas: bool,
        *,
        limits_loops: bool = False,
        quick: bool = False,
    ) -> None:
        """With `limits_loops`, loops of unknown length take time from the last word of the table of addresses.

        The word is in nanoseconds, by the estimates. When none are left, the entry returns `Status.OUT_OF_TIME`.
        With `quick`, LLVM doesn't optimize the calls of kernels outside of loops, nor such kernels of little work: they
        run once.
        """
        self.hlo = hlo
        self.assignment = assignment
        self.abi = abi
        self.threads = threads
        self.module = IrModule(hlo.name, triple=abi.triple, data_layout=abi.data_layout)
        self.host_calls: list[tuple[str, str]] = []  # (computation, instruction)
        self.nanoseconds = 0.0
        self.time_slot = 0
        self._limits_loops = limits_loops
        self._quick = quick
        self._kernels = NativeKernels(hlo, assignment, abi, processor, threads, self.module, blas, quick)
        self._functions: dict[HloComputation, str] = {}
        self._times: dict[HloComputation, float] = {}  # the nanoseconds of one call of each
        self._loop_depths: dict[HloComputation, int] = {}
        self._interrupted: dict[HloComputation, bool] = {}
        self._in_loop = False  # whether the current code is in a loop

    def emit(self) -> IrModule:
        """Emits the entry and all computations that it reaches; returns the LLVM module."""
        self._computation(self.hlo.entry, ENTRY)
        return self.module

    def plan_text(self) -> str:
        """Returns a line for each kernel: its name, its form and its loops."""
        return self._kernels.plan_text()

    @property
    def kernel_count(self) -> int:
        return len(self._kernels)

    @property
    def library_calls(self) -> Counter[str]:
        return self._kernels.library_calls

    # -- computations ------------------------------------------------------------------------------------------------

    def _computation(self, computation: HloComputation, name: str | None = None) -> str:
        """The symbol of a computation's function, which is emitted at first use. Adds the time of a call.

        A function that host calls interrupt is emitted for each use, because it goes on where its caller was.
        """
        if computation not in self._functions or self._is_interrupted(computation):
            before, self.nanoseconds = self.nanoseconds, 0.0
            self._functions[computation] = name or self.module.symbol(f"computation_{len(self._functions)}")
            self._emit_computation(computation, self._functions[computation], "" if name else "internal")
            self._times[computation], self.nanoseconds = self.nanoseconds, before
        self.nanoseconds += self._times[computation]
        return self._functions[computation]

    def _emit_computation(self, computation: HloComputation, symbol: str, prefix: str) -> None:
        order = [i for i in self._order(computation) if Trait.NOP not in i.op.traits]
        inlined = self._loop_depth(computation) % _INLINED_LOOPS != _INLINED_LOOPS - 1
        if len(order) <= _SEQUENCE_LENGTH:
            self._function(symbol, prefix, inlined, order)
            return
        code = self._begin(symbol, prefix, inlined, [], self._is_interrupted(computation))
        for start in range(0, len(order), _SEQUENCE_LENGTH):
            part, first = self.module.symbol(f"{symbol}_part"), len(self.host_calls)
            self._function(part, "internal", False, order[start : start + _SEQUENCE_LENGTH])
            self._call(code, part, first)
        self.module.add_function(code.finished())

    def _function(self, symbol: str, prefix: str, inlined: bool, order: Sequence[HloInstruction]) -> None:
        """Emits a function that runs instructions in order and returns their `Status`."""
        code = self._begin(symbol, prefix, inlined, order, any(map(self._interrupts, order)))
        for instruction in order:
            self._instruction(code, instruction)
        self.module.add_function(code.finished())

    def _begin(
        self, symbol: str, prefix: str, inlined: bool, order: Sequence[HloInstruction], is_interrupted: bool
    ) -> FunctionCode:
        # noimplicitfloat keeps LLVM from vectorizing the stores of kernel arguments, which would take quadratic time.
        in_place = self._kernels.in_place
        has_few_calls = self._in_loop and sum(1 for i in order if not is_small(i, in_place)) <= _FEW_CALLS
        attributes = "nounwind" if has_few_calls else "noimplicitfloat nounwind"
        is_plain = self._quick and not self._in_loop
        attributes += " noinline" if is_plain or not inlined else ""
        attributes += " optnone" if is_plain else ""  # LLVM allows it only with noinline
        function = IrFunction(symbol, "i32", [("ptr", "", "allocations")], prefix=prefix, attributes=attributes)
        function.optimized = not has_few_calls
        builder = IrBuilder(self.module, function)
        widest = max((self._leaf_count(i) for i in order), default=1)
        counter = builder.alloca("ptr", max(widest, 1) + 1, align=16)
        table = builder.gep("ptr", counter, builder.int_(1))
        start = function.add_block("start") if is_interrupted else None
        code = FunctionCode(builder, function.parameters[0], table, start, in_loop=self._in_loop)
        builder.store(code.context(ContextField.FAILURES), counter, align=8)
        if start is not None:
            builder.block = start
        return code

    def _loop_depth(self, computation: HloComputation) -> int:
        """How many loops are nested in a computation."""
        if computation not in self._loop_depths:
            depth = 0
            for instruction in computation.instructions:
                if instruction.opcode in (Opcode.WHILE, Opcode.CONDITIONAL, Opcode.CALL):
                    inner = max(map(self._loop_depth, instruction.called_computations))
                    depth = max(depth, inner + (instruction.opcode is Opcode.WHILE))
            self._loop_depths[computation] = depth
        return self._loop_depths[computation]

    def _interrupts(self, instruction: HloInstruction) -> bool:
        """Whether the entry returns while it runs the instruction, so that the host calls a function."""
        if instruction.opcode in (Opcode.WHILE, Opcode.CONDITIONAL, Opcode.CALL):
            return any(map(self._is_interrupted, instruction.called_computations))
        return instruction.opcode in HOST_OPCODES and LapackCall.of(instruction) is None

    def _is_interrupted(self, computation: HloComputation) -> bool:
        if computation not in self._interrupted:
            self._interrupted[computation] = any(map(self._interrupts, self._order(computation)))
        return self._interrupted[computation]

    def _order(self, computation: HloComputation) -> Sequence[HloInstruction]:
        schedule = self.hlo.schedule or {}
        return schedule.get(computation) or computation.post_order()

    @staticmethod
    def _leaf_count(instruction: HloInstruction) -> int:
        leaves = sum(1 for s in instruction.shape.leaves())
        return leaves + sum(1 for o in instruction.operands for _ in o.shape.leaves())

    def _instruction(self, code: FunctionCode, instruction: HloInstruction) -> None:
        match instruction.opcode:
            case Opcode.WHILE if not self._in_loop:
                self._outermost_loop(code, instruction)
            case Opcode.WHILE:
                self._while(code, instruction)
            case Opcode.CONDITIONAL:
                self._conditional(code, instruction)
            case Opcode.CALL:
                self._run(code, instruction.attribute("to_apply"))
            case Opcode.REPLICA_ID:
                code.store_word(ContextField.REPLICA, self.assignment.slice(instruction))
            case Opcode.PARTITION_ID:
                code.store_word(ContextField.PARTITION, self.assignment.slice(instruction))
            case Opcode.RNG_GET_AND_UPDATE_STATE:
                code.take_random_state(instruction.attribute("delta"), self.assignment.slice(instruction))
            case _ if self._interrupts(instruction):
                self._host_call(code, instruction)
            case _:
                self._kernel_call(code, instruction)

    # -- control flow ------------------------------------------------------------------------------------------------

    def _run(self, code: FunctionCode, computation: HloComputation) -> None:
        first = len(self.host_calls)
        self._call(code, self._computation(computation), first)

    def _call(self, code: FunctionCode, symbol: str, first: int) -> None:
        """Calls a function. If it makes host calls, it was just emitted, and its calls are those from `first` on."""
        code.call(symbol, range(first, len(self.host_calls)))

    def _outermost_loop(self, code: FunctionCode, loop: HloInstruction) -> None:
        """Calls a function of the loop alone, in which LLVM keeps small values in registers."""
        symbol, first = self.module.symbol("loop"), len(self.host_calls)
        self._in_loop = True
        self._function(symbol, "internal", False, [loop])
        self._in_loop = False
        self._call(code, symbol, first)

    def _while(self, code: FunctionCode, loop: HloInstruction) -> None:
        b = code.builder
        condition: HloComputation = loop.attribute("condition")
        trips = known_trip_count(loop)
        before, self.nanoseconds = self.nanoseconds, 0.0
        head, body, done = (b.function.add_block(f"while.{part}") for part in ("head", "body", "done"))
        b.branch(head)
        b.block = head
        code.check(b.int_(Status.CANCELLED, "i32"), code.not_cancelled())
        is_limited = self._limits_loops and trips is None and not self._interrupts(loop)
        left = self._time_left(code) if is_limited else None
        self._run(code, condition)
        go_on = b.load("i8", code.address(self.assignment.slice(condition.root)), align=1)
        b.branch_if(b.icmp("ne", go_on, b.int_(0, "i8")), body, done)
        b.block = body
        self._run(code, loop.attribute("body"))
        each = self.nanoseconds + _ITERATION_NANOSECONDS
        if left is not None:
            taken = b.int_(int(min(each, _LONGEST_ITERATION)))
            b.store(b.sub(b.load("i64", left, align=8), taken), left, align=8)
        b.branch(head)
        b.block = done
        if trips is None and self._interrupts(loop):
            self.nanoseconds = math.inf
        else:
            self.nanoseconds = before + (each * trips if trips else 0.0)

    def _time_left(self, code: FunctionCode) -> Value:
        """Returns from the function if there is no time left; returns the place of the word that counts the time."""
        b = code.builder
        self.time_slot = 1 + len(self.assignment.allocations)
        place = b.gep("ptr", code.allocations, b.int_(self.time_slot))
        fine = b.icmp("sge", b.load("i64", place, align=8), b.int_(0))
        code.check(b.int_(Status.OUT_OF_TIME, "i32"), fine)
        return place

    def _conditional(self, code: FunctionCode, conditional: HloInstruction) -> None:
        """Selects a branch by its number; any other number selects the last one. A true predicate selects the first."""
        b = code.builder
        branches: tuple[HloComputation, ...] = conditional.attribute("branch_computations")
        selector = conditional.operand(0)
        place = code.address(self.assignment.slice(selector))
        if not branches:
            branches = (conditional.attribute("true_computation"), conditional.attribute("false_computation"))
        if selector.shape.element_type.value == "pred":
            chosen = b.cast("zext", b.icmp("eq", b.load("i8", place, align=1), b.int_(0, "i8")), "i32")
        else:
            chosen = b.load("i32", place, align=4)
        done = b.function.add_block("branch.done")
        blocks = [b.function.add_block(f"branch.{i}") for i in range(len(branches))]
        cases = " ".join(f"i32 {i}, {block}" for i, block in enumerate(blocks))
        b.line(f"switch {chosen}, {blocks[-1]} [ {cases} ]")
        for block, branch in zip(blocks, branches, strict=True):
            b.block = block
            self._run(code, branch)
            b.branch(done)
        b.block = done

    # -- host calls --------------------------------------------------------------------------------------------------

    def _host_call(self, code: FunctionCode, instruction: HloInstruction) -> None:
        assert instruction.parent is not None
        number = len(self.host_calls)
        self.host_calls.append((instruction.parent.name, instruction.name))
        self.nanoseconds += _COLLECTIVE_NANOSECONDS if Trait.COLLECTIVE in instruction.op.traits else math.inf
        values = (*instruction.operands, instruction)
        leaves = [zip(v.shape.leaves(), self.assignment.leaf_slices(v), strict=True) for v in values]
        code.return_to_host(number, [place for shape, place in itertools.chain(*leaves) if shape.is_array])

    # -- kernels -----------------------------------------------------------------------------------------------------

    def _kernel_call(self, code: FunctionCode, instruction: HloInstruction) -> None:
        if not any(s.num_elements for s in instruction.shape.leaves()):
            return
        if self._write_plainly(code, instruction):
            return
        kernel = self._kernels.of(instruction, in_loop=self._in_loop)
        b = code.builder
        slices = [s for o in instruction.operands for s in self.assignment.leaf_slices(o)]
        slices += self.assignment.leaf_slices(instruction)
        self.nanoseconds += kernel.nanoseconds
        if kernel.is_inlined:
            table = b.alloca("ptr", len(slices), align=16)
            for position, place in enumerate(slices):
                b.store(code.address(place), b.gep("ptr", table, b.int_(position)), align=8)
            b.line(f"call void @{kernel.name}({table}, i64 0, i64 {kernel.size})")
            return
        for position, place in enumerate(slices):
            code.store_argument(position, place)
        function = Value("ptr", f"@{kernel.name}")
        before = code.failures() if kernel.resources.allocates else None
        parallel = self.abi.parallel
        one_thread = self.threads == 1 or kernel.size <= kernel.grain or kernel.resources.thread_scratch_bytes
        if not one_thread and kernel.nanoseconds > parallel.kernel_nanoseconds:
            parts = max(self.threads, min(8 * self.threads, int(kernel.nanoseconds / parallel.chunk_nanoseconds)))
            grains = -(-kernel.size // kernel.grain)
            chunk = -(-grains // parts) * kernel.grain
            arguments = [function, code.table, b.int_(kernel.size), b.int_(chunk)]
            b.call("xla_cpu_parallel_for", "void", arguments)
        else:
            b.line(f"call void {function.name}({code.table}, i64 0, i64 {kernel.size})")
        if before is not None:
            fine = b.icmp("eq", code.failures(), before)
            code.check(b.int_(Status.OUT_OF_MEMORY, "i32"), fine)

    def _write_plainly(self, code: FunctionCode, instruction: HloInstruction) -> bool:
        """Copies or fills an array without a kernel, if that takes less time than threads need to start.

        Returns whether it did.
        """
        byte = filled_byte(instruction)
        if byte is None and not is_copy(instruction):
            return False
        nanoseconds = self._kernels.copy_nanoseconds(instruction)
        if self.threads > 1 and nanoseconds > self.abi.parallel.kernel_nanoseconds:
            return False
        self.nanoseconds += nanoseconds
        b, place = code.builder, self.assignment.slice(instruction)
        if byte is not None:
            fill(b, code.address(place), byte, place.size)
        elif (source := self.assignment.slice(instruction.operand(0))) != place:  # otherwise the value is already there
            move(b, code.address(place), code.address(source), place.size)
        return True
