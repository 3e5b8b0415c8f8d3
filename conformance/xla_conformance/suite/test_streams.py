"""Streams and events: order, concurrency, order across streams, and failures that reach all dependent work."""

from __future__ import annotations

import functools
import threading
import time
from collections.abc import Callable, Iterator

import numpy as np
import pytest

from xla_conformance.plugin import not_supported
from xla_core import Client
from xla_core.backend import Stream, StreamExecutor
from xla_core.errors import InternalError, XlaError

PATIENCE = 20.0  # seconds that something may take that should be immediate


class Boom(RuntimeError):
    """The exception that callbacks of these tests raise."""


def _fail(text: str = "boom") -> Callable[[], None]:
    def callback() -> None:
        raise Boom(text)

    return callback


@pytest.fixture
def gate() -> Iterator[threading.Event]:
    """Gives an event for work to wait for, until the test sets the event or ends."""
    event = threading.Event()
    yield event
    event.set()


@pytest.fixture
def other(executor: StreamExecutor) -> Iterator[Stream]:
    made = executor.create_stream()
    yield made
    made.synchronize()
    made.close()


def _wait_for(gate: threading.Event) -> Callable[[], None]:
    def callback() -> None:
        assert gate.wait(PATIENCE)

    return callback


def test_work_is_done_in_order(stream: Stream, executor: StreamExecutor) -> None:
    seen: list[int] = []
    for i in range(200):
        stream.host_callback(functools.partial(seen.append, i))
    stream.synchronize()
    assert seen == list(range(200))


def test_copies_and_callbacks_are_in_one_order(stream: Stream, executor: StreamExecutor) -> None:
    memory = executor.allocate(64)
    assert memory is not None
    back = np.zeros((3, 64), np.uint8)
    between: list[int] = []

    def look(row: int) -> None:
        between.append(int(back[row, 0]))

    for i in range(3):
        stream.memset(memory, i + 1)
        stream.memcpy_d2h(back[i], memory)
        stream.host_callback(functools.partial(look, i))
    stream.synchronize()
    assert between == [1, 2, 3]
    np.testing.assert_array_equal(back, np.repeat([[1], [2], [3]], 64, axis=1))
    executor.deallocate(memory)


def test_enqueueing_does_not_wait(stream: Stream, executor: StreamExecutor, gate: threading.Event) -> None:
    memory = executor.allocate(1 << 20)
    assert memory is not None
    data, back = np.ones(1 << 20, np.uint8), np.zeros(1 << 20, np.uint8)
    stream.host_callback(_wait_for(gate))
    start = time.monotonic()
    for _ in range(50):
        stream.memcpy_h2d(memory, data)
        stream.memset(memory, 7)
        stream.memcpy_d2h(back, memory)
        stream.host_callback(lambda: None)
        stream.record(stream.create_event())
    assert time.monotonic() - start < PATIENCE / 2
    assert not back.any(), "work ran before the work in front of it was done"
    gate.set()
    stream.synchronize()
    assert back.min() == 7
    executor.deallocate(memory)


def test_upload_takes_the_array_at_once(stream: Stream, executor: StreamExecutor, gate: threading.Event) -> None:
    for held in (False, True):
        memory = executor.allocate(256)
        assert memory is not None
        if held:
            stream.host_callback(_wait_for(gate))
        data = np.full(256, 3, np.uint8)
        stream.upload(memory, data)
        data[...] = 9
        back = np.zeros(256, np.uint8)
        stream.memcpy_d2h(back, memory)
        gate.set()
        stream.synchronize()
        assert set(back) == {3}
        executor.deallocate(memory)


@pytest.mark.parametrize("devices", [1, 2])
def test_callbacks_of_two_streams_run_at_the_same_time(
    stream: Stream, other: Stream, client: Client, devices: int
) -> None:
    """The default collectives need it: each device waits in a callback for the callbacks of the others."""
    if devices == 2:
        if len(client.devices) < 2:
            not_supported("there is one device")
        other = client.devices[1].compute_stream
    here, there = threading.Event(), threading.Event()
    met: list[bool] = []

    def meet(mine: threading.Event, theirs: threading.Event) -> None:
        mine.set()
        met.append(theirs.wait(PATIENCE))

    stream.host_callback(lambda: meet(here, there))
    other.host_callback(lambda: meet(there, here))
    stream.synchronize()
    other.synchronize()
    assert met == [True, True], "each waited for the other, so they did not run concurrently: use a thread per stream"


def test_a_stream_runs_while_the_host_goes_on(stream: Stream) -> None:
    started, release = threading.Event(), threading.Event()

    def callback() -> None:
        started.set()
        assert release.wait(PATIENCE)

    stream.host_callback(callback)
    assert started.wait(PATIENCE)
    event = stream.create_event()
    stream.record(event)
    assert not event.ready
    release.set()
    assert event.synchronize(PATIENCE)


def test_a_new_event_is_ready(stream: Stream) -> None:
    event = stream.create_event()
    assert event.ready
    assert event.error is None
    assert event.synchronize(0.0)


def test_an_event_tells_when_its_point_is_reached(stream: Stream, gate: threading.Event) -> None:
    stream.host_callback(_wait_for(gate))
    event = stream.create_event()
    stream.record(event)
    assert not event.ready
    assert event.error is None
    start = time.monotonic()
    assert event.synchronize(0.05) is False
    assert time.monotonic() - start >= 0.04
    gate.set()
    assert event.synchronize(PATIENCE) is True
    assert event.ready


