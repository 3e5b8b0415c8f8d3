"""Streams: the order of work, calls that must not block, and work that runs at the same time."""

from __future__ import annotations

import functools
import threading
import time
from collections.abc import Callable, Iterator

import numpy as np
import pytest

from xla_conformance.claims import not_supported, require_devices
from xla_conformance.device.gates import PATIENCE, Gate, fail, patiently
from xla_conformance.device.kinds import KINDS, Workpiece
from xla_conformance.device.launches import Launcher
from xla_conformance.device.memories import allocated
from xla_conformance.device.threads import run_at_once
from xla_conformance.failures import Failure
from xla_core import Client
from xla_core.backend import Stream, StreamExecutor


@pytest.fixture
def work(executor: StreamExecutor, launcher: Launcher | None) -> Iterator[Workpiece]:
    idle = executor.create_stream()
    made = Workpiece(executor, idle, launcher)
    yield made
    made.close()
    idle.close()


def _record(stream: Stream) -> None:
    stream.record(stream.create_event())


def _wait(stream: Stream) -> None:
    event = stream.create_event()
    stream.record(event)
    stream.wait(event)


OTHERS: dict[str, Callable[[Stream], object]] = {
    "record": _record,
    "wait": _wait,
    "finish": lambda stream: stream.finish(),
    "recover": lambda stream: stream.recover(),
    "create_event": lambda stream: stream.create_event(),
    "error": lambda stream: stream.error,
}


@pytest.mark.promise("stream.in-order", "stream.host-callback")
def test_callbacks_are_called_in_order(stream: Stream, gate: Gate) -> None:
    seen: list[int] = []
    gate.hold(stream)
    for i in range(5000):
        stream.host_callback(functools.partial(seen.append, i))
    gate.open()
    stream.synchronize()
    if seen != list(range(5000)):
        raise Failure(
            f"A stream is an in-order queue, but of 5,000 callbacks {len(seen)} were called, or out of order.",
            promise="stream.in-order",
        )


@pytest.mark.promise(
    "stream.enqueue-never-blocks", "stream.finish-never-waits", "stream.upload", "executable.enqueue-only"
)
@pytest.mark.parametrize("kind", [*KINDS, *OTHERS])
def test_enqueueing_never_blocks(
    stream: Stream, work: Workpiece, launcher: Launcher | None, gate: Gate, kind: str
) -> None:
    """Each kind of work is enqueued after work that doesn't end, also while other threads wait for the stream."""
    if kind == "launch" and launcher is None:
        not_supported("it adds neither s32 nor f32")
    gate.hold(stream)
    event = stream.create_event()
    stream.record(event)
    waiting = [threading.Thread(target=wait, daemon=True) for wait in (stream.synchronize, event.synchronize)]
    done = []
    for number in range(20):
        if number == 10:
            for thread in waiting:
                thread.start()
            time.sleep(0.01)
        if kind in OTHERS:
            OTHERS[kind](stream)
        else:
            done.append(work.enqueue(kind, stream))
        gate.require_closed(f"`{kind}`" if number < 10 else f"`{kind}`, while another thread synchronizes the stream,")
    if kind in ("callback", "d2h", "read_at") and any(seen() for seen in done):
        raise Failure(
            f"A stream is an in-order queue, but {kind} was done before the work in front of it.",
            promise="stream.in-order",
        )
    gate.open()
    stream.synchronize()
    for thread in waiting:
        thread.join(PATIENCE)
    if not all(seen() for seen in done):
        raise Failure(
            f"`synchronize` blocks until all enqueued work is done, but {kind} wasn't.", promise="stream.synchronize"
        )


