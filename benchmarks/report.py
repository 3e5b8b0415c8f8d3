"""Reports of a benchmark run: a table, a JSON file, a chart."""

from __future__ import annotations

import dataclasses
import json
import os
import platform
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.measure import Measurement as Width
from rich.table import Table

from benchmarks.measure import Measurement, geometric_mean
from xla_core.checks import counted


def ratios(measurements: Sequence[Measurement]) -> list[float]:
    """The speed ratios of the programs that ran on both sides."""
    return [m.ratio for m in measurements if m.ratio is not None]


def environment() -> dict[str, str]:
    """Returns the environment variables that are set and change the speed of one side or both.

    For example, `OPENBLAS_CORETYPE` makes OpenBLAS use the kernels of another CPU, which has no effect on JAX.
    """
    prefixes = ("OPENBLAS_", "OMP_", "MKL_", "GOTO_", "XLA_", "JAX_")
    return {name: value for name, value in sorted(os.environ.items()) if name.startswith(prefixes)}


def figures(caption: str) -> Table:
    """Makes a table without columns."""
    return Table(caption=caption, box=None, pad_edge=False, collapse_padding=True)


def print_whole(console: Console, table: Table) -> None:
    """Prints a table with all its figures. On a narrow terminal its lines are longer than the terminal is wide."""
    wide = console.options.update(max_width=1000)
    console.width = max(console.width, Width.get(console, wide, table).minimum)
    caption, table.caption = table.caption, None  # in a table it is no wider than the columns
    console.print(table, crop=False)
    if caption:
        console.print(caption, style="dim italic", soft_wrap=True)


def print_table(console: Console, measurements: Sequence[Measurement]) -> None:
    """Prints a row for each program. A ratio above 1 means that we are faster than JAX."""
    table = figures("ms: median of one run; s: to compile; ratio: our speed over JAX's")
    table.add_column("program", overflow="fold")
    for heading in ("ms", "JAX ms", "ratio", "s", "JAX s", "differs"):
        table.add_column(heading, justify="right", no_wrap=True)
    for m in measurements:
        if m.error is not None:
            verdict = "[bold red]FAILED[/]"
        elif m.difference is None:
            verdict = ""
        else:
            verdict = f"{m.difference:.0e}" if m.correct else "[bold red]WRONG[/]"
        colour = "green" if (m.ratio or 0) >= 1 else "yellow" if (m.ratio or 0) >= 0.7 else "red"
        table.add_row(
            m.name,
            _number(m.ours_seconds, 1e3, 3),
            _number(m.jax_seconds, 1e3, 3),
            f"[{colour}]{m.ratio:.2f}[/]" if m.ratio is not None else "",
            _number(m.ours_compile_seconds, 1, 2),
            _number(m.jax_compile_seconds, 1, 2),
            verdict,
        )
    print_whole(console, table)
    if environment():
        settings = ", ".join(f"{name}={value}" for name, value in environment().items())
        console.print(f"[yellow]Set in the environment, and may change the speed of one side:[/] {settings}")
    if ratios(measurements):
        mean = geometric_mean(ratios(measurements))
        console.print(
            f"Geometric mean of speed over JAX's: [bold]{mean:.3f}[/] ({counted(len(ratios(measurements)), 'program')})"
        )


def write_json(path: Path, measurements: Sequence[Measurement], context: dict[str, Any]) -> None:
    """Writes all figures, and the machine, versions and environment variables of the run."""
    machine = {"cpu": _cpu_name(), "cores": len(os.sched_getaffinity(0)), "python": platform.python_version()}
    rows = [dataclasses.asdict(m) | {"ratio": m.ratio} for m in measurements]
    values = ratios(measurements)
    mean = geometric_mean(values) if values else None
    path.parent.mkdir(parents=True, exist_ok=True)
    document = {**context, "machine": machine, "environment": environment(), "geometric_mean": mean, "programs": rows}
    path.write_text(json.dumps(document, indent=1, allow_nan=False, default=str) + "\n")


def draw(path: Path, measurements: Sequence[Measurement]) -> None:
    """Draws the ratios as horizontal bars on a logarithmic axis. Needs matplotlib."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    shown = [(m.name, m.ratio) for m in measurements if m.ratio is not None][::-1]
    names, values = [name for name, _ in shown], [ratio for _, ratio in shown]
    figure, axes = pyplot.subplots(figsize=(8, 1.2 + 0.22 * len(shown)), layout="constrained")
    colours = ["tab:green" if value >= 1 else "tab:orange" if value >= 0.7 else "tab:red" for value in values]
    # Bars start at 1, so that a speed of twice and one of half have bars of the same length.
    axes.barh(names, [value - 1 for value in values], left=1, color=colours)
    axes.set_xscale("log")
    ticks = [0.1, 0.2, 0.5, 1, 2, 5, 10]
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.set_xticks([], minor=True)
    axes.set_xlim(min([0.4, *(0.9 * v for v in values)]), max([2.5, *(1.1 * v for v in values)]))
    axes.axvline(1, color="black", linewidth=1)
    mean = geometric_mean(values)
    axes.axvline(mean, color="gray", linestyle=":", label=f"geometric mean {mean:.2f}")
    axes.set_xlabel("speed over JAX's (right is faster)")
    axes.legend(loc="lower right")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)
    pyplot.close(figure)


def _number(value: float | None, factor: float, digits: int) -> str:
    return "" if value is None else f"{value * factor:.{digits}f}"


def _cpu_name() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())
