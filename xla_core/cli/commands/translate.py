"""`xla translate`: a program in another form."""

from __future__ import annotations

import enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from xla_core.cli import output, programs
from xla_core.cli.options import Program, Shapes
from xla_core.errors import InvalidArgumentError

if TYPE_CHECKING:
    from xla_core.stablehlo import Module


class Form(enum.StrEnum):
    STABLEHLO = "stablehlo"
    GENERIC = "stablehlo-generic"
    ARTIFACT = "portable-artifact"
    HLO = "hlo"


def translate(
    file: Program,
    to: Annotated[
        Form,
        typer.Option(
            "--to",
            "-t",
            metavar="FORM",
            help="stablehlo, stablehlo-generic (MLIR's generic form), portable-artifact (bytecode), or hlo (HLO text).",
        ),
    ],
    target_version: Annotated[
        str | None,
        typer.Option("--target-version", metavar="1.17.0", help="The StableHLO that reads it; default: the newest."),
    ] = None,
    locations: Annotated[
        bool | None, typer.Option(help="Write the locations of ops; default: only in artifacts.", show_default=False)
    ] = None,
    output_file: Annotated[Path | None, typer.Option("--output", "-o", metavar="OUT", help="Default: stdout.")] = None,
    shape: Shapes = None,
) -> None:
    """Write a program as StableHLO text, as a portable artifact, or as HLO text. Needs no backend."""
    text, name = programs.read_program(file), programs.file_name(file)
    if output_file is not None:
        programs.check_writable(output_file)
    if to is Form.HLO:
        if target_version is not None:
            raise InvalidArgumentError("--target-version is StableHLO's; HLO text has no versions")
        output.write(programs.parse(text, name, shape or ()).to_text(), output_file)
        return
    from xla_core.stablehlo import write_portable_artifact, write_text

    module = _stablehlo(text, name, shape)
    if to is Form.ARTIFACT:
        version = {} if target_version is None else {"version": target_version}
        output.write(write_portable_artifact(module, **version, locations=locations is not False), output_file)
        return
    is_generic = to is Form.GENERIC
    written = write_text(module, version=target_version, generic=is_generic, locations=bool(locations))
    output.write(written, output_file)


def _stablehlo(text: bytes, name: str, shape: list[str] | None) -> Module:
    """The program as StableHLO: as it was read, or raised from HLO."""
    from xla_core.hlo import HloModule
    from xla_core.runtime.programs.program import read
    from xla_core.stablehlo import from_hlo

    if shape:
        return from_hlo(programs.parse(text, name, shape))
    found = read(text, file=name)
    return from_hlo(found) if isinstance(found, HloModule) else found
