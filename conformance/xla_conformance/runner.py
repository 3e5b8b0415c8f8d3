"""Runs the suite in a separate process, so that a backend that crashes or hangs fails one test and not the run."""

from __future__ import annotations

import importlib.resources
import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from xla_conformance.results import GROUPS, STABLEHLO_GROUP, Result, Run, State, suite_files

__all__ = ["TEST_SECONDS", "run_suite"]

TEST_SECONDS = {"quick": 60, "full": 300, "stress": 900}
"""The time limit of one test, by profile."""

_GRACE_SECONDS = 20  # after its time limit a test may end by itself for so long; then the process is killed
_MESSAGE_LINES = 60

Progress = Callable[[int, Result], None]
"""Called after each test with the number of all tests and the result."""


def run_suite(
    backend: str | None,
    profile: str = "quick",
    *,
    expression: str = "",
    workers: int = 0,
    stablehlo_tests: Path | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> Run:
    """Runs the suite on a backend.

    Args:
        backend: its name; None for the reference evaluator, which runs only StableHLO's files.
        profile: "quick" (under a minute if a compilation takes milliseconds), "full" or "stress".
        expression: selects tests as pytest's -k does.
        workers: the number of processes that share the tests; 0 for one process.
        stablehlo_tests: run StableHLO's own test files of this folder instead of the suite's.
        seed: the seed of every random choice.

    Returns:
        All results. If the suite couldn't run, `problem` says why.
    """
    start = time.monotonic()
    run = Run(backend or "evaluator", profile, selection=expression, seed=seed)
    done: list[str] = []
    total = 0
    while True:
        child = _Child(backend, profile, expression, workers, stablehlo_tests, seed, done)
        before = len(done)
        for event in child.events(TEST_SECONDS[profile] + _GRACE_SECONDS):
            if event["event"] == "collected":
                total = max(total, before + len(event["ids"]))
            elif event["event"] == "end":
                result = _result(event)
                run.results.append(result)
                done.append(result.id)
                if progress is not None:
                    progress(total, result)
        if child.lost is None:
            if child.returncode not in (0, 1, 5):
                run.problem = f"pytest ended with code {child.returncode}:\n{child.tail()}"
            break
        result = Result(child.lost, State.ERROR, child.lost_seconds, f"{child.how_it_ended()}\n{child.tail()}".rstrip())
        run.results.append(result)
        done.append(result.id)
        if progress is not None:
            progress(total, result)
    run.seconds = time.monotonic() - start
    return run


class _Child:
    """One process of pytest. If it crashed or was killed, `lost` is the test that was running."""

    def __init__(
        self,
        backend: str | None,
        profile: str,
        expression: str,
        workers: int,
        stablehlo_tests: Path | None,
        seed: int,
        done: list[str],
    ) -> None:
        self.lost: str | None = None
        self.lost_seconds = 0.0
        self.hung = False
        self._scratch = tempfile.TemporaryDirectory(prefix="xla-conform-")
        scratch = Path(self._scratch.name)
        self._log = scratch / "log"
        (scratch / "done").write_text("\n".join(done))
        suite = importlib.resources.files("xla_conformance").joinpath("suite")
        groups = (STABLEHLO_GROUP,) if stablehlo_tests is not None else GROUPS
        reader, writer = os.pipe()
        command = [
            *(
                sys.executable,
                "-m",
                "pytest",
                "-q",
                "--capture=no",
                "-p",
                "xla_conformance.plugin",
                "-p",
                "pytest_timeout",
            ),
            *(f"--rootdir={suite}", f"--confcutdir={suite}", "-c", str(suite.joinpath("pytest.ini"))),
            *(f"--xla-backend={backend or ''}", f"--xla-profile={profile}", f"--xla-seed={seed}"),
            *(f"--xla-events={writer}", f"--xla-done={scratch / 'done'}"),
            *(f"--timeout={TEST_SECONDS[profile]}", f"--basetemp={scratch / 'tmp'}"),
            *(("-p", "xdist.plugin", "-n", str(workers)) if workers else ()),
            *(("-k", expression) if expression else ()),
            *((f"--xla-stablehlo-tests={stablehlo_tests.resolve()}",) if stablehlo_tests else ()),
            *suite_files(groups),
        ]
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                command,
                stdout=log,
                stderr=subprocess.STDOUT,
                pass_fds=[writer],
                env=_environment(),
                cwd=scratch,
            )
        os.close(writer)
        self._lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        threading.Thread(target=self._read, args=(reader,), daemon=True).start()
        self._workers = workers

    def _read(self, descriptor: int) -> None:
        with os.fdopen(descriptor) as pipe:
            for line in pipe:
                self._lines.put(line)
        self._lines.put(None)

    def events(self, limit: float) -> Iterator[dict[str, Any]]:
        """Yields events until the process ends. Kills it if no event comes for `limit` seconds."""
        running: dict[str, float] = {}
        try:
            while True:
                try:
                    line = self._lines.get(timeout=limit)
                except queue.Empty:
                    self.hung = True
                    self._process.kill()
                    line = self._lines.get()
                if line is None:
                    break
                event = json.loads(line)
                if event["event"] == "start":
                    running[event["id"]] = time.monotonic()
                elif event["event"] == "end":
                    running.pop(event["id"], None)
                yield event
        except BaseException:  # Ctrl-C: leave nothing running
            self._process.kill()
            raise
        finally:
            self._process.wait()
        for id, started in running.items():
            self.lost, self.lost_seconds = id, time.monotonic() - started
            break

    @property
    def returncode(self) -> int:
        return self._process.returncode

    def how_it_ended(self) -> str:
        if self.hung:
            return f"hung: it did not end in {self.lost_seconds:.0f} s, and its process was killed"
        if self.returncode < 0:
            return f"crashed: its process was ended by {signal.Signals(-self.returncode).name}"
        return f"crashed: its process ended with code {self.returncode}"

    def tail(self) -> str:
        """The last lines of its output."""
        lines = self._log.read_text(errors="replace").splitlines()
        return "\n".join(lines[-_MESSAGE_LINES:])


def _environment() -> dict[str, str]:
    """This process's environment, without variables that configure pytest, and with the same import path."""
    environment = {k: v for k, v in os.environ.items() if k not in ("PYTEST_ADDOPTS", "PYTEST_PLUGINS")}
    environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    environment["PYTHONPATH"] = os.pathsep.join(p or os.getcwd() for p in sys.path)
    environment["PYTHONFAULTHANDLER"] = "1"
    return environment


def _result(event: dict[str, Any]) -> Result:
    state, properties = State[event["state"]], event["properties"]
    if state is State.PASS and "file_wrong" in properties:
        return Result(event["id"], State.FILE_WRONG, event["seconds"], properties["file_wrong"], properties)
    return Result(event["id"], state, event["seconds"], event["message"], properties)
