"""Streams and events of the host: in order, concurrent, poisoned, recovered, forked, interrupted."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
import weakref
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.xla_core.runtime.host.memory_device import Memory
from xla_core.errors import (
    FailedPreconditionError,
    InternalError,
    InvalidArgumentError,
    ResourceExhaustedError,
    XlaError,
)
from xla_core.runtime import HostEvent, HostStream


@pytest.fixture
def device() -> Memory:
    return Memory()


def test_work_runs_in_order(device: Memory) -> None:
    stream = HostStream(device)
    seen: list[int] = []
    for i in range(200):
        stream.enqueue(lambda i=i: seen.append(i), 1.0 if i % 3 else float("inf"))
    stream.synchronize()
    assert seen == list(range(200))


def test_short_work_runs_in_the_caller_when_idle(device: Memory) -> None:
    stream = HostStream(device)
    where: list[int] = []
    stream.enqueue(lambda: where.append(threading.get_ident()), 1.0)
    assert where == [threading.get_ident()]
    assert stream.finish().ready
    stream.enqueue(lambda: where.append(threading.get_ident()), 1000.0)
    stream.synchronize()
    assert where[1] != threading.get_ident()


def test_enqueueing_never_blocks_and_streams_overlap(device: Memory) -> None:
    a, b = HostStream(device, "a"), HostStream(device, "b")
    meet = threading.Barrier(3)
    for stream in (a, b):
        stream.host_callback(lambda: meet.wait(10))  # returns only when both streams and the host are here at once
    meet.wait(10)
    a.synchronize()
    b.synchronize()
    assert a.error is None
    assert b.error is None


def test_events_order_streams(device: Memory) -> None:
    a, b = HostStream(device), HostStream(device)
    gate = threading.Event()
    seen: list[str] = []
    a.host_callback(lambda: (gate.wait(10), seen.append("a"))[0])
    event = a.create_event()
    a.record(event)
    b.wait(event)
    b.host_callback(lambda: seen.append("b"))
    assert not event.ready
    assert not event.synchronize(timeout=0.01)
    assert seen == []
    gate.set()
    b.synchronize()
    assert seen == ["a", "b"]
    assert event.ready


def test_an_event_never_recorded_is_ready_and_may_be_recorded_again(device: Memory) -> None:
    stream, event, gate = HostStream(device), HostEvent(), threading.Event()
    assert event.ready
    assert event.synchronize()
    stream.host_callback(lambda: gate.wait(10))
    stream.record(event)
    assert not event.ready
    gate.set()
    stream.synchronize()
    assert event.ready
    gate.clear()
    stream.host_callback(lambda: gate.wait(10))
    stream.record(event)
    assert not event.ready
    gate.set()
    assert event.synchronize(10)


def test_a_stream_waits_for_the_record_that_was_made_when_it_was_asked_to(device: Memory) -> None:
    first, second = HostStream(device, "first"), HostStream(device, "second")
    one, two = threading.Event(), threading.Event()
    event = first.create_event()
    first.host_callback(lambda: one.wait(10))
    first.record(event)
    second.wait(event)
    done = second.finish()
    first.wait(done)  # the first stream goes on after the second
    first.host_callback(lambda: two.wait(10))
    first.record(event)  # a later record, behind the second stream's wait
    one.set()
    assert done.synchronize(10)
    assert not event.ready
    two.set()
    assert event.synchronize(10)


def test_a_wait_of_the_host_is_for_the_last_record_too(device: Memory) -> None:
    stream, one, two = HostStream(device), threading.Event(), threading.Event()
    event = stream.create_event()
    stream.host_callback(lambda: one.wait(10))
    stream.record(event)
    waited = threading.Event()
    threading.Thread(target=lambda: (event.synchronize(), waited.set()), daemon=True).start()
    time.sleep(0.05)
    stream.host_callback(lambda: two.wait(10))
    stream.record(event)
    one.set()
    assert waited.wait(10)
    two.set()
    assert event.synchronize(10)


def test_finish_ends_the_poison_without_waiting(device: Memory) -> None:
    stream, gate = HostStream(device), threading.Event()
    stream.host_callback(lambda: gate.wait(10))
    stream.host_callback(lambda: fail(ValueError("no")))
    done = stream.finish()
    after = stream.finish()
    assert not done.ready
    gate.set()
    done.synchronize(10)
    after.synchronize(10)
    assert done.error is not None
    assert after.error is None


def test_no_more_threads_is_an_error(device: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    def start(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    stream = HostStream(device)
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", start)
        with pytest.raises(ResourceExhaustedError, match="no thread can be started"):
            stream.host_callback(lambda: None)
    seen: list[int] = []
    stream.host_callback(lambda: seen.append(1))
    stream.synchronize()
    assert seen == [1]


def fail(error: Exception) -> None:
    raise error


def test_poison_skips_later_work_keeps_the_first_cause_and_ends_at_finish(device: Memory) -> None:
    stream = HostStream(device)
    first = InvalidArgumentError("first")
    seen: list[int] = []
    stream.enqueue(lambda: fail(first))
    stream.enqueue(lambda: fail(ValueError("second")))
    stream.enqueue(lambda: seen.append(1), 1.0)
    event = stream.create_event()
    stream.record(event)
    done = stream.finish()
    stream.enqueue(lambda: seen.append(2), 1.0)
    after = stream.finish()
    after.synchronize()
    assert event.error is first
    assert done.error is first
    assert after.error is None
    assert seen == [2]


def test_poison_crosses_streams_through_events(device: Memory) -> None:
    streams = [HostStream(device) for _ in range(4)]
    cause = KeyError("gone")
    gate = threading.Event()
    streams[0].host_callback(lambda: (gate.wait(10), fail(cause))[0])
    event = streams[0].finish()
    for stream in streams[1:]:
        stream.wait(event)
        event = stream.finish()
    gate.set()
    event.synchronize()
    assert isinstance(event.error, InternalError)
    assert event.error.__cause__ is cause
    streams[3].enqueue(lambda: None)
    last = streams[3].finish()
    last.synchronize()
    assert last.error is None


def _threads_of(stream: HostStream, runs: int, *, wait: bool) -> list[bool]:
    """Enqueues work of 100 us `runs` times; returns for each whether it ran in this thread."""
    seen: list[int] = []
    for _ in range(runs):
        stream.enqueue(lambda: seen.append(threading.get_ident()), 100.0)
        if wait:
            stream.synchronize()
    stream.synchronize()
    return [ident == threading.get_ident() for ident in seen]


def _wait_for_slow_work(stream: HostStream) -> None:
    """Waits for work that certainly isn't done when the wait begins."""
    gate = threading.Event()
    stream.enqueue(gate.wait)
    event = stream.create_event()
    stream.record(event)
    point = event.point
    stream.expect_wait(point)
    gate.set()
    event.synchronize()


