"""Short programs with collectives run on all devices in the thread that starts the last one."""

from __future__ import annotations

import signal
import threading

import numpy as np
import pytest
from xla_backend_cpu.host_calls import HostRun

import xla_core as xla
from xla_core import profiler
from xla_core.errors import FailedPreconditionError, InternalError, InvalidArgumentError
from xla_core.hlo import evaluate_replicas
from xla_core.runtime import HostStream

COUNT = 4
ADD = """add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}
"""
SUM = f"""HloModule sum, replica_count={COUNT}
{ADD}ENTRY main {{
  x = f32[8] parameter(0)
  ROOT y = f32[8] all-reduce(x), to_apply=add
}}"""
BRANCHES = f"""HloModule branches, replica_count={COUNT}
{ADD}pairs {{
  x = f32[8] parameter(0)
  y = f32[8] all-reduce(x), replica_groups={{{{0,2}},{{1,3}}}}, to_apply=add
  ROOT z = f32[8] collective-permute(y), source_target_pairs={{{{0,1}},{{1,2}},{{2,3}}}}
}}
all {{
  x = f32[8] parameter(0)
  y = f32[8] negate(x)
  z = f32[8] all-reduce(y), replica_groups={{{{0,2}},{{1,3}}}}, to_apply=add
  ROOT w = f32[8] collective-permute(z), source_target_pairs={{{{3,0}}}}
}}
ENTRY main {{
  x = f32[8] parameter(0)
  number = u32[] replica-id()
  one = u32[] constant(1)
  odd = u32[] and(number, one)
  index = s32[] convert(odd)
  y = f32[8] conditional(index, x, x), branch_computations={{pairs, all}}
  ROOT z = f32[8] add(y, x)
}}"""
LOOP = f"""HloModule loop, replica_count={COUNT}
{ADD}body {{
  p = (s32[], f32[8]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  one = s32[] constant(1)
  next = s32[] add(i, one)
  x = f32[8] get-tuple-element(p), index=1
  half = f32[] constant(0.5)
  halves = f32[8] broadcast(half), dimensions={{}}
  scaled = f32[8] multiply(x, halves)
  y = f32[8] all-reduce(scaled), to_apply=add
  z = f32[8] sine(y)
  ROOT r = (s32[], f32[8]) tuple(next, z)
}}
condition {{
  p = (s32[], f32[8]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  end = s32[] constant(3)
  ROOT c = pred[] compare(i, end), direction=LT
}}
ENTRY main {{
  x = f32[8] parameter(0)
  zero = s32[] constant(0)
  start = (s32[], f32[8]) tuple(zero, x)
  w = (s32[], f32[8]) while(start), condition=condition, body=body
  y = f32[8] get-tuple-element(w), index=1
  ROOT r = f32[8] all-reduce(y), replica_groups={{{{3,1}},{{0,2}}}}, to_apply=add
}}"""


@pytest.fixture(scope="module")
def client():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XLA_FLAGS", f"--xla_force_host_platform_device_count={COUNT}")
        with xla.Client("cpu") as made:
            yield made


@pytest.fixture
def rows(client):
    rng = np.random.default_rng(0)
    return [
        [client.buffer_from_host(rng.standard_normal(8).astype(np.float32), device=device)] for device in client.devices
    ]


def arrays(rows):
    return [[np.asarray(value) for value in row] for row in rows]


@pytest.mark.parametrize("text", [SUM, LOOP], ids=["sum", "loop"])
def test_results_are_ready_when_the_call_returns(client, rows, text):
    made = client.compile(text).execute_sharded(rows)
    assert all(buffer.is_ready() for row in made for buffer in row)
    expected = evaluate_replicas(xla.parse(text), arrays(rows), timeout=20)
    np.testing.assert_allclose(arrays(made), expected, rtol=2e-6, atol=1e-6)


