"""Thunks of scheduled modules, and their execution: on devices with and without slices of memory, driven in the
stream's turn or by the caller."""

from __future__ import annotations

import dataclasses
import threading

import numpy as np
import pytest

from xla_core.analysis import AllocationKind, BufferAllocation, BufferSlice, assign_buffers
from xla_core.backend import DeviceFeatures, DeviceMemory, Kernel, RunOptions
from xla_core.errors import InternalError, InvalidArgumentError, UnimplementedError
from xla_core.hlo import OPS, ElementType, HloModule, Shape, Trait, extract_computation
from xla_core.hlo.evaluator import evaluate, evaluate_computation
from xla_core.hlo.parsing.parser import parse_hlo
from xla_core.passes.pipeline import run_hlo_passes
from xla_core.runtime import ThunkExecutor
from xla_core.schedule import (
    CallThunk,
    CollectiveThunk,
    ConditionalThunk,
    CopyThunk,
    FillThunk,
    HostCallbackThunk,
    InfeedThunk,
    KernelThunk,
    LibraryCallThunk,
    OutfeedThunk,
    RecvThunk,
    SendThunk,
    Thunk,
    ThunkProgram,
    WhileThunk,
    emit_thunks,
    walk,
)
from xla_core.stablehlo import op_example, to_hlo
from xla_core.target import Capabilities, TargetConfig

TARGET = TargetConfig(name="toy", capabilities=Capabilities.all_of())

LOOPS = """HloModule loops

cond {
  s = (s32[], f32[3], s32[]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] get-tuple-element(s), index=2
  ROOT lt = pred[] compare(i, n), direction=LT
}

body {
  s = (s32[], f32[3], s32[]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[3] get-tuple-element(s), index=1
  n = s32[] get-tuple-element(s), index=2
  one = s32[] constant(1)
  j = s32[] add(i, one)
  y = f32[3] add(x, x)
  ROOT t = (s32[], f32[3], s32[]) tuple(j, y, n)
}

twice {
  p = f32[3] parameter(0)
  ROOT d = f32[3] add(p, p)
}

less {
  q = f32[3] parameter(0)
  ROOT e = f32[3] negate(q)
}

ENTRY main {
  n = s32[] parameter(0)
  x = f32[3] parameter(1)
  zero = s32[] constant(0)
  init = (s32[], f32[3], s32[]) tuple(zero, x, n)
  loop = (s32[], f32[3], s32[]) while(init), condition=cond, body=body
  y = f32[3] get-tuple-element(loop), index=1
  five = s32[] constant(5)
  big = pred[] compare(n, five), direction=GT
  picked = f32[3] conditional(big, y, y), true_computation=twice, false_computation=less
  which = f32[3] conditional(n, y, y), branch_computations={less, twice}
  ROOT r = (f32[3], f32[3], s32[]) tuple(picked, which, n)
}
"""


class EvaluatedKernel(Kernel):
    """One instruction, by the evaluator, on a device that the host addresses."""

    def __init__(self, instruction) -> None:
        self.name = instruction.name
        self.module = HloModule(instruction.name)
        self.computation = extract_computation(instruction)
        self.operands = [s for o in instruction.operands for s in o.shape.array_leaves()]
        self.results = instruction.shape.array_leaves()

    def launch(self, stream, arguments, dimensions) -> None:
        def array(memory, shape):
            data = np.frombuffer(stream.executor.host_view(memory), np.uint8)[: shape.byte_size]
            return data.view(shape.dtype).reshape(shape.dimensions)

        def run() -> None:
            n = len(self.operands)
            inputs = [array(m, s).copy() for m, s in zip(arguments[:n], self.operands, strict=True)]
            outputs = evaluate_computation(self.computation, inputs)
            for memory, shape, value in zip(arguments[n:], self.results, outputs, strict=True):
                array(memory, shape)[...] = value

        stream.enqueue(run)


def kernel(instruction, operands, results):
    return KernelThunk(instruction.name, EvaluatedKernel(instruction), operands, results)


