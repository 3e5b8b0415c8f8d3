"""`xla pjrt build`: a backend as a shared library for hosts of PJRT."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from xla_core.cli import output


def pjrt(
    action: Annotated[str, typer.Argument(help="build", metavar="build")],
    backend: Annotated[str, typer.Argument(help="The backend's name.")],
    file: Annotated[
        Path | None, typer.Option("--output", "-o", help="The library; by default libpjrt_BACKEND.so.")
    ] = None,
) -> None:
    """Build a shared library by which any host of PJRT (C, Julia, Elixir, PyTorch/XLA) uses a backend.

    The library runs the Python that builds it, with the packages that this Python imports now.
    """
    from xla_core.backend.registry import load_backend
    from xla_core.errors import InvalidArgumentError
    from xla_core.pjrt import build_library

    if action != "build":
        raise InvalidArgumentError(f"xla pjrt has no action {action!r}", hint="xla pjrt build BACKEND [-o FILE]")
    load_backend(backend)
    path = file or Path(f"libpjrt_{backend}.so")
    build_library(backend, path)
    output.console().print(f"wrote {path}", markup=False, soft_wrap=True)
