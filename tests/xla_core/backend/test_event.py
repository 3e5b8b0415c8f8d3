"""The default callbacks of events: a fault in one event or callback must not stop those of others."""

from __future__ import annotations

import gc
import sys
import threading
from typing import Any

import pytest

from xla_core.backend import Event
from xla_core.errors import InternalError, XlaError
from xla_core.event_callbacks import call_soon


class DriverEvent(Event):
    """An event without a notification of its own. It raises `fault` where it is asked about after `break_down`."""

    def __init__(self) -> None:
        self.reached = False
        self.fault: BaseException | None = None

    @property
    def ready(self) -> bool:
        if self.fault is not None:
            raise self.fault
        return self.reached

    @property
    def error(self) -> XlaError | None:
        return None

    def synchronize(self, timeout: float | None = None) -> bool:
        return self.ready


class Callback:
    def __init__(self, fault: BaseException | None = None) -> None:
        self.errors: list[XlaError | None] = []
        self.called = threading.Event()
        self.fault = fault

    def __call__(self, error: XlaError | None) -> None:
        self.errors.append(error)
        self.called.set()
        if self.fault is not None:
            raise self.fault


@pytest.mark.parametrize("fault", [RuntimeError("driver lost"), SystemExit(3)])
def test_an_event_that_raises_stops_no_other_callback(fault: BaseException) -> None:
    bad, good = DriverEvent(), DriverEvent()
    told, other = Callback(), Callback()
    bad.when_ready(told)
    good.when_ready(other)
    bad.fault = fault
    assert told.called.wait(10)
    (error,) = told.errors
    assert isinstance(error, InternalError)
    assert "DriverEvent" in str(error)
    assert error.__cause__ is fault
    good.reached = True
    assert other.called.wait(10)
    assert other.errors == [None]


@pytest.mark.parametrize("fault", [RuntimeError("of the callback"), SystemExit(3)])
def test_a_callback_that_raises_stops_no_other_callback(fault: BaseException, monkeypatch: pytest.MonkeyPatch) -> None:
    printed: list[Any] = []
    monkeypatch.setattr(sys, "excepthook", lambda *problem: printed.append(problem[1]))
    event, bad, good = DriverEvent(), Callback(fault), Callback()
    event.when_ready(bad)
    event.when_ready(good)
    event.reached = True
    assert bad.called.wait(10)
    assert good.called.wait(10)
    assert printed == [fault]


def test_a_hook_that_raises_stops_no_later_callback(monkeypatch: pytest.MonkeyPatch) -> None:
    """`sys.excepthook` may be a program's own. Where it raises, the callbacks' thread ends, and the next starts another."""
    ended: list[Any] = []
    monkeypatch.setattr(threading, "excepthook", ended.append)

    def raise_again(*problem: Any) -> None:
        raise problem[1]

    monkeypatch.setattr(sys, "excepthook", raise_again)
    call_soon(Callback(RuntimeError("of the callback")), None)
    for _ in range(1000):
        if ended:
            break
        threading.Event().wait(0.01)
    assert ended
    good = Callback()
    call_soon(good, None)
    assert good.called.wait(10)


def test_a_closed_event_is_destroyed_once() -> None:
    counts: list[int] = []

    class Counted(DriverEvent):
        def destroy(self) -> None:
            counts.append(1)

    event = Counted()
    event.close()
    event.close()
    assert counts == [1]
    del event
    gc.collect()
    assert counts == [1]
    Counted()
    gc.collect()
    assert counts == [1, 1]