def program_of(text: str) -> tuple[HloModule, ThunkProgram]:
    module = run_hlo_passes(parse_hlo(text), TARGET)
    return module, emit_thunks(assign_buffers(module), kernel)


def run(client, program: ThunkProgram, *arrays: np.ndarray, shapes: list[Shape]) -> list[np.ndarray]:
    device = client.devices[0]
    options = RunOptions(device.executor, device.compute_stream, device.allocator, client.platform.transfer_manager)
    arguments = [client.buffer_from_host(a) for a in arrays]
    client.synchronize()
    memories = ThunkExecutor(program).execute(options, [a.memory for a in arguments])
    done = device.compute_stream.finish()
    done.synchronize()
    if done.error is not None:
        raise done.error
    results = []
    for memory, shape in zip(memories, shapes, strict=True):
        data = np.frombuffer(device.executor.host_view(memory), np.uint8)[: shape.byte_size]
        results.append(data.view(shape.dtype).reshape(shape.dimensions).copy())
        device.allocator.free(memory)
    return results


@pytest.mark.parametrize("slices", [True, False])
@pytest.mark.parametrize("in_turn", [True, False])
@pytest.mark.parametrize("n", [0, 1, 6, 40])
def test_control_flow_is_driven_by_the_host(client, monkeypatch, slices: bool, in_turn: bool, n: int) -> None:
    features = DeviceFeatures(memory_slices=slices, host_addressable=True, callbacks_may_enqueue=in_turn)
    monkeypatch.setattr(client.devices[0].executor, "features", features, raising=False)
    module, program = program_of(LOOPS)
    kinds = {type(thunk) for thunk in walk(program.thunks)}
    assert {WhileThunk, ConditionalThunk, KernelThunk} <= kinds
    arrays = (np.array(n, np.int32), np.array([1, -2, 0.5], np.float32))
    expected = evaluate(parse_hlo(LOOPS), *arrays)
    shapes = list(module.result_shape.leaves())
    for actual, wanted in zip(run(client, program, *arrays, shapes=shapes), expected, strict=True):
        assert np.array_equal(actual, wanted)


def test_memory_of_a_run_returns(client) -> None:
    module, program = program_of(LOOPS)
    shapes = list(module.result_shape.leaves())
    for _ in range(5):
        run(client, program, np.array(3, np.int32), np.ones(3, np.float32), shapes=shapes)
    assert client.devices[0].memory_stats().bytes_in_use == 0


def test_a_known_trip_count_spares_the_condition(client) -> None:
    text = LOOPS.replace("n = s32[] get-tuple-element(s), index=2\n  ROOT lt", "n = s32[] constant(7)\n  ROOT lt")
    module, program = program_of(text)
    (loop,) = [thunk for thunk in walk(program.thunks) if isinstance(thunk, WhileThunk)]
    assert loop.trip_count == 7
    arrays = (np.array(2, np.int32), np.ones(3, np.float32))
    actual = run(client, program, *arrays, shapes=list(module.result_shape.leaves()))
    assert np.array_equal(actual[0], evaluate(parse_hlo(text), *arrays)[0])


def test_a_failure_in_a_loop_reaches_the_results(client, monkeypatch) -> None:
    module, program = program_of(LOOPS)
    shapes = list(module.result_shape.leaves())

    def broken(self, stream, arguments, dimensions) -> None:
        def fail() -> None:
            raise ValueError("kernel fault")

        stream.enqueue(fail)

    monkeypatch.setattr(EvaluatedKernel, "launch", broken)
    for in_turn in (True, False):
        features = DeviceFeatures(memory_slices=True, host_addressable=True, callbacks_may_enqueue=in_turn)
        monkeypatch.setattr(client.devices[0].executor, "features", features, raising=False)
        with pytest.raises(InternalError, match="kernel fault"):
            run(client, program, np.array(3, np.int32), np.ones(3, np.float32), shapes=shapes)
    assert client.devices[0].compute_stream.error is None


