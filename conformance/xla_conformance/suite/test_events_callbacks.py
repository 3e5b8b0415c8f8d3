"""Callbacks of `when_ready`: when they run, how often, on which thread, and that a failing one breaks nothing."""

from __future__ import annotations

import gc
import sys
import threading
import time

import numpy as np
import pytest

from xla_conformance.device.gates import PATIENCE, Gate, fail, pause
from xla_conformance.failures import Failure
from xla_core import Client, XlaError
from xla_core.backend import Event, Stream, StreamExecutor

ONCE = "`when_ready` calls a callback once when the event is ready, but"


def _recorded(stream: Stream) -> Event:
    event = stream.create_event()
    stream.record(event)
    return event


class Calls:
    """A callback that notes its calls: the error, the thread, and whether the event was ready."""

    def __init__(self, event: Event) -> None:
        self.event: Event | None = event
        self.calls: list[tuple[XlaError | None, int, bool]] = []
        self._called = threading.Event()

    def __call__(self, error: XlaError | None) -> None:
        self.calls.append((error, threading.get_ident(), self.event is None or self.event.ready))
        self._called.set()

    def wait(self) -> XlaError | None:
        """Waits for the call, and returns its error."""
        if not self._called.wait(PATIENCE):
            raise Failure(f"{ONCE} it was not called.", promise="event.when-ready-once")
        return self.calls[0][0]


@pytest.mark.promise("event.when-ready-once", "event.when-ready-thread", "event.ready-after-work")
@pytest.mark.parametrize("failed", [False, True], ids=["fine", "failed"])
def test_a_callback_is_called_once_when_the_event_is_ready(stream: Stream, gate: Gate, failed: bool) -> None:
    threads: list[int] = []
    gate.hold(stream)
    stream.host_callback(lambda: threads.append(threading.get_ident()))
    if failed:
        stream.host_callback(fail("on purpose"))
    events = [_recorded(stream) for _ in range(40)]
    stream.recover()
    waiting = [Calls(event) for number, event in enumerate(events) for _ in range(3 if number else 40)]
    for calls in waiting:
        assert calls.event is not None
        calls.event.when_ready(calls)
    time.sleep(0.02)
    if any(calls.calls for calls in waiting):
        raise Failure(f"{ONCE} it was called before.", promise="event.when-ready-once")
    gate.require_closed("`when_ready`")
    gate.open()
    errors = [calls.wait() for calls in waiting]
    now = Calls(events[0])
    events[0].when_ready(now)
    if [ident for _, ident, _ in now.calls] != [threading.get_ident()]:
        raise Failure(
            "If the event is ready now, the caller's thread calls the callback, but it didn't.",
            promise="event.when-ready-thread",
        )
    if failed != all("on purpose" in str(error) for error in [*errors, now.calls[0][0]]):
        raise Failure(
            f"`when_ready` calls callback(error) with the event's error, but with {errors[0]!r}.",
            promise="event.when-ready-once",
        )
    stream.synchronize()
    time.sleep(0.02)
    for calls in waiting:
        if len(calls.calls) != 1:
            raise Failure(f"{ONCE} one was called {len(calls.calls)} times.", promise="event.when-ready-once")
        (_, ident, ready) = calls.calls[0]
        if not ready:
            raise Failure(f"{ONCE} it was called while `ready` was false.", promise="event.when-ready-once")
        if ident in (threading.get_ident(), *threads):
            raise Failure(
                "If the event isn't ready, a thread that is not the device's own calls the callback.",
                promise="event.when-ready-thread",
            )


@pytest.mark.promise("event.when-ready-once", "event.thread-safe")
def test_a_callback_is_registered_while_the_event_becomes_ready(stream: Stream, random: np.random.Generator) -> None:
    """A moment before that, at that time, or a moment after."""
    for seconds in random.uniform(0, 0.001, 60).tolist():
        stream.host_callback(pause(seconds))
        event = _recorded(stream)
        calls = Calls(event)
        event.when_ready(calls)
        calls.wait()