def test_an_event_may_be_recorded_again(stream: Stream, gate: threading.Event) -> None:
    event = stream.create_event()
    stream.record(event)
    assert event.synchronize(PATIENCE)
    stream.host_callback(_wait_for(gate))
    stream.record(event)
    assert not event.ready
    gate.set()
    assert event.synchronize(PATIENCE)


def test_a_stream_waits_for_another_ones_event(stream: Stream, other: Stream, gate: threading.Event) -> None:
    order: list[str] = []
    stream.host_callback(_wait_for(gate))
    stream.host_callback(lambda: order.append("first"))
    event = stream.create_event()
    stream.record(event)
    other.wait(event)
    other.host_callback(lambda: order.append("second"))
    time.sleep(0.05)
    assert order == []
    gate.set()
    other.synchronize()
    assert order == ["first", "second"]


def test_waiting_for_an_event_that_is_over(stream: Stream, other: Stream) -> None:
    event = stream.create_event()
    other.wait(event)
    stream.record(event)
    stream.synchronize()
    other.wait(event)
    seen: list[int] = []
    other.host_callback(lambda: seen.append(1))
    other.synchronize()
    assert seen == [1]


def test_a_chain_over_many_streams(executor: StreamExecutor) -> None:
    streams = [executor.create_stream() for _ in range(6)]
    seen: list[int] = []
    for i, stream in enumerate(streams):
        stream.host_callback(functools.partial(seen.append, i))
        event = stream.create_event()
        stream.record(event)
        if i + 1 < len(streams):
            streams[i + 1].wait(event)
    for stream in reversed(streams):
        stream.synchronize()
        stream.close()
    assert seen == list(range(6))


def test_a_failure_poisons_what_comes_after(stream: Stream) -> None:
    before, after = stream.create_event(), stream.create_event()
    seen: list[int] = []
    stream.record(before)
    stream.host_callback(_fail())
    stream.host_callback(lambda: seen.append(1))
    stream.record(after)
    stream.synchronize()
    assert before.error is None
    assert seen == [], "work ran after a failure"
    assert isinstance(after.error, XlaError)
    assert isinstance(after.error.__cause__, Boom), "the cause of a failure must be kept"
    assert isinstance(stream.error, XlaError)
    stream.recover()
    stream.synchronize()
    assert stream.error is None


def test_an_xla_error_stays_what_it_is(stream: Stream) -> None:
    failure = InternalError("the chip is on fire")

    def callback() -> None:
        raise failure

    stream.host_callback(callback)
    event = stream.finish()
    assert event.synchronize(PATIENCE)
    assert event.error is failure


def test_the_first_cause_is_kept(stream: Stream, gate: threading.Event) -> None:
    stream.host_callback(_wait_for(gate))
    stream.host_callback(_fail("the first"))
    stream.host_callback(_fail("the second"))
    event = stream.create_event()
    stream.record(event)
    gate.set()
    assert event.synchronize(PATIENCE)
    assert event.error is not None
    assert "the first" in str(event.error)
    stream.recover()


def test_work_after_recovery_is_done(stream: Stream) -> None:
    seen: list[int] = []
    stream.host_callback(_fail())
    stream.recover()
    stream.host_callback(lambda: seen.append(1))
    event = stream.create_event()
    stream.record(event)
    assert event.synchronize(PATIENCE)
    assert event.error is None
    assert seen == [1]


def test_finish_ends_a_unit_of_work(stream: Stream) -> None:
    stream.host_callback(_fail())
    failed = stream.finish()
    fine = stream.finish()
    assert failed.synchronize(PATIENCE)
    assert fine.synchronize(PATIENCE)
    assert failed.error is not None
    assert fine.error is None


def test_a_failure_crosses_streams_by_events(stream: Stream, other: Stream, gate: threading.Event) -> None:
    seen: list[int] = []
    stream.host_callback(_wait_for(gate))
    stream.host_callback(_fail("far away"))
    event = stream.finish()
    other.wait(event)
    other.host_callback(lambda: seen.append(1))
    reached = other.finish()
    gate.set()
    assert reached.synchronize(PATIENCE)
    assert seen == []
    assert reached.error is not None
    assert "far away" in str(reached.error)
    other.host_callback(lambda: seen.append(2))
    other.synchronize()
    assert seen == [2]


def test_a_poisoned_copy_changes_nothing(stream: Stream, executor: StreamExecutor) -> None:
    memory = executor.allocate(16)
    assert memory is not None
    stream.memset(memory, 1)
    stream.synchronize()
    stream.host_callback(_fail())
    stream.memset(memory, 2)
    stream.recover()
    back = np.zeros(16, np.uint8)
    stream.memcpy_d2h(back, memory)
    stream.synchronize()
    assert set(back) == {1}
    executor.deallocate(memory)


def test_threads_may_share_a_stream(stream: Stream) -> None:
    counts = [0] * 8

    def enqueue(place: int) -> None:
        def callback() -> None:
            counts[place] += 1

        for _ in range(100):
            stream.host_callback(callback)

    threads = [threading.Thread(target=enqueue, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    stream.synchronize()
    assert counts == [100] * 8


@pytest.mark.profile("full")
def test_a_thousand_streams(executor: StreamExecutor) -> None:
    for _ in range(20):
        streams = [executor.create_stream() for _ in range(50)]
        seen: list[int] = []
        for i, stream in enumerate(streams):
            stream.host_callback(functools.partial(seen.append, i))
        for stream in streams:
            stream.synchronize()
            stream.close()
        assert sorted(seen) == list(range(50))
