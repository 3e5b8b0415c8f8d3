"""Running programs: arguments, several devices, options and reports."""

from __future__ import annotations

import gc
import json
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

import xla_core
from tests.xla_core.runtime import programs
from xla_core import profiler
from xla_core.errors import (
    FailedPreconditionError,
    InvalidArgumentError,
)
from xla_core.hlo import ElementType, Layout, Shape
from xla_core.runtime import Buffer, Client

A = np.arange(4, dtype=np.float32)
B = np.ones(4, np.float32)


def test_arrays_numbers_and_buffers_in_any_mixture(client) -> None:
    exe = client.compile(programs.add())
    buffer = client.buffer_from_host(A)
    for a, b in ((A, B), (buffer, B), (A, client.buffer_from_host(B)), ([0, 1, 2, 3], [1.0] * 4)):
        (out,) = exe(a, b)
        assert np.asarray(out).tolist() == [1, 2, 3, 4]
    assert np.asarray(exe.execute([buffer, buffer])[0]).tolist() == [0, 2, 4, 6]
    scalar = client.compile(programs.negate(Shape.array(ElementType.F32)))
    assert float(scalar(2)[0]) == -2


def test_what_the_compiler_made_can_be_loaded(client) -> None:
    compiler, executor = client.platform.compiler, client.devices[0].executor
    made = compiler.compile(programs.add(), None, executor)
    (out,) = client.load(made)(A, B)
    assert np.asarray(out).tolist() == [1, 2, 3, 4]
    with pytest.raises(InvalidArgumentError, match="executable must be an Executable"):
        client.load(b"bytes")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((A,), r"add takes 2 arguments \(f32\[4\], f32\[4\]\), not 1"),
        ((A, B, B), "takes 2 arguments .*, not 3"),
        ((A, np.ones(5, np.float32)), r"argument 1 of add must be f32\[4\], not f32\[5\]"),
        ((A, np.ones((2, 2), np.float32)), r"must be f32\[4\], not f32\[2,2\]"),
        ((A.astype(np.float64), B), r"(?s)argument 0 of add must be f32\[4\], not f64\[4\].*astype\('float32'\)"),
        ((A, np.array(["a"] * 4)), "no element type"),
        ((A, object()), "argument 1 of add: .*(no element type|not an array)"),
        ((A, "abcd"), "argument 1 of add: .*(no element type|not an array)"),
        ((None, B), "argument 0 of add: .*(no element type|not an array)"),
    ],
)
def test_wrong_arguments(client, arguments, message: str) -> None:
    exe = client.compile(programs.add())
    with pytest.raises(InvalidArgumentError, match=message):
        exe(*arguments)
    assert np.asarray(exe(A, B)[0])[3] == 4


def test_advice_about_narrow_types_names_ml_dtypes(client) -> None:
    exe = client.compile(programs.negate(Shape.array(ElementType.S4, (4,))))
    for argument, advice in (
        (np.ones(4, np.int8), "array.astype(ml_dtypes.int4)"),
        (np.ones(4, ml_dtypes.int4).view("V1"), "array.view(ml_dtypes.int4)"),  # as numpy.load gives it
    ):
        with pytest.raises(InvalidArgumentError) as caught:
            exe(argument)
        assert advice in str(caught.value.hint)


def test_wrong_counts_of_arguments(client) -> None:
    text = "func.func @main({}) -> tensor<f32> {{\n  return %x : tensor<f32>\n}}"
    one = client.compile(text.format("%x: tensor<f32>"))
    with pytest.raises(InvalidArgumentError, match=r"takes 1 argument \(f32\[\]\), not 2") as caught:
        one(1.0, 2.0)
    with pytest.raises(InvalidArgumentError, match=r"runs on 1 device \(1 replica x 1 partition\), .* for 2"):
        one.execute_sharded([[1.0], [1.0]])
    assert "jax.jit(..., keep_unused=True)" in str(caught.value.hint)
    with_platform = client.compile(text.format("%platform: tensor<i32>, %x: tensor<f32>"))
    with pytest.raises(InvalidArgumentError, match="takes 2 arguments") as caught:
        with_platform(1.0)
    assert "JAX exports for several platforms" in str(caught.value.hint)