@pytest.mark.promise("event.when-ready-once", "stream.record-again")
def test_a_callback_outlives_the_record(stream: Stream) -> None:
    """The event is recorded again before it is ready, and once more when it is."""
    for _ in range(10):
        gate = Gate()
        gate.hold(stream)
        event = _recorded(stream)
        waiting = [Calls(event)]
        event.when_ready(waiting[0])
        stream.record(event)
        waiting.append(Calls(event))
        event.when_ready(waiting[1])
        gate.require_closed("`when_ready`")
        gate.open()
        for calls in waiting:
            calls.wait()
        stream.record(event)
        stream.synchronize()
        if any(len(calls.calls) != 1 for calls in waiting):
            raise Failure(f"{ONCE} after another record it was called again.", promise="event.when-ready-once")


@pytest.mark.promise("event.when-ready-once", "event.dropped")
def test_a_callback_outlives_its_event(stream: Stream) -> None:
    for _ in range(20):
        gate = Gate()
        gate.hold(stream)
        event = _recorded(stream)
        calls = Calls(event)
        calls.event = None
        event.when_ready(calls)
        del event
        gc.collect(0)
        gate.open()
        calls.wait()


@pytest.mark.promise("event.when-ready-thread")
def test_a_callback_may_use_the_device(client: Client, stream: Stream, executor: StreamExecutor) -> None:
    """It even waits for the stream whose event it was called for."""
    values: list[object] = []
    done = threading.Event()

    def callback(error: XlaError | None) -> None:
        values.append(np.asarray(client.buffer_from_host(np.array([1, 2], np.float32))).tolist())
        stream.host_callback(lambda: values.append("more work"))
        stream.synchronize()
        done.set()

    gate = Gate()
    gate.hold(stream)
    _recorded(stream).when_ready(callback)
    gate.open()
    if not done.wait(PATIENCE) or values != [[1.0, 2.0], "more work"]:
        raise Failure("A callback of `when_ready` may use the device, but it hung.", promise="event.when-ready-thread")


@pytest.mark.promise("event.when-ready-once", "event.when-ready-thread")
@pytest.mark.parametrize("error", [ValueError, XlaError, SystemExit, KeyboardInterrupt])
def test_a_bad_callback_harms_nothing(
    stream: Stream, monkeypatch: pytest.MonkeyPatch, error: type[BaseException]
) -> None:
    """Other callbacks, of the same event and of later ones, are still called."""
    monkeypatch.setattr(sys, "excepthook", lambda *arguments: None)
    monkeypatch.setattr(threading, "excepthook", lambda *arguments: None)

    def bad(given: XlaError | None) -> None:
        raise error("a bad callback")

    for _ in range(5):
        gate = Gate()
        gate.hold(stream)
        events = [_recorded(stream) for _ in range(3)]
        waiting = []
        for event in events:
            event.when_ready(bad)
            waiting.append(Calls(event))
            event.when_ready(waiting[-1])
        gate.open()
        for calls in waiting:
            calls.wait()
        stream.synchronize()
        if stream.error is not None or any(event.error for event in events):
            raise Failure(
                f"A callback of `when_ready` raised, and then the stream has the error {stream.error!r}.",
                promise="event.when-ready-once",
            )


@pytest.mark.promise("event.when-ready-thread", "stream.enqueue-never-blocks")
def test_a_slow_callback_holds_no_stream(stream: Stream, other: Stream, gate: Gate) -> None:
    opened = Gate()
    opened.hold(stream)
    _recorded(stream).when_ready(lambda error: gate.wait())
    opened.open()
    seen: list[int] = []
    for queue in (stream, other):
        queue.host_callback(lambda: seen.append(1))
        queue.synchronize()
    if len(seen) != 2 or gate.expired:
        raise Failure(
            "Callbacks of `when_ready` are not called on a device's thread, but one held a stream up.",
            promise="event.when-ready-thread",
        )
