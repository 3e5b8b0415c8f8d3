"""`xla opt`: runs HLO passes by name."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from xla_core.cli import output, programs
from xla_core.cli.options import Shapes
from xla_core.errors import InvalidArgumentError

if TYPE_CHECKING:
    from xla_core.passes import HloPassPipeline, PassContext


def opt(
    file: Annotated[
        Path | None, typer.Argument(metavar="FILE", help="StableHLO or HLO text, or MLIR bytecode; - is stdin.")
    ] = None,
    passes: Annotated[
        str | None,
        typer.Option("--passes", "-p", metavar="A,B,C", help="The passes, in order. Without it, lists all passes."),
    ] = None,
    pipeline: Annotated[
        bool, typer.Option("--pipeline", help="Run a target's whole pipeline; without FILE, print it.")
    ] = False,
    backend: Annotated[
        str | None,
        typer.Option(
            "--backend",
            "-b",
            metavar="B",
            help="The backend that adds its passes, and whose target --pipeline uses; default: a target that supports "
            "everything.",
        ),
    ] = None,
    verify: Annotated[bool, typer.Option(help="Run the verifier after every pass.")] = True,
    timings: Annotated[
        bool, typer.Option("--timings", help="Print to stderr what each pass changed and how long it took.")
    ] = False,
    shape: Shapes = None,
) -> None:
    """Run HLO passes on a program and print HLO text."""
    from xla_core.passes import HloPassPipeline, PassContext, create_pass

    if pipeline and passes is not None:
        raise InvalidArgumentError("--pipeline and --passes exclude each other", hint="give one of them")
    if pipeline or backend is not None:
        whole = _pipeline(backend)  # which loads the modules in which the backend registers its passes
    if pipeline:
        if file is None:
            output.console().print(whole.describe(), markup=False, soft_wrap=True)
            return
    elif passes is None or file is None:
        _list_passes()
        return
    else:
        whole = HloPassPipeline("opt", [create_pass(name) for name in passes.split(",") if name.strip()])

    module = programs.parse(programs.read_program(file), programs.file_name(file), shape or ())
    context = PassContext.default(module, verify=verify)
    context.run(whole, module, ())
    if timings:
        _print_timings(context)
    sys.stdout.write(module.to_text().rstrip("\n") + "\n")


def _pipeline(backend: str | None) -> HloPassPipeline:
    """The pipeline of a backend, or the core's for a target that supports everything."""
    from xla_core.backend import CompileOptions, load_backend
    from xla_core.passes import default_pipeline
    from xla_core.target import Capabilities, TargetConfig

    if backend is None:
        return default_pipeline(TargetConfig(name="any", capabilities=Capabilities.all_of()))
    spec = load_backend(backend)
    compiler, options = spec.platform().compiler, CompileOptions(backend=spec.options())
    return default_pipeline(compiler.target_config, options, compiler.hlo_stages(options))


def _list_passes() -> None:
    from rich.table import Table

    from xla_core.passes import PASSES
    from xla_core.passes.registry import description_of

    table = Table("pass", "what it does", box=None, pad_edge=False)
    for name in sorted(PASSES):
        table.add_row(name, " ".join(description_of(name).split("\n\n")[0].split()).replace("[", r"\["))
    output.console().print(table)


def _print_timings(context: PassContext) -> None:
    from rich.table import Table

    table = Table("pass", "changed", "instructions", "ms", box=None, pad_edge=False)
    for timing in context.timings:
        counts = f"{timing.instructions_before} -> {timing.instructions_after}"
        table.add_row(timing.name, "yes" if timing.changed else "", counts, f"{timing.seconds * 1e3:.2f}")
    output.console(stderr=True).print(table)
