"""The benchmark harness: its turns, its verdicts, and programs that equal what their sources export."""

from __future__ import annotations

import json
import math
import os
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from benchmarks import report
from benchmarks.compiling import compiling
from benchmarks.contenders import Jax, Prepared, device_counts
from benchmarks.measure import Measurement, geometric_mean, interleave, largest_difference, measure
from benchmarks.reading import Reading, print_table
from benchmarks.run import main
from benchmarks.start import start
from benchmarks.suite import Array, ArraySpec, Benchmark, load

BENCHMARKS = load()
SMALL = next(b for b in BENCHMARKS if b.name == "trivial")


class Fake:
    """Adds `offset` to its input, in `seconds`."""

    def __init__(self, name: str, offset: float = 1.0, seconds: float = 0.0, error: Exception | None = None) -> None:
        self.name, self.offset, self.seconds, self.error = name, offset, seconds, error

    def prepare(self, text: str, inputs: Sequence[Array]) -> Prepared:
        if self.error is not None:
            raise self.error

        def call() -> list[Array]:
            time.sleep(self.seconds)
            return [inputs[0] + np.float32(self.offset)]

        return Prepared(0.25, call, list)


def test_manifest_and_texts_agree() -> None:
    assert len(BENCHMARKS) >= 30
    assert len({b.name for b in BENCHMARKS}) == len(BENCHMARKS)
    assert {b.path for b in BENCHMARKS} == set(BENCHMARKS[0].path.parent.glob("*.mlir"))
    for benchmark in BENCHMARKS:
        main = re.search(r"@main\((.*?)\) -> ", benchmark.text)
        assert main is not None
        assert benchmark.arguments is not None
        types = ["x".join([*map(str, s.shape), _mlir(s.dtype)]) for s in benchmark.arguments]
        assert re.findall(r"tensor<([^>]*)>", main[1]) == types


def _mlir(dtype: str) -> str:
    return {"float32": "f32", "bfloat16": "bf16", "int8": "i8", "int32": "i32", "uint32": "ui32"}[dtype]


