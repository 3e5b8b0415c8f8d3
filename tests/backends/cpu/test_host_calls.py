"""Custom calls in Python, infeed and outfeed, which native code runs on the host."""

from __future__ import annotations

import uuid

import numpy as np
import pytest
import xla_backend_cpu

import xla_core as xla
from tests.backends.cpu.host_functions import X, program, register
from xla_core.errors import (
    AlreadyExistsError,
    FailedPreconditionError,
    InvalidArgumentError,
    StatusCode,
    UnimplementedError,
    XlaError,
)

NESTED = """\
HloModule nested
once {{
  x = f32[] parameter(0)
  ROOT y = f32[] custom-call(x), custom_call_target="{target}", api_version=API_VERSION_TYPED_FFI, backend_config={{}}
}}
twice {{
  x = f32[] parameter(0)
  y = f32[] call(x), to_apply=once
  z = f32[] multiply(y, y)
  ROOT w = f32[] call(z), to_apply=once
}}
less {{
  p = (s32[], f32[]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  two = s32[] constant(2)
  ROOT c = pred[] compare(i, two), direction=LT
}}
inner {{
  p = (s32[], f32[]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  one = s32[] constant(1)
  next = s32[] add(i, one)
  x = f32[] get-tuple-element(p), index=1
  y = f32[] call(x), to_apply=twice
  z = f32[] negate(y)
  ROOT r = (s32[], f32[]) tuple(next, z)
}}
loops {{
  x = f32[] parameter(0)
  zero = s32[] constant(0)
  start = (s32[], f32[]) tuple(zero, x)
  w = (s32[], f32[]) while(start), condition=less, body=inner
  ROOT y = f32[] get-tuple-element(w), index=1
}}
same {{
  x = f32[] parameter(0)
  ROOT y = f32[] add(x, x)
}}
outer {{
  p = (s32[], f32[]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  one = s32[] constant(1)
  next = s32[] add(i, one)
  x = f32[] get-tuple-element(p), index=1
  y = f32[] conditional(i, x, x), branch_computations={{loops, same}}
  ROOT r = (s32[], f32[]) tuple(next, y)
}}
ENTRY main {{
  x = f32[] parameter(0)
  zero = s32[] constant(0)
  first = f32[] call(x), to_apply=twice
  start = (s32[], f32[]) tuple(zero, first)
  w = (s32[], f32[]) while(start), condition=less, body=outer
  y = f32[] get-tuple-element(w), index=1
  ROOT z = f32[] call(y), to_apply=twice
}}"""
"""The computation `twice` is called from two places, in a loop in a branch in a loop."""


def test_attributes_operands_and_results(client):
    seen = []

    def scale(call):
        seen.append(call)
        assert not call.operands[0].flags.writeable
        call.results[0][...] = call.operands[0] * call.attributes["factor"] + call.attributes["offsets"][1]

    target = register(scale)
    executable = client.compile(program(target, '{factor = 3 : i64, name = "a\\22b", offsets = array<i64: 1, 2>}'))
    np.testing.assert_array_equal(np.asarray(executable(X)[0]), 4 * X + 2)
    assert dict(seen[0].attributes) == {"factor": 3, "name": 'a"b', "offsets": [1, 2]}
    assert seen[0].target == target
    again = client.deserialize(executable.serialize())
    np.testing.assert_array_equal(np.asarray(again(X)[0]), 4 * X + 2)


def test_a_custom_call_that_waits_for_its_own_device_is_an_error(client):
    double = client.compile("HloModule d\nENTRY e { x = f32[3,4] parameter(0)  ROOT y = f32[3,4] add(x, x) }")
    exe = client.compile(
        program(register(lambda call: np.copyto(call.results[0], np.asarray(double(np.array(call.operands[0]))[0]))))
    )
    with pytest.raises(FailedPreconditionError, match="waits for work that is enqueued after it") as caught:
        np.asarray(exe(X)[0])
    assert "a Client of its own" in str(caught.value.hint)
    np.testing.assert_array_equal(np.asarray(double(X)[0]), X + X)  # the device goes on


def test_a_custom_call_may_use_another_client(client):
    with xla.Client("cpu") as other:
        double = other.compile("HloModule d\nENTRY e { x = f32[3,4] parameter(0)  ROOT y = f32[3,4] add(x, x) }")
        exe = client.compile(
            program(
                register(lambda call: np.copyto(call.results[0], np.asarray(double(np.array(call.operands[0]))[0])))
            )
        )
        np.testing.assert_array_equal(np.asarray(exe(X)[0]), 3 * X)


