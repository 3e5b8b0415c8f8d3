"""`xla new`: makes a complete backend package to start from."""

from __future__ import annotations

import enum
from pathlib import Path
from typing import Annotated

import typer

from xla_core.cli import output
from xla_core.cli.scaffold import create, load_scaffold


class Driver(enum.StrEnum):
    """The language of a device's driver."""

    C = "c"


class Kind(enum.StrEnum):
    """How the kernels of a device run."""

    LOOP = "loop"
    GRID = "grid"


def new(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The platform's name, as in xla.Client(NAME).")],
    scenario: Annotated[
        int,
        typer.Option(
            min=1, max=3, help="1: a CPU with an LLVM target. 2: another device with an LLVM target. 3: no LLVM at all."
        ),
    ] = 3,
    kind: Annotated[
        Kind,
        typer.Option(help="How kernels run, in scenario 2. loop: over their part of the work. grid: by many threads."),
    ] = Kind.LOOP,
    driver: Annotated[
        Driver | None,
        typer.Option(help="Make a driver too, in scenario 3: memory, queues, events and kernels in C."),
    ] = None,
    copy: Annotated[
        bool, typer.Option("--copy", help="Copy the sources of the base backend instead of subclassing it.")
    ] = False,
    directory: Annotated[
        Path, typer.Option("--directory", "-d", metavar="DIR", help="The directory in which to make the package.")
    ] = Path(),
) -> None:
    """Make an installable backend package that passes the conformance suite from the start."""
    scaffold = load_scaffold(scenario, kind, driver or "")
    root = create(scaffold, name, directory, copy=copy)
    out = output.console()
    out.print(f"[bold]{root}[/]: {scaffold.description}", soft_wrap=True)
    for path in sorted(p.relative_to(root) for p in root.rglob("*") if p.is_file()):
        out.print(f"  {path}", markup=False)
    out.print(f"Next:\n  pip install -e {root}\n  xla conform --backend {name}", markup=False, soft_wrap=True)
