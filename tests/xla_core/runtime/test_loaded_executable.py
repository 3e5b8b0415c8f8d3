"""Running programs: arguments, donation, asynchrony, failures, several devices, serialization."""

from __future__ import annotations

import gc
import importlib.util
import json
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import xla_core
from xla_core import profiler
from xla_core.errors import (
    FailedPreconditionError,
    InternalError,
    InvalidArgumentError,
    ResourceExhaustedError,
)
from xla_core.hlo import ElementType, HloModule, Layout, Shape
from xla_core.runtime import Client, StaticExecutable

_spec = importlib.util.spec_from_file_location("runtime_programs", Path(__file__).with_name("programs.py"))
programs = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(programs)

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


def test_wrong_counts_of_arguments(client) -> None:
    text = "func.func @main({}) -> tensor<f32> {{\n  return %x : tensor<f32>\n}}"
    one = client.compile(text.format("%x: tensor<f32>"))
    with pytest.raises(InvalidArgumentError, match=r"takes 1 argument \(f32\[\]\), not 2") as caught:
        one(1.0, 2.0)
    assert caught.value.hint is None
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
    buffer = client._to_device(array, client.devices[0], shape)
    assert np.array_equal(np.asarray(exe.execute([buffer])[0]), -array)


# -- donation --------------------------------------------------------------------------------------------------------


def test_a_donated_argument_is_gone_and_its_memory_is_the_result(client) -> None:
    exe = client.compile(programs.step())
    assert exe.donated_parameters == (0,)
    state = client.buffer_from_host(A)
    memory = state._memory
    new, product = exe(state, B)
    assert new._memory is memory
    assert np.asarray(new).tolist() == [1, 2, 3, 4]
    assert np.asarray(product).tolist() == [0, 1, 2, 3]
    assert state.is_deleted()
    for use in (np.asarray, lambda b: exe(b, B), lambda b: b.block_until_ready()):
        with pytest.raises(FailedPreconditionError, match=r"(?s)was donated to step.*donate=\(\)"):
            use(state)


def test_a_donated_argument_that_is_looked_at_is_copied(client) -> None:
    exe = client.compile(programs.step())
    state = client.buffer_from_host(A)
    view = np.asarray(state)
    new, _ = exe(state, B)
    assert view.tolist() == [0, 1, 2, 3]
    assert np.asarray(new).tolist() == [1, 2, 3, 4]
    assert state.is_deleted()


def test_a_donated_buffer_passed_twice(client) -> None:
    exe = client.compile(programs.step())
    state = client.buffer_from_host(A)
    with pytest.raises(InvalidArgumentError, match="arguments 0 and 1 of step are the same buffer, and it is donated"):
        exe.execute([state, state])
    assert np.asarray(state).tolist() == [0, 1, 2, 3]


def test_donation_is_the_callers_to_change(client) -> None:
    keep = client.compile(programs.step(), xla_core.CompileOptions(donate=()))
    state = client.buffer_from_host(A)
    keep(state, B)
    assert not state.is_deleted()
    give = client.compile(programs.step(donate=False), xla_core.CompileOptions(donate=(1,)))
    x = client.buffer_from_host(B)
    new, _ = give(state, x)
    assert x.is_deleted()
    assert not state.is_deleted()
    assert np.asarray(new).tolist() == [1, 2, 3, 4]
    with pytest.raises(InvalidArgumentError, match="donate names parameter 7"):
        client.compile(programs.step(), xla_core.CompileOptions(donate=(7,)))


def test_a_donated_argument_is_dead_though_the_run_fails_later(client, toy, monkeypatch) -> None:
    exe = client.compile(programs.step())
    monkeypatch.setattr(exe.executable, "failure", ValueError("boom"), raising=False)
    state = client.buffer_from_host(A)
    outs = exe(state, B)
    assert state.is_deleted()
    with pytest.raises(InternalError, match="boom"):
        np.asarray(outs[0])


def test_a_run_that_is_refused_keeps_what_it_was_given(client) -> None:
    big = Shape.array(ElementType.F32, (1 << 16,))
    exe = client.compile(programs.step(big))
    state, x = (client.buffer_from_host(np.ones(1 << 16, np.float32)) for _ in range(2))
    client.devices[0].memory_limit = 3 << 18
    with pytest.raises(ResourceExhaustedError):
        exe(state, x)
    assert np.asarray(state)[0] == 1
    client.devices[0].memory_limit = None
    assert np.asarray(exe(state, x)[0])[0] == 2


def test_a_steady_loop_takes_no_memory_from_the_device(client) -> None:
    exe = client.compile(programs.step())
    state, x = client.buffer_from_host(A), client.buffer_from_host(B)
    for i in range(20):
        if i == 3:
            before = client.devices[0].memory_stats().allocations
        state, _ = exe.execute([state, x])
    assert client.devices[0].memory_stats().allocations == before
    assert np.asarray(state).tolist() == [20, 21, 22, 23]


