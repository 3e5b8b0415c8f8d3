"""Loads, probes and opens backends in processes of their own first, because a driver may end its process or hang."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from typing import IO

LIMIT_SECONDS = 60.0
"""How long the steps of a backend may take together."""

_STEP = "rehearsal of a backend: "
_CODE = "from xla_core.cli.rehearsal import rehearse; rehearse({0!r})"
_WORDS = 12  # lines of what it printed, the last ones


@dataclasses.dataclass(frozen=True, slots=True)
class Accident:
    """What happened to the process of a backend.

    Attributes:
        step: "load", "probe" or "open".
        what: the end of a sentence: "ended its process by SIGSEGV".
        words: the last lines that the process printed.
    """

    step: str
    what: str
    words: str


def accidents(names: Sequence[str]) -> Mapping[str, Accident]:
    """Returns the backends that ended their process, or did not finish within `LIMIT_SECONDS`."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    end = time.monotonic() + LIMIT_SECONDS
    found: dict[str, Accident] = {}
    with tempfile.TemporaryDirectory() as folder:
        processes: list[subprocess.Popen[bytes]] = []
        try:
            for number in range(len(names)):
                command = [sys.executable, "-c", _CODE.format(names[number])]
                with open(os.path.join(folder, str(number)), "wb") as printed:
                    processes.append(subprocess.Popen(command, stdout=printed, stderr=printed, env=environment))
            for number, (name, process) in enumerate(zip(names, processes, strict=True)):
                what = _what(process, end)
                if what:
                    with open(os.path.join(folder, str(number)), encoding="utf-8", errors="replace") as printed_by_it:
                        found[name] = _accident(what, printed_by_it)
        finally:
            for process in processes:
                process.kill()
                process.wait()
    return found


def _what(process: subprocess.Popen[bytes], end: float) -> str:
    try:
        code = process.wait(max(0.0, end - time.monotonic()))
    except subprocess.TimeoutExpired:
        return f"did not finish within {LIMIT_SECONDS:g} s"
    if code < 0:
        return f"ended its process by {signal.Signals(-code).name}"
    return f"ended its process with code {code}" if code else ""


def _accident(what: str, printed: IO[str]) -> Accident:
    lines = [line.rstrip() for line in printed if line.strip()]
    steps = [line.removeprefix(_STEP) for line in lines if line.startswith(_STEP)]
    words = [line for line in lines if not line.startswith(_STEP)]
    return Accident(steps[-1] if steps else "load", what, "\n".join(words[-_WORDS:]))


def rehearse(name: str) -> None:
    """Loads, probes and opens a backend, and ends the process. It says each step, but no exception."""
    from xla_core.backend.registry import load_backend, probe
    from xla_core.runtime import Client

    def step(what: str) -> None:
        print(f"{_STEP}{what}", flush=True)

    with contextlib.suppress(BaseException):
        step("load")
        spec = load_backend(name)
        step("probe")
        if probe(name, spec).available:
            step("open")
            Client(name).close()
    os._exit(0)  # what backends do at exit is not examined
