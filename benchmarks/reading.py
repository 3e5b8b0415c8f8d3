"""Times the readers: text, bytecode, HLO text and large constants, in turns with MLIR's own parser in one process.

    xla bench --reading [--seconds 2] [--json out/reading.json]

The program is the training step of a 12-layer transformer (JAX exports it); the constants are 64 MiB. Only reading is
timed, without lowering. MLIR's parser also verifies; our verifier is timed separately, in another column. Garbage is
collected between the turns. The readers are written in Python and use one core.
"""

from __future__ import annotations

import dataclasses
import functools
import io
import json
import statistics
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import Progress

from benchmarks import report
from benchmarks.contenders import Prepared
from benchmarks.measure import interleave
from benchmarks.suite import Array
from xla_core.cli import console

MEBIBYTE = 1 << 20


@dataclasses.dataclass(frozen=True)
class Case:
    """`read` is our reader, `verify` our reader and verifier, and `peer` MLIR's parser. Each takes `data`."""

    name: str
    data: str | bytes
    read: Callable[[Any], object]
    verify: Callable[[Any], object] | None = None
    peer: Callable[[Any], object] | None = None


@dataclasses.dataclass(frozen=True)
class Reading:
    """Medians of seconds. `lines` is 0 if the data is not text."""

    name: str
    size: int
    lines: int
    seconds: float
    verified_seconds: float | None = None
    peer_seconds: float | None = None

    @property
    def speed(self) -> str:
        """Lines per second for text, and MB (10^6 bytes) per second otherwise."""
        return (
            f"{self.lines / self.seconds:,.0f} lines/s" if self.lines else f"{self.size / self.seconds / 1e6:,.1f} MB/s"
        )

    @property
    def ratio(self) -> float | None:
        """Our speed without verification, divided by MLIR's."""
        return None if self.peer_seconds is None else self.peer_seconds / self.seconds


def cases(text: str, megabytes: int = 64) -> list[Case]:
    """Makes a case for each format of a program, given as StableHLO text, and for a constant of `megabytes` MiB."""
    from jax._src.interpreters import mlir
    from jaxlib import _jax
    from jaxlib.mlir import ir
    from jaxlib.mlir.dialects import stablehlo

    import xla_core as xla
    from xla_core.stablehlo import parse_bytecode, parse_text, verify

    context = mlir.make_ir_context()

    def peer(data: str | bytes) -> object:
        with context:
            return ir.Module.parse(data)

    def artifact_peer(data: bytes) -> object:
        with context:
            return stablehlo.deserialize_portable_artifact(context, data)

    def both(read: Callable[[Any], Any]) -> Callable[[Any], None]:
        return lambda data: verify(read(data))

    with context:
        module = ir.Module.parse(text)
        generic = str(module.operation.get_asm(print_generic_op_form=True, enable_debug_info=True))
        plain = io.BytesIO()
        module.operation.write_bytecode(plain)
        artifact = _jax.mlir.serialize_portable_artifact(module, stablehlo.get_current_version(), False)
        blob = np.random.default_rng(0).bytes(megabytes * MEBIBYTE)
        elements = len(blob) // 4
        header = f"func.func @main() -> tensor<{elements}xf32> {{\n  %0 = stablehlo.constant "
        footer = f" : tensor<{elements}xf32>\n  return %0 : tensor<{elements}xf32>\n}}\n"
        hexadecimal = f'{header}dense<"0x{blob.hex().upper()}">{footer}'
        constant = io.BytesIO()
        ir.Module.parse(hexadecimal).operation.write_bytecode(constant)
    decimal = ", ".join(map(repr, np.frombuffer(blob[:MEBIBYTE], np.uint8).tolist()))
    tensor = f"tensor<{MEBIBYTE}xui8>"
    numbers = (
        f"func.func @main() -> {tensor} {{\n  %0 = stablehlo.constant dense<[{decimal}]> : {tensor}\n"
        f"  return %0 : {tensor}\n}}\n"
    )
    return [
        Case("StableHLO text", text, parse_text, both(parse_text), peer),
        Case("StableHLO text, generic form", generic, parse_text, both(parse_text), peer),
        Case("HLO text", xla.parse(text).to_text(), xla.parse),
        Case("bytecode", plain.getvalue(), parse_bytecode, both(parse_bytecode), peer),
        Case("portable artifact", artifact, parse_bytecode, both(parse_bytecode), artifact_peer),
        Case(f"constant of {megabytes} MiB, bytecode", constant.getvalue(), parse_bytecode, both(parse_bytecode), peer),
        Case(f"constant of {megabytes} MiB, hexadecimal", hexadecimal, parse_text, both(parse_text), peer),
        Case("constant of 1 Mi numbers", numbers, parse_text, both(parse_text), peer),
    ]


def measure_reading(case: Case, seconds: float) -> Reading:
    """Times the sides of one case in turns, each for about `seconds`."""
    present = [read for read in (case.read, case.verify, case.peer) if read is not None]
    sides = [Prepared(0.0, functools.partial(_outputs_of, read, case.data), list) for read in present]
    medians = dict(zip(present, map(statistics.median, interleave(sides, seconds)), strict=True))
    lines = case.data.count("\n") if isinstance(case.data, str) and not case.name.startswith("constant") else 0
    return Reading(
        case.name,
        len(case.data),
        lines,
        medians[case.read],
        None if case.verify is None else medians[case.verify],
        None if case.peer is None else medians[case.peer],
    )


def _outputs_of(read: Callable[[Any], object], data: str | bytes) -> list[Array]:
    read(data)
    return []


def print_table(console: Console, readings: Sequence[Reading]) -> None:
    table = report.figures("ms: median; ratio: our speed, without the verifier, over MLIR's with its own")
    table.add_column("what", overflow="fold")
    for heading in ("MB", "lines", "ms", "speed", "verified ms", "MLIR ms", "ratio"):
        table.add_column(heading.replace(" ", "\n"), justify="right", no_wrap=True)
    for r in readings:
        table.add_row(
            r.name, f"{r.size / 1e6:.2f}", f"{r.lines:,}" if r.lines else "", f"{r.seconds * 1e3:.2f}",
            r.speed,
            "" if r.verified_seconds is None else f"{r.verified_seconds * 1e3:.2f}",
            "" if r.peer_seconds is None else f"{r.peer_seconds * 1e3:.2f}",
            "" if r.ratio is None else f"{r.ratio:.2f}",
        )  # fmt: skip
    report.print_whole(console, table)


def reading(seconds: float, path: Path | None = None) -> int:
    """Prints the table. Returns 2 if JAX is missing, which makes the program and has the other parser."""
    out = console()
    try:
        from tests.programs.transformer import training_step_text

        text = training_step_text()
    except ImportError as error:
        out.print(f"{error}\n  hint: the readers are timed beside JAX's; install it", markup=False)
        return 2
    readings = []
    with Progress(console=console(stderr=True), transient=True) as progress:
        for case in progress.track(cases(text), description="Reading"):
            readings.append(measure_reading(case, seconds))
    print_table(out, readings)
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps([dataclasses.asdict(r) for r in readings], indent=2) + "\n")
    return 0