def test_work_runs_in_a_caller_that_waits_for_it(device: Memory) -> None:
    stream = HostStream(device)
    assert _threads_of(stream, 1, wait=False) == [False]
    _wait_for_slow_work(stream)
    assert _threads_of(stream, 16, wait=True) == [True] * 15 + [False]


def test_work_longer_than_half_a_millisecond_stays_in_the_worker(device: Memory) -> None:
    stream = HostStream(device)
    _wait_for_slow_work(stream)
    seen: list[int] = []
    stream.enqueue(lambda: seen.append(threading.get_ident()), 501.0)
    stream.synchronize()
    assert seen != [threading.get_ident()]


def test_a_caller_that_waits_attempts_work_of_unknown_duration(device: Memory) -> None:
    stream = HostStream(device)
    seen: list[str] = []
    short, long = (lambda: seen.append("attempt") is None), (lambda: False)
    stream.enqueue(lambda: seen.append("work"), attempt=short)  # nobody has waited yet
    stream.synchronize()
    _wait_for_slow_work(stream)
    stream.enqueue(lambda: seen.append("work"), attempt=short)
    stream.enqueue(lambda: seen.append("work"), attempt=long)
    stream.synchronize()
    assert seen == ["work", "attempt", "work"]


def test_a_failed_attempt_poisons_the_stream(device: Memory) -> None:
    def fail() -> bool:
        raise ValueError("broken")

    stream = HostStream(device)
    _wait_for_slow_work(stream)
    stream.enqueue(lambda: pytest.fail("an attempt that raised was repeated"), attempt=fail)
    assert stream.error is not None
    assert "broken" in str(stream.error)


def test_a_caller_with_work_on_two_streams_keeps_them_concurrent(device: Memory) -> None:
    first, second = HostStream(device), HostStream(device)
    gate = threading.Event()
    points = []
    for stream in (first, second):
        stream.enqueue(gate.wait)
        event = stream.create_event()
        stream.record(event)
        points.append(event.point)
    first.expect_wait(points[0])  # the second stream got work after that point
    gate.set()
    assert all(point.wait() for point in points)
    assert _threads_of(first, 1, wait=False) == [False]


def test_a_stream_without_inline_work_never_has_any(device: Memory) -> None:
    stream = HostStream(device, inline=False)
    _wait_for_slow_work(stream)
    assert _threads_of(stream, 2, wait=True) == [False, False]


def test_an_inline_failure_poisons_too(device: Memory) -> None:
    stream = HostStream(device)
    stream.enqueue(lambda: fail(ValueError("no")), 1.0)
    assert isinstance(stream.error, XlaError)
    assert stream.finish().error is not None
    assert stream.error is None


