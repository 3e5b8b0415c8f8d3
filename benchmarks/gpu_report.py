"""Measures the GPU backend on one NVIDIA GPU, in less than ten minutes, and prints one table.

    python -m benchmarks.gpu_report [--section NAME ...] [--only PROGRAM ...] [--seconds FACTOR] [--json FILE]

Each section runs in a process of its own: a fault of the device, a missing library or a lack of time costs only its
figures, and becomes a line of the table. Without a GPU the emulated device is measured, which shows only that the
script works. `make gpu-bundle` collects the packages that a machine without network lacks.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # for `python benchmarks/gpu_report.py`, from any folder

from benchmarks.gpu.row import Row
from benchmarks.report import figures, print_whole
from benchmarks.suite import PROGRAMS

if TYPE_CHECKING:
    from benchmarks.gpu.sections import Choice

GRACE_SECONDS = 10.0
"""The seconds beyond its own time after which a section is killed."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints the table. Returns 1 if a figure that is wanted isn't reached."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--section", nargs="+", metavar="NAME", help="sections to run; default: all")
    parser.add_argument("--only", nargs="+", default=[], metavar="PROGRAM", help="benchmark programs or groups")
    parser.add_argument("--programs", type=Path, default=PROGRAMS, help="a directory of .mlir files")
    parser.add_argument("--seconds", type=float, default=1.0, help="the time of all sections, times this factor")
    parser.add_argument("--json", type=Path, help="write the rows here")
    parser.add_argument("--rows", type=Path, help=argparse.SUPPRESS)  # in the process of a section
    parser.add_argument("--run-once", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--count", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    paths = [str(Path(__file__).resolve().parents[1]), os.environ.get("PYTHONPATH", "")]
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, paths))  # of the processes of sections
    if options.run_once:
        return _run_once(options.run_once)
    if options.count:
        return _count(options.count)
    from benchmarks.gpu.sections import SECTIONS, Choice

    choice = Choice(options.programs, tuple(options.only))
    unknown = set(options.section or ()) - set(SECTIONS)
    if unknown:
        parser.error(f"there are the sections {', '.join(SECTIONS)}")
    if options.rows:
        return _section(options.section[0], choice, options.seconds, options.rows)
    rows = [_device()]
    for name in options.section or SECTIONS:
        rows += measure_section(name, choice, options.seconds, SECTIONS[name][1] * options.seconds)
    _print(rows)
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps([dataclasses.asdict(row) for row in rows], indent=1) + "\n")
    return int(any(row.good is False for row in rows))


def measure_section(name: str, choice: Choice, factor: float, seconds: float) -> list[Row]:
    """Runs a section in a process of its own. Rows that it measured before it failed are kept."""
    with tempfile.TemporaryDirectory() as folder:
        file, log = Path(folder, "rows.jsonl"), Path(folder, "log")
        command = [sys.executable, "-m", "benchmarks.gpu_report", "--section", name, "--seconds", str(factor)]
        command += ["--rows", str(file), "--programs", str(choice.directory)]
        command += ["--only", *choice.only] if choice.only else []
        start = time.monotonic()
        with log.open("w") as out:
            try:
                limit = seconds + GRACE_SECONDS
                code = subprocess.run(command, stdout=out, stderr=out, timeout=limit, check=False).returncode
                problem = f"the process ended with {code}" if code else ""
            except subprocess.TimeoutExpired:
                problem = f"not done after {time.monotonic() - start:.0f} s"
        lines = file.read_text().splitlines() if file.exists() else []
        rows = [Row(**json.loads(line)) for line in lines]
        said = log.read_text().strip().splitlines()
    if problem:
        rows.append(Row(name, "", good=False, note=f"{problem}: {said[-1] if said else 'it said nothing'}"[:300]))
    return rows


def _section(name: str, choice: Choice, factor: float, file: Path) -> int:
    """Writes the rows of a section as they are measured."""
    from benchmarks.gpu.sections import SECTIONS, failed

    run, seconds = SECTIONS[name]

    with file.open("w") as out:

        def write(row: Row) -> None:
            out.write(json.dumps(dataclasses.asdict(row)) + "\n")
            out.flush()

        try:
            for row in run(choice, seconds * factor):
                write(row)
        except Exception as error:  # what was measured before it stays in the table
            write(failed(name, "", error))
    return 0


def _device() -> Row:
    """The description of the measured device, from a process of its own: the parent never opens the device."""
    code = (
        "import xla_core; d = xla_core.Client('gpu').devices[0].description; "
        "print(d.name + '; there is no GPU, so the figures are those of the emulator' * d.simulated)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    said = (done.stdout or done.stderr).strip().splitlines() or ["nothing"]
    name, _, note = said[-1].partition("; ")
    note = "; ".join(filter(None, (note, f"Python {sys.version.split()[0]}")))
    return Row("device", name, good=False if done.returncode else None, note=note)


def _run_once(program: Path) -> int:
    from benchmarks.gpu.sections import run_once

    run_once(program)
    return 0


def _count(program: Path) -> int:
    """Prints the emulator's counts of a program's run as JSON."""
    os.environ["XLA_CORE_FLAGS"] = f"{os.environ.get('XLA_CORE_FLAGS', '')} --xla_gpu_emulate".strip()
    from benchmarks.gpu.sections import run_once

    client = run_once(program, engine="checked")
    print(json.dumps(dataclasses.asdict(client.devices[0].executor.driver.counters)))
    return 0


def _print(rows: Sequence[Row]) -> None:
    table = figures("Sections: python -m benchmarks.gpu_report --section NAME")
    for heading in ("section", "what", "figure", "wanted", "", "note"):
        table.add_column(heading, overflow="fold", max_width=100 if heading == "note" else None)
    verdicts = {True: "[green]yes[/]", False: "[bold red]no[/]", None: ""}
    for row in rows:
        table.add_row(row.section, row.what, row.value, row.wanted, verdicts[row.good], row.note)
    print_whole(Console(), table)


if __name__ == "__main__":
    sys.exit(main())
