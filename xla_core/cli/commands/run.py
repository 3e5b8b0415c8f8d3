"""`xla run`: compiles a program and runs it."""

from __future__ import annotations

import contextlib
import statistics
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from xla_core.cli import execution, infeed_outfeed, output, programs
from xla_core.cli.options import Backend, Check, Inputs, Program, Seed, Settings, Shapes
from xla_core.errors import CancelledError, InvalidArgumentError

if TYPE_CHECKING:
    import numpy as np

    from xla_core.analysis import InstructionPlacement


def run(
    file: Program,
    backend: Backend = None,
    inputs: Inputs = None,
    shape: Shapes = None,
    seed: Seed = 0,
    infeed: Annotated[
        list[Path] | None,
        typer.Option(
            "--infeed", metavar="V.npy", help="A value for the program's infeed, in order. A .npz is a tuple."
        ),
    ] = None,
    check: Check = False,
    output_directory: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="DIR",
            help="Write results to DIR/result_N.npy and outfeed values to DIR/outfeed_N.npy.",
        ),
    ] = None,
    trace: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Write a Chrome trace of compilation and runs to FILE, or a picture (.png, .svg)."
        ),
    ] = None,
    repeat: Annotated[int, typer.Option(min=1, metavar="N", help="Run N times and print the median time.")] = 1,
    dump: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Dump the compilation and its arguments to DIR, for `xla replay`."),
    ] = None,
    settings: Settings = None,
) -> None:
    """Compile a program and run it. If it needs several devices, each gets the same arguments."""
    import xla_core as xla
    from xla_core import profiler
    from xla_core.analysis import host_summary
    from xla_core.runtime.programs.program import module_for

    text = programs.read_program(file)
    if trace is not None:
        programs.check_writable(trace)
    if output_directory is not None:
        programs.make_directory(output_directory)
    fields: dict[str, Any] = {"donate": ()} if repeat > 1 else {}
    if dump is not None:
        programs.make_directory(dump)
        fields["dump_to"] = str(dump)
    options = programs.compile_options(settings or (), **fields)
    out = output.console()
    with profiler.trace(trace) if trace is not None else contextlib.nullcontext():
        client = xla.Client(backend)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", ".* on the host,", RuntimeWarning)  # printed below
            executable = client.compile(text, options, file=programs.file_name(file))
        if inputs:
            arguments = programs.load_arguments(inputs, executable.parameter_shapes)
        else:
            shapes = programs.static_shapes(executable.parameter_shapes, shape or ())
            arguments = programs.random_arguments(shapes, seed)
        executable = executable.specialize(*arguments)
        if dump is not None:
            programs.save_arguments(dump, arguments)
        fed = None
        if infeed or infeed_outfeed.has_infeed(text):
            fed = infeed_outfeed.load_infeed(module_for(text, arguments, programs.file_name(file)), infeed or ())
            if fed and repeat > 1:
                raise InvalidArgumentError(
                    "--repeat and --infeed exclude each other: the infeed has values for one run"
                )
            infeed_outfeed.transfer_to_infeed(executable, fed)
        on_host = host_summary(executable.placement())
        try:
            with profiler.trace() as spans:
                results, seconds = execution.run_on_all_devices(client, executable, arguments, repeat)
        except CancelledError as error:
            if fed is None:
                raise
            raise infeed_outfeed.infeed_exhausted(len(fed), error) from error
        except KeyboardInterrupt:
            executable.delete()  # the run ends at its next loop iteration
            raise
        written = infeed_outfeed.read_outfeed(executable)
    report = executable.report
    times = f"median of {repeat} runs" if repeat > 1 else "first run"
    out.print(
        f"{executable.name} on {', '.join(map(str, executable.devices))}: compiled in {report.compile_seconds:.3g} s, "
        f"{times} {statistics.median(seconds) * 1e3:.4g} ms",
        markup=False,
    )
    if on_host:
        output.console(stderr=True).print(
            f"warning: {on_host} (`xla plan` lists what to add, `xla compile --emit placement` each instruction)",
            markup=False,
            soft_wrap=True,
        )
        _print_parts(executable.placement(), execution.host_seconds(spans.spans), statistics.median(seconds))
    _print_arrays("result", [{str(index): array for index, array in enumerate(row)} for row in results])
    if any(written):
        _print_arrays("outfeed", written)
    if output_directory is not None:
        for place, row, values in zip(_folders(output_directory, len(results)), results, written, strict=True):
            programs.make_directory(place)
            for index, result in enumerate(row):
                programs.save_array(place / f"result_{index}.npy", result)
            for name, value in values.items():
                programs.save_array(place / f"outfeed_{name}.npy", value)
    if check:
        module = module_for(text, arguments, programs.file_name(file))
        if not execution.check_on_all_devices(out, module, executable, arguments, results, written, fed or ()):
            raise typer.Exit(1)


def _folders(directory: Path, devices: int) -> list[Path]:
    return [directory] if devices == 1 else [directory / f"device_{device}" for device in range(devices)]


def _print_parts(placement: Sequence[InstructionPlacement], seconds: Mapping[str, float], whole: float) -> None:
    """Prints a row for each part that the host runs, slowest first, and one for the device."""
    from rich.table import Table

    from xla_core.analysis import format_seconds

    table = Table("part", "runs on", "instructions", "bytes crossed", "time", box=None, pad_edge=False)
    parts: dict[str, list[InstructionPlacement]] = {}
    for p in placement:
        parts.setdefault(p.part, []).append(p)
    device = parts.pop("", [])
    for name, inside in sorted(parts.items(), key=lambda part: -seconds.get(part[0], 0.0)):
        crossed = str(sum(p.bytes_crossed for p in inside))
        table.add_row(name, "host", str(len(inside)), crossed, format_seconds(seconds.get(name, 0.0)))
    rest = max(whole - sum(seconds.values()), 0.0)
    table.add_row("", "device", str(len(device)), "", format_seconds(rest))
    output.console().print(table)


def _print_arrays(what: str, rows: Sequence[Mapping[str, np.ndarray]]) -> None:
    """Prints the named arrays of each device, or of the first one if all devices have the same."""
    from rich.table import Table

    from xla_core.hlo import Shape

    same = all(_signature(row) == _signature(rows[0]) for row in rows[1:])
    table = Table(*(["device"] if not same else []), what, "shape", "values", "first", box=None, pad_edge=False)
    for device, row in enumerate(rows[:1] if same else rows):
        for name, array in row.items():
            spread, start = output.describe_array(array)
            cells = [name, str(Shape.of(array)).replace("[", r"\["), spread, start.replace("[", r"\[")]
            table.add_row(*([str(device)] if not same else []), *cells)
    output.console().print(table)
    if same and len(rows) > 1:
        output.console().print(f"the same on all {len(rows)} devices", markup=False)


def _signature(row: Mapping[str, np.ndarray]) -> list[tuple[str, np.dtype, bytes]]:
    return [(name, array.dtype, array.tobytes()) for name, array in row.items()]
