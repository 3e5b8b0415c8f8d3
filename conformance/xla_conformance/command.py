"""The command `xla conform`."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any

from xla_conformance import command_options as options
from xla_core.errors import InvalidArgumentError

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console


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
    patience: options.Patience = 1.0,
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
    from xla_conformance.report.folder import last_folder
    from xla_core.cli import console

    out = console()
    given = _given(
        explain=explain or None,
        verify=verify,
        compare=compare,
        coverage=coverage,
        support_matrix=support_matrix,
        stablehlo_tests=stablehlo_tests,
        runner=runner,
    )
    _check(given, backend, profile, evaluator, has_settings=bool(settings), workers=workers)
    chosen: dict[str, Any] = {
        "profile": profile,
        "expression": expression,
        "tests": tuple(test or ()),
        "settings": tuple(settings or ()),
        "workers": workers,
        "test_seconds": test_seconds,
    }
    if explain or verify or compare or coverage:
        _show(out, last_folder(report, backend), explain, verify, compare)
    elif support_matrix:
        actions.support_matrix(out, "evaluator" if evaluator else backend, expression, report)
    elif runner is not None:
        longer = patience if patience != 1 else None
        refused = _given(lf=last_failed, waivers=waivers, earlier=earlier, total_seconds=total_seconds, patience=longer)
        chosen |= {"runner": runner, "c_compiler": c_compiler, "seed": seed or 0}
        _run_ahead_of_time(out, backend, report, refused, **chosen)
    else:
        seed = _fresh_seed(profile) if seed is None else seed
        chosen |= {"last_failed": last_failed, "seed": seed, "waivers": waivers, "total_seconds": total_seconds}
        chosen["patience"] = patience
        run = actions.TestRun(backend=backend, stablehlo_tests=stablehlo_tests, evaluator=evaluator, **chosen)
        run.run(out, report, earlier)


def _given(**values: Any) -> list[str]:
    """The options that were given, as they are written on the command line."""
    return [f"--{name.replace('_', '-')}" for name, value in values.items() if value is not None and value is not False]


def _check(
    given: list[str], backend: str | None, profile: str, evaluator: bool, *, has_settings: bool, workers: int
) -> None:
    """Refuses options that don't go together. `given` are the options that replace the suite's own tests."""
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


def _fresh_seed(profile: str) -> int:
    return secrets.randbelow(1 << 31) if profile == "stress" else 0


def _show(out: Console, folder: Path, explain: str, verify: Path | None, compare: tuple[Path, Path] | None) -> None:
    """Prints a test of a report, the difference of two reports, or without either, the coverage of the suite."""
    from xla_conformance import actions

    if explain:
        actions.explain(out, folder, explain)
    elif verify is not None:
        actions.verify(out, verify)
    elif compare is not None:
        actions.compare(out, *compare)
    else:
        actions.coverage(out)


def _run_ahead_of_time(
    out: Console, backend: str | None, report: Path | None, refused: list[str], **chosen: Any
) -> None:
    """Runs the suite's programs as files of an ahead-of-time compilation. It takes none of the options `refused`."""
    from xla_conformance.ahead_of_time.command import AheadOfTimeRun
    from xla_conformance.report.folder import made_folder

    if backend is None:
        raise InvalidArgumentError("--runner needs --backend", hint="name the backend whose compiler is tested")
    if refused:
        raise InvalidArgumentError(f"--runner doesn't take {refused[0]}", hint="-k and --test choose cases")
    run = AheadOfTimeRun(backend=backend, **chosen)
    run.run(out, made_folder(out, report, backend), show_files=report is not None)