FEEDS = """HloModule feeds

ENTRY main {
  t = token[] after-all()
  in = ((f32[2], s32[]), token[]) infeed(t)
  data = (f32[2], s32[]) get-tuple-element(in), index=0
  x = f32[2] get-tuple-element(data), index=0
  k = s32[] get-tuple-element(data), index=1
  t2 = token[] get-tuple-element(in), index=1
  y = f32[2] add(x, x)
  pair = (f32[2], s32[]) tuple(y, k)
  out = token[] outfeed(pair, t2), outfeed_shape=(f32[2], s32[])
  ROOT n = f32[2] negate(x)
}
"""


def test_infeed_and_outfeed(client) -> None:
    module, program = program_of(FEEDS)
    kinds = [type(thunk) for thunk in walk(program.thunks)]
    assert InfeedThunk in kinds
    assert OutfeedThunk in kinds
    client.transfer_to_infeed((np.array([1, 2], np.float32), np.int32(7)))
    (result,) = run(client, program, shapes=list(module.result_shape.leaves()))
    assert result.tolist() == [-1, -2]
    doubled, k = client.transfer_from_outfeed(timeout=5)
    assert doubled.tolist() == [2, 4]
    assert k == 7


def test_infeed_waits_without_blocking_the_caller(client) -> None:
    _, program = program_of(FEEDS)
    device = client.devices[0]
    options = RunOptions(device.executor, device.compute_stream, device.allocator, client.platform.transfer_manager)
    executor = ThunkExecutor(program)
    (memory,) = executor.execute(options, [])
    done = device.compute_stream.finish()
    assert not done.ready
    client.transfer_to_infeed((np.array([1, 2], np.float32), np.int32(7)))
    assert done.synchronize(10)
    assert done.error is None
    device.allocator.free(memory)


def slot(index: int, size: int, kind: AllocationKind, **more: object) -> BufferSlice:
    return BufferSlice(BufferAllocation(index, size, kind, **more), 0, size)


def test_fill_copy_call_and_host_callback(client) -> None:
    shape = Shape.array(ElementType.S32, (4,)).with_default_layout()
    temp, out = slot(0, 16, AllocationKind.TEMP), slot(1, 16, AllocationKind.OUTPUT, output=(0,))
    callback_out = slot(2, 16, AllocationKind.OUTPUT, output=(1,))
    where: list[int] = []

    def host(array: np.ndarray) -> list[np.ndarray]:
        where.append(threading.get_ident())
        assert not array.flags.writeable
        return [array * 2]

    thunks = (
        FillThunk("fill", temp, 1),
        CallThunk("call", (CopyThunk("copy", temp, out),)),
        HostCallbackThunk("host", host, (out,), (shape,), (callback_out,), (shape,)),
    )
    program = ThunkProgram((temp.allocation, out.allocation, callback_out.allocation), thunks, (), (out, callback_out))
    first, second = run(client, program, shapes=[shape, shape])
    assert first.tolist() == [0x01010101] * 4
    assert second.tolist() == [0x02020202] * 4
    assert where != [threading.get_ident()]


def test_a_host_callback_that_fails(client) -> None:
    shape = Shape.array(ElementType.S32, (4,)).with_default_layout()
    out = slot(0, 16, AllocationKind.OUTPUT, output=())

    def wrong() -> list[np.ndarray]:
        return [np.zeros(3, np.int32)]

    program = ThunkProgram((out.allocation,), (HostCallbackThunk("host", wrong, (), (), (out,), (shape,)),), (), (out,))
    with pytest.raises(InvalidArgumentError, match=r"host expected an array of s32\[4\], not int32\[3\]"):
        run(client, program, shapes=[shape])


def test_thunks_that_nobody_handles_are_named(client) -> None:
    out = slot(0, 16, AllocationKind.OUTPUT, output=())
    sum_ = LibraryCallThunk("sum.1", "gemm", (out,), (out,))
    inside = ThunkProgram((out.allocation,), (CallThunk("c", (sum_,)),), (), (out,))
    with pytest.raises(UnimplementedError, match=r"1 steps .*sum.1 \(LibraryCallThunk\)"):
        ThunkExecutor(inside)
    seen: list[str] = []
    ThunkExecutor(inside, {LibraryCallThunk: lambda thunk, run: seen.append(thunk.name)})


