"""The sections of the report. Each runs in a process of its own and returns rows."""

from __future__ import annotations

import dataclasses
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import xla_core
from benchmarks.contenders import Jax, XlaCore
from benchmarks.gpu.cublas import Cublas
from benchmarks.gpu.profiler import METRICS, find_profiler, profile
from benchmarks.gpu.row import Row
from benchmarks.gpu.timing import DeviceTimer, copy_program
from benchmarks.measure import geometric_mean, measure
from benchmarks.suite import Benchmark, load

MEMORY_BOUND = frozenset({"elementwise", "reduction", "norm", "movement"})
"""Groups of programs that take as long as reading the arguments and writing the results once."""

STEPS = 32
"""Kernels of the program whose launches are timed with and without a graph."""

_LIBRARY_CALL = "__cublas$lt$matmul"

COUNTED = ("elementwise_chain", "reduce_rows", "softmax", "transpose")


@dataclasses.dataclass(frozen=True)
class Choice:
    """The programs to measure: all of a directory, or those of these names and groups; for `conform`, the tests."""

    directory: Path
    only: tuple[str, ...] = ()

    @property
    def programs(self) -> list[Benchmark]:
        return [b for b in load(self.directory) if not self.only or {b.name, b.group} & set(self.only)]


def conform(choice: Choice, seconds: float) -> Iterator[Row]:
    """The conformance suite, profile quick."""
    with tempfile.TemporaryDirectory() as folder:
        command = [
            sys.executable,
            "-m",
            "xla_core.cli",
            "conform",
            "--backend",
            "gpu",
            "--profile",
            "quick",
            "-n",
            str(min(8, os.cpu_count() or 1)),
        ]
        command += [
            "--report",
            folder,
            "--total-seconds",
            str(seconds),
            *(part for word in choice.only for part in ("-k", word)),
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        report = Path(folder, "report.json")
        if not report.exists():
            raise RuntimeError((done.stdout + done.stderr).strip().splitlines()[-1])
        document = json.loads(report.read_text())
    counts = ", ".join(f"{count} {state}" for state, count in document["summary"].items() if count)
    yield Row("conform", "quick", counts, "nothing wrong", bool(document["passes"]), document["problem"])


def bandwidth(choice: Choice, seconds: float) -> Iterator[Row]:
    """Bytes of arguments and results a second, against a kernel that copies as many bytes."""
    client = xla_core.Client("gpu")
    timer = DeviceTimer(client, 1 << 12 if is_small(client) else 1 << 28)
    yield from _clock(client, timer, min(1.0, seconds / 10))
    programs = [b for b in choice.programs if b.group in MEMORY_BOUND]
    for benchmark, budget in shared(programs, seconds):
        try:
            executable = client.compile(benchmark.text)
            arguments = [client.buffer_from_host(array) for array in benchmark.inputs()]
            results = executable.execute(arguments)
            moved = sum(np.asarray(array).nbytes for array in (*arguments, *results))
            own = timer.seconds(lambda e=executable, a=arguments: e.execute(a), budget=budget / 4)
            copy = client.compile(copy_program(max(1, moved // 8)))
            source = [client.buffer_from_host(np.zeros(max(1, moved // 8), np.float32))]
            copied = timer.seconds(lambda e=copy, a=source: e.execute(a), budget=budget / 4)
        except Exception as error:  # the others are measured all the same
            yield failed("bandwidth", benchmark.name, error)
            continue
        share = copied / own
        note = f"{moved / own / 1e9:.0f} GB/s, {own * 1e6:.1f} us; a copy of as many bytes {copied * 1e6:.1f} us"
        yield Row("bandwidth", benchmark.name, f"{share:.0%}", ">= 85%", share >= 0.85, note)


def _clock(client: xla_core.Client, timer: DeviceTimer, budget: float) -> Iterator[Row]:
    """A copy by the device's clock and a kernel that copies by the timer, so that it is seen whether times are true."""
    driver, what = client.platform.executor(0).driver, "the timer"
    size = 1 << 16 if is_small(client) else 1 << 30
    memory = [driver.allocate(size) for _ in range(2)]
    try:
        by_device = driver.seconds([lambda queue: driver.copy(queue, memory[0], memory[1], size)])
        program, source = client.compile(copy_program(size // 4)), np.zeros(size // 4, np.float32)
        array = client.buffer_from_host(source)
        by_timer = timer.seconds(lambda: program.execute([array]), budget=budget)
    except xla_core.UnimplementedError:  # an emulated device has no clock
        return
    except Exception as error:
        yield failed("bandwidth", what, error)
        return
    finally:
        for address in memory:
            if address is not None:
                driver.free(address)
    speed = f"{by_device * 1e6:.1f} us ({2 * size / by_device / 1e9:.0f} GB/s)"
    note = f"a copy of {size >> 10} KiB by the device's clock {speed}"
    yield Row("bandwidth", what, f"{by_timer / by_device:.2f}", note=f"{note}; by the timer {by_timer * 1e6:.1f} us")


def products(choice: Choice, seconds: float) -> Iterator[Row]:
    """Matrix products by our own kernels against cuBLAS's, and by cuBLASLt within a program against our own."""
    client = xla_core.Client("gpu")
    small = is_small(client)
    timer = DeviceTimer(client, 1 << 12 if small else 1 << 28)
    sizes = (32,) if small else (1024, 4096)
    cases = [(element_type, size) for element_type in ("bf16", "f32") for size in sizes]
    for (element_type, size), budget in shared(cases, seconds):
        what = f"{element_type} {size}x{size}x{size}"
        shape = f"{element_type}[{size},{size}]"
        text = (
            f"HloModule product\n\nENTRY main {{\n  x = {shape} parameter(0)\n  y = {shape} parameter(1)\n"
            f"  ROOT z = {shape} dot(x, y), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}\n}}\n"
        )
        try:
            options = xla_core.CompileOptions(keep_artifacts=True, backend={"products": "own"})
            executable = client.compile(text, options)
            dtype = executable.parameter_shapes[0].dtype
            arguments = [client.buffer_from_host(np.ones((size, size), dtype)) for _ in range(2)]
            own = timer.seconds(lambda e=executable, a=arguments: e.execute(a), budget=budget / 4)
        except Exception as error:
            yield failed("products", what, error)
            continue
        case = _Case(client, timer, what, text, arguments, own, budget / 4)
        yield _by_library(case)[0]
        if _has_warpgroups(client):
            row, seconds = _by_warpgroups(case)
            yield row
            own = min(own, seconds)
        speed = f"{2 * size**3 / own / 1e12:.3g} TFLOP/s"
        yield Row(
            "products", f"{what}, {_way(executable)}", f"{case.own * 1e6:.1f} us", note=f"tiles of {_tiles(executable)}"
        )
        try:
            theirs = Cublas().seconds(element_type, size)
        except Exception as error:
            yield Row("products", what, speed, "80% of cuBLAS", None, f"no cuBLAS: {reason(error)}")
            continue
        note = f"{speed}; cuBLAS {2 * size**3 / theirs / 1e12:.3g}"
        yield Row("products", what, f"{theirs / own:.0%}", ">= 80%", theirs / own >= 0.8, note)


@dataclasses.dataclass(frozen=True)
class _Case:
    """A product, and the time that it takes with kernels of our own."""

    client: xla_core.Client
    timer: DeviceTimer
    what: str
    text: str
    arguments: Sequence[xla_core.Buffer]
    own: float
    budget: float


def _way(executable: xla_core.LoadedExecutable) -> str:
    """How our own kernel multiplies: by matrices of warps (mma), or element by element."""
    return "without matrices" if " a thread" in _tiles(executable) else "by warps"


def _tiles(executable: xla_core.LoadedExecutable) -> str:
    """The tile of a block, that of a group of lanes, and the stages, according to the plan of the product."""
    plan = str(executable.artifacts()["plan"])
    return plan.partition("in tiles of ")[2].partition(", reads")[0]


def _by_library(case: _Case) -> tuple[Row, float]:
    """With calls of cuBLASLt."""
    options = xla_core.CompileOptions(backend={"products": "library"})
    missing = "the device has no cuBLASLt, or it doesn't compute this"
    return _against_own(case, "by cuBLASLt", options, lambda e: _LIBRARY_CALL in e.as_text(), missing)


def _has_warpgroups(client: xla_core.Client) -> bool:
    """Whether the device's tensor cores also multiply by warpgroups."""
    return client.platform.compiler.target_config.features == ("sm_90",)


def _by_warpgroups(case: _Case) -> tuple[Row, float]:
    """By warpgroups (wgmma); our own kernels are by warps (mma) otherwise."""
    options = xla_core.CompileOptions(keep_artifacts=True, backend={"products": "own", "sm": "sm_90a"})
    missing = "the plan has none: the product is small, or its type has none"
    return _against_own(
        case, "by warpgroups", options, lambda e: "shared products" in str(e.artifacts()["plan"]), missing
    )


def _against_own(
    case: _Case,
    how: str,
    options: xla_core.CompileOptions,
    is_used: Callable[[xla_core.LoadedExecutable], bool],
    missing: str,
) -> tuple[Row, float]:
    """How many times as fast the program is in another way as with the kernels that take `case.own` seconds, and the
    seconds that it takes; infinity if it can't be measured.
    """
    what = f"{case.what}, {how}"
    try:
        executable = case.client.compile(case.text, options)
        if not is_used(executable):
            return Row("products", what, note=missing), math.inf
        seconds = case.timer.seconds(lambda: executable.execute(case.arguments), budget=case.budget)
    except Exception as error:
        return failed("products", what, error), math.inf
    note = f"times as fast as kernels of our own: {seconds * 1e6:.1f} us instead of {case.own * 1e6:.1f} us"
    if "plan" in executable.artifacts():
        note += f"; tiles of {_tiles(executable)}"
    return Row("products", what, f"{case.own / seconds:.3g}", note=note), seconds


def speed(choice: Choice, seconds: float) -> Iterator[Row]:
    """From call to result, against JAX's compiler on the same device."""
    ours, jax = XlaCore("gpu"), Jax("gpu")
    ratios, left = [], []
    programs = [b for b in choice.programs if b.group != "dispatch"]
    deadline = time.monotonic() + seconds
    for benchmark in programs:
        if time.monotonic() > deadline:
            left.append(benchmark.name)
            continue
        result = measure(benchmark, ours, jax, 0.1)
        if result.ratio is None:
            why = result.error or f"the results differ by {result.difference}"
            yield Row("JAX", benchmark.name, note=why.splitlines()[0])
            continue
        ratios.append(result.ratio)
        assert result.ours_seconds is not None
        yield Row("JAX", benchmark.name, f"{result.ratio:.2f}", note=f"{result.ours_seconds * 1e3:.3f} ms")
    if left:
        yield Row("JAX", "left out", str(len(left)), note="no time left: " + ", ".join(left))
    mean = geometric_mean(ratios)
    yield Row(
        "JAX", "geometric mean", f"{mean:.2f}", ">= 1.0", mean >= 1.0, f"{len(ratios)} programs, JAX {jax.version}"
    )


def launch(choice: Choice, seconds: float) -> Iterator[Row]:
    """The time from the call to the result, and of the call alone, of `x + 1` on four numbers."""
    benchmark = next(b for b in load() if b.group == "dispatch")  # whatever is chosen
    inputs = benchmark.inputs()
    client = xla_core.Client("gpu")
    executable = client.compile(benchmark.text)
    arguments = [client.buffer_from_host(array) for array in inputs]

    def wait(results: Sequence[Any]) -> None:
        results[0].block_until_ready()

    alone, whole = call_micros(lambda: executable.execute(arguments), wait, seconds / 4)
    yield Row("launch", "call to result", f"{whole:.1f} us")
    yield Row("launch", "call alone", f"{alone:.1f} us")
    for graphs in (False, True):
        options = xla_core.CompileOptions(optimization_level=1, backend={"graphs": graphs})  # no fusion
        steps = client.compile(chain_program(STEPS), options)
        argument = [client.buffer_from_host(np.zeros(4, np.float32))]
        alone, whole = call_micros(lambda e=steps, a=argument: e.execute(a), wait, seconds / 8)
        what = f"{STEPS} kernels, {'as a graph' if graphs else 'one by one'}"
        yield Row("launch", what, f"{whole:.1f} us", note=f"call alone {alone:.1f} us")
    jax = Jax("gpu")
    prepared = jax.prepare_jitted(lambda x: x + 1.0, inputs)
    yield Row(
        "launch", "JAX, call to result", f"{call_micros(prepared.call, lambda results: None, seconds / 4)[1]:.1f} us"
    )


def counters(choice: Choice, seconds: float) -> Iterator[Row]:
    """The counts of the emulator's checked engine, against the profiler's."""
    ncu = find_profiler()
    programs = [b for b in choice.programs if choice.only or b.name in COUNTED]
    for benchmark, budget in shared(programs, seconds):
        try:
            counted = _emulate(benchmark, budget * 0.7)
        except Exception as error:
            yield failed("counters", benchmark.name, error)
            continue
        try:
            if ncu is None:
                raise RuntimeError("there is no ncu")
            profiled = profile(ncu, benchmark.path, budget * 0.3)
        except Exception as error:
            numbers = ", ".join(f"{name} {counted[name]}" for name in ("launches", *METRICS))
            yield Row("counters", benchmark.name, note=f"{numbers}; not profiled: {reason(error)}")
            continue
        for name in ("launches", *METRICS):
            same = profiled[name] == counted[name]
            note = f"emulator {counted[name]}, profiler {profiled[name]}"
            yield Row(
                "counters",
                f"{benchmark.name}: {name}",
                f"{counted[name] / max(profiled[name], 1):.3f}",
                "1",
                same,
                note,
            )


def _emulate(program: Benchmark, seconds: float) -> Mapping[str, int]:
    """The emulator's counts, in a process whose device is emulated."""
    command = [sys.executable, "-m", "benchmarks.gpu_report", "--count", str(program.path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr.strip().splitlines()[-1])
    counts: Mapping[str, int] = json.loads(done.stdout.splitlines()[-1])
    return counts


def run_once(path: Path, **options: Any) -> xla_core.Client:
    """Runs a program of the benchmarks once; returns the client whose device ran it."""
    benchmark = next(b for b in load(path.parent) if b.path == path)
    client = xla_core.Client("gpu")
    executable = client.compile(benchmark.text, xla_core.CompileOptions(backend=options))
    for result in executable.execute([client.buffer_from_host(array) for array in benchmark.inputs()]):
        result.block_until_ready()
    return client


def is_small(client: xla_core.Client) -> bool:
    """Whether the device is emulated, or has so little memory that it can only show that the script works."""
    description = client.devices[0].description
    return description.simulated or description.memory_bytes < 1 << 30


def chain_program(steps: int) -> str:
    """A program of elementwise steps, each of which needs the one before it."""
    lines = "".join(f"  x{n + 1} = f32[4] sine(x{n})\n" for n in range(steps - 1))
    root = f"  ROOT y = f32[4] sine(x{steps - 1})"
    return f"HloModule chain\n\nENTRY main {{\n  x0 = f32[4] parameter(0)\n{lines}{root}\n}}\n"


def shared(items: Sequence[Any], seconds: float) -> Iterator[tuple[Any, float]]:
    """Each item, with its share of the remaining time."""
    deadline = time.monotonic() + seconds
    for number, item in enumerate(items):
        yield item, max(0.0, deadline - time.monotonic()) / (len(items) - number)


def call_micros(
    call: Callable[[], Sequence[Any]], wait: Callable[[Sequence[Any]], None], seconds: float
) -> tuple[float, float]:
    """The medians of the microseconds of a call, and of the call until its results are there."""
    samples: list[tuple[float, float]] = []
    deadline = time.perf_counter() + seconds
    while len(samples) < 8 or time.perf_counter() < deadline:
        start = time.perf_counter()
        results = call()
        called = time.perf_counter()
        wait(results)
        samples.append((called - start, time.perf_counter() - start))
    alone, whole = zip(*samples[3:], strict=True)
    return statistics.median(alone) * 1e6, statistics.median(whole) * 1e6


def failed(section: str, what: str, error: Exception) -> Row:
    """The row of a figure that could not be measured."""
    return Row(section, what, good=False, note=reason(error))


def reason(error: Exception) -> str:
    """An error in one line."""
    if isinstance(error, subprocess.TimeoutExpired):
        return f"not done after {error.timeout:.0f} s"
    return f"{type(error).__name__}: {error}".splitlines()[0][:200]


SECTIONS: Mapping[str, tuple[Callable[[Choice, float], Iterator[Row]], float]] = {
    "bandwidth": (bandwidth, 80.0),
    "products": (products, 25.0),
    "launch": (launch, 15.0),
    "counters": (counters, 110.0),
    "JAX": (speed, 100.0),
    "conform": (conform, 190.0),
}
"""Section -> its function and its seconds. The sum, with the time to end the sections, is less than ten minutes."""
