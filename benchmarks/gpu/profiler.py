"""The counts of NVIDIA's profiler (ncu) for a program's kernels, beside the emulator's."""

from __future__ import annotations

import csv
import io
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

METRICS: Mapping[str, tuple[str, ...]] = {
    "global_sectors": (
        "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
        "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    ),
    "warp_instructions": ("smsp__inst_executed.sum",),
}
"""The emulator's counters, and the profiler's metrics whose sum is the same count."""


def find_profiler() -> str | None:
    """The path of ncu, or None."""
    found = shutil.which("ncu")
    if found is not None:
        return found
    return next((str(path) for path in sorted(Path("/opt/nvidia").glob("nsight-compute/*/ncu"))), None)


def profile(ncu: str, program: Path, seconds: float) -> Mapping[str, int]:
    """Runs a program of the benchmarks once under ncu. Returns the counters of `METRICS` and the launches.

    Raises:
        RuntimeError: ncu failed.
    """
    metrics = ",".join(name for names in METRICS.values() for name in names)
    command = [ncu, "--csv", "--page", "raw", "--clock-control", "none", "--metrics", metrics]
    command += [sys.executable, "-m", "benchmarks.gpu_report", "--run-once", str(program)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=False)
    if done.returncode:
        raise RuntimeError((done.stderr + done.stdout).strip().splitlines()[-1])
    return read_counts(done.stdout)


def read_counts(text: str) -> Mapping[str, int]:
    """Sums the metrics over the kernels in a table that ncu printed: a header, a line of units, a line a kernel."""
    lines = text.splitlines()
    first = next((n for n, line in enumerate(lines) if line.startswith('"ID"')), None)
    if first is None:
        raise RuntimeError("ncu printed no table: it saw no kernel, or may not read the counters")
    rows = [row for row in csv.DictReader(io.StringIO("\n".join(lines[first:]))) if row["ID"]]
    counts = {"launches": len(rows)}
    for counter, names in METRICS.items():
        counts[counter] = sum(round(float(row[name].replace(",", ""))) for row in rows for name in names)
    return counts
