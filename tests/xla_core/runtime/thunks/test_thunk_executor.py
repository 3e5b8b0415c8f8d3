"""ThunkExecutor: what an execution gives back where a thunk can't be enqueued."""

from __future__ import annotations

import time
from collections.abc import Sequence

import pytest

from xla_core.analysis import assign_buffers
from xla_core.backend import Communicator, DeviceMemory, Kernel, RunOptions, Stream
from xla_core.errors import InternalError, XlaError
from xla_core.hlo.parsing.parser import parse_hlo
from xla_core.passes.pipeline import run_hlo_passes
from xla_core.runtime import HostStream, ThunkExecutor
from xla_core.schedule import CollectiveThunk, KernelThunk, ThunkProgram, WhileThunk, emit_thunks
from xla_core.target import Capabilities, TargetConfig

MEET = """HloModule meet, replica_count=2

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b)
}

ENTRY e {
  x = f32[64] parameter(0)
  sum = f32[64] all-reduce(x), replica_groups={{0,1}}, to_apply=add
  ROOT n = f32[64] negate(sum)
}
"""


class LaunchedKernel(Kernel):
    def __init__(self, fault: Exception | None) -> None:
        self.fault = fault

    def launch(self, stream: Stream, arguments: Sequence[DeviceMemory], dimensions) -> None:
        if self.fault is not None:
            raise self.fault


class Collectives(Communicator):
    def __init__(self, fault: Exception | None = None) -> None:
        self.ends: list[XlaError | None] = []
        self.fault = fault

    def enqueue(self, stream, collective: CollectiveThunk, operands, results) -> None:
        if self.fault is not None:
            raise self.fault

    def end(self, error: XlaError | None) -> None:
        self.ends.append(error)


def program(fault: Exception | None) -> ThunkProgram:
    target = TargetConfig(name="toy", capabilities=Capabilities.all_of())
    module = run_hlo_passes(parse_hlo(MEET), target)

    def kernel(instruction, operands, results) -> KernelThunk:
        return KernelThunk(instruction.name, LaunchedKernel(fault), operands, results)

    return emit_thunks(assign_buffers(module), kernel)


@pytest.mark.parametrize("where", ["nowhere", "kernel", "communicator", "event"])
def test_a_communicator_is_ended_once(client, monkeypatch, where: str) -> None:
    device = client.devices[0]
    fault = RuntimeError("no such queue")
    communicator = Collectives(fault if where == "communicator" else None)
    timeouts: list[float] = []

    def create_communicator(options: RunOptions) -> Communicator:
        timeouts.append(options.collective_timeout)
        return communicator

    monkeypatch.setattr(device.executor, "create_communicator", create_communicator, raising=False)
    executor = ThunkExecutor(program(fault if where == "kernel" else None), collective_timeout=7.0)
    options = RunOptions(device.executor, device.compute_stream, device.allocator, client.platform.transfer_manager)
    argument = device.allocator.allocate(256)
    if where == "nowhere":
        (result,) = executor.execute(options, [argument])
        device.allocator.free(result)
    else:
        if where == "event":

            def create_event() -> None:
                raise fault

            monkeypatch.setattr(device.compute_stream, "create_event", create_event)
        with pytest.raises(RuntimeError, match="no such queue"):
            executor.execute(options, [argument])
        monkeypatch.undo()
    client.synchronize()
    device.allocator.free(argument)
    assert device.memory_stats().bytes_in_use == 0
    assert timeouts == [7.0]
    (error,) = communicator.ends
    if where == "nowhere":
        assert error is None
    else:
        assert isinstance(error, InternalError)
        assert error.__cause__ is fault


class QueueStream(HostStream):
    """A stream whose work never runs on the thread that enqueues it, as on a device with a queue of its own."""

    def run_inline(self) -> None:
        pass


class SlowKernel(Kernel):
    """The first launch takes until no more launches are enqueued, for a fifth of a second."""

    enqueued = waited = done = 0

    def launch(self, stream: Stream, arguments: Sequence[DeviceMemory], dimensions) -> None:
        assert isinstance(stream, QueueStream)
        self.enqueued += 1
        stream.enqueue(self.run, float("inf"))

    def run(self) -> None:
        while not self.done:
            before = self.enqueued
            time.sleep(0.2)
            if before == self.enqueued:
                self.waited = before
                break
        self.done += 1


def test_a_long_loop_waits_for_its_earlier_turns(client, monkeypatch) -> None:
    device = client.devices[0]
    monkeypatch.setattr(device.executor, "create_stream", lambda: QueueStream(device.executor))
    kernel = SlowKernel()
    step = KernelThunk("step", kernel, (), ())
    loop = WhileThunk("loop", None, (), (step, step), trip_count=15_000)
    options = RunOptions(device.executor, device.compute_stream, device.allocator, client.platform.transfer_manager)
    assert ThunkExecutor(ThunkProgram((), (loop,), (), ())).execute(options, []) == []
    client.synchronize()
    assert kernel.done == kernel.enqueued == 30_000
    assert 0 < kernel.waited <= 2 * 4096