def test_inputs_repeat() -> None:
    for first, second in zip(SMALL.inputs(), SMALL.inputs(), strict=True):
        np.testing.assert_array_equal(first, second)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replaces the clock by one that advances only by sleeping."""
    now = [0.0]
    monkeypatch.setattr(time, "perf_counter", lambda: now[0])
    monkeypatch.setattr(time, "sleep", lambda seconds: now.__setitem__(0, now[0] + seconds))


@pytest.mark.usefixtures("clock")
def test_a_slower_side_is_seen_as_slower() -> None:
    result = measure(SMALL, Fake("ours", seconds=4e-3), Fake("jax", seconds=2e-3), seconds=0.05)
    assert result.correct is True
    assert result.ratio == pytest.approx(0.5)
    assert result.repetitions >= 5
    assert result.ours_compile_seconds == 0.25


def test_wrong_results_do_not_count() -> None:
    result = measure(SMALL, Fake("ours", offset=1.01), Fake("jax"), seconds=0.01)
    assert result.correct is False
    assert result.ours_seconds is not None
    assert result.ratio is None
    assert report.ratios([result]) == []


def test_a_failure_is_recorded_and_jax_still_timed() -> None:
    result = measure(SMALL, Fake("ours", error=ValueError("no such op")), Fake("jax"), seconds=0.01)
    assert result.error == "ValueError: no such op"
    assert result.jax_seconds is not None
    assert result.ratio is None


def test_turns_alternate() -> None:
    order: list[int] = []

    def side(number: int) -> Prepared:
        def call() -> list[Array]:
            order.append(number)
            time.sleep(3e-3)  # longer than a turn's least time: one call a turn
            return []

        return Prepared(0.0, call, list)

    samples = interleave([side(0), side(1)], seconds=0.0)
    assert [len(s) for s in samples] == [5, 5]
    assert order[4:] == [0, 1, 1, 0, 0, 1, 1, 0, 0, 1]  # the first four calls warm up and calibrate


@pytest.mark.parametrize(
    ("got", "want", "difference", "correct"),
    [
        (np.float32([1, 2]), np.float32([1, 2]), 0.0, True),
        (np.float32([1, 2.0002]), np.float32([1, 2]), 1e-4, True),
        (np.float32([1, 2.02]), np.float32([1, 2]), 1e-2, False),
        (np.float32([1, np.nan]), np.float32([1, 2]), math.inf, False),
        (np.int32([1, 2]), np.int32([1, 3]), 1 / 3, False),
        (np.float32([1, 2]), np.float64([1, 2]), math.inf, False),
        (np.float32([[1, 2]]), np.float32([1, 2]), math.inf, False),
        (np.float32([]), np.float32([]), 0.0, True),
    ],
)
def test_largest_difference(got: Array, want: Array, difference: float, correct: bool) -> None:
    measured, verdict = largest_difference([got], [want])
    assert measured == pytest.approx(difference, rel=1e-2)
    assert verdict is correct


def test_missing_result_is_wrong() -> None:
    assert largest_difference([], [np.float32([1])]) == (math.inf, False)


def test_geometric_mean() -> None:
    assert geometric_mean([0.5, 2.0, 8.0]) == pytest.approx(2.0)
    assert math.isnan(geometric_mean([]))


def test_environment_that_changes_speed_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in report.environment():
        monkeypatch.delenv(name)
    assert report.environment() == {}
    monkeypatch.setenv("OPENBLAS_CORETYPE", "Haswell")
    assert report.environment() == {"OPENBLAS_CORETYPE": "Haswell"}


def test_compilations_are_timed_in_turns(tmp_path: Path) -> None:
    fakes = Fake("a"), Fake("b")
    assert compiling([SMALL], ["trivial"], *fakes, 0.0, tmp_path / "compile.json") == 0
    (row,) = json.loads((tmp_path / "compile.json").read_text())
    assert row["name"] == "trivial"
    assert row["ratio"] == pytest.approx(row["seconds"] / row["jax_seconds"])
    assert compiling([SMALL], ["dispatch"], fakes[0], None, 0.0) == 0
    assert compiling([SMALL], ["nothing"], fakes[0], None, 0.0) == 2


def test_a_function_is_compiled_on_both_sides(tmp_path: Path) -> None:
    assert main(["--compile", "--only", "jnp.max", "--seconds", "0", "--json", str(tmp_path / "compile.json")]) == 0
    (row,) = json.loads((tmp_path / "compile.json").read_text())
    assert row["name"] == "jnp.max"
    assert min(row["seconds"], row["jax_seconds"]) > 1e-3


def test_the_start_of_processes_is_timed_step_by_step(tmp_path: Path) -> None:
    assert start("cpu", 0.0, tmp_path / "start.json") == 0
    starts = {s["name"]: s for s in json.loads((tmp_path / "start.json").read_text())}
    assert list(starts)[:4] == ["import xla_core", "Client", "first compilation", "first run"]
    assert list(starts)[5:] == ["xla --help", "xla backends", "xla run FILE"]
    assert all(s["cpu_seconds"] > 0 and s["seconds"] > 0 for s in starts.values())
    steps = sum(starts[name]["cpu_seconds"] for name in list(starts)[:4])
    assert starts["in all"]["cpu_seconds"] >= steps


@pytest.mark.parametrize("width", [30, 60, 80, 240])
def test_no_figure_is_cut(width: int, tmp_path: Path) -> None:
    console = Console(width=width, record=True, file=(tmp_path / "log").open("w"))
    readings = [
        Reading("constant of 64 MiB, hexadecimal", 134_217_999, 0, 0.12345, 12.34567, 45.67891),
        Reading("StableHLO text, generic form", 1_234_567, 12_345, 0.011, 0.02222, 0.03333),
    ]
    print_table(console, readings)
    report.print_table(console, [Measurement("a_program_with_a_name", "g", 1234.5678, 2e-3, 0.1, 0.2, 9, 0.0, True)])
    text = console.export_text()
    words = "134.22 1,087.2 MB/s 123.45 12345.67 45678.91 370.02 12,345 1,122,273 lines/s 33.33 1234567.800 2.000 0.00"
    assert not [word for word in words.split() if word not in text.split()]
    assert "…" not in text


@pytest.mark.parametrize("seconds", ["-1", "nan", "inf", "-1e-9"])
def test_what_is_no_time_is_refused(seconds: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main([f"--seconds={seconds}"])
    assert caught.value.code == 2
    assert f"{seconds} is not a time in seconds" in capsys.readouterr().err


def test_report(tmp_path: Path) -> None:
    measurements = [
        Measurement("fast", "g", 1e-3, 2e-3, 0.1, 0.2, 9, 0.0, True),
        Measurement("wrong", "g", 1e-3, 2e-3, 0.1, 0.2, 9, 0.5, False),
        Measurement("failed", "g", jax_seconds=1e-3, error="XlaError: [no]"),
    ]
    console = Console(width=100, record=True, file=(tmp_path / "log").open("w"))
    report.print_table(console, measurements)
    text = console.export_text()
    assert "2.00" in text
    assert "WRONG" in text
    assert "FAILED" in text
    assert "2.000 (1 program)" in text
    report.write_json(tmp_path / "bench.json", measurements, {"jax": "1"})
    stored = json.loads((tmp_path / "bench.json").read_text())
    assert stored["geometric_mean"] == pytest.approx(2.0)
    assert [row["ratio"] for row in stored["programs"]] == [2.0, None, None]
    pytest.importorskip("matplotlib")
    report.draw(tmp_path / "bench.png", measurements)
    assert (tmp_path / "bench.png").read_bytes().startswith(b"\x89PNG")


def test_the_dispatch_of_a_program_alone(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--only", "dispatch", "--side", "ours", "--backend", "cpu", "--seconds", "0.01"]) == 0
    printed = capsys.readouterr().out
    assert "Dispatch of a trivial program" in printed
    assert "ratio" not in printed  # no table of nothing


def test_names_of_programs_and_groups(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--only", "nope"])
    said = capsys.readouterr().err
    assert "dispatch" in said
    assert "trivial" in said


def test_programs_of_ones_own_need_no_manifest(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("xla_backend_cpu")
    (tmp_path / "twice.mlir").write_text(
        "func.func @main(%x: tensor<4xbf16>, %i: tensor<2xui32>) -> (tensor<4xbf16>, tensor<2xui32>) {"
        " %0 = stablehlo.add %x, %x : tensor<4xbf16> return %0, %i : tensor<4xbf16>, tensor<2xui32> }"
    )
    (found,) = load(tmp_path)
    assert (found.name, found.group) == ("twice", "own")
    assert [(a.shape, a.dtype.name) for a in found.inputs()] == [((4,), "bfloat16"), ((2,), "uint32")]
    assert main(["--programs", str(tmp_path), "--side", "ours", "--backend", "cpu", "--seconds", "0.01"]) == 0
    assert "twice" in capsys.readouterr().out
    (tmp_path / "wrong.mlir").write_text("func.func @main(")
    assert main(["--programs", str(tmp_path), "--side", "ours", "--backend", "cpu", "--seconds", "0.01"]) == 1
    assert "Failed or wrong: wrong" in capsys.readouterr().out


@pytest.mark.parametrize(("name", "what"), [("", "holds no .mlir files"), ("nonexistent", "is not a directory")])
def test_a_directory_without_programs(name: str, what: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--programs", str(tmp_path / name)]) == 2
    printed = " ".join(capsys.readouterr().out.split())
    assert what in printed
    assert "--programs takes" in printed


def test_jax_side_computes() -> None:
    pytest.importorskip("jax")
    inputs = SMALL.inputs()
    jax = Jax("cpu")
    for prepared in (jax.prepare(SMALL.text, inputs), jax.prepare_jitted(lambda x: x + 1.0, inputs)):
        np.testing.assert_allclose(prepared.fetch(prepared.call())[0], inputs[0] + 1)


DEVICES = """
module @f attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 2 : i32} {
  func.func public @main(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<ui32>) {
    %0 = "stablehlo.all_reduce"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<2xf32>) -> tensor<2xf32>
    %id = stablehlo.replica_id : tensor<ui32>
    return %0, %id : tensor<2xf32>, tensor<ui32>
  }
}
"""
ON_DEVICES = """
import sys
from benchmarks.contenders import Jax, XlaCore
from benchmarks.measure import measure
from benchmarks.suite import ArraySpec, Benchmark
from pathlib import Path

