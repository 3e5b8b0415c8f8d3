"""The command `xla conform`."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import Annotated

import typer

__all__ = ["conform"]


def conform(
    backend: Annotated[
        str | None, typer.Option("--backend", "-b", metavar="B", help="The backend; default: that of xla.Client().")
    ] = None,
    profile: Annotated[
        str, typer.Option("--profile", "-p", metavar="quick|full|stress", help="How many tests to run.")
    ] = "quick",
    report: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write the report there: JSON, JUnit, HTML, badge, failures.")
    ] = None,
    expression: Annotated[
        str, typer.Option("-k", metavar="EXPR", help="Run only tests that match, as with pytest -k.")
    ] = "",
    test: Annotated[
        list[str] | None,
        typer.Option("--test", metavar="ID", help="Run only the test of this id or name; may be repeated."),
    ] = None,
    last_failed: Annotated[
        bool, typer.Option("--lf", help="Run only the tests that were wrong in the last report.")
    ] = False,
    workers: Annotated[int, typer.Option("-n", min=1, metavar="N", help="Processes that share the tests.")] = 1,
    seed: Annotated[
        int | None,
        typer.Option(min=0, metavar="N", help="The seed of every random choice; default: 0, for stress a fresh one."),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            "-s",
            metavar="NAME=VALUE",
            help="An option of the backend for the programs of the tests. VALUE is JSON or text; may be repeated.",
        ),
    ] = None,
    test_seconds: Annotated[
        float | None, typer.Option(min=1.0, metavar="N", help="The time limit of a test; default: the profile's.")
    ] = None,
    total_seconds: Annotated[
        float | None,
        typer.Option(
            min=1.0, metavar="N", help="The time limit of the run, which stress uses up; default: the profile's."
        ),
    ] = None,
    waivers: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Wrong results to accept, with reasons and last days (TOML).")
    ] = None,
    earlier: Annotated[
        Path | None, typer.Option(metavar="REPORT", help="The report that the page compares with; default: DIR's last.")
    ] = None,
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
    runner: Annotated[
        str | None,
        typer.Option(
            metavar="COMMAND", help="Compile the suite's programs ahead of time, and run them by this command."
        ),
    ] = None,
    c_compiler: Annotated[
        str, typer.Option("--cc", metavar="COMMAND", help="With --runner: the C compiler for the target.")
    ] = "cc",
    explain: Annotated[
        str, typer.Option(metavar="ID", help="Print everything the last report says of a test; run nothing.")
    ] = "",
    verify: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Check a report's folder as a submission; run nothing.")
    ] = None,
    compare: Annotated[
        tuple[Path, Path] | None,
        typer.Option(metavar="A B", help="Compare two reports; exit code 1 for a regression. Run nothing."),
    ] = None,
    coverage: Annotated[
        bool, typer.Option("--coverage", help="Print what no test of the suite covers; run nothing.")
    ] = False,
) -> None:
    """Test whether a backend keeps the contract and computes correct results; exit code 1 if not."""
    from xla_conformance import actions
    from xla_conformance.plugin import PROFILES
    from xla_core.cli import console
    from xla_core.errors import InvalidArgumentError

    out = console()
    others = {
        "--explain": bool(explain),
        "--verify": verify is not None,
        "--compare": compare is not None,
        "--coverage": coverage,
        "--support-matrix": support_matrix,
        "--stablehlo-tests": stablehlo_tests is not None,
        "--runner": runner is not None,
    }
    given = [name for name, is_given in others.items() if is_given]
    if len(given) > 1:
        raise InvalidArgumentError(f"{' and '.join(given)} exclude each other", hint="give one of them")
    if profile not in PROFILES:
        raise InvalidArgumentError(f"there is no profile {profile!r}", hint=f"profiles: {', '.join(PROFILES)}")
    if evaluator and ((stablehlo_tests is None and not support_matrix) or backend is not None):
        raise InvalidArgumentError(
            "--evaluator goes with --stablehlo-tests or --support-matrix, and not with --backend",
            hint="the suite's own tests compare a backend with the evaluator",
        )
    if settings and given and runner is None:
        raise InvalidArgumentError(f"--set goes with the suite's own tests, not with {given[0]}")
    if explain:
        actions.explain(out, actions.report_folder(report, backend), explain)
    elif verify is not None:
        actions.verify(out, verify)
    elif compare is not None:
        actions.compare(out, *compare)
    elif coverage:
        actions.coverage(out)
    elif runner is not None:
        from xla_conformance.ahead_of_time.command import AheadOfTimeRun

        if backend is None:
            raise InvalidArgumentError("--runner needs --backend", hint="name the backend whose compiler is tested")
        refused = {
            "--lf": last_failed,
            "--waivers": waivers is not None,
            "--earlier": earlier is not None,
            "--test-seconds": test_seconds is not None,
            "--total-seconds": total_seconds is not None,
        }
        for name in (name for name, is_given in refused.items() if is_given):
            raise InvalidArgumentError(f"--runner doesn't take {name}", hint="-k and --test choose cases")
        AheadOfTimeRun(
            backend=backend,
            runner=runner,
            c_compiler=c_compiler,
            profile=profile,
            expression=expression,
            tests=tuple(test or ()),
            settings=tuple(settings or ()),
            seed=seed or 0,
            workers=workers,
        ).run(out, actions.report_folder(report, backend), show_files=report is not None)
    elif support_matrix:
        if workers > 1 or profile != "quick":
            raise InvalidArgumentError(
                "--support-matrix takes neither -n nor -p", hint="it runs every op, in one process"
            )
        actions.support_matrix(out, "evaluator" if evaluator else backend, expression, report)
    else:
        actions.TestRun(
            backend=backend,
            profile=profile,
            expression=expression,
            tests=tuple(test or ()),
            last_failed=last_failed,
            workers=workers,
            settings=tuple(settings or ()),
            seed=(secrets.randbelow(1 << 31) if profile == "stress" else 0) if seed is None else seed,
            test_seconds=test_seconds,
            total_seconds=total_seconds,
            waivers=waivers,
            stablehlo_tests=stablehlo_tests,
            evaluator=evaluator,
        ).run(out, report, earlier)