def test_the_error_of_inline_work_keeps_nothing_of_the_caller_alive(device: Memory) -> None:
    stream = HostStream(device)

    class Local:
        pass

    def fail() -> None:
        raise InvalidArgumentError("planned")

    def call() -> weakref.ref[Local]:
        local = Local()
        stream.enqueue(fail, 1.0)
        return weakref.ref(local)

    assert call()() is None
    assert stream.error is not None


def test_copies(device: Memory) -> None:
    stream = HostStream(device)
    rng = np.random.default_rng(0)
    for size in (0, 1, 1000, 1 << 20):
        source = rng.integers(0, 256, size).astype(np.uint8)
        a, b = device.allocate(size + 3), device.allocate(size + 3)
        out = np.empty(size, np.uint8)
        stream.memset(b, 7)
        stream.memcpy_h2d(a, source)
        stream.memcpy_d2d(b, a)
        stream.memcpy_d2h(out, b)
        stream.synchronize()
        assert np.array_equal(out, source)
    assert stream.error is None


def test_upload_takes_a_snapshot(device: Memory) -> None:
    stream, gate = HostStream(device), threading.Event()
    memory = device.allocate(4)
    source = np.array([1, 2, 3, 4], np.uint8)
    stream.host_callback(lambda: gate.wait(10))
    stream.upload(memory, source)
    source[:] = 0
    gate.set()
    stream.synchronize()
    assert device.blocks[memory.handle].tolist() == [1, 2, 3, 4]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2), st.booleans()), max_size=30))
def test_any_graph_of_streams_and_events_runs_in_an_order_that_the_events_allow(steps: list) -> None:
    streams = [HostStream(SimpleNamespace(ordinal=0, device_name="device 0")) for _ in range(3)]
    order: list[int] = []
    happens_before: list[set[int]] = []
    last: list[set[int]] = [set(), set(), set()]  # what each stream's later work comes after
    for number, (where, other, slow) in enumerate(steps):
        event = streams[other].create_event()
        streams[other].record(event)
        streams[where].wait(event)
        last[where] = last[where] | last[other]
        happens_before.append(set(last[where]))
        streams[where].enqueue(lambda n=number: order.append(n), float("inf") if slow else 1.0)
        last[where].add(number)
    for stream in streams:
        stream.synchronize()
    place = {number: i for i, number in enumerate(order)}
    assert len(order) == len(steps)
    assert all(place[before] < place[n] for n, befores in enumerate(happens_before) for before in befores)


def test_many_threads_may_use_one_stream(device: Memory) -> None:
    stream = HostStream(device)
    counts = [0]

    def bump() -> None:
        counts[0] += 1  # a lost update would show that two threads were in the stream at once

    def use() -> None:
        for i in range(500):
            stream.enqueue(bump, 1.0 if i % 2 else float("inf"))

    threads = [threading.Thread(target=use) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    stream.synchronize()
    assert counts == [2000]


def test_a_closed_stream_has_done_its_work(device: Memory) -> None:
    stream = HostStream(device)
    seen: list[int] = []
    for i in range(20):
        stream.enqueue(lambda i=i: (time.sleep(0.001), seen.append(i))[0])
    stream.close()
    assert len(seen) == 20


def run_python(source: str, timeout: float = 30) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(source)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=timeout,
    )


def test_the_process_ends_with_work_done_and_no_hang() -> None:
    result = run_python("""
        import time
        from types import SimpleNamespace
        from xla_core.runtime import HostStream
        stream = HostStream(SimpleNamespace(ordinal=0, device_name="device 0"))
        stream.enqueue(lambda: time.sleep(0.2))
        stream.enqueue(lambda: print("done", flush=True))
    """)
    assert (result.returncode, result.stdout, result.stderr) == (0, "done\n", "")


AT_EXIT = """
    import os, sys
    import numpy as np
    import xla_core
    client = xla_core.Client({platform!r})
    exe = client.compile({program!r})
    array = np.ones(100000, np.float32)
    np.asarray(exe(array)[0])

    class Last:
        def __init__(self):
            self.me = self  # a cycle, which is collected while the interpreter shuts down

        def __del__(self, exe=exe, np=np, sys=sys, os=os, array=array):
            (out,) = exe(array)
            os.write(1, f"{{np.asarray(out)[0]}} {{sys.is_finalizing()}}".encode())

    last = Last()
"""
NEGATE = "HloModule m\n\nENTRY e {\n  p = f32[100000] parameter(0)\n  ROOT n = f32[100000] negate(p)\n}\n"


