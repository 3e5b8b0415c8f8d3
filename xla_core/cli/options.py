"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["Backend", "Check", "Inputs", "Program", "Seed", "Settings", "Shapes"]

Program = Annotated[Path, typer.Argument(metavar="FILE", help="StableHLO or HLO text, or MLIR bytecode; - is stdin.")]
Backend = Annotated[
    str | None, typer.Option("--backend", "-b", metavar="B", help="The platform; default: $XLA_PLATFORM, or the best.")
]
Inputs = Annotated[
    list[Path] | None,
    typer.Option("--input", "-i", metavar="A.npy", help="An argument, in order; a .npz gives several."),
]
Seed = Annotated[int, typer.Option(help="Of the random arguments that are made where no --input is given.")]
Check = Annotated[bool, typer.Option("--check", help="Compare with the reference evaluator; exit code 1 if wrong.")]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        "-s",
        metavar="NAME=VALUE",
        help="A field of CompileOptions, or an option of the backend; VALUE as JSON: donate=[0].",
    ),
]
Shapes = Annotated[
    list[str] | None,
    typer.Option(
        "--shape",
        metavar="4x3",
        help="The sizes of an argument that the program leaves open (tensor<?x3xf32>); one for each such, in order.",
    ),
]
