"""Runs files of tests in processes of their own."""

from __future__ import annotations

import dataclasses
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

from tests.xla_core.pjrt.jax_suite.selection import Selection, device_count

_WORKER = Path(__file__).with_name("worker.py")
_START = 120
"""Seconds that a process may take before its first test and after its last."""


@dataclasses.dataclass(frozen=True)
class Outcome:
    """The outcome of one test.

    Attributes:
        kind: "passed", "failed", "skipped"; "crashed" where the process ended in it, "hung" where it didn't end.
        message: the error, or the reason of a skip.
    """

    kind: str
    message: str = ""

    @property
    def is_failure(self) -> bool:
        return self.kind not in ("passed", "skipped")


def run_file(
    file: Path, platform: str, selection: Selection, *, only: Iterable[str] = (), limit: int = 300
) -> dict[str, Outcome]:
    """Runs the tests of a file on one platform of JAX.

    A process that a test ends is replaced by one that runs the tests after it.

    Args:
        only: names of tests; by default all of the selection.
        limit: the seconds that one test may take.

    Raises:
        RuntimeError: for a file that can't be imported.
    """
    outcomes: dict[str, Outcome] = {}
    with tempfile.TemporaryDirectory() as scratch:
        record, wanted, done = (Path(scratch) / name for name in ("record", "only", "without"))
        record.touch()
        wanted.write_text("\n".join(only))
        while True:
            done.write_text("\n".join(outcomes))
            words = [sys.executable, str(_WORKER), str(file), f"--record={record}", f"--limit={limit}"]
            words += [f"--share={selection.share}", f"--seed={selection.seed}", f"--only={wanted}", f"--without={done}"]
            log = Path(scratch) / "log"
            with log.open("wb") as output:
                process = subprocess.Popen(
                    words, env=_environment(file, platform, selection), stdout=output, stderr=subprocess.STDOUT
                )
                hung = not _wait(process, record, limit)
            before = len(outcomes)
            interrupted = _read(record, outcomes)
            if interrupted is None and process.returncode in (0, 1, 5):  # passed, failed, nothing to run
                return outcomes
            if interrupted is not None:
                text = "" if hung else f"exit status {process.returncode}: {_last_line(log)}"
                outcomes[interrupted] = Outcome("hung" if hung else "crashed", text)
            elif len(outcomes) == before:
                raise RuntimeError(
                    f"{file.name} does not run on {platform}:\n{log.read_text(errors='replace')[-4000:]}"
                )
            else:
                return outcomes  # the process failed after its last test


def _environment(file: Path, platform: str, selection: Selection) -> dict[str, str]:
    flags = os.environ.get("XLA_FLAGS", "")
    count = device_count(file)
    if count > 1 and platform != "cpu":
        flags = f"{flags} --xla_force_host_platform_device_count={count}".strip()
    return {
        **os.environ,
        "JAX_PLATFORMS": platform if platform == "cpu" else f"{platform},cpu",
        "JAX_NUM_GENERATED_CASES": str(selection.cases),
        "JAX_SKIP_SLOW_TESTS": "1",
        "XLA_FLAGS": flags,
    }


def _wait(process: subprocess.Popen[bytes], record: Path, limit: int) -> bool:
    """Waits for a process as long as its record grows, and says whether it ended by itself."""
    size, since = -1, time.monotonic()
    while True:
        try:
            process.wait(1)
            return True
        except subprocess.TimeoutExpired:
            if record.stat().st_size != size:
                size, since = record.stat().st_size, time.monotonic()
            elif time.monotonic() - since > limit + _START:
                process.send_signal(signal.SIGKILL)
                process.wait()
                return False


def _read(record: Path, outcomes: dict[str, Outcome]) -> str | None:
    """Adds the outcomes of a record, and returns the name of a test that started and did not end."""
    started = None
    for text in record.read_text().splitlines():
        line = json.loads(text)
        if "started" in line:
            started = line["started"] if line["started"] not in outcomes else None
        else:
            outcomes[line["test"]] = Outcome(line["outcome"], line["message"])
            started = None
    return started


def _last_line(log: Path) -> str:
    lines = [line for line in log.read_text(errors="replace").splitlines() if line.strip()]
    return next((line for line in lines if line.startswith("Fatal Python error")), lines[-1] if lines else "")[:200]
