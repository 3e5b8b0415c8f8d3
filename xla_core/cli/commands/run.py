"""`xla run`: compile a program and run it."""

from __future__ import annotations

import contextlib
import statistics
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from xla_core.cli import checking, output, programs
from xla_core.cli.options import Backend, Check, Inputs, Program, Seed, Settings, Shapes

if TYPE_CHECKING:
    import numpy as np

    import xla_core as xla

__all__ = ["run"]


def run(
    file: Program,
    backend: Backend = None,
    inputs: Inputs = None,
    shape: Shapes = None,
    seed: Seed = 0,
    check: Check = False,
    output_directory: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="DIR", help="Write each result to DIR/result_N.npy.")
    ] = None,
    trace: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a Chrome trace of compilation and runs.")
    ] = None,
    repeat: Annotated[int, typer.Option(min=1, metavar="N", help="Run N times and print the median time.")] = 1,
    dump: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Dump the compilation and its arguments, for `xla replay`.")
    ] = None,
    settings: Settings = None,
) -> None:
    """Compile a program and run it."""
    import numpy as np

    import xla_core as xla
    from xla_core import profiler

    text = programs.read_program(file)
    if trace is not None:
        programs.check_writable(trace)
    if output_directory is not None:
        output_directory.mkdir(parents=True, exist_ok=True)
    fields: dict[str, Any] = {"donate": ()} if repeat > 1 else {}
    if dump is not None:
        fields["dump_to"] = str(dump)
    options = programs.compile_options(settings or (), **fields)
    out = output.console()
    with profiler.trace(trace) if trace is not None else contextlib.nullcontext():
        client = xla.Client(backend)
        executable = client.compile(text, options, file=programs.file_name(file))
        if inputs:
            arguments = programs.load_arguments(inputs, executable.parameter_shapes)
        else:
            shapes = programs.closed_shapes(executable.parameter_shapes, shape or ())
            arguments = programs.random_arguments(shapes, seed)
        executable = executable.specialize(*arguments)
        if dump is not None:
            programs.save_arguments(dump, arguments)
        try:
            results, seconds = _run(executable, arguments, repeat)
        except KeyboardInterrupt:
            executable.delete()  # what is under way ends at its next loop iteration
            raise
    report = executable.report
    times = f"median of {repeat} runs" if repeat > 1 else "first run"
    out.print(
        f"{executable.name} on {client.devices[0]}: compiled in {report.compile_seconds:.3g} s, "
        f"{times} {statistics.median(seconds) * 1e3:.4g} ms",
        markup=False,
    )
    _print_results(results)
    if output_directory is not None:
        for index, result in enumerate(results):
            programs.save_array(output_directory / f"result_{index}.npy", result)
    if check:
        expected = xla.evaluate(text, *map(np.asarray, arguments), file=programs.file_name(file))
        if not checking.check_results(out, results, expected):
            raise typer.Exit(1)


def _run(
    executable: xla.LoadedExecutable, arguments: list[np.ndarray], repeat: int
) -> tuple[list[np.ndarray], list[float]]:
    """The results on the host, and the seconds of each run from call to the last result."""
    import numpy as np

    if repeat > 1:
        buffers = [executable.client.buffer_from_host(a, executable.devices[0]) for a in arguments]
        for buffer in executable.execute(buffers):  # the first run warms up
            buffer.block_until_ready()
    seconds = []
    for _ in range(repeat):
        start = time.perf_counter()
        results = executable.execute(buffers) if repeat > 1 else executable(*arguments)
        for buffer in results:
            buffer.block_until_ready()
        seconds.append(time.perf_counter() - start)
    return [np.asarray(r) for r in results], seconds


def _print_results(results: list[np.ndarray]) -> None:
    from rich.table import Table

    from xla_core.hlo import Shape

    table = Table("result", "shape", "values", "first", box=None, pad_edge=False)
    for index, result in enumerate(results):
        spread, first = output.describe_array(result)
        table.add_row(str(index), str(Shape.of(result)).replace("[", r"\["), spread, first.replace("[", r"\["))
    output.console().print(table)