def test_layouts_are_those_of_the_call(client):
    def check(call):
        assert call.operands[0].flags.f_contiguous
        assert not call.operands[0].flags.c_contiguous
        assert call.results[0].flags.c_contiguous
        call.results[0][...] = call.operands[0]

    text = f"""HloModule layouts
ENTRY main {{
  x = f32[3,4] parameter(0)
  ROOT y = f32[3,4]{{1,0}} custom-call(x), custom_call_target="{register(check)}",
      operand_layout_constraints={{f32[3,4]{{0,1}}}}
}}"""
    np.testing.assert_array_equal(np.asarray(client.compile(text)(X)[0]), X)


def test_results_may_lie_in_operands(client):
    def double(call):
        call.results[0][...] *= 2
        call.results[1][...] = 7

    text = f"""HloModule in_place
ENTRY main {{
  x = f32[3,4] parameter(0)
  pair = (f32[3,4], s32[]) custom-call(x), custom_call_target="{register(double)}",
      output_to_operand_aliasing={{{{0}}: (0, {{}})}}
  y = f32[3,4] get-tuple-element(pair), index=0
  n = s32[] get-tuple-element(pair), index=1
  ROOT t = (f32[3,4], s32[], f32[3,4]) tuple(y, n, x)
}}"""
    y, n, x = (np.asarray(r) for r in client.compile(text)(X))
    np.testing.assert_array_equal(y, 2 * X)
    np.testing.assert_array_equal(x, X)
    assert n == 7


def test_an_exception_is_the_executions_error(client):
    def fail(call):
        raise ValueError("the moon is full")

    executable = client.compile(program(register(fail)))
    (result,) = executable(X)
    with pytest.raises(XlaError, match=r"custom call .* raised ValueError: the moon is full") as caught:
        result.block_until_ready()
    assert isinstance(caught.value.__cause__, ValueError)
    assert caught.value.op == "custom-call"
    assert caught.value.code is StatusCode.UNKNOWN  # the function's own defect, not ours
    (dependent,) = client.compile("HloModule m\nENTRY e { x = f32[3,4] parameter(0)\n ROOT y = f32[3,4] negate(x) }")(
        result
    )
    with pytest.raises(XlaError, match="the moon is full"):
        np.asarray(dependent)
    np.testing.assert_array_equal(np.asarray(client.buffer_from_host(X)), X)  # the client is as before


def test_an_exception_names_the_place_of_the_call(client):
    def fail(call):
        raise KeyError("nothing")

    text = f"""func.func @main(%x: tensor<3x4xf32>) -> tensor<3x4xf32> {{
  %0 = stablehlo.custom_call @{register(fail)}(%x) : (tensor<3x4xf32>) -> tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}}"""
    executable = client.compile(text, file="model.mlir")
    for made in (executable, client.deserialize(executable.serialize())):
        with pytest.raises(XlaError) as caught:
            made(X)[0].block_until_ready()
        assert str(caught.value).startswith("model.mlir:2:8: UNKNOWN: custom call")


def test_calls_in_a_loop_stop_at_the_first_failure(client):
    calls = []

    def count(call):
        calls.append(float(call.operands[0]))
        if len(calls) == 5:
            raise RuntimeError("enough")
        call.results[0][...] = call.operands[0] + 1

    text = f"""HloModule loop
condition {{
  s = (s32[], f32[]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(1000000)
  ROOT less = pred[] compare(i, n), direction=LT
}}
body {{
  s = (s32[], f32[]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[] get-tuple-element(s), index=1
  one = s32[] constant(1)
  j = s32[] add(i, one)
  y = f32[] custom-call(x), custom_call_target="{register(count)}", custom_call_has_side_effect=true
  ROOT t = (s32[], f32[]) tuple(j, y)
}}
ENTRY main {{
  x = f32[] parameter(0)
  zero = s32[] constant(0)
  t = (s32[], f32[]) tuple(zero, x)
  w = (s32[], f32[]) while(t), condition=condition, body=body
  ROOT y = f32[] get-tuple-element(w), index=1
}}"""
    (result,) = client.compile(text)(np.float32(0))
    with pytest.raises(XlaError, match="enough"):
        result.block_until_ready()
    assert calls == [0, 1, 2, 3, 4]


def test_the_evaluators_custom_calls_run_too(client):
    target = f"test.{uuid.uuid4().hex}"
    xla.hlo.register_custom_call(target)(lambda context, instruction, values: np.cumsum(values[0], 1))
    text = program(target)
    (expected,) = xla.evaluate(xla.parse(text), X)
    np.testing.assert_array_equal(np.asarray(client.compile(text)(X)[0]), expected)
    np.testing.assert_array_equal(expected, np.cumsum(X, 1) + X)


