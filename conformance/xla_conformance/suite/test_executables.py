"""Executables: right and wrong calls, threads, serialization, artifacts and figures."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from xla_conformance.plugin import not_supported
from xla_core import (
    Client,
    CompileOptions,
    FailedPreconditionError,
    InvalidArgumentError,
    LoadedExecutable,
    XlaError,
    parse,
)
from xla_core.backend import CompileOptions as ContractCompileOptions

PROGRAM = """\
HloModule scale_and_sum

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b)
}

ENTRY main {
  x = f32[8,16] parameter(0)
  k = f32[] parameter(1)
  factor = f32[8,16] broadcast(k), dimensions={}
  scaled = f32[8,16] multiply(x, factor)
  zero = f32[] constant(0)
  sums = f32[8] reduce(scaled, zero), dimensions={1}, to_apply=add
  ROOT r = (f32[8,16], f32[8]) tuple(scaled, sums)
}
"""
X = np.arange(128, dtype=np.float32).reshape(8, 16)


@pytest.fixture(scope="module")
def executable(client: Client) -> LoadedExecutable:
    return client.compile(PROGRAM)


def right(executable: LoadedExecutable, factor: float = 2.0) -> None:
    scaled, sums = executable(X, np.float32(factor))
    np.testing.assert_array_equal(np.asarray(scaled), X * np.float32(factor))
    np.testing.assert_allclose(np.asarray(sums), (X * factor).sum(axis=1), rtol=1e-5)


def test_results_are_right(executable: LoadedExecutable) -> None:
    right(executable)
    right(executable, -0.5)


def test_it_says_what_it_takes_and_gives(executable: LoadedExecutable) -> None:
    assert [str(s.without_layout()) for s in executable.parameter_shapes] == ["f32[8,16]", "f32[]"]
    assert [str(s.without_layout()) for s in executable.result_shapes] == ["f32[8,16]", "f32[8]"]
    assert executable.name == "scale_and_sum"


def test_results_feed_other_calls(client: Client, executable: LoadedExecutable) -> None:
    x, k = client.buffer_from_host(X), client.buffer_from_host(np.float32(2))
    for _ in range(10):
        x, sums = executable.execute([x, k])
    np.testing.assert_array_equal(np.asarray(x), X * 1024)
    assert sums.shape.dimensions == (8,)


def test_a_program_without_arguments(client: Client) -> None:
    (result,) = client.compile("HloModule m\nENTRY e {\n  ROOT r = s32[5] iota(), iota_dimension=0\n}\n")()
    np.testing.assert_array_equal(np.asarray(result), np.arange(5))


def test_a_program_without_results(client: Client) -> None:
    executable = client.compile("HloModule m\nENTRY e {\n  x = f32[3] parameter(0)\n  ROOT r = () tuple()\n}\n")
    assert executable(X[0, :3]) == ()


def test_a_result_that_is_an_argument(client: Client) -> None:
    (result,) = client.compile("HloModule m\nENTRY e {\n  ROOT x = f32[8,16] parameter(0)\n}\n")(X)
    np.testing.assert_array_equal(np.asarray(result), X)


def test_nested_tuples_are_flat_at_the_boundary(client: Client) -> None:
    text = (
        "HloModule m\nENTRY e {\n  p = (f32[2], (f32[3], f32[])) parameter(0)\n"
        "  a = f32[2] get-tuple-element(p), index=0\n  q = (f32[3], f32[]) get-tuple-element(p), index=1\n"
        "  b = f32[3] get-tuple-element(q), index=0\n  c = f32[] get-tuple-element(q), index=1\n"
        "  t = (f32[], f32[2]) tuple(c, a)\n  ROOT r = ((f32[], f32[2]), f32[3]) tuple(t, b)\n}\n"
    )
    values = [np.arange(2, dtype=np.float32), np.arange(3, dtype=np.float32), np.float32(7)]
    results = [np.asarray(r) for r in client.compile(text)(*values)]
    for got, want in zip(results, [values[2], values[0], values[1]], strict=True):
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((X,), "takes 2 arguments"),
        ((X, np.float32(1), X), "takes 2 arguments"),
        ((X[:7], np.float32(1)), r"argument 0 .* must be f32\[8,16\]"),
        ((X.astype(np.float64), np.float32(1)), r"argument 0 .* must be f32\[8,16\]"),
        ((X, np.int32(1)), "argument 1"),
        ((X, "one"), ""),
        ((X, None), ""),
    ],
    ids=["too_few", "too_many", "shape", "type", "scalar_type", "text", "none"],
)
def test_wrong_arguments_leave_it_usable(
    executable: LoadedExecutable, arguments: tuple[object, ...], said: str
) -> None:
    with pytest.raises(InvalidArgumentError, match=said):
        executable(*arguments)
    right(executable)


def test_buffers_of_another_client_are_refused(backend: str, executable: LoadedExecutable) -> None:
    with Client(backend) as other:
        x = other.buffer_from_host(X)
        with pytest.raises(InvalidArgumentError, match="another client"):
            executable(x, np.float32(1))
    right(executable)


@pytest.mark.parametrize(
    "text",
    [
        "HloModule m\nENTRY e {\n  ROOT x = f32[2] frobnicate()\n}\n",
        "HloModule m\nENTRY e {\n  x = f32[2] parameter(0)\n  ROOT y = f32[3] negate(x)\n}\n",
        'func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {\n  %y = "stablehlo.nothing"(%x) : () -> ()\n}\n',
        "",
        "no program at all",
    ],
    ids=["opcode", "shape", "stablehlo", "empty", "prose"],
)
def test_wrong_programs_leave_the_client_usable(client: Client, text: str, executable: LoadedExecutable) -> None:
    with pytest.raises(XlaError):
        client.compile(text)
    right(executable)


def test_an_unknown_option_is_refused(client: Client) -> None:
    with pytest.raises(InvalidArgumentError, match="no_such_option"):
        client.compile(PROGRAM, CompileOptions(backend={"no_such_option": 1}))


@pytest.mark.parametrize("level", [0, 1, 2])
def test_every_optimization_level_is_right(client: Client, level: int) -> None:
    right(client.compile(PROGRAM, ContractCompileOptions(optimization_level=level)))


def test_threads_share_an_executable(executable: LoadedExecutable) -> None:
    wrong: list[BaseException] = []

    def call(factor: int) -> None:
        try:
            for i in range(20):
                right(executable, factor + i / 16)
        except BaseException as error:  # the test's own thread raises it
            wrong.append(error)

    threads = [threading.Thread(target=call, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong, wrong[0]


def test_threads_compile_at_the_same_time(client: Client, executable: LoadedExecutable) -> None:
    made: list[LoadedExecutable] = []
    right(executable)  # threads can't end the test with NOT_SUPPORTED

    def compile_one() -> None:
        made.append(client.compile(PROGRAM))

    threads = [threading.Thread(target=compile_one) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 4
    for executable in made:
        right(executable)


def test_runs_are_repeatable(executable: LoadedExecutable) -> None:
    first = [np.asarray(r).tobytes() for r in executable(X, np.float32(0.1))]
    for _ in range(5):
        assert [np.asarray(r).tobytes() for r in executable(X, np.float32(0.1))] == first


def test_serialized_and_read_again(client: Client, executable: LoadedExecutable) -> None:
    blob = executable.serialize()
    again = client.deserialize(blob)
    right(again)
    assert again.name == executable.name
    assert again.parameter_shapes == executable.parameter_shapes
    assert again.result_shapes == executable.result_shapes
    right(client.deserialize(again.serialize()))


def test_serialized_for_another_client(backend: str, executable: LoadedExecutable) -> None:
    blob = executable.serialize()
    with Client(backend) as other:
        right(other.deserialize(blob))


def test_damaged_executables_are_refused(client: Client, executable: LoadedExecutable) -> None:
    blob = executable.serialize()
    flipped = bytearray(blob)
    flipped[-1] ^= 1
    wrong = [b"", b"nonsense", blob[: len(blob) // 2], bytes(flipped), blob[:9]]
    for data in wrong:
        with pytest.raises((InvalidArgumentError, FailedPreconditionError)):
            client.deserialize(data)
    right(executable)


def test_compiled_ahead_of_time(client: Client) -> None:
    """The compiler makes a serialized executable without a device.."""
    compiler = client.platform.compiler
    try:
        data = compiler.compile_ahead_of_time(parse(PROGRAM))
    except XlaError as error:
        not_supported(f"its compiler needs a device: {error.message}")
    assert isinstance(data, bytes)
    assert data


def test_optimized_text_can_be_read(executable: LoadedExecutable) -> None:
    module = parse(executable.as_text())
    assert len(module.parameter_shapes) == 2


def test_artifacts(client: Client) -> None:
    artifacts = client.compile(PROGRAM, CompileOptions(keep_artifacts=True)).artifacts()
    assert "hlo" in artifacts
    assert all(isinstance(a, (str, bytes)) and a for a in artifacts.values())


def test_cost_analysis(executable: LoadedExecutable) -> None:
    cost = executable.cost_analysis()
    assert cost["flops"] >= 128
    assert cost["bytes accessed"] >= 128 * 4


def test_memory_stats(executable: LoadedExecutable) -> None:
    stats = executable.memory_stats()
    assert stats.argument_bytes >= 129 * 4
    assert stats.output_bytes >= 136 * 4
    assert stats.peak_bytes >= stats.argument_bytes + stats.output_bytes


def test_report(client: Client) -> None:
    report = client.compile(PROGRAM).report
    assert report.instructions_before >= 7
    assert report.instructions_after >= 1
    assert report.compile_seconds > 0


def test_on_every_device(client: Client) -> None:
    if len(client.devices) < 2:
        not_supported("there is one device")
    for index, device in enumerate(client.devices):
        executable = client.compile(PROGRAM, CompileOptions(device_assignment=((index,),)))
        assert executable.devices == (device,)
        right(executable)
