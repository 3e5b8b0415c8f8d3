"""The checked engine finds races between the operations of streams that nothing orders."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest

pytest.importorskip("xla_backend_gpu", reason="xla-backend-gpu is not installed")

from xla_backend_gpu.driver import Function, LaunchArguments
from xla_backend_gpu.emulated_driver import EmulatedDriver
from xla_backend_gpu.emulator import Memory
from xla_backend_gpu.emulator.stream_order import MemoryUses, StreamOrder, StreamRace

from xla_core.errors import XlaError
from xla_core.runtime import HostStream

INFINITY = float("inf")

BETWEEN_FILL_AND_COPY = "`fill` .* which `copies` .* read|`copies` .* reads .* which `fill` .* wrote"  # by their turn

PTX = """
.version 8.0
.target sm_90
.address_size 64
.visible .entry copies(.param .u64 in, .param .u64 out)
{
    .reg .b32 %r<2>; .reg .b64 %rd<6>;
    ld.param.u64 %rd1, [in];
    ld.param.u64 %rd2, [out];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd3, %r1, 8;
    add.u64 %rd4, %rd1, %rd3;
    add.u64 %rd5, %rd2, %rd3;
    ld.global.u32 %r1, [%rd4];
    st.global.u32 [%rd5], %r1;
    ret;
}
"""
"""A thread copies 4 bytes of each 8."""


class Device:
    def __init__(self, client, engine: str = "checked") -> None:
        self.driver = EmulatedDriver(1 << 20)
        self.kernel: Function = self.driver.load(PTX, engine)["copies"]
        self.streams = [self.driver.create_stream(client.devices[0].executor) for _ in range(3)]
        self.memory = self.driver.allocate(4096)
        assert self.memory is not None

    def launch(self, stream: HostStream, source: int, target: int, threads: int = 32) -> None:
        addresses = (self.memory + source, self.memory + target)
        self.driver.launch(stream, self.kernel, LaunchArguments((1, 1, 1), (threads, 1, 1), 0, addresses))

    def fill(self, stream: HostStream, offset: int, size: int) -> None:
        self.driver.fill(stream, self.memory + offset, 1, size)

    def last(self, work: Callable[[], None]) -> None:
        """Does the last work, and waits for all."""
        work()
        self.finish()

    def finish(self) -> None:
        for stream in self.streams:
            self.driver.reached(self.driver.record(stream), INFINITY)


@pytest.fixture
def device(client) -> Iterator[Device]:
    made = Device(client)
    yield made
    made.driver.lost = None
    for stream in made.streams:
        made.driver.close_stream(stream)


def test_two_fills_of_a_byte_race(device: Device) -> None:
    first, second, _ = device.streams
    device.fill(first, 0, 100)
    device.fill(second, 100, 100)
    device.finish()
    device.fill(first, 0, 101)
    with pytest.raises(StreamRace, match=rf"`fill` on stream \d+ writes the byte at {device.memory + 100:#x}"):
        device.last(lambda: device.fill(second, 100, 100))


def test_an_event_orders_two_streams(device: Device) -> None:
    first, second, third = device.streams
    device.fill(first, 0, 100)
    device.driver.wait(second, device.driver.record(first))
    device.fill(second, 0, 100)
    device.driver.wait(third, device.driver.record(second))
    device.launch(third, 0, 512, 8)
    device.finish()


def test_an_event_orders_what_comes_before_it_alone(device: Device) -> None:
    first, second, _ = device.streams
    event = device.driver.record(first)
    device.fill(first, 0, 100)
    device.driver.wait(second, event)
    with pytest.raises(StreamRace):
        device.last(lambda: device.fill(second, 0, 100))


def test_a_wait_of_the_host_orders_two_streams(device: Device) -> None:
    first, second, _ = device.streams
    device.fill(first, 0, 100)
    assert device.driver.reached(device.driver.record(first), INFINITY)
    device.fill(second, 0, 100)
    read = np.empty(100, np.uint8)
    device.driver.read(second, read, device.memory)  # the host waits for this copy
    device.fill(first, 0, 100)
    device.finish()


def test_a_wait_for_work_that_failed_orders_two_streams(device: Device) -> None:
    """A library's refusal fails the stream, but not the device."""

    def fail() -> None:
        raise XlaError("refused")

    first, second, _ = device.streams
    device.fill(first, 0, 100)
    first.enqueue(fail)
    with pytest.raises(XlaError, match="refused"):
        device.driver.reached(device.driver.record(first), INFINITY)
    device.driver.recover(first)
    device.fill(second, 0, 100)
    device.finish()


def test_streams_may_read_together(device: Device) -> None:
    first, second, third = device.streams
    device.fill(first, 0, 256)
    device.finish()
    device.launch(first, 0, 512)
    device.launch(second, 0, 1024)
    device.driver.wait(third, device.driver.record(first))
    with pytest.raises(StreamRace, match=BETWEEN_FILL_AND_COPY):
        device.last(lambda: device.fill(third, 0, 4))  # after the one, but not after the other


