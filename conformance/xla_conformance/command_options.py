"""The options of `xla conform`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from xla_core.cli import options

Backend = Annotated[
    str | None, typer.Option("--backend", "-b", metavar="B", help="The backend; default: that of xla.Client().")
]
Profile = Annotated[str, typer.Option("--profile", "-p", metavar="quick|full|stress", help="How many tests to run.")]
Report = Annotated[
    Path | None, typer.Option(metavar="DIR", help="Write the report there: JSON, JUnit, HTML, badge, failures.")
]
Expression = Annotated[str, typer.Option("-k", metavar="EXPR", help="Run only tests that match, as with pytest -k.")]
Test = Annotated[
    list[str] | None,
    typer.Option(
        "--test",
        metavar="ID",
        help="Run only the test of this id or name, or those of the lines of a file, as @FILE; may be repeated.",
    ),
]
LastFailed = Annotated[bool, typer.Option("--lf", help="Run only the tests that were wrong in the last report.")]
Workers = Annotated[int, typer.Option("-n", min=1, metavar="N", help="Processes that share the tests.")]
Seed = Annotated[
    int | None,
    typer.Option(min=0, metavar="N", help="The seed of every random choice; default: 0, for stress a fresh one."),
]
Settings = Annotated[
    list[str] | None,
    options.settings_option("An option of the backend for the programs of the tests. VALUE is JSON or text."),
]
TestSeconds = Annotated[
    float | None, typer.Option(min=1.0, metavar="N", help="The time limit of a test; default: the profile's.")
]
Patience = Annotated[
    float, typer.Option(min=0.01, metavar="N", help="Multiply all time limits, for a slow device such as a simulator.")
]
TotalSeconds = Annotated[
    float | None,
    typer.Option(min=1.0, metavar="N", help="The time limit of the run, which stress uses up; default: the profile's."),
]
Waivers = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Wrong results to accept, with reasons and last days (TOML).")
]
Earlier = Annotated[
    Path | None, typer.Option(metavar="REPORT", help="The report that the page compares with; default: DIR's last.")
]
StablehloTests = Annotated[
    Path | None, typer.Option(metavar="DIR", help="Run StableHLO's own test files of this folder instead.")
]
Evaluator = Annotated[
    bool,
    typer.Option(
        "--evaluator", help="With --stablehlo-tests or --support-matrix: the reference evaluator, no backend."
    ),
]
SupportMatrix = Annotated[
    bool, typer.Option("--support-matrix", help="Run every op in every element type instead; -k is an op's name.")
]
Runner = Annotated[
    str | None,
    typer.Option(metavar="COMMAND", help="Compile the suite's programs ahead of time, and run them by this command."),
]
CCompiler = Annotated[
    str, typer.Option("--cc", metavar="COMMAND", help="With --runner: the C compiler for the target.")
]
Explain = Annotated[
    str, typer.Option(metavar="ID", help="Print everything the last report says of a test; run nothing.")
]
Verify = Annotated[
    Path | None, typer.Option(metavar="DIR", help="Check a report's folder as a submission; run nothing.")
]
Compare = Annotated[
    tuple[Path, Path] | None,
    typer.Option(metavar="A B", help="Compare two reports; exit code 1 for a regression. Run nothing."),
]
Coverage = Annotated[bool, typer.Option("--coverage", help="Print what no test of the suite covers; run nothing.")]
