"""`xla aot`: compiles a program to files that a C or C++ program is built with."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from xla_core.cli import output, programs
from xla_core.cli.options import Backend, Program, Settings, Shapes
from xla_core.errors import InvalidArgumentError

if TYPE_CHECKING:
    from xla_core.backend import AheadOfTimeOptions, BackendSpec, Platform


def aot(
    file: Program,
    output_file: Annotated[
        Path, typer.Option("--output", "-o", metavar="NAME", help="The path of the files, without an ending: out/mlp.")
    ],
    backend: Backend = None,
    emit: Annotated[
        str, typer.Option(metavar="object|c", help="Machine code, or C for a processor without an LLVM target.")
    ] = "object",
    triple: Annotated[
        str, typer.Option(help="The target, such as aarch64-linux-gnu. Default: the backend's own target.")
    ] = "",
    cpu: Annotated[str, typer.Option(help="The processor, by LLVM's name.")] = "",
    features: Annotated[str, typer.Option(help="Features of the processor, such as +v,-c.")] = "",
    vector_length: Annotated[int | None, typer.Option(help="The width of vector registers, in bits.")] = None,
    float_abi: Annotated[
        str | None, typer.Option(metavar="hard|soft", help="How C passes floating-point numbers.")
    ] = None,
    relocation_model: Annotated[
        str, typer.Option(metavar="pic|static", help="static is code for a fixed address.")
    ] = "pic",
    optimize_for_size: Annotated[bool, typer.Option("--optimize-for-size", help="Prefer small to fast code.")] = False,
    threads: Annotated[int, typer.Option(help="How many threads may divide a kernel.")] = 1,
    shape: Shapes = None,
    settings: Settings = None,
) -> None:
    """Compile a program ahead of time: an object file or C, its C header, a runtime in C, a CMake file and an example.

    The files need neither Python nor this package. NAME is the prefix of the functions, so that several models can be
    linked into one program.
    """
    target = _target(
        output_file,
        emit=emit,
        triple=triple,
        cpu=cpu,
        features=features,
        vector_length=vector_length,
        float_abi=float_abi,
        relocation_model=relocation_model,
        optimize_for_size=optimize_for_size,
        threads=threads,
    )
    module = programs.parse(programs.read_program(file), programs.file_name(file), shape or ())
    spec, platform = _platform(backend)
    options = programs.compile_options(settings or ())
    options = options.model_copy(update={"backend": spec.options.model_validate(options.backend)})
    files = platform.compiler.ahead_of_time_files(module, target, options)
    folder = output_file.parent
    programs.make_directory(folder)
    for name, content in files.items():
        output.write(content, folder / name)
    output.console().print(f"wrote {', '.join(files)} to {folder}", markup=False, soft_wrap=True)


def _target(output_file: Path, **fields: Any) -> AheadOfTimeOptions:
    """The options of the compilation. The name is the last part of the files' path."""
    from xla_core.backend import AheadOfTimeOptions

    if output_file.is_dir() or not output_file.name.isascii() or not output_file.name.isidentifier():
        kind = "the directory " if output_file.is_dir() else ""
        raise InvalidArgumentError(
            "--output must be a path whose last part is an identifier of C, as in out/mlp,"
            f" not {kind}{str(output_file)!r}",
            hint="it is the prefix of the files' names and of the functions, and has no ending",
        )
    return AheadOfTimeOptions.model_validate({"name": output_file.name, **fields})


def _platform(backend: str | None) -> tuple[BackendSpec, Platform]:
    """The platform of a backend, without its devices, or the one with the highest priority."""
    from xla_core.backend import load_backend
    from xla_core.runtime.platform_choice import open_devices

    if backend is None:
        spec, devices = open_devices(None)
        return spec, devices.platform
    spec = load_backend(backend)
    platform = spec.platform()
    platform.name = backend
    return spec, platform