def test_devices_that_meet_in_different_instructions_are_an_error(client, rows):
    """Groups {0, 2} and {1, 3} finish their sums, and then devices wait for others that are elsewhere."""
    exe = client.compile(BRANCHES, xla.CompileOptions(backend={"collective_timeout": 0.5}))
    made = exe.execute_sharded(rows)
    for row in made:
        with pytest.raises(xla.XlaError, match="replica"):
            row[0].block_until_ready()
    good = client.compile(SUM).execute_sharded(rows)  # the streams work on
    np.testing.assert_allclose(np.asarray(good[0][0]), np.sum(arrays(rows), axis=0)[0], rtol=2e-6)


def test_a_device_at_work_makes_all_meet_in_their_workers(client, rows):
    exe = client.compile(SUM)
    exe.execute_sharded(rows)
    started, go_on = threading.Event(), threading.Event()
    stream = client.devices[2].compute_stream

    def wait():
        started.set()
        go_on.wait(20)

    stream.enqueue(wait)
    started.wait(20)
    made = exe.execute_sharded(rows)
    assert not any(row[0].is_ready() for row in made)
    go_on.set()
    for row in made:
        np.testing.assert_allclose(np.asarray(row[0]), np.sum(arrays(rows), axis=0)[0], rtol=2e-6)


def test_a_device_that_cannot_be_started_fails_all(client, rows):
    exe = client.compile(SUM)
    wrong = [*rows[:2], [client.buffer_from_host(np.zeros(3, np.float32), device=client.devices[2])], rows[3]]
    with pytest.raises(InvalidArgumentError):
        exe.execute_sharded(wrong)
    for device in client.devices:
        device.compute_stream.synchronize()
    made = exe.execute_sharded(rows)
    np.testing.assert_allclose(np.asarray(made[1][0]), np.sum(arrays(rows), axis=0)[0], rtol=2e-6)


def test_a_failed_argument_fails_the_devices_that_wait_for_it(client, rows):
    exe = client.compile(SUM)

    def fail():
        raise FailedPreconditionError("no value")

    poisoned = client.devices[1].compute_stream
    go_on = threading.Event()
    poisoned.enqueue(lambda: go_on.wait(20))
    poisoned.enqueue(fail)
    made = exe.execute_sharded(rows)
    go_on.set()
    for row in made:
        with pytest.raises(FailedPreconditionError, match="no value"):
            row[0].block_until_ready()


@pytest.mark.timeout(60)
def test_an_interrupt_comes_after_the_run_and_leaves_the_streams_at_work(client, rows, monkeypatch):
    exe = client.compile(SUM)
    take = HostStream.take

    def interrupted(stream):
        is_taken = take(stream)
        signal.raise_signal(signal.SIGINT)
        return is_taken

    before = signal.getsignal(signal.SIGINT)
    with monkeypatch.context() as patch:
        patch.setattr(HostStream, "take", interrupted)
        with pytest.raises(KeyboardInterrupt):
            exe.execute_sharded(rows)
    assert signal.getsignal(signal.SIGINT) is before
    for row in exe.execute_sharded(rows):
        np.testing.assert_allclose(np.asarray(row[0]), np.sum(arrays(rows), axis=0)[0], rtol=2e-6)


def test_an_error_between_the_parts_is_that_of_each_device(client, rows, monkeypatch):
    def refuse(run):
        raise MemoryError("no memory for the operands")

    exe = client.compile(SUM)
    with monkeypatch.context() as patch:
        patch.setattr(HostRun, "operands", refuse)
        made = exe.execute_sharded(rows)
    for row in made:
        with pytest.raises(InternalError, match="MemoryError: no memory for the operands"):
            row[0].block_until_ready()
    for row in exe.execute_sharded(rows):
        np.testing.assert_allclose(np.asarray(row[0]), np.sum(arrays(rows), axis=0)[0], rtol=2e-6)


def test_a_profile_has_a_span_for_each_device(client, rows):
    exe = client.compile(SUM)
    with profiler.trace() as profile:
        for row in exe.execute_sharded(rows):
            row[0].block_until_ready()
    tracks = {str(event.get("args", event)) for event in profile.to_chrome_trace()["traceEvents"]}
    assert all(any(f"cpu:{number} programs" in track for track in tracks) for number in range(COUNT))
