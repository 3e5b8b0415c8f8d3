"""Collectives between eight virtual devices, also in loops, compared with the evaluator; devices that fail or don't arrive.

test_hlo_collectives.py compares them with numpy, which doesn't use their definition in the op table.
"""

from __future__ import annotations

import time
import uuid

import numpy as np
import pytest
import xla_backend_cpu

import xla_core as xla
from xla_core.errors import DeadlineExceededError, FailedPreconditionError, StatusCode
from xla_core.hlo import evaluate_replicas


@pytest.fixture(scope="module")
def devices():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XLA_FLAGS", "--xla_force_host_platform_device_count=8")
        client = xla.Client("cpu")
        assert len(client.devices) == 8
        yield client
        client.close()


def both(devices, text):
    """Runs on all devices and on the evaluator; each device has an argument of its own."""
    module = xla.parse(text)
    count = module.num_replicas * module.num_partitions
    rng = np.random.default_rng(count)
    shape = module.parameter_shapes[0]
    arguments = [[rng.integers(-9, 9, shape.dimensions).astype(shape.dtype)] for _ in range(count)]
    expected = evaluate_replicas(module, arguments, timeout=20)
    results = devices.compile(text).execute_sharded(arguments)
    for row, reference in zip(results, expected, strict=True):
        for result, wanted in zip(row, reference, strict=True):
            np.testing.assert_array_equal(np.asarray(result), wanted)
    return [tuple(np.asarray(r) for r in row) for row in results]


HEAD = """HloModule collective, replica_count={replicas}, num_partitions={partitions}
add {{
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}}
odd {{
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  m = f32[] maximum(a, b)
  n = f32[] multiply(a, b)
  k = f32[] abs(n)
  ROOT c = f32[] add(m, k)
}}
ENTRY main {{
  x = f32[8,6] parameter(0)
  r = u32[] replica-id()
  p = u32[] partition-id()
  {op}
  ROOT t = (f32[{result}], u32[], u32[]) tuple(y, r, p)
}}"""

GROUPS = {
    "replicas": (4, 1, "replica_groups={{0,2},{3,1}}"),
    "everyone": (4, 1, "replica_groups={}"),
    "partitions": (1, 4, "channel_id=1, replica_groups={{0,1,2,3}}, use_global_device_ids=true"),
    "both": (2, 2, "channel_id=3, replica_groups={{0,1}}"),
    "global": (2, 4, "channel_id=2, replica_groups={{7,0,2,5},{1,3,4,6}}, use_global_device_ids=true"),
    "iota": (2, 4, "channel_id=2, replica_groups=[2,4]<=[4,2]T(1,0), use_global_device_ids=true"),
}


@pytest.mark.parametrize("groups", GROUPS)
@pytest.mark.parametrize("body", ["add", "odd"])
def test_all_reduce(devices, groups, body):
    replicas, partitions, text = GROUPS[groups]
    op = f"y = f32[8,6] all-reduce(x), {text}, to_apply={body}"
    both(devices, HEAD.format(replicas=replicas, partitions=partitions, op=op, result="8,6"))


@pytest.mark.parametrize("groups", GROUPS)
def test_all_gather_and_reduce_scatter(devices, groups):
    replicas, partitions, text = GROUPS[groups]
    size = {"replicas": 2, "everyone": 4}.get(groups, 4)
    op = f"y = f32[8,{6 * size}] all-gather(x), {text}, dimensions={{1}}"
    both(devices, HEAD.format(replicas=replicas, partitions=partitions, op=op, result=f"8,{6 * size}"))
    op = f"y = f32[{8 // size},6] reduce-scatter(x), {text}, dimensions={{0}}, to_apply=add"
    both(devices, HEAD.format(replicas=replicas, partitions=partitions, op=op, result=f"{8 // size},6"))


@pytest.mark.parametrize(
    "op",
    [
        "y = f32[8,6] all-to-all(x), replica_groups={{0,2},{3,1}}, dimensions={0}",
        "y = f32[8,6] collective-broadcast(x), replica_groups={{2,1},{0}}",
        "y = f32[8,6] collective-permute(x), source_target_pairs={{0,1},{1,2},{3,0}}",
    ],
)
def test_other_collectives(devices, op):
    both(devices, HEAD.format(replicas=4, partitions=1, op=op, result="8,6"))


def test_all_to_all_of_partitions(devices):
    op = "y = f32[8,6] all-to-all(x), channel_id=1, replica_groups={{0,1,2,3}}, dimensions={0}"
    both(devices, HEAD.format(replicas=2, partitions=4, op=op, result="8,6"))


def test_asynchronous_forms(devices):
    op = """s = f32[8,6] all-reduce-start(x), replica_groups={}, to_apply=add
  d = f32[8,6] all-reduce-done(s)
  g = (f32[8,6], f32[8,6]) collective-permute-start(d), source_target_pairs={{0,1},{1,0}}
  y = f32[8,6] collective-permute-done(g)"""
    both(devices, HEAD.format(replicas=2, partitions=1, op=op, result="8,6"))