def test_a_launch_uses_what_its_threads_use(device: Device) -> None:
    first, second, _ = device.streams
    device.fill(first, 0, 512)
    device.finish()
    device.launch(first, 0, 512)
    device.launch(second, 4, 516)  # between the bytes of the other
    device.finish()
    device.launch(first, 0, 512)
    said = r"`copies` on stream \d+ (reads|writes) the byte at \w+, which `copies` on stream \d+ (read|wrote)"
    with pytest.raises(StreamRace, match=said) as caught:
        device.last(lambda: device.launch(second, 4, 512))
    assert "an event" in str(caught.value.hint)
    assert device.driver.lost is not None


def test_new_memory_has_no_uses(device: Device) -> None:
    first, second, _ = device.streams
    address = device.driver.allocate(64)
    assert address is not None
    device.driver.fill(first, address, 1, 64)
    device.driver.free(address)
    again = device.driver.allocate(64)
    assert again == address
    device.driver.fill(second, again, 2, 64)
    device.finish()


def test_a_variable_of_a_module_has_no_uses_of_what_was_there_before(client) -> None:
    """Variables are allocated when a kernel runs, so later than it was enqueued."""
    order, memory = StreamOrder(), Memory(1 << 16)
    uses = MemoryUses(order)
    memory.when_allocated = uses.allocated
    first, second = (HostStream(client.devices[0].executor) for _ in range(2))
    address = memory.allocate(64)
    assert address is not None
    uses.uses(order.operation(first, "fill"), address, 64, writes=True)
    launch = order.operation(second, "kernel")
    order.host_waited(order.recorded(first))
    memory.free(address)
    assert memory.allocate(64, of_module=True) == address
    uses.uses(launch, address, 64, writes=False)


def test_operations_of_one_stream_never_race(client) -> None:
    """Two threads that enqueue at once may be numbered in another order than that in which their work runs."""
    order = StreamOrder()
    uses, stream = MemoryUses(order), HostStream(client.devices[0].executor)
    one, other = order.operation(stream, "one"), order.operation(stream, "other")
    for operation in (other, one):
        uses.uses(operation, 0, 8, writes=True)


def test_streams_that_are_gone_are_forgotten(client) -> None:
    order = StreamOrder()
    for _ in range(20):
        stream = HostStream(client.devices[0].executor)
        operation = order.operation(stream, "fill")
        order.host_waited(order.recorded(stream))
    assert len(operation.clocks) <= 2


def test_many_operations_are_forgotten_without_a_finding(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    from xla_backend_gpu.emulator import stream_order

    monkeypatch.setattr(stream_order, "_MOST_USES", 8)
    first, second, _ = device.streams
    for offset in range(0, 1600, 16):
        device.fill(first, offset, 16)
    device.driver.wait(second, device.driver.record(first))
    device.fill(second, 0, 1600)
    device.finish()


def test_the_fast_engine_looks_at_no_order(client) -> None:
    device = Device(client, "fast")
    device.fill(device.streams[0], 0, 100)
    device.fill(device.streams[1], 0, 100)
    device.finish()
    for stream in device.streams:
        device.driver.close_stream(stream)


BRANCHES = """HloModule branches

ENTRY e {
  x = f32[200] parameter(0)
  y = f32[300] parameter(1)
  s = f32[200] sort(x), dimensions={0}, to_apply=less
  b = f32[300] negate(y)
  ROOT t = (f32[200], f32[300]) tuple(s, b)
}
""".replace(
    "ENTRY",
    "less {\n  p = f32[] parameter(0)\n  q = f32[] parameter(1)\n  ROOT l = pred[] compare(p, q), direction=LT\n}\n\nENTRY",
)


def test_a_program_whose_buffers_other_streams_use_is_in_order(client) -> None:
    from xla_core import CompileOptions

    program = client.compile(BRANCHES, options=CompileOptions(backend={"engine": "checked"}))
    x, y = np.arange(200, dtype=np.float32)[::-1].copy(), np.ones(300, np.float32)
    for _ in range(5):
        small, large = program(client.buffer_from_host(x), client.buffer_from_host(y))
        again, _ = program(small, large)
        np.testing.assert_array_equal(np.asarray(again), np.sort(x))


def test_a_stream_of_the_contract_that_waits_for_nothing_races(lost_client) -> None:
    executor = lost_client.devices[0].executor
    executor.driver.load(PTX, "checked")
    first, second = executor.create_stream(), executor.create_stream()
    memory = executor.allocate(1024)
    first.memset(memory, 1)
    event = first.create_event()
    first.record(event)
    second.wait(event)
    second.memset(memory, 2)
    first.memset(memory, 3)
    for stream in (first, second):
        stream.synchronize()
    assert isinstance(first.error, XlaError)
    assert "race of unordered streams: `fill`" in first.error.message
    executor.deallocate(memory)
