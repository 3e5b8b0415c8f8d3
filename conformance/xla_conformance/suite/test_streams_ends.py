"""How waits and streams end: synchronize, close, Ctrl-C, and events that are dropped while work is in flight."""

from __future__ import annotations

import functools
import gc
import os
import signal
import threading
import time
from collections.abc import Callable

import numpy as np
import pytest

from xla_conformance.device.gates import PATIENCE, Gate, fail, pause, settles
from xla_conformance.device.memories import allocated
from xla_conformance.device.patterns import pattern, require_bytes
from xla_conformance.device.processes import open_files, thread_count
from xla_conformance.failures import Failure
from xla_core.backend import Event, Stream, StreamExecutor

LONG = 2.5
"""In seconds. A wait that returns too early does so within this time, or only after minutes."""


def _recorded(stream: Stream) -> Event:
    event = stream.create_event()
    stream.record(event)
    return event


def _by_other(stream: Stream, other: Stream) -> None:
    other.wait(_recorded(stream))
    other.synchronize()


WAITS: dict[str, Callable[[Stream, Stream], object]] = {
    "Stream.synchronize": lambda stream, other: stream.synchronize(),
    "Event.synchronize": lambda stream, other: _recorded(stream).synchronize(),
    "Event.synchronize with a timeout": lambda stream, other: _recorded(stream).synchronize(60.0),
    "Event.synchronize of finish": lambda stream, other: stream.finish().synchronize(),
    "Stream.wait and synchronize": _by_other,
}
_ENDS_AFTER_WORK = {
    "Stream.synchronize": "stream.synchronize",
    "Event.synchronize": "event.ready-after-work",
    "Event.synchronize with a timeout": "event.synchronize-timeout",
    "Event.synchronize of finish": "event.ready-after-work",
    "Stream.wait and synchronize": "stream.wait",
}
"""The sentence of the contract that a wait breaks if it ends too early."""
_ONE_STREAM = [name for name in WAITS if "Stream.wait" not in name]


@pytest.mark.promise("stream.synchronize", "event.ready-after-work")
def test_a_wait_lasts_as_long_as_the_work_after_65536_pieces(executor: StreamExecutor) -> None:
    """A stream that counts its work in 16 bits, or its waits and records in fewer, begins again."""
    stream = executor.create_stream()
    called: list[int] = []
    stream.host_callback(pause(LONG / 10))  # the following ones wait in the queue
    for _ in range((1 << 16) + 1):
        stream.host_callback(lambda: None)
    for _ in range((1 << 12) + 1):
        stream.synchronize()
        stream.wait(_recorded(stream))
    long = pause(LONG / 5)

    def last() -> None:
        long()
        called.append(0)

    stream.host_callback(last)  # the only piece in flight, so that the queue is empty while it runs
    stream.synchronize()
    ended = bool(called)
    _recorded(stream).synchronize()
    stream.close()
    if not ended or not called:
        raise Failure(
            "A wait lasts until all enqueued work is done, but after 65,536 pieces and 4,096 waits it ended early.",
            promise="stream.synchronize",
        )


@pytest.mark.promise("stream.synchronize", "event.synchronize-timeout", "event.ready-after-work", "stream.wait")
def test_a_wait_lasts_as_long_as_the_work(executor: StreamExecutor) -> None:
    """Waits of all kinds take seconds, two of them on one stream. A stream that was idle meanwhile still works."""
    gate = Gate(PATIENCE)
    called: list[int] = []
    resting = executor.create_stream()
    resting.host_callback(lambda: called.append(0))
    pairs = [(executor.create_stream(), executor.create_stream()) for _ in WAITS]
    early: list[str] = []
    opened = threading.Event()

    def wait(name: str, stream: Stream, other: Stream) -> None:
        WAITS[name](stream, other)
        if not opened.is_set():
            early.append(name)

    for stream, _ in pairs:
        gate.hold(stream)
    waits = [*zip(WAITS, pairs, strict=True), ("Stream.synchronize", pairs[0])]
    threads = [threading.Thread(target=wait, args=(name, *pair), daemon=True) for name, pair in waits]
    for thread in threads:
        thread.start()
    time.sleep(LONG)
    opened.set()
    gate.open()
    for thread in threads:
        thread.join(PATIENCE)
    for pair in pairs:
        for stream in pair:
            stream.synchronize()
            stream.close()
    for number in range(1, 4):
        resting.host_callback(functools.partial(called.append, number))
    resting.close()
    if called != [0, 1, 2, 3]:
        raise Failure(
            f"A stream without work for seconds goes on, but of 4 callbacks it called {called}.",
            promise="stream.host-callback",
        )
    if early:
        raise Failure(
            f"{early[0]} blocks the host until all enqueued work is done, but it returned while work ran.",
            promise=_ENDS_AFTER_WORK[early[0]],
        )