def test_wrong_buffers(client) -> None:
    exe = client.compile(programs.add())
    good = client.buffer_from_host(A)
    with pytest.raises(InvalidArgumentError, match=r"argument 1 of add must be f32\[4\], not s64\[4\]"):
        exe.execute([good, client.buffer_from_host(np.arange(4))])
    with pytest.raises(InvalidArgumentError, match="is a ndarray, not a Buffer"):
        exe.execute([good, B])
    with pytest.raises(InvalidArgumentError, match="is on <Device toy:1>"):
        exe.execute([good, client.buffer_from_host(B, client.devices[1])])
    with Client("toy") as other, pytest.raises(InvalidArgumentError, match="buffer of another client"):
        exe(good, other.buffer_from_host(B))
    gone = client.buffer_from_host(B)
    gone.delete()
    with pytest.raises(FailedPreconditionError, match="was deleted"):
        exe(good, gone)
    with pytest.raises(InvalidArgumentError, match="takes 2 arguments"):
        exe.execute([good])


def test_byte_swapped_and_strided_arguments(client) -> None:
    exe = client.compile(programs.add())
    assert np.asarray(exe(A.astype(">f4"), np.ones(8, np.float32)[::-2])[0]).tolist() == [1, 2, 3, 4]


def test_a_number_that_does_not_fit(client) -> None:
    exe = client.compile(programs.negate(Shape.array(ElementType.S8)))
    assert int(exe(100)[0]) == -100
    with pytest.raises(InvalidArgumentError, match="does not fit in s8"):
        exe(1000)
    with pytest.raises(InvalidArgumentError, match="must be s8"):
        exe(1.5)


def test_another_layout_than_the_program_wants_is_converted(client) -> None:
    shape = Shape(ElementType.F32, (2, 3), Layout((0, 1)))
    exe = client.compile(programs.negate(Shape.array(ElementType.F32, (2, 3))))
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    buffer = Buffer.from_host(array, client.devices[0], shape)
    assert np.array_equal(np.asarray(exe.execute([buffer])[0]), -array)


# -- several devices --------------------------------------------------------------------------------------------------


def test_sharded_execution(client) -> None:
    module = programs.add()
    module.num_replicas = 2
    exe = client.compile(module)
    assert exe.devices == client.devices
    rows = exe.execute_sharded([[A, B], [client.buffer_from_host(B, client.devices[1]), B]])
    assert [np.asarray(row[0]).tolist() for row in rows] == [[1, 2, 3, 4], [2, 2, 2, 2]]
    assert [row[0].device for row in rows] == list(client.devices)
    for call in (lambda: exe(A, B), lambda: exe.execute([])):
        with pytest.raises(InvalidArgumentError, match="execute_sharded"):
            call()
    with pytest.raises(InvalidArgumentError, match="runs on 2 devices"):
        exe.execute_sharded([[A, B]])
    with pytest.raises(InvalidArgumentError, match="is on <Device toy:0>"):
        exe.execute_sharded([[A, B], [client.buffer_from_host(A), B]])
    for row in ([A, np.ones(5, np.float32)], [A, client.buffer_from_host(np.ones(5, np.float32), client.devices[1])]):
        with pytest.raises(InvalidArgumentError, match=r"argument 1 of add on <Device toy:1> must be f32\[4\]"):
            exe.execute_sharded([[A, B], row])
    with pytest.raises(InvalidArgumentError, match="add on <Device toy:1> takes 2 arguments"):
        exe.execute_sharded([[A, B], [A]])
    swapped = client.compile(module, xla_core.CompileOptions(device_assignment=((1,), (0,))))
    assert swapped.devices == client.devices[::-1]


@pytest.mark.parametrize(
    "options",
    [
        {"num_replicas": 3},
        {"device_assignment": ((5,),)},
        {"device_assignment": ((0, 1),)},
        {"num_partitions": 2, "device_assignment": ((0, 0),)},
    ],
)
def test_impossible_assignments(client, options: dict) -> None:
    with pytest.raises(InvalidArgumentError):
        client.compile(programs.add(), xla_core.CompileOptions(**options))


# -- options, reports, entry ------------------------------------------------------------------------------------------


def test_backend_options_are_checked(client) -> None:
    exe = client.compile(programs.add(), xla_core.CompileOptions(backend={"speed": 3}, name="mine"))
    assert exe.name == "mine"
    with pytest.raises(InvalidArgumentError, match=r"(?s)has no field 'spead'.*did you mean speed"):
        client.compile(programs.add(), xla_core.CompileOptions(backend={"spead": 3}))
    with pytest.raises(InvalidArgumentError, match="must be CompileOptions"):
        client.compile(programs.add(), {"num_replicas": 1})


