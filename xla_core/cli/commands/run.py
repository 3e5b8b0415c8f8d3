"""`xla run`: compiles a program and runs it."""

from __future__ import annotations

import contextlib
import statistics
import threading
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from xla_core.cli import execution, infeed_outfeed, output, programs
from xla_core.cli.options import Backend, Check, Inputs, Program, Seed, Settings, Shapes
from xla_core.errors import CancelledError, InvalidArgumentError, XlaError

if TYPE_CHECKING:
    import numpy as np

    from xla_core import Client, CompileOptions, LoadedExecutable
    from xla_core.analysis import InstructionPlacement
    from xla_core.hlo import HloModule
    from xla_core.profiler import Span

_LONG_SECONDS = 30.0  # after which a run may be one that hangs

Infeed = Annotated[
    list[Path] | None,
    typer.Option("--infeed", metavar="V.npy", help="A value for the program's infeed, in order. A .npz is a tuple."),
]
OutputDirectory = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="DIR",
        help="Write results to DIR/result_N.npy and outfeed values to DIR/outfeed_N.npy.",
    ),
]
Trace = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="Write a Chrome trace of compilation and runs to FILE, or a picture (.png, .svg)."
    ),
]
Repeat = Annotated[int, typer.Option(min=1, metavar="N", help="Run N times and print the median time.")]
Dump = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="Dump the compilation and its arguments to DIR, for `xla replay`."),
]


def run(
    file: Program,
    backend: Backend = None,
    inputs: Inputs = None,
    shape: Shapes = None,
    seed: Seed = 0,
    infeed: Infeed = None,
    check: Check = False,
    output_directory: OutputDirectory = None,
    trace: Trace = None,
    repeat: Repeat = 1,
    dump: Dump = None,
    settings: Settings = None,
) -> None:
    """Compile a program and run it. If it needs several devices, each gets the same arguments."""
    import xla_core as xla
    from xla_core import profiler
    from xla_core.runtime.programs.program import module_for

    text, name = programs.read_program(file), programs.file_name(file)
    if trace is not None:
        programs.check_writable(trace)
    if output_directory is not None:
        programs.make_directory(output_directory)
    options = _options(settings or (), repeat, dump)
    with profiler.trace(trace) if trace is not None else contextlib.nullcontext():
        client = xla.Client(backend)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", ".* on the host,", RuntimeWarning)  # printed below
            executable = client.compile(text, options, file=name)
        if inputs:
            arguments = programs.load_arguments(inputs, executable.parameter_shapes)
        else:
            shapes = programs.static_shapes(executable.parameter_shapes, shape or ())
            has_integers = any(shape.element_type.is_integral for shape in shapes)
            arguments = programs.arguments_for(_parsed(text, name) if has_integers else None, shapes, seed)
        executable = executable.specialize(*arguments)
        if dump is not None:
            programs.save_arguments(dump, arguments)
        fed = None
        if infeed or infeed_outfeed.has_infeed(text):
            fed = infeed_outfeed.load_infeed(module_for(text, arguments, name), infeed or ())
        with profiler.trace() as spans, _notice_of_a_long_run(executable.name):
            results, seconds = _run(client, executable, arguments, repeat, fed)
        written = infeed_outfeed.read_outfeed(executable)
    _print_times(executable, seconds, spans.spans)
    _print_arrays("result", [{str(index): array for index, array in enumerate(row)} for row in results])
    if any(written):
        _print_arrays("outfeed", written)
    if output_directory is not None:
        _write(output_directory, results, written)
    if check:
        module = module_for(text, arguments, name)
        out = output.console()
        if not execution.check_on_all_devices(out, module, executable, arguments, results, written, fed or ()):
            raise typer.Exit(1)


def _parsed(text: str | bytes, name: str) -> HloModule | None:
    """Returns a program; None if its sizes depend on its arguments."""
    import xla_core as xla

    try:
        return xla.parse(text, file=name)
    except XlaError:
        return None


@contextlib.contextmanager
def _notice_of_a_long_run(name: str) -> Iterator[None]:
    """Prints how to find a kernel that hangs, if the run takes long."""
    text = (
        f"{name} has run for {_LONG_SECONDS:g} s. If it hangs, Ctrl-C ends it, and `xla bisect --seconds "
        f"{_LONG_SECONDS:g}` with the same program, arguments and backend finds the instruction that does."
    )
    err = output.console(stderr=True)
    timer = threading.Timer(_LONG_SECONDS, lambda: err.print(text, markup=False, soft_wrap=True))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _options(settings: Sequence[str], repeat: int, dump: Path | None) -> CompileOptions:
    fields: dict[str, Any] = {"donate": ()} if repeat > 1 else {}
    if dump is not None:
        programs.make_directory(dump)
        fields["dump_to"] = str(dump)
    return programs.compile_options(settings, **fields)


def _run(
    client: Client, executable: LoadedExecutable, arguments: Sequence[np.ndarray], repeat: int, fed: list[Any] | None
) -> tuple[list[list[np.ndarray]], list[float]]:
    """Runs the program on all its devices, after giving them the values of its infeed, if it has one."""
    if fed is not None:
        if fed and repeat > 1:
            raise InvalidArgumentError("--repeat and --infeed exclude each other: the infeed has values for one run")
        infeed_outfeed.transfer_to_infeed(executable, fed)
    try:
        return execution.run_on_all_devices(client, executable, arguments, repeat)
    except CancelledError as error:
        if fed is None:
            raise
        raise infeed_outfeed.infeed_exhausted(len(fed), error) from error
    except KeyboardInterrupt:
        executable.delete()  # the run ends at its next loop iteration
        raise


def _print_times(executable: LoadedExecutable, seconds: Sequence[float], spans: Sequence[Span]) -> None:
    from xla_core.analysis import host_summary

    times = f"median of {len(seconds)} runs" if len(seconds) > 1 else "first run"
    output.console().print(
        f"{executable.name} on {', '.join(map(str, executable.devices))}: "
        f"compiled in {executable.report.compile_seconds:.3g} s, {times} {statistics.median(seconds) * 1e3:.4g} ms",
        markup=False,
    )
    on_host = host_summary(executable.placement())
    if on_host:
        output.console(stderr=True).print(
            f"warning: {on_host} (`xla plan` lists what to add, `xla compile --emit placement` each instruction)",
            markup=False,
            soft_wrap=True,
        )
        _print_parts(executable.placement(), execution.host_seconds(spans), statistics.median(seconds))


def _write(
    directory: Path, results: Sequence[Sequence[np.ndarray]], written: Sequence[Mapping[str, np.ndarray]]
) -> None:
    """Writes the results and the outfeed values, in a folder for each device where there are several."""
    for place, row, values in zip(_folders(directory, len(results)), results, written, strict=True):
        programs.make_directory(place)
        for index, result in enumerate(row):
            programs.save_array(place / f"result_{index}.npy", result)
        for name, value in values.items():
            programs.save_array(place / f"outfeed_{name}.npy", value)


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