# -- asynchrony ------------------------------------------------------------------------------------------------------


@pytest.fixture
def gated(client, monkeypatch):
    """A program that waits for a gate."""
    exe = client.compile(programs.add())
    gate = threading.Event()
    monkeypatch.setattr(exe.executable, "gate", gate, raising=False)
    yield exe, gate
    gate.set()
    client.synchronize()


def test_execution_returns_at_once_and_results_wait(client, gated) -> None:
    exe, gate = gated
    (first,) = exe(A, B)
    (second,) = exe(first, B)
    assert not second.is_ready()
    assert "not ready" in repr(second)
    other = client.compile(programs.negate(), xla_core.CompileOptions(device_assignment=((1,),)))
    assert np.asarray(other(A)[0]).tolist() == [0, -1, -2, -3]  # the other device is free meanwhile
    threading.Timer(0.05, gate.set).start()
    assert np.asarray(second).tolist() == [2, 3, 4, 5]
    assert second.is_ready()


def test_memory_returns_after_the_last_reader(client, gated) -> None:
    exe, gate = gated
    array = np.full(4, 5, np.float32)
    argument = client.buffer_from_host(array)
    (result,) = exe(argument, B)
    argument.delete()
    others = [client.buffer_from_host(np.full(4, 99, np.float32)) for _ in range(5)]
    gate.set()
    assert np.asarray(result).tolist() == [6, 6, 6, 6]
    assert all(np.asarray(o).tolist() == [99] * 4 for o in others)


def test_reading_while_the_buffer_is_deleted(client, gated) -> None:
    exe, gate = gated
    (result,) = exe(A, B)
    values: list[object] = []

    def read() -> None:
        values.append(np.asarray(result).tolist())

    thread = threading.Thread(target=read)
    thread.start()
    time.sleep(0.05)
    gate.set()
    thread.join()
    assert values == [[1, 2, 3, 4]]


def test_an_error_reaches_every_dependent_and_nobody_else(client, monkeypatch) -> None:
    bad, good = client.compile(programs.add()), client.compile(programs.add())
    other = client.compile(programs.negate(), xla_core.CompileOptions(device_assignment=((1,),)))
    cause = ValueError("first")
    monkeypatch.setattr(bad.executable, "failure", cause, raising=False)
    for microseconds in (1.0, float("inf")):
        monkeypatch.setattr(bad.executable, "microseconds", microseconds, raising=False)
        (broken,) = bad(A, B)
        (next_,) = good(broken, B)
        (last,) = good(next_, broken)
        (fine,) = good(A, B)
        for buffer in (broken, next_, last):
            with pytest.raises(InternalError, match="first") as caught:
                np.asarray(buffer)
            assert caught.value.__cause__ is cause
            with pytest.raises(InternalError, match="first"):
                buffer.block_until_ready()
        with pytest.raises(InternalError, match="first"):
            other(last.copy_to_device(client.devices[1]))
        assert np.asarray(fine).tolist() == [1, 2, 3, 4]


def test_control_c_while_waiting_leaves_the_client_usable(client, gated) -> None:
    exe, gate = gated
    (result,) = exe(A, B)
    threading.Timer(0.1, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        np.asarray(result)
    gate.set()
    assert np.asarray(result).tolist() == [1, 2, 3, 4]
    assert np.asarray(exe(A, B)[0]).tolist() == [1, 2, 3, 4]


def test_control_c_ends_a_long_compilation(client, toy, monkeypatch) -> None:
    ended: list[BaseException] = []
    started = threading.Event()

    def slow(self, module, options, executor=None):
        started.set()
        try:
            while True:
                time.sleep(0.001)
        except BaseException as error:
            ended.append(error)
            raise

    monkeypatch.setattr(toy.ToyCompiler, "run_hlo_passes", slow)

    def interrupt() -> None:
        started.wait()
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt).start()
    with pytest.raises(KeyboardInterrupt):
        client.compile(programs.add())
    for _ in range(1000):
        if ended:
            break
        time.sleep(0.01)
    assert not isinstance(ended[0], Exception)  # which no pass can take for a failure of its own
    monkeypatch.undo()
    assert np.asarray(client.compile(programs.add())(A, B)[0])[0] == 1


