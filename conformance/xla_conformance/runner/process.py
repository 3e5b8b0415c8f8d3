"""One worker process, as its parent sees it."""

from __future__ import annotations

import contextlib
import dataclasses
import importlib.resources
import json
import math
import os
import queue
import re
import signal
import subprocess
import sys
import threading
import time
import zlib
from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

from xla_conformance import patience
from xla_conformance.fair_time import FairClock
from xla_conformance.last_program import LastProgram
from xla_conformance.last_test import LastTest
from xla_conformance.results import STAGES, suite_files
from xla_conformance.runner.scratch import Scratch

_SLOW = ("unraisableexception", "threadexception", "warnings", "logging", "junitxml", "doctest")
"""Plugins of pytest that do something around each test or at the end, and nothing for the suite."""
_TAIL_LINES = 60
_TAIL_BYTES = 1 << 16
_STACK_LINES = 120
_OF_PYTEST = re.compile(
    r'\s*File ".*/(_?pytest|pluggy|xla_conformance/runner)/|\s*File "<frozen runpy>"|Extension modules: '
)
"""Lines of stacks that say nothing of a failure: the frames that run a test."""
_LOG_BYTES = 64 << 20  # a longer log is emptied before the next test
_PIPE_SECONDS = 1.0  # in which the last events arrive after a process ended

Events = queue.SimpleQueue[tuple["WorkerProcess", dict[str, Any]]]


@dataclasses.dataclass(frozen=True)
class Suite:
    """The tests that a worker runs.

    Attributes:
        groups: the groups whose files are collected.
        files: the names of the files to collect of these; empty for all.
        tests: the tests to make from these files; empty for all.
        settings: options of the backend, NAME=VALUE, for the programs of the tests.
        patience: the factor of the time limits within the tests.
        opens: the object that the worker opens first: "device"; "later", for tests that let other processes open the
            device; "nothing", for tests that open no device; or "evaluator".
        shared: a folder for what the workers of one run share.
    """

    backend: str
    profile: str
    seed: int = 0
    expression: str = ""
    groups: tuple[str, ...] = ()
    files: frozenset[str] = frozenset()
    tests: tuple[str, ...] = ()
    stablehlo_tests: Path | None = None
    artifacts: Path | None = None
    settings: tuple[str, ...] = ()
    patience: float = 1.0
    opens: Literal["device", "later", "nothing", "evaluator"] = "device"
    shared: Path | None = None


