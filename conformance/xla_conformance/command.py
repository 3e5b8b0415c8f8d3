"""The command `xla conform`."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any

from xla_conformance import command_options as options
from xla_core.errors import InvalidArgumentError

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console

__all__ = ["conform"]


def conform(
    backend: options.Backend = None,
    profile: options.Profile = "quick",
    report: options.Report = None,
    expression: options.Expression = "",
    test: options.Test = None,
    last_failed: options.LastFailed = False,
    workers: options.Workers = 1,
    seed: options.Seed = None,
    settings: options.Settings = None,
    test_seconds: options.TestSeconds = None,
    total_seconds: options.TotalSeconds = None,
    waivers: options.Waivers = None,
    earlier: options.Earlier = None,
    stablehlo_tests: options.StablehloTests = None,
    evaluator: options.Evaluator = False,
    support_matrix: options.SupportMatrix = False,
    runner: options.Runner = None,
    c_compiler: options.CCompiler = "cc",
    explain: options.Explain = "",
    verify: options.Verify = None,
    compare: options.Compare = None,
    coverage: options.Coverage = False,
) -> None:
    """Test whether a backend keeps the contract and computes correct results; exit code 1 if not."""
    from xla_conformance import actions
    from xla_core.cli import console

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
    _check(given, backend, profile, evaluator, has_settings=bool(settings), workers=workers)
    common: dict[str, Any] = {
        "profile": profile,
        "expression": expression,
        "tests": tuple(test or ()),
        "settings": tuple(settings or ()),
        "workers": workers,
    }
    limits: dict[str, Any] = {"test_seconds": test_seconds, "total_seconds": total_seconds}
    if explain:
        actions.explain(out, actions.report_folder(report, backend), explain)
    elif verify is not None:
        actions.verify(out, verify)
    elif compare is not None:
        actions.compare(out, *compare)
    elif coverage:
        actions.coverage(out)
    elif runner is not None:
        refused = {"lf": last_failed or None, "waivers": waivers, "earlier": earlier, "total_seconds": total_seconds}
        if test_seconds is not None:
            common["test_seconds"] = test_seconds
        _run_ahead_of_time(
            out, backend, report, refused, runner=runner, c_compiler=c_compiler, seed=seed or 0, **common
        )
    elif support_matrix:
        actions.support_matrix(out, "evaluator" if evaluator else backend, expression, report)
    else:
        actions.TestRun(
            backend=backend,
            last_failed=last_failed,
            seed=(secrets.randbelow(1 << 31) if profile == "stress" else 0) if seed is None else seed,
            waivers=waivers,
            stablehlo_tests=stablehlo_tests,
            evaluator=evaluator,
            **limits,
            **common,
        ).run(out, report, earlier)


def _check(
    given: list[str], backend: str | None, profile: str, evaluator: bool, *, has_settings: bool, workers: int
) -> None:
    """Refuses options that don't go together. `given` are those that run something else than the suite's own tests."""
    from xla_conformance.plugin import PROFILES

    if len(given) > 1:
        raise InvalidArgumentError(f"{' and '.join(given)} exclude each other", hint="give one of them")
    if profile not in PROFILES:
        raise InvalidArgumentError(f"there is no profile {profile!r}", hint=f"profiles: {', '.join(PROFILES)}")
    if evaluator and (given not in (["--stablehlo-tests"], ["--support-matrix"]) or backend is not None):
        raise InvalidArgumentError(
            "--evaluator goes with --stablehlo-tests or --support-matrix, and not with --backend",
            hint="the suite's own tests compare a backend with the evaluator",
        )
    if has_settings and given and given != ["--runner"]:
        raise InvalidArgumentError(f"--set goes with the suite's own tests, not with {given[0]}")
    if given == ["--support-matrix"] and (workers > 1 or profile != "quick"):
        raise InvalidArgumentError("--support-matrix takes neither -n nor -p", hint="it runs every op, in one process")


def _run_ahead_of_time(
    out: Console, backend: str | None, report: Path | None, refused: dict[str, Any], **chosen: Any
) -> None:
    """Runs the suite's programs as files of an ahead-of-time compilation. It takes none of the options `refused`."""
    from xla_conformance import actions
    from xla_conformance.ahead_of_time.command import AheadOfTimeRun

    if backend is None:
        raise InvalidArgumentError("--runner needs --backend", hint="name the backend whose compiler is tested")
    for name in (name for name, value in refused.items() if value is not None):
        option = f"--{name.replace('_', '-')}"
        raise InvalidArgumentError(f"--runner doesn't take {option}", hint="-k and --test choose cases")
    run = AheadOfTimeRun(backend=backend, **chosen)
    run.run(out, actions.report_folder(report, backend), show_files=report is not None)
