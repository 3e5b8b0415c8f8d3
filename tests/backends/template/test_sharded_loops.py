"""Loops with collectives, on devices whose callbacks may enqueue work and on devices whose callbacks may not."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest
from xla_backend_template.executor import TemplateExecutor

import xla_core as xla
from xla_core.backend import DeviceFeatures

PROGRAM = """HloModule loop, replica_count=2
sum { a = s32[] parameter(0) b = s32[] parameter(1) ROOT c = s32[] add(a, b) }
body {
  p = (s32[], s32[]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  x = s32[] get-tuple-element(p), index=1
  one = s32[] constant(1)
  next = s32[] subtract(i, one)
  all = s32[] all-reduce(x), replica_groups={{0,1}}, to_apply=sum
  ROOT t = (s32[], s32[]) tuple(next, all)
}
condition {
  p = (s32[], s32[]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  zero = s32[] constant(0)
  ROOT more = pred[] compare(i, zero), direction=GT
}
ENTRY main {
  trips = s32[] parameter(0)
  x = s32[] parameter(1)
  start = (s32[], s32[]) tuple(trips, x)
  end = (s32[], s32[]) while(start), condition=condition, body=body
  ROOT result = s32[] get-tuple-element(end), index=1
}
"""


@pytest.mark.parametrize("may_enqueue", [True, False])
def test_a_loop_with_collectives_runs_on_all_devices(monkeypatch: pytest.MonkeyPatch, may_enqueue: bool) -> None:
    monkeypatch.setattr(TemplateExecutor, "features", DeviceFeatures(callbacks_may_enqueue=may_enqueue))
    with xla.Client("template") as client:
        executable = client.compile(PROGRAM)
        results = executable.execute_sharded([[np.int32(3), np.int32(1)], [np.int32(3), np.int32(2)]])
        assert [int(row[0]) for row in results] == [12, 12]


def test_a_device_that_cannot_start_ends_the_loops_of_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TemplateExecutor, "features", DeviceFeatures())
    with xla.Client("template") as client:
        executable = client.compile(PROGRAM)
        rows = [[client.buffer_from_host(np.int32(n), device) for n in (3, 1)] for device in client.devices]
        rows[1][1].delete()
        with pytest.raises(xla.FailedPreconditionError, match="was deleted"):
            executable.execute_sharded(rows)
        rows = [[client.buffer_from_host(np.int32(n), device) for n in (1, 5)] for device in client.devices]
        assert [int(row[0]) for row in executable.execute_sharded(rows)] == [10, 10]


def test_a_device_that_starts_after_another_has_failed_does_not_wait_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each device is started in a thread of its own, and the first has no rendezvous yet when the second fails."""
    monkeypatch.setattr(TemplateExecutor, "features", DeviceFeatures())
    with xla.Client("template") as client:
        executable = client.compile(PROGRAM)
        rows = [[client.buffer_from_host(np.int32(n), device) for n in (3, 1)] for device in client.devices]
        first, second = executable._programs
        failed = threading.Event()

        def start_late(options, arguments, execute=first.execute):
            failed.wait(30)
            time.sleep(0.1)  # the failure is reported meanwhile
            return execute(options, arguments)

        def fail(options, arguments):
            failed.set()
            raise xla.UnavailableError("the device is lost")

        monkeypatch.setattr(first, "execute", start_late)
        monkeypatch.setattr(second, "execute", fail)
        start = time.monotonic()
        with pytest.raises(xla.UnavailableError, match="the device is lost"):
            executable.execute_sharded(rows)
        assert time.monotonic() - start < 30  # the collective_timeout is 60 s
