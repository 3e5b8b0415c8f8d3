"""`xla bench`: runs the benchmarks of a clone in a process of their own; they are no part of the package."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import typer

from xla_core.errors import NotFoundError


def bench(context: typer.Context) -> None:
    """Time programs against JAX's own compiler. Needs a clone; within one, `xla bench --help` shows its options."""
    try:
        clone = find_clone()
    except NotFoundError:
        if not {"--help", "-h"} & set(context.args):
            raise
        typer.echo(context.get_help())
        return
    path = [str(clone), *filter(None, [os.environ.get("PYTHONPATH")])]
    command = [sys.executable, "-m", "benchmarks.run", *context.args]
    raise typer.Exit(subprocess.call(command, env={**os.environ, "PYTHONPATH": os.pathsep.join(path)}))


# the benchmarks read their own options, including --help
bench.__dict__["context_settings"] = {
    "allow_extra_args": True,
    "ignore_unknown_options": True,
    "help_option_names": [],
}


def find_clone() -> Path:
    """The nearest directory, upwards from the current one or from this package, that is a clone of the repository.

    Raises:
        NotFoundError: there is none.
    """
    here = Path.cwd()
    for directory in (here, *here.parents, Path(__file__).resolve().parents[3]):
        if (directory / "benchmarks" / "run.py").is_file() and (directory / "xla_core").is_dir():
            return directory
    raise NotFoundError(
        "the benchmarks are part of xla-core's repository, not of the installed package",
        hint="clone the repository and run `xla bench` within the clone",
    )