@pytest.mark.promise("stream.synchronize", "event.synchronize-timeout", "event.ready-after-work", "stream.d2h")
@pytest.mark.parametrize("name", WAITS)
@pytest.mark.parametrize("kind", ["callback", "copy", "failure"])
def test_nothing_is_left_to_do_after_a_wait(
    executor: StreamExecutor,
    stream: Stream,
    other: Stream,
    random: np.random.Generator,
    name: str,
    kind: str,
) -> None:
    """Hundreds of waits for short work."""
    size = 1 << 20
    memories = [allocated(executor, size) for _ in range(2)]
    contents = [pattern(size, i) for i in range(2)]
    for memory, data in zip(memories, contents, strict=True):
        stream.memcpy_h2d(memory, data)
    stream.synchronize()
    back = np.zeros(size, np.uint8)
    done: list[int] = []
    sentence = f"{name} blocks the host until all enqueued work is done, but the last {kind} wasn't."
    for i in range(40 if kind == "copy" else 150):
        if kind == "failure":
            stream.host_callback(fail())
            for _ in range(20):
                stream.host_callback(pause(0))
            stream.recover()
        stream.host_callback(pause(float(random.choice([0.0, 0.0001, 0.001]))))
        if kind == "copy":
            memory = memories[i % 2]
            stream.memcpy_d2h(back, memory)
        else:
            stream.host_callback(functools.partial(done.append, i))
        WAITS[name](stream, other)
        if kind == "copy":
            require_bytes(sentence, back, contents[i % 2], "stream.synchronize")
        elif not done or done[-1] != i:
            raise Failure(sentence, promise=_ENDS_AFTER_WORK[name])
    for memory in memories:
        executor.deallocate(memory)


# -- Ctrl-C -----------------------------------------------------------------------------------------------------------


@pytest.mark.promise("stream.synchronize-lets-ctrl-c", "event.synchronize-lets-ctrl-c")
@pytest.mark.parametrize("name", _ONE_STREAM)
def test_ctrl_c_ends_a_wait(stream: Stream, other: Stream, name: str) -> None:
    """The signal's handler is the one that the backend left; the plugin set Python's before the devices were opened."""
    gate = Gate()
    gate.hold(stream)
    seen: list[int] = []
    stream.host_callback(lambda: seen.append(1))
    timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
    interrupted = False
    try:
        timer.start()
        WAITS[name](stream, other)
        time.sleep(0.3)  # for a signal that comes late
    except KeyboardInterrupt:
        interrupted = True
    timer.join()
    late = gate.expired
    gate.open()
    stream.synchronize()
    promise = f"{name.partition('.')[0].lower()}.synchronize-lets-ctrl-c"
    if not interrupted or late:
        raise Failure(f"{name} lets Ctrl-C through, but it went on until the work was done.", promise=promise)
    if seen != [1] or stream.error is not None:
        raise Failure(f"Ctrl-C ends the host's wait only, but after {name} the stream lost its work.", promise=promise)


# -- close ------------------------------------------------------------------------------------------------------------


@pytest.mark.promise("stream.close")
def test_close_waits_for_the_enqueued_work(executor: StreamExecutor, gate: Gate) -> None:
    stream = executor.create_stream()
    memory = allocated(executor, 4096)
    seen: list[int] = []
    data, back = pattern(4096, 3), np.zeros(4096, np.uint8)
    gate.hold(stream)
    for i in range(200):
        stream.host_callback(functools.partial(seen.append, i))
    stream.memcpy_h2d(memory, data)
    stream.memcpy_d2h(back, memory)
    stream.host_callback(pause(0.02))
    stream.host_callback(lambda: seen.append(200))
    last = _recorded(stream)
    early = threading.Thread(target=stream.close, daemon=True)
    early.start()
    early.join(0.2)
    returned = not early.is_alive()
    gate.open()
    early.join(PATIENCE)
    sentence = "Stream.close waits for the enqueued work, but"
    if returned:
        raise Failure(f"{sentence} it returned while work was held back.", promise="stream.close")
    if early.is_alive():
        raise Failure(f"{sentence} it didn't return when the work was done.", promise="stream.close")
    if seen != list(range(201)) or not last.ready:
        raise Failure(
            f"{sentence} only {len(seen)} of 201 callbacks were called when it returned.", promise="stream.close"
        )
    require_bytes(f"{sentence} a copy to the host wasn't done.", back, data, "stream.close")
    executor.deallocate(memory)