def test_report_memory_and_text(client) -> None:
    module = programs.step()
    exe = client.compile(module)
    assert exe.report.instructions_before == exe.report.instructions_after == 5
    assert exe.report.compile_seconds >= exe.report.stage_seconds["backend"] > 0
    stats = exe.memory_stats()
    assert (stats.argument_bytes, stats.output_bytes, stats.alias_bytes, stats.peak_bytes) == (32, 32, 16, 48)
    assert "HloModule step" in exe.as_text()
    assert exe.artifacts()["hlo"] == exe.as_text()
    assert module.instruction_count == 5  # the caller's own module is left alone


def test_a_program_must_be_a_program(client) -> None:
    with pytest.raises(InvalidArgumentError, match="byte"):
        client.compile(b"ML\xefR\x0d")
    with pytest.raises(InvalidArgumentError, match="neither"):
        client.compile(b"\xff\xfe")
    with pytest.raises(InvalidArgumentError, match="int is not a program"):
        client.compile(5)


def test_what_a_deleted_executable_still_tells(client) -> None:
    exe = client.compile(programs.add())
    text, names = exe.as_text(), set(exe.artifacts())
    exe.delete()
    assert exe.is_deleted()
    with pytest.raises(FailedPreconditionError, match="the executable add was deleted"):
        exe(A, B)
    assert (exe.as_text(), set(exe.artifacts())) == (text, names)
    assert np.asarray(client.deserialize(exe.serialize())(A, B)[0]).tolist() == [1, 2, 3, 4]


def test_an_executable_of_a_closed_client_is_deleted(client) -> None:
    exe = client.compile(programs.add())
    assert not exe.is_deleted()
    client.close()
    assert exe.is_deleted()


def test_tuples_and_tokens_at_the_boundary_are_flattened(client) -> None:
    text = """HloModule nested, input_output_alias={ {0,1}: (0, {1,0}) }

ENTRY main {
  p = (f32[4], (f32[4], token[])) parameter(0)
  q = f32[4] parameter(1)
  a = f32[4] get-tuple-element(p), index=0
  inner = (f32[4], token[]) get-tuple-element(p), index=1
  b = f32[4] get-tuple-element(inner), index=0
  t = token[] get-tuple-element(inner), index=1
  s = f32[4] add(a, b)
  m = f32[4] multiply(b, q)
  pair = (f32[4], f32[4]) tuple(s, m)
  ROOT r = ((f32[4], f32[4]), token[], f32[4]) tuple(pair, t, q)
}
"""
    exe = client.compile(text)
    assert [str(s.without_layout()) for s in exe.parameter_shapes] == ["f32[4]"] * 3
    assert exe.donated_parameters == (1,)
    b = client.buffer_from_host(B * 2)
    outs = exe(A, b, A)
    assert [np.asarray(o).tolist() for o in outs] == [[2, 3, 4, 5], [0, 2, 4, 6], [0, 1, 2, 3]]
    assert b.is_deleted()


def test_stablehlo_text(client) -> None:
    exe = client.compile("""
      func.func @main(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
        %0 = stablehlo.add %a, %b : tensor<4xf32>
        return %0 : tensor<4xf32>
      }""")
    assert np.asarray(exe(A, B)[0]).tolist() == [1, 2, 3, 4]
    with pytest.raises(InvalidArgumentError, match=r"^model.mlir:2:"):
        client.compile("func.func @main() {\n  %0 = stablehlo.addd %a : tensor<4xf32>\n}", file="model.mlir")


# -- profile ----------------------------------------------------------------------------------------------------------


def test_a_chrome_trace_of_compile_and_run(client, tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    with profiler.trace(path):
        exe = client.compile(programs.add())
        exe.executable.microseconds = float("inf")
        exe(A, B)[0].block_until_ready()
        client.synchronize()
    trace = json.loads(path.read_text())["traceEvents"]
    names = {event["name"] for event in trace}
    assert {"compile add", "run_hlo_passes", "run_backend", "execute add", "host to device", "add"} <= names
    spans = [event for event in trace if event["ph"] == "X"]
    assert all(event["dur"] >= 0 and event["ts"] >= 0 for event in spans)
    rows = {event["args"]["name"]: event["tid"] for event in trace if event["ph"] == "M"}
    assert len(rows) == len(set(rows.values())) >= 3
    assert profiler.active is None
    assert profiler.span("a") is profiler.span("b")


def test_no_memory_is_left(client) -> None:
    exe = client.compile(programs.step())
    for _ in range(10):
        exe(A, B)
    gc.collect()
    assert client.devices[0].memory_stats().bytes_in_use == 0