def test_many_threads_run_one_program(client) -> None:
    exe = client.compile(programs.step(donate=False))
    failures: list[object] = []

    def work(seed: int) -> None:
        x = np.full(4, seed, np.float32)
        for _ in range(50):
            total, product = exe(A, x)
            if np.asarray(total).tolist() != (A + x).tolist() or np.asarray(product).tolist() != (A * x).tolist():
                failures.append(seed)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_after_a_fork_the_child_is_told(install, toy) -> None:
    source = """
        import os, sys, warnings
        warnings.simplefilter("ignore")
        sys.path.insert(0, PATH)
        import numpy as np, toy_backend
        import xla_core.runtime.client as client_module
        from xla_core.errors import FailedPreconditionError
        client_module._choose = lambda name: ("toy", toy_backend.spec())
        from xla_core.runtime import Client
        from xla_core.hlo import *
        module, main = HloModule("f"), HloComputation("main")
        module.add_computation(main, entry=True)
        main.add("negate", main.parameter(0, Shape.array(ElementType.F32)))
        client = Client()
        exe = client.compile(module)
        buffer = client.buffer_from_host(np.float32(1))
        pid = os.fork()
        if pid == 0:
            told = 0
            for use in (lambda: exe(buffer), lambda: np.asarray(buffer), lambda: client.buffer_from_host(1)):
                try:
                    use()
                except FailedPreconditionError as error:
                    told += "before a fork" in str(error)
            told += float(Client().compile(module)(2)[0]) == -2
            os._exit(told)
        print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), float(exe(buffer)[0]))
    """
    path = repr(str(Path(__file__).parent.parent))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    result = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(source).replace("PATH", path, 1)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert result.stdout == "4 -1.0\n", result.stderr


# -- several devices -------------------------------------------------------------------------------------------------


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


# -- options, reports, entry -----------------------------------------------------------------------------------------


def test_backend_options_are_checked(client) -> None:
    exe = client.compile(programs.add(), xla_core.CompileOptions(backend={"speed": 3}, name="mine"))
    assert exe.name == "mine"
    with pytest.raises(InvalidArgumentError, match=r"(?s)spead.*the options are: speed"):
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


# -- serialization ---------------------------------------------------------------------------------------------------


def test_serialization(client, toy, monkeypatch) -> None:
    exe = client.compile(programs.step())
    blob = exe.serialize()
    again = client.deserialize(blob)
    assert isinstance(again, xla_core.LoadedExecutable)
    assert isinstance(again, StaticExecutable)
    assert again.name == "step"
    assert again.donated_parameters == (0,)
    assert np.asarray(again(A, B)[0]).tolist() == [1, 2, 3, 4]
    for damaged, message in (
        (b"PK\x03\x04", "not a serialized executable"),
        (blob[:20], "cut off"),
        (blob[:-3], "fingerprint"),
        (blob[:30] + b"\x00" + blob[31:], "damaged"),
        (b"", "not a serialized executable"),
    ):
        with pytest.raises((InvalidArgumentError, FailedPreconditionError), match=message):
            client.deserialize(damaged)
    monkeypatch.setattr(toy.ToyCompiler, "fingerprint", lambda self: "other library")
    with pytest.raises(FailedPreconditionError, match="compiler is '', here it is 'other library'"):
        client.deserialize(blob)


@pytest.mark.parametrize("name", ["my program, v2", 'x"\n!bad {', "ünïcode", "7", "../up"])
def test_a_program_may_have_any_name(client, name: str) -> None:
    exe = client.compile(programs.add(), xla_core.CompileOptions(name=name))
    assert exe.name == name
    again = client.deserialize(exe.serialize())
    assert again.name == name
    assert np.asarray(again(A, B)[0]).tolist() == [1, 2, 3, 4]


def test_a_deserialized_program_has_its_backends_options(client, toy, monkeypatch) -> None:
    blob = client.compile(programs.add(), xla_core.CompileOptions(backend={"speed": 3})).serialize()
    seen: list[object] = []
    run_backend = toy.ToyCompiler.run_backend

    def spy(self, module, options, executor=None):
        seen.append(options.backend)
        return run_backend(self, module, options, executor)

    monkeypatch.setattr(toy.ToyCompiler, "run_backend", spy)
    client.deserialize(blob)
    assert seen == [toy.ToyOptions(speed=3)]


def test_any_byte_of_a_serialized_executable_may_flip(client) -> None:
    blob = client.compile(programs.add()).serialize()
    for place in range(0, len(blob), 7):
        mutant = blob[:place] + bytes([blob[place] ^ 0x41]) + blob[place + 1 :]
        with pytest.raises(InvalidArgumentError):
            client.deserialize(mutant)


# -- profile ---------------------------------------------------------------------------------------------------------


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
    assert profiler.active() is None
    assert profiler.span("a") is profiler.span("b")


def test_no_memory_is_left(client) -> None:
    exe = client.compile(programs.step())
    for _ in range(10):
        exe(A, B)
    gc.collect()
    assert client.devices[0].memory_stats().bytes_in_use == 0


def test_modules_are_modules() -> None:
    assert isinstance(xla_core.parse("HloModule m\n\nENTRY e {\n  ROOT p = f32[] parameter(0)\n}\n"), HloModule)
