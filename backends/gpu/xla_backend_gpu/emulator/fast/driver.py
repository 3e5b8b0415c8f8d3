"""Emits the two drivers, which run blocks of a grid. All kernels share them.

    void @NAME(ptr context, ptr scratch, i64 first, i64 last, ptr thread, ptr release_warp, i64 stride)

runs the blocks from `first` to before `last` of the kernel whose thread function is `thread`. `run_threads` is for
kernels without barriers and warp instructions: a loop over the threads of each block. For `run_rounds`, each thread has
a state of `stride` bytes in the scratch memory, after the shared memory, and the driver works in rounds. A round runs
the lanes of each warp until they all wait for the block or have ended, and then releases the barriers that are
complete. `release_warp` is the kernel's function that releases lanes, or null.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xla_backend_gpu.emulator.fast.fault_reports import CODE_BITS, emit_report_call
from xla_backend_gpu.emulator.fast.layout import INDICES, Context, Faults, StateLayout
from xla_backend_gpu.emulator.fast.operands import context_word
from xla_backend_gpu.emulator.fast.releases import emit_block_release
from xla_core.codegen.llvm import IrBuilder, IrFunction, IrModule, Value

RUN_THREADS, RUN_ROUNDS = "run_threads", "run_rounds"


def emit_driver(module: IrModule, name: str) -> IrFunction:
    """Adds a driver to a module."""
    if name == RUN_ROUNDS:
        emit_block_release(module)
    parameters = [
        ("ptr", "noalias", "context"),
        ("ptr", "noalias", "scratch"),
        ("i64", "", "first"),
        ("i64", "", "last"),
        ("ptr", "", "thread"),
        ("ptr", "", "release_warp"),
        ("i64", "", "stride"),
    ]
    function = module.add_function(IrFunction(name, "void", parameters, attributes="nounwind"))
    _Driver(IrBuilder(module, function)).emit(in_rounds=name == RUN_ROUNDS)
    return function


class _Driver:
    def __init__(self, b: IrBuilder) -> None:
        self.b = b
        self.context, self.scratch, self.first, self.last, *rest = b.function.parameters
        self.thread, self.release_warp, self.stride = rest
        self.place = b.alloca("i32", len(INDICES))
        self.end = b.function.add_block("end")

    def emit(self, *, in_rounds: bool) -> None:
        b = self.b
        sizes = [context_word(b, self.context, c) for c in (Context.BLOCK_X, Context.BLOCK_Y, Context.BLOCK_Z)]
        threads = b.mul(b.mul(sizes[0], sizes[1]), sizes[2])
        grid = [context_word(b, self.context, c) for c in (Context.GRID_X, Context.GRID_Y)]
        shared_bytes = context_word(b, self.context, Context.SHARED_BYTES)
        states = b.gep("i8", self.scratch, b.binary("and", b.add(shared_bytes, b.int_(63)), b.int_(-64)))
        blocks, _ = b.open_loop(self.first, self.last, name="blocks")
        number = blocks.index
        row = b.udiv(number, grid[0])
        block = [b.urem(number, grid[0]), b.urem(row, grid[1]), b.udiv(row, grid[1])]
        self._tell(dict(zip(("ctaid.x", "ctaid.y", "ctaid.z"), block, strict=True)))
        if in_rounds:
            self._rounds(states, sizes, threads)
        else:
            self._all_threads(sizes)
        b.close_loop(blocks)
        b.branch(self.end)
        b.block = self.end
        b.ret()

    def _tell(self, indices: Mapping[str, Value]) -> None:
        """Emits code that writes indices to the place that threads read."""
        b = self.b
        for name, index in indices.items():
            b.store(b.cast("trunc", index, "i32"), b.gep("i32", self.place, b.int_(INDICES.index(name))))

    def _all_threads(self, sizes: Sequence[Value]) -> None:
        b = self.b
        zero = b.int_(0)
        outer, _ = b.open_loop(zero, sizes[2], name="z")
        middle, _ = b.open_loop(zero, sizes[1], name="y")
        inner, _ = b.open_loop(zero, sizes[0], name="x")
        x, y, z = (loop.index for loop in (inner, middle, outer))
        number = b.add(x, b.mul(sizes[0], b.add(y, b.mul(sizes[1], z))))
        self._call(number, (x, y, z), Value("ptr", "null"))
        for loop in (inner, middle, outer):
            b.close_loop(loop)

    def _call(self, number: Value, thread: tuple[Value, Value, Value], state: Value) -> Value:
        """Emits a call of the thread function for a thread's number and x, y, z. After a fault, the driver returns."""
        b = self.b
        x, y, z = thread
        self._tell({"thread": number, "tid.x": x, "tid.y": y, "tid.z": z})
        result = b.call_pointer(self.thread, "i32", [self.context, self.scratch, state, self.place])
        good = b.function.add_block("ran")
        b.branch_if(b.icmp("slt", result, b.int_(0, "i32")), self.end, good)
        b.block = good
        return result

    # -- with waiting ------------------------------------------------------------------------------------------------

    def _rounds(self, states: Value, sizes: Sequence[Value], threads: Value) -> None:
        b = self.b
        start, _ = b.open_loop(b.int_(0), threads, name="start")
        state = b.gep("i8", states, b.mul(start.index, self.stride))
        b.store(b.int_(0), state, align=8)  # site and waits_for
        b.close_loop(start)

        again, over = b.function.add_block("round"), b.function.add_block("block.over")
        b.branch(again)
        b.block = again
        warps, _ = b.open_loop(b.int_(0), threads, b.int_(32), name="warp")
        first = warps.index
        last = b.intrinsic("umin", b.add(first, b.int_(32)), threads)
        self._warp(states, sizes, first, last)
        b.close_loop(warps)
        released = b.call("release_block", "i32", [states, threads, self.stride])
        finished, stuck = b.function.add_block("finished"), b.function.add_block("stuck")
        b.branch_if(b.icmp("sgt", released, b.int_(0, "i32")), again, finished)
        b.block = finished
        b.branch_if(b.icmp("eq", released, b.int_(0, "i32")), over, stuck)
        b.block = stuck
        self._report_divergence(states, released)
        b.block = over

    def _warp(self, states: Value, sizes: Sequence[Value], first: Value, last: Value) -> None:
        """Emits the function that runs the lanes of a warp until none can continue."""
        b = self.b
        again = b.function.add_block("lanes")
        b.branch(again)
        b.block = again
        lanes, _ = b.open_loop(first, last, name="lane")
        number = lanes.index
        state = b.gep("i8", states, b.mul(number, self.stride))
        waits = b.load("i32", b.gep("i8", state, b.int_(StateLayout.WAITS_FOR)), align=4)
        site = b.load("i32", state, align=4)
        ready = b.and_(b.icmp("eq", waits, b.int_(0, "i32")), b.icmp("sge", site, b.int_(0, "i32")))
        with b.if_(ready):
            row = b.udiv(number, sizes[0])
            x, y, z = b.urem(number, sizes[0]), b.urem(row, sizes[1]), b.udiv(row, sizes[1])
            result = self._call(number, (x, y, z), state)
            ended = b.icmp("eq", result, b.int_(0, "i32"))
            b.store(b.select(ended, b.int_(-1, "i32"), result), state, align=4)
        b.close_loop(lanes)
        done, release = b.function.add_block("warp.over"), b.function.add_block("release")
        b.branch_if(b.icmp("eq", self.release_warp, Value("ptr", "null")), done, release)
        b.block = release
        count = b.cast("trunc", b.sub(last, first), "i32")
        base = b.gep("i8", states, b.mul(first, self.stride))
        released = b.call_pointer(self.release_warp, "i32", [base, count])
        b.branch_if(b.icmp("ne", released, b.int_(0, "i32")), again, done)
        b.block = done

    def _report_divergence(self, states: Value, released: Value) -> None:
        """Emits the report of a barrier that can never complete, with the number of the site as its instruction.

        `released` is -1 minus the number of the first thread that waits there.
        """
        b = self.b
        thread = b.cast("zext", b.not_(released), "i64")
        self._tell({"thread": thread})
        state = b.gep("i8", states, b.mul(thread, self.stride))
        site = b.cast("zext", b.load("i32", state, align=4), "i64")
        code = b.or_(b.shl(site, CODE_BITS), b.int_(Faults.BARRIER_DIVERGENCE))
        emit_report_call(b, self.context, code, b.int_(0), self.place)
        b.branch(self.end)
