"""Times how soon a process can use the compiler: each step of a first use, and whole `xla` commands.

    xla bench --start [--backend cpu] [--seconds 2] [--json out/start.json]

Every figure is the least over several processes, which run in turns, because other work on the machine only adds time.
CPU time counts all threads. The first turn writes Python's bytecode, which an installed package has too.
"""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Console

from benchmarks import report
from xla_core.cli import console

PROGRAM = "HloModule first ENTRY main { x = f32[4] parameter(0) ROOT y = f32[4] add(x, x) }"
STEPS = """
import sys, time
times = [(time.perf_counter(), time.process_time())]
def done(): times.append((time.perf_counter(), time.process_time()))
import xla_core as xla
done()
client = xla.Client(sys.argv[1])
done()
executable = client.compile(sys.argv[2])
done()
import numpy as np
np.asarray(executable(np.ones(4, np.float32))[0])
done()
print(*(f"{b[0] - a[0]} {b[1] - a[1]}" for a, b in zip(times, times[1:])), sep="\\n")
"""
NAMES = ("import xla_core", "Client", "first compilation", "first run")
COMMANDS = (("--help",), ("backends",), ("run", "FILE"))
_LEAST_TURNS = 3


@dataclasses.dataclass(frozen=True)
class Start:
    """The seconds of a step or a command."""

    name: str
    seconds: float
    cpu_seconds: float


def measure_starts(backend: str, seconds: float) -> list[Start]:
    """Runs each process in turn, at least three times, for about `seconds` in all."""
    best: dict[str, Start] = {}

    def note(name: str, wall: float, cpu: float) -> None:
        known = best.get(name, Start(name, wall, cpu))
        best[name] = Start(name, min(known.seconds, wall), min(known.cpu_seconds, cpu))

    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "first.hlo"
        file.write_text(PROGRAM)
        environment = {**os.environ, "PYTHONPYCACHEPREFIX": directory, "XLA_PLATFORM": backend}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        deadline = time.perf_counter() + seconds
        turn = 0
        while turn <= _LEAST_TURNS or time.perf_counter() < deadline:
            said, _, _ = _process([sys.executable, "-c", STEPS, backend, PROGRAM], environment)
            steps = [tuple(map(float, line.split())) for line in said.splitlines()]
            commands = [[str(file) if word == "FILE" else word for word in command] for command in COMMANDS]
            whole = [_process([sys.executable, "-m", "xla_core.cli", *command], environment) for command in commands]
            if turn:  # the first turn writes bytecode
                for name, (wall, cpu) in zip(NAMES, steps, strict=True):
                    note(name, wall, cpu)
                note("in all", *map(sum, zip(*steps, strict=True)))
                for command, (_, wall, cpu) in zip(COMMANDS, whole, strict=True):
                    note(f"xla {' '.join(command)}", wall, cpu)
            turn += 1
    return list(best.values())


def _process(command: Sequence[str], environment: Mapping[str, str]) -> tuple[str, float, float]:
    """Runs a process. Returns its output, its seconds and its CPU seconds."""
    before, start = os.times(), time.perf_counter()
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    wall, after = time.perf_counter() - start, os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return done.stdout, wall, cpu


def print_table(console: Console, starts: Sequence[Start]) -> None:
    table = report.figures("ms: the least of several processes; CPU: of all threads")
    table.add_column("what", overflow="fold")
    for heading in ("ms", "CPU ms"):
        table.add_column(heading, justify="right", no_wrap=True)
    for s in starts:
        table.add_row(s.name, f"{s.seconds * 1e3:.0f}", f"{s.cpu_seconds * 1e3:.0f}")
    report.print_whole(console, table)


def start(backend: str, seconds: float, path: Path | None = None) -> int:
    """Prints the table."""
    starts = measure_starts(backend, seconds)
    print_table(console(), starts)
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps([dataclasses.asdict(s) for s in starts], indent=2) + "\n")
    return 0