@pytest.mark.promise("stream.enqueue-never-blocks")
@pytest.mark.parametrize("size", [64, 1 << 20], ids=["small", "large"])
def test_a_long_queue_never_blocks(stream: Stream, executor: StreamExecutor, gate: Gate, size: int) -> None:
    """Enqueues thousands of pieces of work after work that doesn't end."""
    memory = allocated(executor, size)
    data, back = np.ones(size, np.uint8), np.zeros(size, np.uint8)
    gate.hold(stream)
    for _ in range(2000 if size == 64 else 50):
        stream.memcpy_h2d(memory, data)
        stream.memset(memory, 7)
        stream.memcpy_d2h(back, memory)
        stream.record(stream.create_event())
        gate.require_closed("a piece of work in a long queue")
    if back.any():
        raise Failure(
            "A stream is an in-order queue, but work ran before the work in front of it was done.",
            promise="stream.in-order",
        )
    gate.open()
    stream.synchronize()
    if back.min() != 7:
        raise Failure(
            "A stream is an in-order queue, but the last copy did not see the bytes before it.",
            promise="stream.in-order",
        )
    executor.deallocate(memory)


@pytest.mark.promise("stream.upload", "transfer-manager.caller-may-change-array")
@pytest.mark.parametrize("state", ["idle", "held", "poisoned and recovered"])
@pytest.mark.parametrize("size", [1, 255, 4096, 65537, (1 << 20) + 3])
def test_upload_takes_the_array_at_once(
    stream: Stream, executor: StreamExecutor, gate: Gate, size: int, state: str
) -> None:
    memory = allocated(executor, size)
    for number in range(20):
        held = Gate()
        if state == "held":
            held.hold(stream)
        elif state != "idle":
            stream.host_callback(fail())
            stream.finish()
        data = np.full(size, number + 1, np.uint8)
        stream.upload(memory, data)
        data[...] = 0xEE
        back = np.zeros(size, np.uint8)
        stream.memcpy_d2h(back, memory)
        held.require_closed("`upload`")
        held.open()
        stream.synchronize()
        if not (back == number + 1).all():
            raise Failure(
                "The caller may change an array as soon as `upload` returns, but the device got the new values.",
                promise="stream.upload",
            )
    executor.deallocate(memory)


@pytest.mark.promise("stream.h2d-keeps-source")
@pytest.mark.parametrize("size", [16, 4096, 1 << 20])
def test_the_stream_keeps_its_sources_alive(stream: Stream, executor: StreamExecutor, gate: Gate, size: int) -> None:
    count = 8
    memories = [allocated(executor, size) for _ in range(count)]
    gate.hold(stream)
    for i, memory in enumerate(memories):
        stream.memcpy_h2d(memory, np.full(size, i + 1, np.uint8))
    others = [np.full(size, 0xEE, np.uint8) for _ in range(3 * count)]  # these take the place of sources that are gone
    gate.open()
    backs = np.zeros((count, size), np.uint8)
    for back, memory in zip(backs, memories, strict=True):
        stream.memcpy_d2h(back, memory)
    stream.synchronize()
    if len(others) != 3 * count or not (backs == np.arange(1, count + 1)[:, None]).all():
        raise Failure(
            "The stream keeps the source of a copy alive, but the device got the bytes of other arrays.",
            promise="stream.h2d-keeps-source",
        )
    for memory in memories:
        executor.deallocate(memory)


@pytest.mark.promise("stream.host-callbacks-meet", "stream.host-callback-threads", "stream.concurrent")
@pytest.mark.parametrize("devices", [1, 2])
@pytest.mark.parametrize("count", [2, 17])
def test_callbacks_of_streams_meet(executor: StreamExecutor, client: Client, devices: int, count: int) -> None:
    """The default collectives need it: each device waits in a callback for the callbacks of the others."""
    require_devices(client, devices)
    executors = [device.executor for device in client.devices[:devices]]
    streams = [executors[i % devices].create_stream() for i in range(count)]
    barrier = threading.Barrier(count)
    met: list[int] = []

    def meet() -> None:
        barrier.wait(PATIENCE)
        met.append(1)

    for stream in streams:
        stream.host_callback(meet)
    for stream in streams:
        stream.synchronize()
        stream.recover()
        stream.close()
    if len(met) != count:
        raise Failure(
            f"A callback may block until callbacks of other streams have run, but {count} callbacks did not meet: "
            "the streams must not share a thread.",
            promise="stream.host-callbacks-meet",
        )