def _unused(*streams: Stream) -> None:
    """Leaves the streams as they are made."""


def _used(*streams: Stream) -> None:
    gate = Gate()
    gate.hold(*streams)
    events = [_recorded(stream) for stream in streams]
    gate.open()
    for event in events:
        event.synchronize()


def _failed(*streams: Stream) -> None:
    for stream in streams:
        stream.host_callback(fail())


def _seen_to_fail(*streams: Stream) -> None:
    _failed(*streams)
    for stream in streams:
        stream.synchronize()


def _recovered(*streams: Stream) -> None:
    _seen_to_fail(*streams)
    for stream in streams:
        stream.recover()
    _used(*streams)


def _behind_a_failure(*streams: Stream) -> None:
    """All streams wait for an event of the last one, which carries a failure."""
    _failed(streams[-1])
    event = _recorded(streams[-1])
    for stream in streams:
        stream.wait(event)


@pytest.mark.promise("stream.close", "executor.create-stream", "event.destroy")
@pytest.mark.parametrize(
    "bring",
    [_unused, _used, _failed, _seen_to_fail, _recovered, _behind_a_failure],
    ids=lambda bring: bring.__name__.strip("_"),
)
def test_close_frees_the_stream_s_resources(executor: StreamExecutor, bring: Callable[..., None]) -> None:
    """In whatever state the stream is when it is closed."""

    def close(count: int) -> None:
        streams = [executor.create_stream() for _ in range(count)]
        bring(*streams)
        for stream in streams:
            stream.close()

    close(4)  # what is made once for all streams
    counters = {"threads": thread_count, "open files": open_files}
    before = {what: count() for what, count in counters.items()}
    close(40)
    for what, count in counters.items():
        left = settles(count, before[what] + 8) - before[what]
        if left > 8:
            raise Failure(
                f"Stream.close frees the stream's resources, but 40 streams left {left} {what}.", promise="stream.close"
            )


# -- events in flight -------------------------------------------------------------------------------------------------


@pytest.mark.promise("event.dropped", "event.destroy", "event.destroy-any-thread", "stream.wait")
@pytest.mark.parametrize("how", ["dropped", "closed", "closed by a thread"])
def test_an_event_may_go_while_a_stream_waits_for_it(stream: Stream, other: Stream, how: str) -> None:
    """New events take the place of the old one. If the stream still uses the old one, it goes on too early."""
    order: list[tuple[int, str]] = []
    for i in range(60):
        gate = Gate()
        gate.hold(stream)
        stream.host_callback(functools.partial(order.append, (i, "first")))
        event = _recorded(stream)
        other.wait(event)
        other.host_callback(functools.partial(order.append, (i, "second")))
        if how == "closed":
            event.close()
        elif how == "closed by a thread":
            closer = threading.Thread(target=event.close)
            closer.start()
            closer.join()
        del event
        gc.collect(0)
        fresh = [other.create_event() for _ in range(4)]
        if any(not e.ready for e in fresh):
            raise Failure(
                "An event that was never recorded is ready, but a new one isn't.", promise="event.never-recorded"
            )
        time.sleep(0.0005)
        gate.open()
        other.synchronize()
        if stream.error is not None or other.error is not None:
            raise Failure(
                f"An event may be dropped after a wait for it, but a stream failed: {other.error}",
                promise="event.dropped",
            )
        if order[-2:] != [(i, "first"), (i, "second")]:
            raise Failure(
                "A wait makes later work wait for the event's last record, but it ended as the event was dropped.",
                promise="stream.wait",
            )


@pytest.mark.promise("executor.synchronize", "stream.no-raise-for-earlier-work")
def test_the_device_s_synchronize_raises_nothing(executor: StreamExecutor, stream: Stream) -> None:
    """Neither without work, nor while work is in flight, nor after a failure."""
    called: list[int] = []
    for work in (lambda: None, pause(0.01), fail(), lambda: called.append(1)):
        stream.host_callback(work)
        try:
            executor.synchronize()
        except Exception as error:
            raise Failure(
                f"`synchronize` of a device waits for its work, but it raised {error!r}.",
                promise="executor.synchronize",
            ) from error
        stream.finish().synchronize()
    if called != [1]:
        raise Failure(
            "`synchronize` of a device only waits, but work after it was not done.", promise="executor.synchronize"
        )
