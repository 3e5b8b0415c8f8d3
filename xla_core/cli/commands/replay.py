"""`xla replay`: compiles and runs a dump again."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from xla_core.cli import execution, infeed_outfeed, output, programs
from xla_core.cli.options import Backend, Inputs, Seed
from xla_core.errors import InvalidArgumentError, NotFoundError, XlaError

if TYPE_CHECKING:
    import numpy as np

    from xla_core.hlo import HloModule, Shape

STAGE = ".before_optimizations.txt"


def replay(
    directory: Annotated[
        Path, typer.Argument(metavar="DIR", help="A dump that --xla_dump_to or `xla run --dump` wrote.")
    ],
    backend: Backend = None,
    inputs: Inputs = None,
    seed: Seed = 0,
    module: Annotated[str, typer.Option(metavar="TEXT", help="Only modules whose file name contains this.")] = "",
) -> None:
    """Compile and run dumped programs again, and compare the results with the reference evaluator.

    A program of several devices runs on each with the same arguments. They are --input's, else those in the dump
    (`xla run --dump`), else random.
    """
    import xla_core as xla

    out = output.console()
    client = xla.Client(backend)
    failed = 0
    for path in find_modules(directory, module):
        text = path.read_text()
        out.print(f"[bold]{path.name.removesuffix(STAGE)}[/]", soft_wrap=True)
        if "constant({...})" in text:
            raise InvalidArgumentError(
                f"{path.name} lacks its large constants, so it cannot be run again",
                hint="dump with XLA_FLAGS=--xla_dump_large_constants",
            )
        try:
            parsed = xla.parse(text, file=str(path))
            executable = client.compile(parsed)
            arguments = _arguments(directory, inputs, parsed, executable.parameter_shapes, seed)
            infeed_outfeed.load_infeed(parsed, ())  # raises if the program reads an infeed, which would wait for ever
            results, _ = execution.run_on_all_devices(client, executable, arguments)
            written = infeed_outfeed.read_outfeed(executable)
            right = execution.check_on_all_devices(out, parsed, executable, arguments, results, written)
        except XlaError as error:
            output.print_error(error)
            right = False
        failed += not right
    if failed:
        raise typer.Exit(1)


def find_modules(directory: Path, part: str = "") -> list[Path]:
    """The dumped programs before any pass, in the order of compilation. Raises NotFoundError if there are none."""
    if not directory.is_dir():
        raise NotFoundError(f"there is no directory {directory}", hint="name the directory of a dump")
    places = (directory, directory / "xla_core")
    found = sorted(p for place in places for p in place.glob(f"*{STAGE}") if part in p.name)
    if not found:
        raise NotFoundError(
            f"{directory} holds no *{STAGE}" + (f" with {part!r} in its name" if part else ""),
            hint=f"XLA_FLAGS=--xla_dump_to={directory} or `xla run FILE --dump {directory}` writes a dump",
        )
    return found


def _arguments(
    directory: Path, inputs: list[Path] | None, module: HloModule, shapes: Sequence[Shape], seed: int
) -> list[np.ndarray]:
    saved = directory / programs.SAVED_ARGUMENTS
    if not inputs and saved.is_file():
        inputs = [saved]
    return programs.load_arguments(inputs, shapes) if inputs else programs.arguments_for(module, shapes, seed)