def test_meetings_in_a_loop(devices):
    text = """HloModule loop, replica_count=3
add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b) }
condition { s = (s32[], f32[4]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(20)
  ROOT less = pred[] compare(i, n), direction=LT }
body { s = (s32[], f32[4]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[4] get-tuple-element(s), index=1
  one = s32[] constant(1)
  j = s32[] add(i, one)
  third = f32[] constant(0.25)
  thirds = f32[4] broadcast(third), dimensions={}
  z = f32[4] multiply(x, thirds)
  y = f32[4] all-reduce(z), replica_groups={}, to_apply=add
  ROOT t = (s32[], f32[4]) tuple(j, y) }
ENTRY main {
  x = f32[4] parameter(0)
  zero = s32[] constant(0)
  t = (s32[], f32[4]) tuple(zero, x)
  w = (s32[], f32[4]) while(t), condition=condition, body=body
  ROOT y = f32[4] get-tuple-element(w), index=1
}"""
    both(devices, text)


def test_send_and_receive(devices):
    text = """HloModule channel, replica_count=1
ENTRY main {
  x = f32[5] parameter(0)
  t = token[] after-all()
  s = (f32[5], u32[], token[]) send(x, t), channel_id=7
  sd = token[] send-done(s), channel_id=7
  r = (f32[5], u32[], token[]) recv(sd), channel_id=7
  rd = (f32[5], token[]) recv-done(r), channel_id=7
  ROOT y = f32[5] get-tuple-element(rd), index=0
}"""
    x = np.arange(5, dtype=np.float32)
    np.testing.assert_array_equal(np.asarray(devices.compile(text)(x)[0]), x)


SUM = """HloModule sum, replica_count=3
add {{ a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b) }}
ENTRY main {{
  x = f32[4] parameter(0)
  y = f32[4] custom-call(x), custom_call_target="{target}"
  ROOT z = f32[4] all-reduce(y), replica_groups={{}}, to_apply=add
}}"""


def outcome(buffer):
    try:
        buffer.block_until_ready()
    except xla.XlaError as error:
        return error
    return None


def test_a_device_that_fails_is_named_to_the_others(devices):
    def fail(call):
        if call.replica == 1:
            raise ValueError("a cosmic ray")
        call.results[0][...] = call.operands[0]

    target = f"test.{uuid.uuid4().hex}"
    xla_backend_cpu.register_custom_call(target, fail)
    executable = devices.compile(SUM.format(target=target))
    rows = executable.execute_sharded([[np.ones(4, np.float32)]] * 3)
    errors = [outcome(row[0]) for row in rows]
    assert errors[1].code is StatusCode.UNKNOWN
    assert "a cosmic ray" in str(errors[1])
    for error in (errors[0], errors[2]):
        assert type(error) is FailedPreconditionError
        assert "replica 1, partition 0 failed" in str(error)
        assert "a cosmic ray" in error.message
        assert str(error).count("hint:") == 1
        assert type(error.__cause__) is type(errors[1])
        assert str(error.__cause__) == str(errors[1])


def test_a_device_whose_argument_failed_is_named(devices):
    def fail(call):
        raise ValueError("no value")

    target, fine = f"test.{uuid.uuid4().hex}", f"test.{uuid.uuid4().hex}"
    xla_backend_cpu.register_custom_call(target, fail)
    xla_backend_cpu.register_custom_call(fine, lambda call: np.copyto(call.results[0], call.operands[0]))
    made = devices.compile(
        f'HloModule m\nENTRY e {{ x = f32[4] parameter(0)\n ROOT y = f32[4] custom-call(x), custom_call_target="{target}" }}',
    )
    (bad,) = made(np.ones(4, np.float32))
    good = [devices.buffer_from_host(np.ones(4, np.float32), device=d) for d in devices.devices[1:3]]
    rows = devices.compile(SUM.format(target=fine)).execute_sharded([[bad], *[[g] for g in good]])
    errors = [outcome(row[0]) for row in rows]
    assert "no value" in str(errors[0])
    for error in errors[1:]:
        assert "replica 0, partition 0 failed" in str(error)


def test_a_device_that_never_comes_is_named_after_the_timeout(devices):
    def late(call):
        if call.replica == 2:
            time.sleep(1.5)
        call.results[0][...] = call.operands[0]

    target = f"test.{uuid.uuid4().hex}"
    xla_backend_cpu.register_custom_call(target, late)
    options = xla.CompileOptions(backend={"collective_timeout": 0.3})
    rows = devices.compile(SUM.format(target=target), options).execute_sharded([[np.ones(4, np.float32)]] * 3)
    errors = [outcome(row[0]) for row in rows]
    for error in errors:  # the late one's too: the others have left
        assert type(error) is DeadlineExceededError
        assert error.message == "replica 2, partition 0 did not reach a meeting of 3 devices within 0.3 s"
        assert 'CompileOptions(backend={"collective_timeout": 300})' in str(error.hint)
        assert "--set collective_timeout=300" in str(error.hint)
    (row, *_) = devices.compile(SUM.format(target=target)).execute_sharded([[np.ones(4, np.float32)]] * 3)
    np.testing.assert_array_equal(np.asarray(row[0]), np.full(4, 3, np.float32))


def test_a_device_that_cannot_be_started_is_named(devices):
    fine = f"test.{uuid.uuid4().hex}"
    xla_backend_cpu.register_custom_call(fine, lambda call: np.copyto(call.results[0], call.operands[0]))
    executable = devices.compile(SUM.format(target=fine))
    arguments = [[devices.buffer_from_host(np.ones(4, np.float32), device=d)] for d in devices.devices[:3]]
    arguments[2][0].delete()
    with pytest.raises(FailedPreconditionError, match="deleted"):
        executable.execute_sharded(arguments)
    rows = executable.execute_sharded([[np.ones(4, np.float32)]] * 3)  # the others did not wait for it
    np.testing.assert_array_equal(np.asarray(rows[0][0]), np.full(4, 3, np.float32))