COLLECTIVES = {
    f"stablehlo.{op.opcode.replace('-', '_')}": op.opcode
    for op in OPS.values()
    if Trait.COLLECTIVE in op.traits and Trait.ASYNC not in op.traits and op.opcode != "ragged-all-to-all"
}


@pytest.mark.parametrize("name", COLLECTIVES)
def test_every_collective_is_a_thunk_of_its_own(name: str) -> None:
    opcode = COLLECTIVES[name]
    _, program = program_of(to_hlo(op_example(name).program("f32")).to_text())
    assert [t.opcode for t in walk(program.thunks) if isinstance(t, CollectiveThunk)] == [opcode]
    ThunkExecutor(program)


def test_sends_receipts_and_ids_are_thunks_of_their_own() -> None:
    _, program = program_of(to_hlo(op_example("stablehlo.send").program("f32")).to_text())
    assert [t.opcode for t in walk(program.thunks) if isinstance(t, CollectiveThunk)] == ["send", "recv-done"]
    _, program = program_of(to_hlo(op_example("stablehlo.partition_id").program()).to_text())
    assert [t.opcode for t in walk(program.thunks) if isinstance(t, CollectiveThunk)] == ["partition-id"]


A, B = slot(0, 16, AllocationKind.TEMP), slot(1, 16, AllocationKind.OUTPUT, output=())
FILL = FillThunk("fill", A, 1)
SHAPE = Shape.array(ElementType.S32, (4,)).with_default_layout()


@pytest.mark.parametrize(
    ("thunk", "reads", "writes", "nested"),
    [
        (KernelThunk("t", None, (A,), (B,)), [A], [B], []),
        (CopyThunk("t", A, B), [A], [B], []),
        (FILL, [], [A], []),
        (LibraryCallThunk("t", "gemm", (A,), (B,)), [A], [B], []),
        (WhileThunk("t", A, (FILL,), (FILL, FILL)), [A], [], [FILL] * 3),
        (ConditionalThunk("t", A, ((FILL,), (), (FILL,))), [A], [], [FILL] * 2),
        (CallThunk("t", (FILL,)), [], [], [FILL]),
        (HostCallbackThunk("t", lambda x: (x,), (A,), (SHAPE,), (B,), (SHAPE,)), [A], [B], []),
        (InfeedThunk("t", (A, B), (SHAPE, SHAPE)), [], [A, B], []),
        (OutfeedThunk("t", (A, B), SHAPE), [A, B], [], []),
        (SendThunk("t", A, SHAPE, 1), [A], [], []),
        (RecvThunk("t", A, SHAPE, 1), [], [A], []),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Thunk) else "",
)
def test_what_a_thunk_uses_and_contains(thunk: Thunk, reads: list, writes: list, nested: list) -> None:
    uses = thunk.buffer_uses()
    assert [use.slice for use in uses if not use.is_write] == reads
    assert [use.slice for use in uses if use.is_write] == writes
    assert list(thunk.nested()) == nested
    assert list(walk([thunk])) == [thunk, *nested]


@dataclasses.dataclass(frozen=True, eq=False)
class VendorThunk(Thunk):
    """A thunk of a backend's own, without slots."""

    first: BufferSlice
    others: tuple[BufferSlice, ...]
    scale: int = 3


@dataclasses.dataclass(frozen=True, eq=False)
class KernelWithWorkspace(KernelThunk):
    """A kernel of a backend's own, which needs memory besides its operands and results."""

    workspace: BufferSlice = A


def test_memory_that_a_subclass_adds_is_read_and_written() -> None:
    a, b = BufferSlice(A.allocation, 0, 8), BufferSlice(A.allocation, 8, 8)
    uses = KernelWithWorkspace("own", None, (a,), (B,), workspace=b).buffer_uses()
    assert [use.slice for use in uses if not use.is_write] == [a, b]
    assert [use.slice for use in uses if use.is_write] == [B, b]


