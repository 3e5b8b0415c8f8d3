"""Times compilations: the CPU time of ours and of JAX's, in turns in one process.

    xla bench --compile [--only NAME ...] [--seconds 2] [--json out/compile.json]

The programs are the benchmarks' and some functions of JAX, which must be installed for them. Each figure is a median of
at least five compilations, after one that isn't counted. CPU time counts all threads, and changes little when other
work keeps the machine busy.
"""

from __future__ import annotations

import dataclasses
import json
import statistics
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.console import Console
from rich.progress import Progress

from benchmarks import report
from benchmarks.contenders import Contender
from benchmarks.measure import geometric_mean
from benchmarks.suite import Benchmark
from xla_core.cli import console

_LEAST_TURNS = 5


@dataclasses.dataclass(frozen=True)
class Compilation:
    """The CPU seconds in which each side compiles a program, or None for a side that isn't measured."""

    name: str
    seconds: float | None
    jax_seconds: float | None

    @property
    def ratio(self) -> float | None:
        """Our time divided by JAX's."""
        return self.seconds / self.jax_seconds if self.seconds and self.jax_seconds else None


def functions() -> Iterator[tuple[str, str]]:
    """The names and the StableHLO of functions that programs call by themselves."""
    import jax
    import jax.numpy as jnp

    matrix, row = jnp.ones((64, 512)), jnp.ones(1000)
    calls = {
        "jnp.add": (jnp.add, row, row),
        "jnp.exp": (jnp.exp, row),
        "jnp.max": (jnp.max, matrix),
        "jnp.sum": (lambda x: jnp.sum(x, axis=1), matrix),
        "jnp.var": (lambda x: jnp.var(x, axis=0), matrix),
        "jnp.matmul": (jnp.matmul, matrix, matrix.T),
        "jnp.sort": (jnp.sort, row),
        "jnp.argsort": (jnp.argsort, row),
        "jnp.median": (jnp.median, row),
        "jnp.cumsum": (jnp.cumsum, row),
        "jnp.fft.fft2": (jnp.fft.fft2, matrix),
        "jnp.linalg.inv": (jnp.linalg.inv, matrix[:8, :8]),
        "jax.lax.top_k": (lambda x: jax.lax.top_k(x, 5), matrix),
        "jax.nn.softmax": (jax.nn.softmax, matrix),
        "jax.random.normal": (lambda key: jax.random.normal(key, (100,)), jax.random.PRNGKey(0)),
    }
    for name, (function, *arguments) in calls.items():
        yield name, jax.jit(function).lower(*arguments).as_text()


def measure_compilation(
    name: str, text: str, ours: Contender | None, jax: Contender | None, seconds: float
) -> Compilation:
    """Compiles a program on both sides in turns, at least five times, for about `seconds` in all."""
    sides = [side for side in (ours, jax) if side is not None]
    times: dict[str, list[float]] = {side.name: [] for side in sides}
    deadline = time.perf_counter() + seconds
    turn = 0
    while turn <= _LEAST_TURNS or time.perf_counter() < deadline:
        for side in sides:
            start = time.process_time()
            side.prepare(text, [])
            if turn:  # the first compilation may load what the others find loaded
                times[side.name].append(time.process_time() - start)
        turn += 1
    medians = {side: statistics.median(found) for side, found in times.items()}
    return Compilation(name, *(medians[side.name] if side is not None else None for side in (ours, jax)))


def print_table(console: Console, compilations: Sequence[Compilation]) -> None:
    table = report.figures("CPU ms: of a compilation, all threads, the median; ratio: our time over JAX's")
    table.add_column("program", overflow="fold")
    for heading in ("CPU ms", "JAX CPU ms", "ratio"):
        table.add_column(heading, justify="right", no_wrap=True)
    for c in compilations:
        times = ["" if t is None else f"{t * 1e3:.1f}" for t in (c.seconds, c.jax_seconds)]
        table.add_row(c.name, *times, "" if c.ratio is None else f"{c.ratio:.2f}")
    report.print_whole(console, table)
    ratios = [c.ratio for c in compilations if c.ratio is not None]
    if ratios:
        console.print(f"Geometric mean of the time over JAX's: [bold]{geometric_mean(ratios):.2f}[/]")


def compiling(
    benchmarks: Sequence[Benchmark],
    only: Sequence[str],
    ours: Contender | None,
    jax: Contender | None,
    seconds: float,
    path: Path | None = None,
) -> int:
    """Prints the table. `only` has names and groups of programs; the functions are of the group "functions".

    Returns 2 if there are no such programs.
    """
    programs = [(b.name, b.group, b.text) for b in benchmarks]
    if jax is not None:
        programs += [(name, "functions", text) for name, text in functions()]
    chosen = [(name, text) for name, group, text in programs if not only or {name, group} & set(only)]
    if not chosen:
        console().print(f"no program is named or grouped so; there are {', '.join(name for name, _, _ in programs)}")
        return 2
    with Progress(console=console(stderr=True), transient=True) as progress:
        compilations = [
            measure_compilation(name, text, ours, jax, seconds)
            for name, text in progress.track(chosen, description="Compiling")
        ]
    print_table(console(), compilations)
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        rows = [dataclasses.asdict(c) | {"ratio": c.ratio} for c in compilations]
        path.write_text(json.dumps(rows, indent=1) + "\n")
    return 0
