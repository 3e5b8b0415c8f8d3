"""Events: when they are ready, waits for them, and their errors."""

from __future__ import annotations

import functools
import gc
import math
import threading
import time
from collections.abc import Callable

import pytest

from xla_conformance.claims import require_devices
from xla_conformance.device.gates import PATIENCE, Gate, fail, patiently, pause, required
from xla_conformance.failures import Failure
from xla_conformance.wording import counted
from xla_core import Client, XlaError
from xla_core.backend import Event, Stream, StreamExecutor


def _recorded(stream: Stream) -> Event:
    event = stream.create_event()
    stream.record(event)
    return event


# -- readiness --------------------------------------------------------------------------------------------------------


@pytest.mark.promise("stream.create-event", "stream.new-event-ready", "event.never-recorded")
def test_an_event_that_was_never_recorded_is_ready(stream: Stream, other: Stream, gate: Gate) -> None:
    gate.hold(stream)
    event = stream.create_event()
    called: list[XlaError | None] = []
    event.when_ready(called.append)
    other.wait(event)
    passed = _recorded(other)
    if not event.ready or event.error is not None or not event.synchronize(0.0) or called != [None]:
        raise Failure(
            "An event that was never recorded is ready, whatever its stream does, but this one isn't.",
            promise="event.never-recorded",
        )
    if not patiently(passed.synchronize, PATIENCE / 4):
        raise Failure("An event that was never recorded is ready, but a stream waits for it.", promise="stream.wait")


@pytest.mark.promise("event.ready", "event.ready-never-blocks", "event.synchronize-timeout", "stream.record-again")
def test_an_event_tells_when_its_point_is_reached(stream: Stream) -> None:
    """Many times, and with one event that is recorded again and again."""
    event = stream.create_event()
    quickest = PATIENCE
    for number in range(60):
        gate = Gate()
        gate.hold(stream)
        if number % 2:
            event = stream.create_event()
        stream.record(event)
        start = time.monotonic()
        states = {
            "`ready`": event.ready,
            "`error is not None`": event.error is not None,
            **{f"`synchronize({seconds})`": event.synchronize(seconds) for seconds in (0.0, 1e-9, 1e-6, 0.0004, 0.003)},
        }
        took = time.monotonic() - start
        quickest = min(quickest, took)
        gate.require_closed("`Event.ready` or a wait with a timeout", "event.ready-never-blocks")
        if any(states.values()):
            which = ", ".join(question for question, answer in states.items() if answer)
            raise Failure(
                f"An event is ready once all work before it is done, but before that these are True: {which}.",
                promise="event.ready-after-work",
            )
        if took < 0.002:
            raise Failure(
                "`synchronize(0.003)` returned at once, though the event wasn't ready.",
                promise="event.synchronize-timeout",
            )
        gate.open()
        if event.synchronize(PATIENCE) is not True or not event.ready:
            raise Failure(
                "`synchronize` blocks until the event is ready and returns `ready`, but it isn't.",
                promise="event.synchronize-timeout",
            )
    if quickest > 0.2:
        raise Failure(
            f"`synchronize` blocks for `timeout` seconds at most, but 0.003 became {quickest:.2f} s each time.",
            promise="event.synchronize-timeout",
        )
    gate = Gate()
    gate.hold(stream)
    stream.record(event)
    early = event.synchronize(1.25)  # a driver may take whole seconds
    gate.require_closed("A wait of 1.25 s", "event.synchronize-timeout")
    gate.open()
    if early:
        raise Failure(
            "`synchronize` returns `ready`, but after its timeout it says True of an event that isn't.",
            promise="event.synchronize-raises-nothing",
        )


@pytest.mark.promise("event.ready-after-work", "stream.record", "stream.in-order")
def test_events_become_ready_in_order(stream: Stream) -> None:
    events: list[Event] = []
    done: list[int] = []
    for number in range(200):
        stream.host_callback(pause(0.0002 if number % 7 == 0 else 0))
        stream.host_callback(functools.partial(done.append, number))
        events.append(_recorded(stream))
    while not events[-1].ready:
        count = sum(event.ready for event in reversed(events))  # from the last on, so that no later one is too early
        if count > len(done):
            raise Failure(
                f"{count} events were ready, but the work before only {len(done)} was done.",
                promise="event.ready-after-work",
            )
        time.sleep(0.0005)
    stream.synchronize()
    if not all(event.ready and event.error is None for event in events):
        raise Failure(
            "An event is ready once all work before it is done, but an earlier one isn't.",
            promise="event.ready-after-work",
        )


