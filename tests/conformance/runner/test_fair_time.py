"""Time limits of the suite count what a process could use."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest
from xla_conformance import fair_time
from xla_conformance.fair_time import FairClock, own_waited_seconds


class Times:
    """Stands for the clock and for what the system says of a process with one thread."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now, self.waited, self.stopped = 100.0, 0.0, False
        monkeypatch.setattr(fair_time.time, "monotonic", lambda: self.now)
        monkeypatch.setattr(fair_time, "_waited_seconds", lambda process: {1: self.waited})
        monkeypatch.setattr(fair_time, "_is_stopped", lambda process: self.stopped)


def test_a_process_that_hangs_comes_to_its_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    times = Times(monkeypatch)
    clock = FairClock(1)
    for _ in range(60):
        times.now += 1
        clock.tick()
    assert clock.seconds == 60


def test_waits_for_a_processor_count_little(monkeypatch: pytest.MonkeyPatch) -> None:
    times = Times(monkeypatch)
    clock = FairClock(1)
    for _ in range(101):
        times.now, times.waited = times.now + 1, times.waited + 0.8
        clock.tick()
    assert clock.seconds == pytest.approx(1 + 100 * 0.2)
    for _ in range(100):
        times.now, times.waited = times.now + 1, times.waited + 3
        clock.tick()
    assert clock.seconds == pytest.approx(1 + 100 * 0.2 + 100 * 0.1)


def test_stops_do_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    times = Times(monkeypatch)
    clock = FairClock(1)
    times.stopped = True
    times.now += 1
    clock.tick()
    assert clock.seconds == 0
    times.stopped = False
    times.now += 3600  # both processes were stopped
    clock.tick()
    assert clock.seconds <= 2
    clock.restart()
    assert clock.seconds == 0


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="it reads /proc")
def test_the_system_says_that_a_process_is_stopped() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        try:
            assert not fair_time._is_stopped(process.pid)
            os.kill(process.pid, signal.SIGSTOP)
            while not fair_time._is_stopped(process.pid):
                time.sleep(0.01)
            os.kill(process.pid, signal.SIGCONT)
            assert all(seconds >= 0 for seconds in fair_time._waited_seconds(process.pid).values())
        finally:
            process.kill()
    assert own_waited_seconds() >= 0
    assert fair_time._waited_seconds(process.pid) == {}
