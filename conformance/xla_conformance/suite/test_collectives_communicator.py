"""Communicators by the contract alone: the backend's own, and the core's on the backend's streams."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterator

import numpy as np
import pytest

from xla_conformance.claims import not_supported, require_devices
from xla_conformance.device.arrays import require_same_bits
from xla_conformance.patience import FACTOR
from xla_core import Client, XlaError
from xla_core.backend import Communicator, DeviceMemory, RunOptions, Stream
from xla_core.hlo import parse_hlo
from xla_core.runtime import InProcessCommunicator
from xla_core.schedule import CollectiveThunk

SECONDS = 20.0 * FACTOR
_RUNS = itertools.count(1 << 40)
TEXT = """\
HloModule m, replica_count=2

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b)
}

ENTRY e {
  x = f32[24]{0} parameter(0)
  ROOT r = f32[24]{0} all-reduce(x), replica_groups={{0,1}}, to_apply=add
}
"""
X = np.arange(24, dtype=np.float32)


class Side:
    """One device's part: a stream, an operand, a result and a communicator."""

    def __init__(self, client: Client, index: int, run_id: int, timeout: float, kind: str) -> None:
        device = client.devices[index]
        self.executor = device.executor
        self.stream: Stream = self.executor.create_stream()
        self.options = RunOptions(
            self.executor,
            self.stream,
            device.allocator,
            client.platform.transfer_manager,
            replica_id=index,
            device_assignment=((0,), (1,)),
            run_id=run_id,
            collective_timeout=timeout,
        )
        own = self.executor.create_communicator(self.options) if kind == "own" else None
        if kind == "own" and own is None:
            not_supported("it has no communicator of its own")
        self.communicator: Communicator = own or InProcessCommunicator(self.options, "the test's timeout")
        self.operand, self.result = (self._memory() for _ in range(2))
        root = parse_hlo(TEXT).entry.root
        self.collective = CollectiveThunk("all-reduce", root, (), ())

    def _memory(self) -> DeviceMemory:
        memory = self.executor.allocate(X.nbytes)
        assert memory is not None, "The device allocates memory."
        return memory

    def place(self, values: np.ndarray) -> None:
        self.stream.memcpy_h2d(self.operand, values.view(np.uint8))

    def enqueue(self) -> None:
        self.communicator.enqueue(self.stream, self.collective, [self.operand], [self.result])

    def got(self) -> np.ndarray:
        data = np.empty(X.nbytes, np.uint8)
        self.stream.memcpy_d2h(data, self.result)
        self.stream.synchronize()
        return data.view(np.float32)

    def close(self) -> None:
        self.stream.recover()
        self.stream.synchronize()
        self.stream.close()
        for memory in (self.operand, self.result):
            self.executor.deallocate(memory)


Sides = Callable[..., tuple[Side, Side]]


@pytest.fixture(params=["own", "default"])
def sides(client: Client, request: pytest.FixtureRequest) -> Iterator[Sides]:
    """Makes both sides of an execution."""
    require_devices(client, 2)
    made: list[Side] = []

    def make(timeout: float = SECONDS) -> tuple[Side, Side]:
        run_id = next(_RUNS)
        for index in (0, 1):
            made.append(Side(client, index, run_id, timeout, request.param))
        return made[-2], made[-1]

    yield make
    for side in made:
        side.communicator.end(None)
    for side in made:
        side.close()


def in_a_thread(work: Callable[[], None]) -> bool:
    """Runs the work in a thread, and tells whether it returns."""
    done = threading.Event()

    def run() -> None:
        work()
        done.set()

    threading.Thread(target=run, daemon=True).start()
    return done.wait(SECONDS / 2)


def recorded(side: Side) -> XlaError | None:
    event = side.stream.create_event()
    side.stream.record(event)
    assert event.synchronize(3 * SECONDS), "A collective doesn't wait for ever."
    return event.error


@pytest.mark.promise("communicator.enqueue-async", "communicator.in-order", "executor.create-communicator")
def test_enqueueing_waits_for_no_device(sides: Sides) -> None:
    """One device enqueues long before the other, and its operand is written behind a gate."""
    first, second = sides()
    gate = threading.Event()

    def hold() -> None:
        gate.wait(3 * SECONDS)

    try:
        first.stream.host_callback(hold)
        first.place(X)
        assert in_a_thread(first.enqueue), "A collective is enqueued without blocking."
    finally:
        gate.set()
    second.place(2 * X)
    assert in_a_thread(second.enqueue), "A collective is enqueued without blocking."
    for side in (first, second):
        require_same_bits(
            "A collective reads its operands in the stream's order.", side.got(), 3 * X, "communicator.in-order"
        )


@pytest.mark.promise("communicator.in-order", "stream.in-order")
def test_collectives_follow_each_other(sides: Sides) -> None:
    """Each takes the result of the one before; nothing waits."""
    both = sides()
    for side, values in zip(both, (X, X + 1), strict=True):
        side.place(values)
    for _ in range(5):
        for side in both:
            side.enqueue()
            side.stream.memcpy_d2d(side.operand, side.result)
    for side in both:
        require_same_bits(
            "Collectives run in the order of the stream.", side.got(), 16 * (2 * X + 1), "communicator.in-order"
        )


@pytest.mark.promise("communicator.end-releases", "communicator.failure-poisons")
def test_a_device_that_fails_releases_the_others(sides: Sides) -> None:
    first, second = sides()
    first.place(X)
    first.enqueue()
    second.communicator.end(XlaError("the test's failure"))
    error = recorded(first)
    assert error is not None, "A device that waits for one that failed gets an error."
    causes = [str(error), str(error.__cause__)]
    assert any("the test's failure" in text for text in causes), f"The error has the other's failure: {causes}"


@pytest.mark.promise("communicator.end-releases")
def test_a_device_that_is_done_releases_the_others(sides: Sides) -> None:
    first, second = sides()
    first.place(X)
    first.enqueue()
    second.communicator.end(None)
    assert recorded(first) is not None, "A device doesn't wait for one that has finished without it."


@pytest.mark.promise("executor.collective-timeout", "communicator.failure-poisons")
def test_a_device_that_does_not_come(sides: Sides) -> None:
    first, _ = sides(0.2)
    first.place(X)
    first.enqueue()
    assert recorded(first) is not None, "A device waits for the others for at most collective_timeout seconds."
    first.stream.recover()
    first.stream.memset(first.result, 0)
    require_same_bits(
        "After a failed collective and a recover, the stream works.", first.got(), 0 * X, "stream.recover"
    )