def test_registration_is_checked(client):
    with pytest.raises(UnimplementedError, match=r"no custom call 'nobody.knows'") as caught:
        client.compile(program("nobody.knows"))
    assert str(caught.value).count("register_custom_call") == 1
    target = register(lambda call: None)
    with pytest.raises(AlreadyExistsError, match=target):
        register(lambda call: None, target)


FEEDS = """HloModule feeds
condition {
  s = (s32[], f32[3,4], token[]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(3)
  ROOT less = pred[] compare(i, n), direction=LT
}
body {
  s = (s32[], f32[3,4], token[]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[3,4] get-tuple-element(s), index=1
  t = token[] get-tuple-element(s), index=2
  in = ((f32[3,4], s32[]), token[]) infeed(t)
  pair = (f32[3,4], s32[]) get-tuple-element(in), index=0
  t2 = token[] get-tuple-element(in), index=1
  more = f32[3,4] get-tuple-element(pair), index=0
  step = s32[] get-tuple-element(pair), index=1
  sum = f32[3,4] add(x, more)
  out = (f32[3,4], s32[]) tuple(sum, step)
  t3 = token[] outfeed(out, t2), outfeed_shape=(f32[3,4], s32[])
  j = s32[] add(i, step)
  ROOT r = (s32[], f32[3,4], token[]) tuple(j, sum, t3)
}
ENTRY main {
  x = f32[3,4] parameter(0)
  zero = s32[] constant(0)
  t = token[] after-all()
  s = (s32[], f32[3,4], token[]) tuple(zero, x, t)
  w = (s32[], f32[3,4], token[]) while(s), condition=condition, body=body
  ROOT y = f32[3,4] get-tuple-element(w), index=1
}"""


@pytest.mark.parametrize(("target", "function"), [(5, print), ("", print), (None, print), ("q", 5), ("q", None)])
def test_what_is_registered_is_a_name_and_a_function(target, function):
    with pytest.raises(InvalidArgumentError, match="must be"):
        xla_backend_cpu.register_custom_call(target, function)


def test_infeed_and_outfeed_in_a_loop(client):
    (result,) = client.compile(FEEDS)(X)
    assert not result.is_ready()
    for number in range(3):
        client.transfer_to_infeed((np.full((3, 4), number, np.float32), np.int32(1)))
        written, step = client.transfer_from_outfeed(timeout=20)
        np.testing.assert_array_equal(written, X + sum(range(number + 1)))
        assert step == 1
    np.testing.assert_array_equal(np.asarray(result), X + 3)


def test_a_wrong_infeed_is_an_error(client):
    (result,) = client.compile(FEEDS)(X)
    client.transfer_to_infeed(np.zeros(3))
    with pytest.raises(InvalidArgumentError, match="infeed has"):
        result.block_until_ready()


def test_closing_the_client_ends_a_run_that_waits(client):
    other = xla.Client("cpu")
    (result,) = other.compile(FEEDS)(X)
    other.transfer_to_infeed((np.zeros((3, 4), np.float32), np.int32(1)))
    other.transfer_from_outfeed(timeout=20)
    event = result.definition_event
    other.close()
    with pytest.raises(XlaError, match="closed"):
        result.block_until_ready()
    assert "infeed of device 0 was closed" in str(event.error)


def test_calls_in_nested_control_flow_go_on_where_they_were(client):
    seen = []

    def add_one(call):
        seen.append(float(call.operands[0]))
        call.results[0][...] = call.operands[0] + 1

    text = NESTED.format(target=register(add_one))

    def twice(x):
        expected.extend([x, (x + 1) ** 2])
        return (x + 1) ** 2 + 1

    expected: list[float] = []
    value = twice(0.5)
    for _ in range(2):
        value = -twice(value)
    value = twice(2 * value)
    (result,) = client.compile(text)(np.float32(0.5))
    np.testing.assert_allclose(np.asarray(result), value, rtol=1e-5)
    np.testing.assert_allclose(seen, expected, rtol=1e-5)


def test_what_is_sent_keeps_its_value(client):
    module = xla.parse("""HloModule m
ENTRY e {
  x = s32[4] parameter(0)
  y = s32[4] negate(x)
  before = token[] after-all()
  sent = (s32[4], u32[], token[]) send(y, before), channel_id=1
  after = token[] send-done(sent), channel_id=1
  begun = (s32[4], u32[], token[]) recv(after), channel_id=1
  done = (s32[4], token[]) recv-done(begun), channel_id=1
  z = s32[4] get-tuple-element(done), index=0
  ROOT sum = s32[] dot(y, z), lhs_contracting_dims={0}, rhs_contracting_dims={0}
}""")
    (result,) = client.compile(module)(np.array([7, 1, 2, 3], np.int32))
    assert np.asarray(result) == 63