@pytest.mark.promise("stream.concurrent", "executor.create-stream")
def test_a_stream_works_while_others_are_held(executor: StreamExecutor, stream: Stream, gate: Gate) -> None:
    """Waits and copies of one stream don't wait for other streams."""
    held = [executor.create_stream() for _ in range(6)]
    gate.hold(*held)
    memory = allocated(executor, 4096)
    seen: list[int] = []
    back = np.zeros(4096, np.uint8)
    stream.memset(memory, 5)
    stream.memcpy_d2h(back, memory)
    stream.host_callback(lambda: seen.append(1))
    event = stream.create_event()
    stream.record(event)
    if not patiently(event.synchronize, PATIENCE / 4) or seen != [1] or set(back) != {5}:
        raise Failure(
            "Two streams run concurrently unless events order them, but one waited for others.",
            promise="stream.concurrent",
        )
    stream.synchronize()
    gate.require_closed("a stream", "stream.concurrent")
    gate.open()
    for other in held:
        other.close()
    executor.deallocate(memory)


@pytest.mark.promise("executor.thread-safe", "stream.in-order")
def test_threads_may_share_a_stream(stream: Stream) -> None:
    counts = [0] * 8

    def enqueue(place: int) -> None:
        def callback() -> None:
            before = counts[place]
            time.sleep(0)
            counts[place] = before + 1

        for _ in range(200):
            stream.host_callback(callback)

    threads = [threading.Thread(target=enqueue, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    stream.synchronize()
    if counts != [200] * 8:
        raise Failure(
            f"Eight threads enqueued 200 callbacks each on one stream, but {counts} were called.",
            promise="executor.thread-safe",
        )


@pytest.mark.promise("executor.create-stream", "executor.thread-safe")
def test_threads_make_streams_at_once(executor: StreamExecutor) -> None:
    """Each gets streams of its own: the failures of some threads poison no stream of the others."""
    made: list[tuple[bool, Stream]] = []

    def make(fails: bool) -> None:
        for _ in range(10):
            stream = executor.create_stream()
            made.append((fails, stream))
            if fails:
                stream.host_callback(fail())

    run_at_once([functools.partial(make, number % 2 == 1) for number in range(4)], PATIENCE)
    for _, stream in made:
        stream.synchronize()
    poisoned = [(fails, stream.error is not None) for fails, stream in made]
    for stream in {id(stream): stream for _, stream in made}.values():
        stream.close()
    if any(fails != failed for fails, failed in poisoned):
        raise Failure(
            "Threads that make streams at the same time get streams of their own, but these share failures.",
            promise="executor.create-stream",
        )


@pytest.mark.promise("stream.run-inline")
def test_a_stream_may_run_inline(executor: StreamExecutor) -> None:
    """After `run_inline` the same calls give the same results."""
    stream = executor.create_stream()
    stream.run_inline()
    memory = allocated(executor, 1000)
    seen: list[int] = []
    for i in range(50):
        back = np.zeros(1000, np.uint8)
        stream.memset(memory, i + 1)
        stream.memcpy_d2h(back, memory)
        stream.host_callback(functools.partial(_look, seen, back))
    stream.synchronize()
    stream.close()
    executor.deallocate(memory)
    if seen != list(range(1, 51)):
        raise Failure(
            "A stream is an in-order queue, but after `run_inline` its work was done in another order.",
            promise="stream.in-order",
        )


def _look(seen: list[int], back: np.ndarray) -> None:
    seen.append(int(back[-1]))


@pytest.mark.promise("stream.close", "executor.create-stream")
@pytest.mark.profile("full")
def test_a_thousand_streams(executor: StreamExecutor) -> None:
    for _ in range(20):
        streams = [executor.create_stream() for _ in range(50)]
        seen: list[int] = []
        for i, stream in enumerate(streams):
            stream.host_callback(functools.partial(seen.append, i))
        for stream in streams:
            stream.close()
        if sorted(seen) != list(range(50)):
            raise Failure(
                "Stream.close waits for the enqueued work, but some of 50 streams lost theirs.", promise="stream.close"
            )
