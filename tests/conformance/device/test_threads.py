"""Tasks that run at once: failures of a thread reach the test."""

from __future__ import annotations

import threading

import pytest
from xla_conformance.device.threads import run_at_once
from xla_conformance.failures import Failure


def test_tasks_run_at_the_same_time() -> None:
    barrier, met = threading.Barrier(3), []
    run_at_once([lambda: met.append(barrier.wait(10))] * 3, 10)
    assert sorted(met) == [0, 1, 2]


def test_the_exception_of_a_task_is_raised() -> None:
    def fail() -> None:
        raise KeyError("of a thread")

    with pytest.raises(KeyError, match="of a thread"):
        run_at_once([fail, lambda: None], 10)


def test_a_task_that_does_not_end_is_a_failure() -> None:
    release = threading.Event()
    with pytest.raises(Failure, match="hang") as caught:
        run_at_once([lambda: release.wait(30), lambda: None], 0.5, "stream.enqueue-never-blocks")
    release.set()
    assert caught.value.promise == "stream.enqueue-never-blocks"