benchmark = Benchmark("devices", "g", Path(sys.argv[1]), (ArraySpec((2,), "float32", 0.0, 1.0),))
sides = XlaCore("cpu"), Jax("cpu")
for side in sides:
    prepared = side.prepare(benchmark.text, benchmark.inputs())
    print([array.tolist() for array in prepared.fetch(prepared.call())][1::2])
result = measure(benchmark, *sides, 0.01)
print(result.correct, result.error, result.ratio is not None)
"""


def test_both_sides_run_a_program_of_several_devices(tmp_path: Path) -> None:
    pytest.importorskip("jax")
    pytest.importorskip("xla_backend_cpu")
    (tmp_path / "devices.mlir").write_text(DEVICES)
    assert device_counts(DEVICES) == (2, 1)
    assert device_counts("func.func @main() { return }") == (1, 1)
    command = [sys.executable, "-c", ON_DEVICES, str(tmp_path / "devices.mlir")]
    environment = {**os.environ, "XLA_FLAGS": "--xla_force_host_platform_device_count=2"}
    root = Path(__file__).parents[2]
    done = subprocess.run(command, env=environment, cwd=root, capture_output=True, text=True, check=False)
    assert done.stdout.splitlines() == ["[0, 1]", "[0, 1]", "True None True"], done.stderr


def test_a_side_that_lacks_devices_says_so(tmp_path: Path) -> None:
    pytest.importorskip("jax")
    path = tmp_path / "devices.mlir"
    path.write_text(DEVICES.replace("num_replicas = 2", "num_replicas = 4000"))
    result = measure(Benchmark("devices", "g", path, (ArraySpec((2,), "float32", 0.0, 1.0),)), None, Jax("cpu"), 0.01)
    assert result.jax_seconds is None
    assert result.error is not None
    assert "runs on 4000 devices" in result.error
    assert "XLA_FLAGS=--xla_force_host_platform_device_count=4000" in result.error


@pytest.mark.parametrize("benchmark", BENCHMARKS, ids=lambda b: b.name)
def test_programs_are_what_the_source_exports(benchmark: Benchmark) -> None:
    jax = pytest.importorskip("jax")
    if f"JAX {jax.__version__}." not in benchmark.text.splitlines()[0]:
        pytest.skip("written by another version of JAX")
    from benchmarks.export import text_of

    assert text_of(benchmark.name) == benchmark.text
