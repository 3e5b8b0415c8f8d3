"""The command `xla conform`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from rich.console import Console

    from xla_conformance.results import Result, Run

__all__ = ["conform"]


def conform(
    backend: Annotated[
        str | None, typer.Option("--backend", "-b", metavar="B", help="The backend; default: that of xla.Client().")
    ] = None,
    profile: Annotated[
        str, typer.Option("--profile", "-p", metavar="quick|full|stress", help="How many tests to run.")
    ] = "quick",
    report: Annotated[Path | None, typer.Option(metavar="DIR", help="Write report.json and junit.xml there.")] = None,
    expression: Annotated[
        str, typer.Option("-k", metavar="EXPR", help="Run only tests that match, as with pytest -k.")
    ] = "",
    stablehlo_tests: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Run StableHLO's own test files of this folder instead.")
    ] = None,
    evaluator: Annotated[
        bool,
        typer.Option(
            "--evaluator", help="With --stablehlo-tests or --support-matrix: the reference evaluator, no backend."
        ),
    ] = False,
    support_matrix: Annotated[
        bool, typer.Option("--support-matrix", help="Run every op in every element type instead; -k is an op's name.")
    ] = False,
    workers: Annotated[int, typer.Option("-n", min=0, metavar="N", help="Processes that share the tests.")] = 0,
    seed: Annotated[int, typer.Option(min=0, metavar="N", help="The seed of every random choice.")] = 0,
) -> None:
    """Test whether a backend keeps the contract and computes correct results; exit code 1 if not."""
    from xla_conformance import report as reports
    from xla_conformance.expressions import compile_expression
    from xla_conformance.plugin import PROFILES
    from xla_core.cli import console
    from xla_core.errors import InvalidArgumentError

    if profile not in PROFILES:
        raise InvalidArgumentError(f"there is no profile {profile!r}", hint=f"profiles: {', '.join(PROFILES)}")
    if stablehlo_tests is not None:
        _require_files(stablehlo_tests)
    if evaluator and ((stablehlo_tests is None and not support_matrix) or backend is not None):
        raise InvalidArgumentError(
            "--evaluator goes with --stablehlo-tests or --support-matrix, and not with --backend",
            hint="the suite's own tests compare a backend with the evaluator",
        )
    if support_matrix and stablehlo_tests is not None:
        raise InvalidArgumentError("--support-matrix and --stablehlo-tests exclude each other", hint="give one of them")
    if expression.strip() and not support_matrix:
        compile_expression(expression)
    if support_matrix and (workers or profile != "quick"):
        raise InvalidArgumentError("--support-matrix takes neither -n nor -p", hint="it runs every op, in one process")
    out = console()
    if support_matrix:
        _support_matrix(out, "evaluator" if evaluator else _examine(backend)[0], expression, report)
        return
    if evaluator:
        name, environment = None, _surroundings()
        out.print("[bold]the reference evaluator[/]")
    else:
        name, environment = _examine(backend)
        out.print(f"[bold]{name}[/] {environment['backend_version']}, profile {profile}")
    run = _run(name, profile, expression, workers, stablehlo_tests, seed)
    if expression and not run.results and not run.problem:
        raise InvalidArgumentError(f"-k {expression!r} matches no test", hint=_naming(stablehlo_tests is not None))
    run.environment = environment
    reports.print_report(out, run)
    if report is not None:
        for path in reports.write_report(run, report):
            out.print(str(path), markup=False, soft_wrap=True)
    if not run.conforms:
        raise typer.Exit(2 if run.problem else 1)


def _require_files(folder: Path) -> None:
    """Raises NotFoundError unless the folder has test files."""
    from xla_conformance.stablehlo.suite import suite_files
    from xla_core.errors import NotFoundError

    if not folder.is_dir():
        raise NotFoundError(f"{folder} is not a directory")
    if not suite_files(folder):
        raise NotFoundError(
            f"no test files in {folder}",
            hint="looked for, below it too: *.mlir, and *.mlir.bc beside a *.mlir; StableHLO's repository has them in "
            "stablehlo/testdata and stablehlo/tests",
        )


def _naming(stablehlo: bool) -> str:
    """A hint for -k: how tests are named."""
    if stablehlo:
        return (
            'words match parts of names of folders and files: -k "interpret and reduce"; parts of a file are counted '
            'from 0: -k "interpret/compare.mlir:7"'
        )
    return 'words match parts of the names of tests: -k "dot and f32"'


def _support_matrix(out: Console, subject: str, expression: str, report: Path | None) -> None:
    from xla_conformance.progress import progress
    from xla_conformance.support import measure_support
    from xla_conformance.support.report import print_matrix

    with progress() as show:
        matrix = measure_support(subject, expression, lambda done, total, op: show(done, total, op, ""))
    print_matrix(out, matrix)
    if report is not None:
        out.print(str(matrix.write(report)), markup=False, soft_wrap=True)
    if not matrix.is_right:
        raise typer.Exit(1)


def _examine(backend: str | None) -> tuple[str, dict[str, Any]]:
    """The backend's name, and the environment for the report. Raises XlaError if the backend can't be used."""
    import xla_core as xla
    from xla_core.backend import CONTRACT_VERSION

    with xla.Client(backend) as client:
        description = client.devices[0].description
        return client.platform_name, {
            **_surroundings(),
            "contract_version": ".".join(map(str, CONTRACT_VERSION)),
            "backend_version": client.backend_version,
            "device": description.name,
            "devices": len(client.devices),
        }


def _surroundings() -> dict[str, Any]:
    import platform

    import xla_core as xla
    from xla_conformance import __version__

    return {
        "suite_version": __version__,
        "core_version": xla.__version__,
        "python": platform.python_version(),
        "machine": platform.machine(),
    }


def _run(
    backend: str | None, profile: str, expression: str, workers: int, stablehlo_tests: Path | None, seed: int
) -> Run:
    from xla_conformance.progress import progress
    from xla_conformance.results import State
    from xla_conformance.runner import run_suite

    with progress() as show:
        done = wrong = 0

        def count(total: int, result: Result) -> None:
            nonlocal done, wrong
            done += 1
            wrong += result.state in (State.FAIL, State.ERROR)
            show(done, total, result.group, f"{wrong} wrong" if wrong else "")

        return run_suite(
            backend,
            profile,
            expression=expression,
            workers=workers,
            stablehlo_tests=stablehlo_tests,
            seed=seed,
            progress=count,
        )
