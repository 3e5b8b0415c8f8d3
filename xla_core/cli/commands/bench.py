"""`xla bench`: the benchmarks of a clone."""

from __future__ import annotations

import sys
from pathlib import Path

import typer

from xla_core.errors import NotFoundError

__all__ = ["bench", "find_clone"]


def bench(context: typer.Context) -> None:
    """Time programs against JAX's own compiler. Needs a clone; within one, `xla bench --help` shows its options."""
    root = find_clone()
    sys.path.insert(0, str(root))
    from benchmarks.run import main  # lies in the clone, not in the package

    raise typer.Exit(main(context.args, prog="xla bench"))


def find_clone() -> Path:
    """The nearest directory, up from here or from this package, that holds the benchmarks. NotFoundError if none."""
    here = Path.cwd()
    for directory in (here, *here.parents, Path(__file__).resolve().parents[3]):
        if (directory / "benchmarks" / "run.py").is_file() and (directory / "xla_core").is_dir():
            return directory
    raise NotFoundError(
        "the benchmarks are not installed with xla-core, and this is no clone of its repository",
        hint="run `xla bench` within a clone",
    )