def test_a_thunk_of_a_vendors_own_uses_the_slices_in_its_fields(client, monkeypatch) -> None:
    """On a device without slices of memory, each slice that a thunk uses is allocated."""
    a, b = BufferSlice(A.allocation, 0, 8), BufferSlice(A.allocation, 8, 8)
    thunk = VendorThunk("own", a, (b, B))
    assert [use.slice for use in thunk.buffer_uses()] == [a, b, B, a, b, B]
    assert [use.is_write for use in thunk.buffer_uses()] == [False] * 3 + [True] * 3
    features = DeviceFeatures(memory_slices=False, host_addressable=True)
    monkeypatch.setattr(client.devices[0].executor, "features", features, raising=False)
    seen: list[DeviceMemory] = []

    def handle(thunk: VendorThunk, run) -> None:
        seen.extend(run.memories([thunk.first, *thunk.others]))

    device = client.devices[0]
    options = RunOptions(device.executor, device.compute_stream, device.allocator, client.platform.transfer_manager)
    program = ThunkProgram((A.allocation, B.allocation), (thunk,), (), (B,))
    (memory,) = ThunkExecutor(program, {VendorThunk: handle}).execute(options, [])
    assert [memory.base for memory in seen] == [None] * 3  # none is a slice of another
    assert len({id(memory.handle) for memory in seen}) == 3
    client.synchronize()
    device.allocator.free(memory)


def test_an_empty_result_has_one_allocation() -> None:
    text = """HloModule m

ENTRY main {
  x = f32[0,3] parameter(0)
  ROOT r = (f32[0,3], f32[0,3]) tuple(x, x)
}
"""
    _, program = program_of(text)
    outputs = [a for a in program.allocations if a.kind is AllocationKind.OUTPUT]
    assert [place.allocation for place in program.results] == outputs


def test_results_of_nothing_and_of_a_constant(client) -> None:
    text = """HloModule m

ENTRY main {
  p = f32[0,3] parameter(0)
  c = f32[2] constant({1, 2})
  ROOT r = (f32[0,3], f32[2], f32[0,3]) tuple(p, c, p)
}
"""
    module, program = program_of(text)
    results = run(client, program, np.zeros((0, 3), np.float32), shapes=list(module.result_shape.leaves()))
    assert [r.shape for r in results] == [(0, 3), (2,), (0, 3)]
    assert results[1].tolist() == [1, 2]


def test_what_the_device_cannot_do_runs_on_the_host(client) -> None:
    module = run_hlo_passes(parse_hlo(LOOPS), TARGET)
    program = emit_thunks(assign_buffers(module), kernel, lambda instruction: instruction.opcode != "add")
    kinds = {type(t).__name__ for t in walk(program.thunks)}
    assert {"HostCallbackThunk", "KernelThunk"} <= kinds
    arrays = (np.array(3, np.int32), np.array([1, 2, 4], np.float32))
    actual = run(client, program, *arrays, shapes=list(module.result_shape.leaves()))
    for value, wanted in zip(actual, evaluate(parse_hlo(LOOPS), *arrays), strict=True):
        assert np.array_equal(value, wanted)


def test_instructions_on_the_host_share_the_state_of_random_numbers() -> None:
    module = parse_hlo("""HloModule m

ENTRY main {
  a = u64[2] rng-get-and-update-state(), delta=7
  b = u64[2] rng-get-and-update-state(), delta=7
  ROOT t = (u64[2], u64[2]) tuple(a, b)
}
""")
    optimized = run_hlo_passes(module, TARGET)
    program = emit_thunks(assign_buffers(optimized), lambda *_: (), lambda instruction: False)
    (first,), (second,) = (t.function() for t in program.thunks if isinstance(t, HostCallbackThunk))
    assert int(np.abs(second.astype(np.int64) - first.astype(np.int64)).sum()) == 7
