"""Work that a stream of the host keeps back until its caller does it, or the worker."""

from __future__ import annotations

import threading

import pytest

from tests.xla_core.runtime.host.memory_device import Memory
from xla_core.errors import InternalError, ResourceExhaustedError
from xla_core.runtime import HostEvent, HostStream


@pytest.fixture
def device() -> Memory:
    return Memory()


def test_held_work_waits_for_the_caller_who_takes_it(device: Memory) -> None:
    stream = HostStream(device)
    assert stream.hold(lambda: pytest.fail("the caller does it"))
    end = stream.finish()
    assert not end.ready
    assert not stream.hold(lambda: None)  # the queue is not idle
    assert stream.take()
    assert not stream.take()
    stream.give_back(done=True)
    assert end.ready
    assert end.error is None
    assert stream.worker is None
    seen: list[int] = []
    stream.enqueue(lambda: seen.append(1), 1.0)  # idle again
    assert seen == [1]


def test_the_worker_does_held_work_that_is_released_or_given_back(device: Memory) -> None:
    stream = HostStream(device)
    seen: list[str] = []
    assert stream.hold(lambda: seen.append("released"))
    stream.release()
    stream.synchronize()
    assert stream.hold(lambda: seen.append("given back"))
    assert stream.take()
    stream.give_back(done=False)
    stream.synchronize()
    assert seen == ["released", "given back"]


@pytest.mark.timeout(20)
def test_a_waiter_and_later_work_start_held_work(device: Memory) -> None:
    stream = HostStream(device)
    seen: list[str] = []
    assert stream.hold(lambda: seen.append("waited for"))
    stream.synchronize()
    assert seen == ["waited for"]
    assert not stream.take()
    assert stream.hold(lambda: seen.append("before"))
    stream.enqueue(lambda: seen.append("after"), 1.0)
    stream.synchronize()
    assert seen == ["waited for", "before", "after"]


def test_the_error_of_held_work_ends_at_the_finish_after_it(device: Memory) -> None:
    stream = HostStream(device)
    assert stream.hold(lambda: None)
    end = stream.finish()
    assert stream.take()
    stream.give_back(done=False, error=InternalError("broken"))
    assert isinstance(end.error, InternalError)
    assert stream.error is None
    assert stream.hold(lambda: None)
    stream.release()


def test_a_poisoned_stream_and_one_without_inline_work_hold_none(device: Memory) -> None:
    stream = HostStream(device)
    stream.enqueue(lambda: 1 / 0, 1.0)
    assert not stream.hold(lambda: None)
    assert not HostStream(device, inline=False).hold(lambda: None)


def test_what_another_thread_enqueues_as_work_is_held_comes_first(
    device: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream, event = HostStream(device), HostEvent()
    is_idle = HostStream._idle

    def and_then_another_records() -> bool:
        found = is_idle(stream)
        monkeypatch.undo()
        stream.record(event)
        return found

    monkeypatch.setattr(stream, "_idle", and_then_another_records)
    assert not stream.hold(lambda: pytest.fail("it is the caller's"))
    assert event.synchronize(10)


def test_held_work_stays_held_if_no_thread_can_be_started(device: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(thread: threading.Thread) -> None:
        raise ResourceExhaustedError("no more threads")

    stream = HostStream(device)
    seen: list[int] = []
    assert stream.hold(lambda: seen.append(1))
    with monkeypatch.context() as patch:
        patch.setattr("xla_core.runtime.host.queue.start_thread", refuse)
        with pytest.raises(ResourceExhaustedError):
            stream.release()
        with pytest.raises(ResourceExhaustedError):
            stream.enqueue(lambda: seen.append(2))
    assert stream.take()
    stream.give_back(done=False)
    stream.synchronize()
    assert seen == [1]


def test_the_caller_runs_held_work_if_nobody_else_did(device: Memory) -> None:
    stream = HostStream(device)
    seen: list[int] = []
    stream.run_held()
    assert stream.hold(lambda: seen.append(threading.get_ident()))
    end = stream.finish()
    stream.run_held()
    stream.run_held()
    assert seen == [threading.get_ident()]
    assert end.ready
    assert stream.hold(lambda: seen.clear())
    stream.synchronize()
    stream.run_held()
    assert seen == []


@pytest.mark.timeout(20)
def test_the_worker_does_held_work_that_the_caller_cannot_take(device: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    stream = HostStream(device)
    done = threading.Event()
    assert stream.hold(done.set)
    monkeypatch.setattr(stream, "take", lambda: False)  # another thread is looking at the queue
    stream.run_held()
    assert done.wait(10)


def test_an_error_and_an_interrupt_of_held_work_end_at_the_finish_after_it(device: Memory) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    stream = HostStream(device)
    assert stream.hold(lambda: 1 / 0)  # type: ignore[arg-type,return-value]
    failed = stream.finish()
    stream.run_held()
    assert "ZeroDivisionError" in str(failed.error)
    assert stream.hold(interrupt)
    interrupted = stream.finish()
    with pytest.raises(KeyboardInterrupt):
        stream.run_held()
    assert "interrupted by KeyboardInterrupt" in str(interrupted.error)
    assert stream.error is None