class WorkerProcess:
    """Starts a worker, sends it commands, puts its events into a queue and ends it.

    Attributes:
        stage: its current stage: "start", "open", "collect", "run", "wait" for other workers to end, "close" or
            "closed".
        refusal: its reason why the device could not be opened.
        test: the id of the test that it runs.
        clock: counts the seconds of the stage or the test in which the process could run.
        limit: how many of these the stage or the test may take.
        overdue: whether it was killed because it took longer.
        before: the tests that it ran earlier.
        queue: the tests that it gets next, which share a program.
        begun: the test that it said it began, because it could not write that.
        opens: what it opens first, see Suite.
        number: 1 for the first worker of a run, 2 for the next one that is started.
        processor: the processor that it keeps to in some tests; None for all.
        is_joint: whether the test that it runs also runs the program of the queue.
    """

    def __init__(
        self,
        suite: Suite,
        events: Events,
        test_seconds: float,
        stage_seconds: float,
        number: int = 1,
        processor: int | None = None,
    ) -> None:
        self.number = number
        self._scratch = Scratch()
        self._folder = self._scratch.folder
        self._log = self._folder / "log"
        self._offset = 0
        self._test = LastTest(self._folder)
        self.stage, self.test, self.overdue = "start", "", False
        self.before: list[str] = []
        self.queue: deque[str] = deque()
        self.begun = ""
        self.is_joint = False
        self.opens = suite.opens
        self.refusal: dict[str, Any] | None = None
        self.processor = processor
        self.limit = stage_seconds
        self._stage_seconds, self._test_seconds = stage_seconds, test_seconds
        commands, self._commands = os.pipe()
        reader, writer = os.pipe()
        try:
            with self._log.open("ab") as log:  # writes of several descriptors are appended
                self._process = subprocess.Popen(
                    self._command(suite, commands, writer),
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    pass_fds=[commands, writer],
                    env=_environment() | {patience.VARIABLE: str(suite.patience), "TMPDIR": str(self._folder)},
                    cwd=self._folder,
                    start_new_session=True,  # Ctrl-C reaches the parent alone, and the whole group can be killed
                )
        finally:
            os.close(commands)
            os.close(writer)
        self.clock = FairClock(self._process.pid)
        self._since = time.monotonic()
        self._reader = threading.Thread(target=self._read, args=(reader, events), daemon=True)
        self._reader.start()
        threading.Thread(target=self._wait, args=(events,), daemon=True).start()

    def _command(self, suite: Suite, commands: int, events: int) -> list[str]:
        root = importlib.resources.files("xla_conformance").joinpath("suite")
        return [
            *(sys.executable, "-m", "pytest", "--capture=no", *_without("terminal", "faulthandler", *_SLOW)),
            *("-p", "xla_conformance.plugin", "-p", "xla_conformance.runner.worker"),
            *(f"--rootdir={root}", f"--confcutdir={root}", "-c", str(root.joinpath("pytest.ini"))),
            *(f"--xla-backend={suite.backend}", f"--xla-profile={suite.profile}", f"--xla-seed={suite.seed}"),
            *(f"--xla-commands={commands}", f"--xla-events={events}", f"--xla-scratch={self._folder}"),
            *(f"--xla-test-seconds={self._test_seconds}", f"--xla-stage-seconds={self._stage_seconds}"),
            *(f"--xla-open={suite.opens}", f"--xla-artifacts={suite.artifacts or ''}"),
            *((f"--xla-shared={suite.shared}",) if suite.shared is not None else ()),
            *((f"--xla-processor={self.processor}",) if self.processor is not None else ()),
            *(f"--xla-test={test}" for test in suite.tests),
            *(f"--xla-set={setting}" for setting in suite.settings),
            f"--basetemp={self._folder / 'tmp'}",
            *(("-k", suite.expression) if suite.expression else ()),
            *((f"--xla-stablehlo-tests={suite.stablehlo_tests.resolve()}",) if suite.stablehlo_tests else ()),
            *(f for f in suite_files(suite.groups) if not suite.files or Path(f).name in suite.files),
        ]

    # -- what it says ------------------------------------------------------------------------------------------------

    def _read(self, descriptor: int, events: Events) -> None:
        with os.fdopen(descriptor, errors="replace") as pipe:
            for line in pipe:
                try:
                    event = json.loads(line)
                except ValueError:  # a backend wrote into the pipe
                    self._kill()
                    return
                events.put((self, event))

    def _wait(self, events: Events) -> None:
        if hasattr(os, "waitid"):  # Python has it on macOS from 3.13 on
            with contextlib.suppress(ChildProcessError):
                os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOWAIT)
        else:
            self._process.wait()
        self._kill()  # its child processes; waitid does not free its number, so no other group has that number
        self._process.wait()
        self._reader.join(_PIPE_SECONDS)
        events.put((self, {"event": "exit"}))

    # -- what it is told ---------------------------------------------------------------------------------------------

    def run(self, test: str, beside: Sequence[str] = ()) -> None:
        """Gives it a test. `beside` are the tests that share a program with it, itself among them."""
        self.is_joint = bool(beside)
        self._begin("run", self._test_seconds, test)
        self._offset = offset_of(self._log)
        self._send({"run": test, "beside": list(beside)})

    def finish(self) -> None:
        self._begin("close", self._stage_seconds)
        self._send({"finish": True})

    def enter(self, stage: str) -> None:
        self._begin(stage, stage_limit(stage, self._stage_seconds))

    def _begin(self, stage: str, limit: float, test: str = "") -> None:
        self.stage, self.test, self.limit = stage, test, limit
        self._since = time.monotonic()
        self.clock.restart()

    def _send(self, command: dict[str, Any]) -> None:
        with contextlib.suppress(BrokenPipeError):  # its end is an event of its own
            os.write(self._commands, (json.dumps(command) + "\n").encode())

    def end_overdue(self) -> None:
        self.overdue = True
        self._kill()

    def _kill(self) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)

    def stop(self) -> None:
        """Kills it if it runs, and removes its files."""
        self._kill()
        self._process.wait()
        with contextlib.suppress(OSError):
            os.close(self._commands)
        self._scratch.remove()

    # -- what is left of it ------------------------------------------------------------------------------------------

    @property
    def seconds(self) -> float:
        """How long the stage or the test has taken, waits for a processor included."""
        return time.monotonic() - self._since

    @property
    def has_started(self) -> bool:
        """Whether the test has started, once the process has ended."""
        return self.test in (self._test.read()[0], self.begun)

    @property
    def properties(self) -> dict[str, Any]:
        """The properties that the test recorded before the process ended."""
        id, properties = self._test.read()
        return properties if self.test and id == self.test else {}

    def doing(self) -> str:
        """What it is doing, for how long, and the last line that it printed meanwhile; "" if it only waits."""
        what = f"{self.test} ran" if self.stage == "run" else STAGES.get(self.stage)
        if what is None:
            return ""
        *_, last = self.printed().splitlines() or [""]
        return f"{what} for {self.seconds:.0f} s" + (f" and last printed {last!r}" if last else "")

    def cause(self) -> str:
        """How it ended, in a sentence."""
        if self.overdue:
            return f"it did not end within {self.limit:.0f} s, and its process was killed"
        code = self._process.returncode
        if code is not None and code < 0:
            who = ", perhaps because the system has no memory left" if -code == signal.SIGKILL else ""
            return f"its process was ended by {signal.Signals(-code).name}{who}"
        return f"its process ended with code {code}"

    def printed(self) -> str:
        """The last lines that the driver and the test printed since the test or the stage began."""
        tail = _tail(self._log, self._offset, _TAIL_LINES)
        return f"printed:\n{tail}" if tail else ""

    def remains(self) -> str:
        """Its last output, the stacks of its threads, and the tests that it ran before."""
        parts = [self.printed()]
        stacks = _tail(self._folder / "stacks", 0, _STACK_LINES).splitlines()
        if told := "\n".join(line for line in stacks if not _OF_PYTEST.match(line)).strip():
            parts.append(f"stacks:\n{told}")
        if self.test and self.before:
            parts.append("ran before in the same process: " + ", ".join(self.before[-3:]))
        return "\n".join(part for part in parts if part)

    def keep_program(self, folder: Path) -> list[str]:
        """Writes the program that was compiled last into a folder. Returns the file's name."""
        return LastProgram(self._folder).keep(folder)