@pytest.mark.parametrize("platform", ["cpu", "template"])
def test_a_program_that_runs_while_the_interpreter_shuts_down(platform: str) -> None:
    pytest.importorskip(f"xla_backend_{platform}")
    result = run_python(AT_EXIT.format(platform=platform, program=NEGATE))
    assert result.stdout == "-1.0 True", result.stderr


def test_after_fork_the_child_gets_an_error_and_no_hang() -> None:
    result = run_python("""
        import os, threading, warnings
        warnings.simplefilter("ignore")
        from types import SimpleNamespace
        from xla_core.runtime import HostStream
        stream, gate = HostStream(SimpleNamespace(ordinal=0, device_name="device 0")), threading.Event()
        stream.host_callback(gate.wait)
        event = stream.finish()
        pid = os.fork()
        if pid == 0:
            event.synchronize()
            stream.enqueue(print)
            stream.synchronize()
            ok = "before a fork" in str(event.error) and "before a fork" in str(stream.finish().error)
            os._exit(0 if ok else 1)
        _, status = os.waitpid(pid, 0)
        gate.set()
        event.synchronize()
        print(os.waitstatus_to_exitcode(status), event.error)
    """)
    assert result.stdout == "0 None\n", result.stderr


def test_control_c_ends_a_wait_and_the_stream_goes_on(device: Memory) -> None:
    stream, gate = HostStream(device), threading.Event()
    stream.host_callback(lambda: gate.wait(20))
    event = stream.finish()
    timer = threading.Timer(0.1, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        event.synchronize()
    gate.set()
    assert event.synchronize(10)
    assert event.error is None


def _with_synchronize(stream: HostStream, other: HostStream) -> None:
    stream.synchronize()


def _with_an_event(stream: HostStream, other: HostStream) -> None:
    stream.enqueue(lambda: None)
    stream.finish().synchronize()


def _through_another_stream(stream: HostStream, other: HostStream) -> None:
    stream.enqueue(lambda: None)
    other.wait(stream.finish())
    other.finish().synchronize()


def _inline(stream: HostStream, work) -> None:
    stream.enqueue(work, 0.0)


@pytest.mark.parametrize("give", [HostStream.enqueue, _inline, HostStream.host_callback])
@pytest.mark.parametrize("wait", [_with_synchronize, _with_an_event, _through_another_stream])
def test_work_that_waits_for_what_comes_after_it_is_an_error(wait, give) -> None:
    stream, other = (
        HostStream(SimpleNamespace(ordinal=0, device_name="device 0"), name) for name in ("first", "second")
    )
    found: list[XlaError] = []
    done = threading.Event()

    def work() -> None:
        try:
            wait(stream, other)
        except XlaError as error:
            found.append(error)
        done.set()

    # Not in this thread: where the wait isn't recognized, it never ends.
    threading.Thread(target=lambda: give(stream, work), daemon=True).start()
    assert done.wait(10)
    (error,) = found
    assert isinstance(error, FailedPreconditionError)
    assert "work on first waits for work that is enqueued after it" in error.message


def test_streams_that_take_turns_are_no_deadlock() -> None:
    """The second stream waited for the first, is past that wait, and hasn't had a chance to say so."""
    first, second = (
        HostStream(SimpleNamespace(ordinal=0, device_name="device 0"), name, inline=False)
        for name in ("first", "second")
    )
    gate = threading.Event()
    passed = HostEvent().arm(first)
    passed.complete()

    def hold() -> None:
        second.awaited = passed
        assert gate.wait(10)

    second.enqueue(hold)
    first.wait(second.finish())
    end = first.finish()
    assert not end.synchronize(0.5)  # waits look for deadlocks every tenth of a second
    gate.set()
    assert end.synchronize(10)
    assert end.error is None
    first.close()
    second.close()


class _GoingOn:
    """A stream that completes a point, and waits for the next stream, while another thread looks for a deadlock."""

    name, turn = "going on", 0

    def __init__(self, following: object) -> None:
        self.point = HostEvent().arm(self)
        self._next = HostEvent().arm(following)

    @property
    def awaited(self):
        self.point.complete()
        return self._next

    def expect_wait(self, point: object) -> None:
        pass


def test_a_stream_that_goes_on_meanwhile_is_no_deadlock() -> None:
    here = HostStream(SimpleNamespace(ordinal=0, device_name="device 0"), "here")
    here.turn = threading.get_ident()
    assert _GoingOn(here).point.wait(5)


def test_work_may_wait_for_another_stream() -> None:
    stream, other = (
        HostStream(SimpleNamespace(ordinal=0, device_name="device 0"), name, inline=False)
        for name in ("first", "second")
    )

    def wait() -> None:
        other.enqueue(lambda: time.sleep(0.3))
        other.finish().synchronize()

    stream.enqueue(wait)
    done = stream.finish()
    assert done.synchronize(10)
    assert done.error is None
