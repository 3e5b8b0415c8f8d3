"""The command `xla accuracy`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from xla_conformance.accuracy.frame import Check, Row


def accuracy(
    backend: Annotated[
        str | None, typer.Option("--backend", "-b", metavar="B", help="The backend; default: that of xla.Client().")
    ] = None,
    evaluator: Annotated[bool, typer.Option("--evaluator", help="Measure the reference evaluator.")] = False,
    points: Annotated[
        int, typer.Option(min=1, metavar="N", help="Points of each check of f32; the other types take a share of it.")
    ] = 1_000_000,
    report: Annotated[Path | None, typer.Option(metavar="DIR", help="Write accuracy.json and accuracy.md.")] = None,
    expression: Annotated[
        str, typer.Option("-k", metavar="EXPR", help='Run only some checks: "tanh and f32", "not f64".')
    ] = "",
    bounds: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Whose bounds to use: evaluator, emitter (of LLVM) or backend (any)."),
    ] = None,
    jobs: Annotated[int, typer.Option("--jobs", "-j", min=1, metavar="N", help="The number of processes.")] = 1,
) -> None:
    """Measure the errors of results; exit code 1 if an error exceeds its bound.

    --evaluator measures the reference evaluator; with --backend, both. All checks at a million points take a core an
    hour or more: select some with -k, or use several processes with -j.
    """
    from xla_conformance.accuracy import report as reports
    from xla_conformance.accuracy.bounds import COLUMNS
    from xla_conformance.accuracy.suite import all_checks, require_oracles, select
    from xla_conformance.subjects import EVALUATOR
    from xla_core.cli import console
    from xla_core.errors import InvalidArgumentError

    if bounds is not None and bounds not in COLUMNS:
        raise InvalidArgumentError(f"there is no column of bounds {bounds!r}", hint=f"columns: {', '.join(COLUMNS)}")
    require_oracles()
    checks = select(all_checks(), expression)
    if not checks:
        raise InvalidArgumentError(
            f"-k {expression!r} matches no check", hint="words are names of functions, types and groups"
        )
    platforms: list[str | None] = [EVALUATOR] if evaluator else []
    if backend is not None or not evaluator:
        platforms.append(backend)
    rows = _measured(platforms, checks, points, bounds, jobs)
    out = console()
    reports.print_rows(out, rows)
    if report is not None:
        for path in reports.write_report(rows, _environment(points), report):
            out.print(str(path), markup=False, soft_wrap=True)
    if not all(row.holds for row in rows):
        raise typer.Exit(1)


def _measured(
    platforms: list[str | None], checks: list[Check], points: int, column: str | None, jobs: int
) -> list[Row]:
    """The rows of each platform in turn, in the order of the checks."""
    from xla_conformance.accuracy.processes import measure_each
    from xla_conformance.progress import progress

    found: dict[int, list[Row]] = {}
    with progress() as show:
        for number, rows in measure_each(platforms, checks, points, column, jobs):
            found[number] = rows
            show(len(found), len(checks), checks[number].name, "")
    return [found[number][place] for place in range(len(platforms)) for number in range(len(checks))]


def _environment(points: int) -> dict[str, str | int]:
    import platform

    import numpy as np

    import xla_core as xla

    return {
        "core_version": xla.__version__,
        "numpy": np.__version__,
        "python": platform.python_version(),
        "machine": platform.machine(),
        "points": points,
    }