def _without(*plugins: str) -> Iterator[str]:
    """The options by which pytest leaves out plugins of its own."""
    for plugin in plugins:
        yield from ("-p", f"no:{plugin}")


def stage_limit(stage: str, seconds: float) -> float:
    """Returns the seconds that a stage may take. Collecting is slow on a busy machine but runs no vendor code."""
    return {"collect": 5 * seconds, "wait": math.inf}.get(stage, seconds)


def folder_name(id: str) -> str:
    """The name of the folder for a test's failure."""
    words = re.sub(r"[^\w.-]+", "_", id.partition("::")[2] or id).strip("_")
    return f"{words[:80]}-{zlib.crc32(id.encode()):08x}"


def offset_of(log: Path) -> int:
    """Returns where a test's output begins in the log of its worker, which is emptied when it has become long."""
    if log.stat().st_size > _LOG_BYTES:
        os.truncate(log, 0)
    return log.stat().st_size


def _tail(file: Path, offset: int, lines: int) -> str:
    if not file.exists():
        return ""
    with file.open("rb") as stream:
        size = stream.seek(0, os.SEEK_END)
        stream.seek(max(offset, size - _TAIL_BYTES))
        text = stream.read().decode(errors="replace").replace("\0", "")
    return "\n".join(text.splitlines()[-lines:]).strip()


def _environment() -> dict[str, str]:
    """This process's environment, without variables that configure pytest, and with the same import path."""
    environment = {k: v for k, v in os.environ.items() if k not in ("PYTEST_ADDOPTS", "PYTEST_PLUGINS")}
    environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    environment["PYTHONPATH"] = os.pathsep.join(dict.fromkeys(p or os.getcwd() for p in sys.path))
    environment["PYTHONUNBUFFERED"] = "1"
    return environment