@pytest.mark.promise("event.wait-for-last-record", "stream.wait", "event.synchronize-timeout")
@pytest.mark.parametrize("who", ["the host", "the host with a timeout", "a stream", "a busy stream"])
def test_a_wait_is_for_the_record_that_was_made_before_it(
    stream: Stream, other: Stream, executor: StreamExecutor, who: str
) -> None:
    """The event is recorded again, behind work that doesn't end. It doesn't prolong the wait.

    On a busy machine the waiting thread may come to its wait only after the second record. So a round whose wait is
    prolonged is tried again with more time before that record.
    """
    pause = 0.005
    for _ in range(10):
        first, second, busy = Gate(), Gate(PATIENCE), Gate()
        event = stream.create_event()
        first.hold(stream)
        stream.record(event)
        begun, passed = threading.Event(), threading.Event()

        def wait(event: Event = event, begun: threading.Event = begun, passed: threading.Event = passed) -> None:
            begun.set()
            if "stream" in who:
                other.synchronize()
            else:
                event.synchronize(None if who == "the host" else PATIENCE)
            passed.set()

        if who == "a busy stream":
            busy.hold(other)
        if "stream" in who:
            other.wait(event)
        thread = threading.Thread(target=wait, daemon=True)
        thread.start()
        begun.wait(PATIENCE)
        time.sleep(pause)
        second.hold(stream)
        stream.record(event)
        busy.open()  # the stream comes to its wait after the second record
        if passed.is_set():
            raise Failure("A wait lasts until the event's record, but it ended before.", promise="stream.wait")
        first.open()
        prolonged = not patiently(passed.wait, PATIENCE / 4)
        if not prolonged and event.ready:
            raise Failure("A later record re-arms an event, but it is ready.", promise="stream.record-again")
        second.open()
        thread.join(PATIENCE)
        if prolonged:
            if pause > 0.1 or "stream" in who:
                raise Failure(
                    f"Recording an event again doesn't prolong a wait, but {who} waited for the new record.",
                    promise="event.wait-for-last-record",
                )
            pause *= 10


