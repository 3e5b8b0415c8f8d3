"""Failures: every kind of work is skipped after one, events carry the first cause, and streams recover."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator

import pytest

from xla_conformance.claims import not_supported
from xla_conformance.device.gates import PATIENCE, Boom, Gate, fail, required
from xla_conformance.device.kinds import KINDS, Workpiece
from xla_conformance.device.launches import Launcher
from xla_conformance.failures import Failure
from xla_core.backend import Event, Stream, StreamExecutor
from xla_core.errors import InternalError, InvalidArgumentError, ResourceExhaustedError, UnavailableError, XlaError

ERRORS = (InternalError, InvalidArgumentError, ResourceExhaustedError, UnavailableError)
SKIPPED = "A failure poisons the stream, and later work is skipped, but"


@pytest.fixture
def work(executor: StreamExecutor, launcher: Launcher | None) -> Iterator[Workpiece]:
    idle = executor.create_stream()
    made = Workpiece(executor, idle, launcher)
    yield made
    made.close()
    idle.close()


def _raiser(error: Exception) -> Callable[[], None]:
    def callback() -> None:
        raise error

    return callback


def _recorded(stream: Stream) -> Event:
    event = stream.create_event()
    stream.record(event)
    return event


POISONS = ("a callback", "a pending event", "a failed event")


def _poison(stream: Stream, other: Stream, how: str) -> None:
    """Poisons `stream`; the cause is a Boom with the text "the cause"."""
    if how == "a callback":
        stream.host_callback(fail("the cause"))
        return
    gate = Gate()
    if how == "a pending event":
        gate.hold(other)
    other.host_callback(fail("the cause"))
    event = other.finish()
    if how == "a failed event":
        event.synchronize(PATIENCE)
    stream.wait(event)
    gate.require_closed("`wait` for an event of a held stream")
    gate.open()


@pytest.mark.promise(
    "stream.failure-poisons", "stream.later-work-skipped", "stream.recover", "stream.finish-recovers",
    "stream.finish-event", "event.ready-after-skipped-work", "event.first-error", "stream.wait-for-error",
    "stream.host-callback-raises", "stream.synchronize-raises-nothing",
)  # fmt: skip
@pytest.mark.parametrize("held", [False, True], ids=["idle", "held"])
@pytest.mark.parametrize("how", POISONS)
@pytest.mark.parametrize("kind", KINDS)
def test_work_is_skipped_until_the_stream_recovers(
    stream: Stream,
    other: Stream,
    work: Workpiece,
    launcher: Launcher | None,
    gate: Gate,
    kind: str,
    how: str,
    held: bool,
) -> None:
    if kind == "launch" and launcher is None:
        not_supported("it adds neither s32 nor f32")
    if held:
        gate.hold(stream)
    before = work.enqueue(kind, stream)
    fine = _recorded(stream)
    _poison(stream, other, how)
    if not held:
        stream.synchronize()
        required(
            stream.error, "Stream.error is the failure that poisoned the stream.", promise="stream.failure-poisons"
        )
    skipped = [work.enqueue(kind, stream) for _ in range(3)]
    failed = _recorded(stream)
    stream.host_callback(fail("a later failure"))
    finished = stream.finish()
    after = [work.enqueue(kind, stream) for _ in range(3)]
    healthy = stream.finish()
    gate.require_closed(f"{kind} on a poisoned stream")
    gate.open()
    for event in (fine, failed, finished, healthy):
        if not event.synchronize(PATIENCE):
            raise Failure(
                "An event is ready once all work before it is done or has been skipped, but it isn't.",
                promise="event.ready-after-skipped-work",
            )
    stream.synchronize()
    if not before():
        raise Failure(
            f"A failure makes the stream skip later work, but {kind} before it was skipped too.",
            promise="stream.later-work-skipped",
        )
    if any(done() for done in skipped):
        raise Failure(f"{SKIPPED} {kind} was done.", promise="stream.later-work-skipped")
    if not all(done() for done in after):
        raise Failure(f"`recover` makes later work run again, but {kind} was skipped.", promise="stream.recover")
    for event, name in ((failed, "recorded after a failure"), (finished, "that `finish` returned")):
        error = required(
            event.error,
            f"An event {name} carries the first failure of the work before it.",
            promise="event.first-error",
        )
        if "the cause" not in str(error) or not isinstance(error.__cause__, Boom):
            raise Failure(
                f"An event {name} carries the first failure, but it has {error!r}, caused by {error.__cause__!r}.",
                promise="event.first-error",
            )
    for event in (fine, healthy):
        if event.error is not None:
            raise Failure(
                f"An event carries a failure of the work before it, but this one carries another: {event.error}",
                promise="event.first-error",
            )
    if stream.error is not None:
        raise Failure(
            "Stream.error is None for a stream that works, but after `finish` it isn't.", promise="stream.error"
        )


@pytest.mark.promise("stream.host-callback-raises", "event.first-error")
@pytest.mark.parametrize("error", ERRORS)
def test_an_xla_error_stays_what_it_is(stream: Stream, error: type[XlaError]) -> None:
    given = error("the chip is on fire", hint="call the fire brigade")
    stream.host_callback(_raiser(given))
    event = stream.finish()
    event.synchronize(PATIENCE)
    found = required(
        event.error, "An exception in a callback poisons the stream.", promise="stream.host-callback-raises"
    )
    if type(found) is not error or found.message != given.message or found.hint != given.hint:
        raise Failure(
            f"An XlaError of a callback poisons the stream as it is, but {given!r} became {found!r}.",
            promise="stream.host-callback-raises",
        )


@pytest.mark.promise("stream.host-callback-raises", "stream.error")
@pytest.mark.parametrize("error", [ValueError, KeyError, MemoryError, StopIteration, ZeroDivisionError])
@pytest.mark.parametrize("arguments", [("boom",), ()], ids=["with a message", "without one"])
def test_another_exception_is_wrapped(stream: Stream, error: type[Exception], arguments: tuple[str, ...]) -> None:
    given = error(*arguments)
    stream.host_callback(_raiser(given))
    event = stream.finish()
    event.synchronize(PATIENCE)
    found = required(
        event.error, "An exception in a callback poisons the stream.", promise="stream.host-callback-raises"
    )
    if found.__cause__ is not given:
        raise Failure(
            f"An exception is wrapped in an XlaError and kept as its cause, but {found!r} has {found.__cause__!r}.",
            promise="stream.host-callback-raises",
        )


@pytest.mark.promise("event.first-error", "stream.failure-poisons", "stream.no-raise-for-earlier-work")
@pytest.mark.parametrize("held", [False, True], ids=["idle", "held"])
def test_the_first_cause_is_kept(stream: Stream, other: Stream, gate: Gate, held: bool) -> None:
    """Later failures, and events with other errors, change nothing."""
    other.host_callback(fail("of another stream"))
    foreign = other.finish()
    if held:
        gate.hold(stream)
    for i in range(30):
        stream.host_callback(fail(f"failure {i};"))
        stream.host_callback(fail("a later one"))
        stream.wait(foreign)
        events = [_recorded(stream), stream.finish()]
        if i:
            continue
        gate.open()
        for event in events:
            event.synchronize(PATIENCE)
            if f"failure {i};" not in str(event.error):
                raise Failure(
                    f"Events that are recorded later carry the first failure, but this one has {event.error!r}.",
                    promise="stream.failure-poisons",
                )


@pytest.mark.promise("stream.wait-for-error", "stream.finish-recovers")
def test_a_failure_crosses_many_streams(executor: StreamExecutor, gate: Gate) -> None:
    streams = [executor.create_stream() for _ in range(8)]
    called: list[int] = []
    gate.hold(streams[0])
    streams[0].host_callback(fail("far away"))
    events = []
    for i, stream in enumerate(streams):
        stream.host_callback(functools.partial(called.append, i))
        events.append(stream.finish())
        if i + 1 < len(streams):
            streams[i + 1].wait(events[i])
    after = [stream.finish() for stream in streams]
    gate.open()
    for stream in streams:
        stream.synchronize()
    for event in events:
        if "far away" not in str(event.error):
            raise Failure(
                f"An error of the event poisons the stream that waits, but the event after it has {event.error!r}.",
                promise="stream.wait-for-error",
            )
    if called or any(event.error for event in after):
        raise Failure(
            f"{SKIPPED} streams {called} worked on, or didn't recover: {[e.error for e in after]}.",
            promise="stream.later-work-skipped",
        )
    for stream in streams:
        stream.close()


@pytest.mark.promise("stream.failure-poisons", "stream.recover", "stream.finish-recovers")
@pytest.mark.parametrize("held", [False, True], ids=["idle", "held"])
def test_hundreds_of_units_of_work_of_which_some_fail(stream: Stream, gate: Gate, held: bool) -> None:
    called: list[int] = []
    events: list[Event] = []
    if held:
        gate.hold(stream)
    for i in range(400):
        stream.host_callback(functools.partial(called.append, i))
        if i % 3 == 0:
            stream.host_callback(fail(f"unit {i};"))
        stream.host_callback(functools.partial(called.append, -i))
        if not held and i % 3 == 0:
            stream.synchronize()  # the host knows of the failure, and the stream is idle
        if i % 2:
            events.append(stream.finish())
        else:
            events.append(_recorded(stream))
            stream.recover()
    gate.require_closed("a callback")
    gate.open()
    stream.synchronize()
    if called != [n for i in range(400) for n in ((i,) if i % 3 == 0 else (i, -i))]:
        raise Failure(
            f"{SKIPPED} not exactly the work between a failure and the end of its unit was skipped.",
            promise="stream.later-work-skipped",
        )
    for i, event in enumerate(events):
        if (event.error is None) != (i % 3 != 0) or (event.error is not None and f"unit {i};" not in str(event.error)):
            raise Failure(
                f"`finish` returns an event that carries the failure of its work, but unit {i} has {event.error!r}.",
                promise="stream.finish-event",
            )


@pytest.mark.promise("stream.no-raise-for-earlier-work")
def test_no_method_raises_for_a_failure_of_earlier_work(
    stream: Stream, other: Stream, work: Workpiece, launcher: Launcher | None
) -> None:
    stream.host_callback(fail())
    stream.synchronize()
    event = stream.create_event()
    calls: dict[str, Callable[[], object]] = {
        **{kind: functools.partial(work.enqueue, kind, stream) for kind in KINDS if kind != "launch" or launcher},
        "create_event": stream.create_event,
        "record": lambda: stream.record(event),
        "Event.synchronize": event.synchronize,
        "Event.ready": lambda: event.ready,
        "Event.error": lambda: event.error,
        "Event.when_ready": lambda: event.when_ready(lambda error: None),
        "wait": lambda: (stream.wait(event), other.wait(event)),
        "error": lambda: stream.error,
        "synchronize": stream.synchronize,
        "finish": stream.finish,
        "recover": stream.recover,
    }
    for name, call in calls.items():
        try:
            call()
        except Exception as error:
            raise Failure(
                f"No method raises for a failure of earlier work, but {name} raised {error!r}.",
                promise="stream.no-raise-for-earlier-work",
            ) from error
    other.synchronize()
    other.recover()
