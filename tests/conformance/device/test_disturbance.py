"""The disturbance of the profile stress leaves nothing, and tells what goes wrong beside a test."""

from __future__ import annotations

import gc
import sys
import threading
import time

import numpy as np
import pytest
from xla_backend_template.executor import TemplateExecutor
from xla_conformance.device.disturbance import disturb, may_be_disturbed
from xla_conformance.device.memories import LEAST_MEMORY, capacity

from xla_core import Client, InternalError
from xla_core.backend import DeviceMemory, HostBytes, Stream


def test_nothing_is_left() -> None:
    with Client("template") as client:
        executor = client.platform.executor(0)
        before = sys.getswitchinterval(), threading.active_count(), capacity(executor)
        for seed in range(6):
            with disturb(executor, np.random.default_rng(seed)):
                time.sleep(0.05)
        gc.collect()
        assert before == (sys.getswitchinterval(), threading.active_count(), capacity(executor))


def test_the_block_has_almost_all_of_a_small_memory() -> None:
    executor = TemplateExecutor(0, LEAST_MEMORY)
    for seed in range(6):
        with disturb(executor, np.random.default_rng(seed)):
            free = capacity(executor)
        assert free > 0.98 * LEAST_MEMORY


def test_each_way_to_disturb_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """Over a few seeds there are copies, delays, collections, and streams that fail."""
    collected: list[int] = []
    monkeypatch.setattr(gc, "collect", collected.append)
    with Client("template") as client:
        executor = client.platform.executor(0)
        made, create = [], executor.create_stream
        monkeypatch.setattr(executor, "create_stream", lambda: made.append(create()) or made[-1])
        intervals = set()
        for seed in range(8):
            with disturb(executor, np.random.default_rng(seed)):
                intervals.add(sys.getswitchinterval())
                time.sleep(0.1)
    assert len(intervals) > 2
    assert len(made) > 8
    assert collected


def test_a_wrong_copy_beside_the_test_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    with Client("template") as client:
        executor = client.platform.executor(0)
        write = type(executor.create_stream()).memcpy_h2d

        def lose(stream: Stream, destination: DeviceMemory, source: HostBytes) -> None:
            write(stream, destination, np.zeros_like(np.asarray(source)))

        monkeypatch.setattr(type(executor.create_stream()), "memcpy_h2d", lose)
        wrong = pytest.raises(AssertionError, match="A copy beside other work has its data")
        with wrong, disturb(executor, np.random.default_rng(0)):
            time.sleep(0.3)


def test_an_error_of_the_test_itself_is_kept() -> None:
    with Client("template") as client:
        disturbed = disturb(client.platform.executor(0), np.random.default_rng(1))
        with pytest.raises(InternalError, match="its own"), disturbed:
            raise InternalError("its own")


def test_tests_that_measure_are_not_disturbed() -> None:
    assert may_be_disturbed("test_ops_values.py")
    assert may_be_disturbed("test_streams_schedules.py")
    assert not may_be_disturbed("test_memory_device.py")
    assert not may_be_disturbed("test_executables_leaks.py")
    assert not may_be_disturbed("test_streams.py")