@pytest.mark.promise("event.wait-for-last-record", "stream.wait", "stream.record-again", "stream.concurrent")
@pytest.mark.parametrize("count", [2, 9])
def test_streams_wait_for_one_event(executor: StreamExecutor, stream: Stream, count: int) -> None:
    """Each of them waits, the first half for an earlier record than the second."""
    waiting = [executor.create_stream() for _ in range(count)]
    early, late = set(range(count // 2)), set(range(count // 2, count))
    for _ in range(5):
        gates = [Gate(), Gate()]
        called: list[int] = []
        event = stream.create_event()
        for gate, part in zip(gates, (early, late), strict=True):
            gate.hold(stream)
            stream.record(event)
            for number in sorted(part):
                waiting[number].wait(event)
                waiting[number].host_callback(functools.partial(called.append, number))
        for gate, part in zip(gates, (early, late), strict=True):
            time.sleep(0.002)
            before = set(called)
            gate.require_closed("`wait`")
            gate.open()
            for number in part:
                waiting[number].synchronize()
            if part & before or not part <= set(called):
                raise Failure(
                    f"Every stream that waits for an event waits for its last record, but {len(part & before)} of "
                    f"{len(part)} went on before it, and {len(part - set(called))} did not go on after it.",
                    promise="event.wait-for-last-record",
                )
    stream.synchronize()
    for other in waiting:
        other.close()


@pytest.mark.promise("stream.wait", "stream.concurrent")
def test_streams_of_two_devices_wait_for_each_other(client: Client) -> None:
    require_devices(client, 2)
    here, there = (device.executor.create_stream() for device in client.devices[:2])
    order: list[int] = []
    for number in range(100):
        first, second = (here, there) if number % 2 else (there, here)
        gate = Gate()
        gate.hold(first)
        first.host_callback(functools.partial(order.append, 2 * number))
        second.wait(_recorded(first))
        second.host_callback(functools.partial(order.append, 2 * number + 1))
        gate.require_closed("`wait` for another device's event")
        gate.open()
        first.wait(_recorded(second))
    for stream in (here, there):
        stream.synchronize()
        stream.close()
    if order != list(range(200)):
        raise Failure(
            "A stream waits for events of any stream of the platform, but not for those of another device.",
            promise="stream.wait",
        )


@pytest.mark.promise("event.synchronize-raises-nothing", "event.first-error", "stream.record-again")
def test_an_event_with_an_error(stream: Stream) -> None:
    event = stream.create_event()
    for number in range(20):
        stream.host_callback(fail(f"failure {number};"))
        stream.record(event)
        stream.recover()
        if event.synchronize() is not True or event.synchronize(1.0) is not True or event.synchronize(0.0) is not True:
            raise Failure(
                "`synchronize` returns `ready`, also for an event with an error, but it didn't.",
                promise="event.synchronize-raises-nothing",
            )
        error = required(
            event.error, "An event carries the first failure of the work before it.", promise="event.first-error"
        )
        if f"failure {number};" not in str(error):
            raise Failure(
                f"An event that is recorded again has the error of the last record, not {error!r}.",
                promise="event.first-error",
            )
        stream.record(event)
        event.synchronize()
        if event.error is not None:
            raise Failure(
                f"An event that is recorded again after a recovery has no error, but it has {event.error!r}.",
                promise="event.first-error",
            )


_LIMITS = [
    math.ceil(2 * PATIENCE / (unit * 2**bits)) * unit * 2**bits + 0.001
    for unit in (1e-9, 1e-6, 1e-3, 1)
    for bits in (16, 31, 32)
]
"""Timeouts, in seconds, that become almost 0 if a driver counts them in 16, 31 or 32 bits."""


@pytest.mark.promise("event.thread-safe", "event.synchronize-holds-no-lock", "event.synchronize-timeout")
def test_threads_wait_for_one_event(stream: Stream, gate: Gate) -> None:
    """While they wait, other threads and callbacks of the stream run Python."""
    ran: list[int] = []
    gate.hold(stream)
    stream.host_callback(lambda: ran.append(1))
    event = _recorded(stream)
    results: list[tuple[bool, bool, XlaError | None, bool]] = []

    def wait(timeout: float | None) -> None:
        results.append((event.synchronize(timeout), event.ready, event.error, ran == [1]))

    threads = [threading.Thread(target=wait, args=(t,), daemon=True) for t in (*_LIMITS, *(None, PATIENCE) * 3)]
    for thread in threads:
        thread.start()
    time.sleep(0.05)
    gate.require_closed("a thread", "event.synchronize-holds-no-lock")
    gate.open()
    for thread in threads:
        thread.join(PATIENCE)
    wrong = [result for result in results if result != (True, True, None, True)]
    if wrong or len(results) < len(threads):
        came = f"{len(results)} of {counted(len(threads), 'thread')} that wait for one event came back in time"
        if wrong:
            ended, ready, error, done = wrong[0]
            came += (
                f", and {len(wrong)} too early or with an error: `synchronize` returned {ended}, then `ready` was "
                f"{ready}, `error` was {error!r}, and the work before was {'' if done else 'not '}done"
            )
        raise Failure(f"{came}.", promise="event.thread-safe")


@pytest.mark.promise("event.synchronize-holds-no-lock", "stream.synchronize")
@pytest.mark.parametrize("what", ["an event", "a stream"])
def test_other_threads_run_while_the_host_waits(stream: Stream, what: str) -> None:
    """A thread releases the GIL hundreds of times, which takes a second if the wait holds it for milliseconds."""

    def seconds(wait: Callable[[Gate], object]) -> float:
        gate, took = Gate(), [PATIENCE]

        def give_way() -> None:
            start = time.monotonic()
            for _ in range(400):
                time.sleep(0)
            took[0] = time.monotonic() - start
            gate.open()

        gate.hold(stream)
        thread = threading.Thread(target=give_way, daemon=True)
        thread.start()
        wait(gate)
        thread.join(PATIENCE)
        return took[0]

    def for_device(gate: Gate) -> None:
        if what == "a stream":
            stream.synchronize()
        else:
            _recorded(stream).synchronize()

    for _ in range(6):  # another process may take the processor, but not each time
        here, there = seconds(Gate.wait), seconds(for_device)
        if there < 0.4 or there < 20 * here:
            return
    raise Failure(
        f"A wait holds no lock that other threads need, such as the GIL. While the host waits for {what}, a thread "
        f"needed {there:.2f} s for what takes {here:.4f} s.",
        promise="event.synchronize-holds-no-lock",
    )


# -- ends -------------------------------------------------------------------------------------------------------------


@pytest.mark.promise("event.close-once", "event.destroy-any-thread", "event.destroy-after-close", "executor.close")
def test_events_are_closed_once_and_late(open_client: Callable[[], Client]) -> None:
    """Also by other threads, and after their device was closed."""
    events: list[Event] = []
    with open_client() as client:
        stream = client.devices[0].executor.create_stream()
        events += [_recorded(stream) for _ in range(20)]
        stream.host_callback(fail())
        events += [_recorded(stream) for _ in range(5)]
        stream.synchronize()
        stream.close()
    problems: list[BaseException] = []

    def close(part: list[Event]) -> None:
        try:
            for event in part:
                event.close()
                event.close()
        except BaseException as problem:
            problems.append(problem)

    thread = threading.Thread(target=close, args=(events[1::2],))
    thread.start()
    close(events[::2])
    thread.join(PATIENCE)
    if problems:
        raise Failure(
            f"`Event.destroy` may be called after the device was closed, but it raised {problems[0]!r}.",
            promise="event.destroy-after-close",
        )
    events.clear()
    gc.collect()
