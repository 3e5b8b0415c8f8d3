"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

Program = Annotated[Path, typer.Argument(metavar="FILE", help="StableHLO or HLO text, or MLIR bytecode; - is stdin.")]
Backend = Annotated[
    str | None,
    typer.Option(
        "--backend",
        "-b",
        metavar="B",
        help="The platform; default: $XLA_PLATFORM, or the one with the highest priority.",
    ),
]
Inputs = Annotated[
    list[Path] | None,
    typer.Option(
        "--input",
        "-i",
        metavar="A.npy",
        help="An argument, in order. A .npz, or a folder with argument_0.npy, argument_1.npy, ..., holds several.",
    ),
]
Seed = Annotated[int, typer.Option(help="The seed of the random arguments that replace --input.")]
Check = Annotated[
    bool, typer.Option("--check", help="Compare with the reference evaluator; exit code 1 if a result is wrong.")
]


def settings_option(help: str) -> Any:
    """Makes the option `--set`, which may be repeated and whose values `programs.compile_options` reads."""
    return typer.Option("--set", "-s", metavar="NAME=VALUE", help=help)


Settings = Annotated[
    list[str] | None,
    settings_option("A field of CompileOptions or an option of the backend. VALUE is JSON: donate=[0]."),
]
Shapes = Annotated[
    list[str] | None,
    typer.Option(
        "--shape",
        metavar="4x3",
        help="The sizes of an argument with dynamic dimensions (tensor<?x3xf32>). Give it for each such argument.",
    ),
]
