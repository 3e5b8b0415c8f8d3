"""`xla compile`: prints a stage of a compilation, without running the program."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from xla_core.cli import output, programs
from xla_core.cli.options import Backend, Program, Settings, Shapes
from xla_core.errors import InvalidArgumentError

if TYPE_CHECKING:
    from xla_core.backend import CompileOptions, Executable

INPUT_STAGE = "hlo-before"
SERIALIZED = "serialized"
GRAPH = "dot"
MEMORY_MAP = "memory-map"
PLACEMENT = "placement"


def compile_program(
    file: Program,
    backend: Backend = None,
    emit: Annotated[
        str | None,
        typer.Option("--emit", "-e", metavar="NAME", help="The stage or artifact to write. Without it, lists them."),
    ] = None,
    output_file: Annotated[Path | None, typer.Option("--output", "-o", metavar="OUT", help="Default: stdout.")] = None,
    shape: Shapes = None,
    settings: Settings = None,
) -> None:
    """Compile a program and write a stage or an artifact, or list those that the backend offers.

    Needs no device where the backend's compiler needs none.
    """
    text = programs.read_program(file)
    name = programs.file_name(file)
    if output_file is not None:
        programs.check_writable(output_file)
    if emit == INPUT_STAGE:  # needs no backend
        output.write(programs.parse(text, name, shape or ()).to_text(), output_file)
        return
    options = programs.compile_options(settings or (), keep_artifacts=True)
    executable, serialize = _compile(text, name, shape or (), backend, options)
    artifacts = executable.artifacts()
    if emit is None:
        _list(artifacts)
    elif emit in artifacts:
        output.write(artifacts[emit], output_file)
    elif emit == SERIALIZED:
        output.write(serialize(), output_file)
    elif emit == GRAPH:
        from xla_core.hlo import to_dot

        output.write(to_dot(executable.module, [p.name for p in executable.placement() if p.on_host]), output_file)
    elif emit == PLACEMENT:
        from xla_core.analysis import placement_text

        output.write(placement_text(executable.placement()), output_file)
    elif emit == MEMORY_MAP:
        output.write(_memory_map(executable), output_file)
    else:
        offered = [INPUT_STAGE, *artifacts, SERIALIZED, PLACEMENT, GRAPH, MEMORY_MAP]
        raise InvalidArgumentError(
            f"there is no stage or artifact {emit!r}", hint=f"this backend offers {', '.join(offered)}"
        )


def _compile(
    text: bytes, filename: str, given: Sequence[str], backend: str | None, options: CompileOptions
) -> tuple[Executable, Callable[[], bytes]]:
    """Compiles with a client, or with the compiler alone if the machine has no such device."""
    import xla_core as xla
    from xla_core.errors import UnavailableError

    try:
        loaded = xla.Client(backend).compile(text, options, file=filename)
        loaded = loaded.specialize(*programs.static_shapes(loaded.parameter_shapes, given))
        return loaded.executable, loaded.serialize
    except UnavailableError:
        if backend is None:
            raise
    from xla_core.backend import load_backend
    from xla_core.hlo.ir.entry import flatten_entry

    spec = load_backend(backend)
    platform = spec.platform()
    platform.name = backend
    module = programs.parse(text, filename, given)
    flatten_entry(module)
    options = options.model_copy(update={"backend": spec.options.model_validate(options.backend)})
    executable = platform.compiler.compile(module, options)
    return executable, executable.serialize


def _list(artifacts: Mapping[str, str | bytes]) -> None:
    from rich.table import Table

    from xla_core.runtime.memory.memory_stats import format_bytes

    table = Table("--emit", "what", "size", box=None, pad_edge=False)
    table.add_row(INPUT_STAGE, "the program as HLO, before any pass", "")
    known = {"hlo": "the optimized HLO"}
    for name, content in artifacts.items():
        what = known.get(name, "text" if isinstance(content, str) else "bytes")
        table.add_row(name, what, format_bytes(len(content)))
    table.add_row(SERIALIZED, "what Client.deserialize reads", "")
    table.add_row(PLACEMENT, "where each instruction runs, device or host, and why", "")
    table.add_row(GRAPH, "the optimized HLO as a graph, for Graphviz", "")
    table.add_row(MEMORY_MAP, "a picture of its temporaries, PNG", "")
    output.console().print(table)


def _memory_map(executable: Executable) -> bytes:
    """The core's plan of memory; a backend may use its own."""
    import io

    from xla_core.analysis import assign_buffers, plot_memory_map

    file = io.BytesIO()
    plot_memory_map(assign_buffers(executable.module), file)
    return file.getvalue()
