"""Times the benchmark programs: ours against JAX's own CPU compiler, in turns in one process.

    xla bench [--backend cpu] [--only NAME ...] [--json out/bench.json] [--chart out/bench.png]
    xla bench --compile
    xla bench --reading
    xla bench --start

`run` is for use from Python. `--side ours` times only our side, and needs no JAX; `--side jax` times only JAX.
"""

from __future__ import annotations

import argparse
import math
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.progress import Progress

from benchmarks import report
from benchmarks.compiling import compiling
from benchmarks.contenders import Jax, XlaCore
from benchmarks.measure import Measurement, geometric_mean, interleave, measure
from benchmarks.reading import reading
from benchmarks.start import start
from benchmarks.suite import PROGRAMS, Benchmark, load
from xla_core.cli import console
from xla_core.errors import XlaError

DYNAMIC_SHAPE = """
func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %shape = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %ones = stablehlo.dynamic_broadcast_in_dim %one, %shape, dims = [] : (tensor<f32>, tensor<1xi32>) -> tensor<?xf32>
  %0 = stablehlo.add %x, %ones : tensor<?xf32>
  return %0 : tensor<?xf32>
}
"""
"""The program "trivial" with a dynamic shape, to measure the time of finding the compilation for a call's sizes."""


def run(
    benchmarks: Sequence[Benchmark],
    ours: XlaCore | None,
    jax: Jax | None,
    *,
    seconds: float = 0.5,
) -> list[Measurement]:
    """Measures each program for about `seconds` on each side. `dispatch` measures the program "trivial"."""
    measurements = []
    with Progress(console=console(stderr=True), transient=True) as progress:
        for benchmark in progress.track([b for b in benchmarks if b.group != "dispatch"], description="Measuring"):
            measurements.append(measure(benchmark, ours, jax, seconds))
    return measurements


def dispatch(benchmark: Benchmark, ours: XlaCore | None, jax: Jax | None, seconds: float = 0.5) -> dict[str, float]:
    """Returns the microseconds from the call to the result of `x + 1` on four numbers, for each way of calling it."""
    inputs = benchmark.inputs()
    sides = {}
    if jax is not None:
        sides["JAX, jit"] = jax.prepare_jitted(lambda x: x + 1.0, inputs)
        sides["JAX, executable"] = jax.prepare(benchmark.text, inputs)
    if ours is not None:
        sides[ours.name] = ours.prepare(benchmark.text, inputs)
        sides[f"{ours.name}, dynamic shape"] = ours.prepare(DYNAMIC_SHAPE, inputs)
    samples = interleave(list(sides.values()), seconds)
    return {name: statistics.median(times) * 1e6 for name, times in zip(sides, samples, strict=True)}


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns 1 if a program failed, was wrong, or the geometric mean is below `--require`.

    Returns 2 if a side or the programs are missing.
    """
    parser = _parser()
    options = parser.parse_args(arguments)
    out = console()
    if options.reading:
        return reading(options.seconds, options.json)
    if options.start:
        return start(options.backend or "cpu", options.seconds, options.json)

    try:
        everything = load(options.programs)
    except XlaError as error:
        out.print(str(error), markup=False)
        return 2
    chosen = [b for b in everything if not options.only or {b.name, b.group} & set(options.only)]
    if not chosen and not options.compile:
        parser.error(_no_such_program(everything))
    try:
        ours = None if options.side == "jax" else XlaCore(options.backend)
        jax = None if options.side == "ours" else Jax("cpu")
    except (XlaError, ImportError) as error:
        out.print(f"{error}\n  hint: --side ours and --side jax time one side alone", markup=False)
        return 2
    if options.compile:
        return compiling(everything, options.only or (), ours, jax, options.seconds, options.json)

    measurements = run(chosen, ours, jax, seconds=options.seconds)
    if measurements:
        report.print_table(out, measurements)
    trivial = [b for b in chosen if b.group == "dispatch"]
    dispatches = dispatch(trivial[0], ours, jax, options.seconds) if trivial else {}
    if dispatches:
        times = ", ".join(f"{name} {micros:.1f} us" for name, micros in dispatches.items())
        out.print(f"Dispatch of a trivial program: {times}")

    if options.json:
        context = {"jax": jax.version if jax else None, "backend": ours.name if ours else None}
        report.write_json(options.json, measurements, {**context, "dispatch_microseconds": dispatches})
    if options.chart and report.ratios(measurements):
        report.draw(options.chart, measurements)
    failed = [m.name for m in measurements if m.error is not None or m.correct is False]
    for m in measurements:
        if m.error is not None:
            out.print(f"{m.name}: {m.error}", markup=False)
    if failed:
        out.print(f"[bold red]Failed or wrong:[/] {', '.join(failed)}")
    mean = geometric_mean(report.ratios(measurements))
    too_slow = options.require is not None and not mean >= options.require
    return 1 if failed or too_slow else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "xla bench", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--backend", help="the backend of our side; default: the installed one with the highest priority"
    )
    parser.add_argument("--compile", action="store_true", help="time the compilations of the programs instead of runs")
    parser.add_argument("--reading", action="store_true", help="time the readers of programs instead of the programs")
    parser.add_argument("--start", action="store_true", help="time the start of processes instead of the programs")
    parser.add_argument("--side", choices=("both", "ours", "jax"), default="both")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="programs or groups; default: all")
    parser.add_argument("--programs", type=Path, default=PROGRAMS, help="a directory of .mlir files")
    parser.add_argument("--seconds", type=_seconds, default=0.5, help="the time to measure each program on each side")
    parser.add_argument("--json", type=Path, help="write all figures here")
    parser.add_argument("--chart", type=Path, help="write a picture of the ratios here")
    parser.add_argument("--require", type=float, help="exit with 1 if the geometric mean is below this")
    return parser


def _no_such_program(known: Sequence[Benchmark]) -> str:
    names = ", ".join(dict.fromkeys(b.name for b in known))
    groups = ", ".join(dict.fromkeys(b.group for b in known))
    return f"no program is named or grouped so; there are {names}, and the groups {groups}"


def _seconds(text: str) -> float:
    seconds = float(text)
    if not 0 <= seconds < math.inf:
        raise argparse.ArgumentTypeError(f"{text} is not a time in seconds, such as 0.5")
    return seconds


if __name__ == "__main__":
    sys.exit(main())
