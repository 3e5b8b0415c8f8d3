"""Runs a function in a process of its own, stage by stage, and says in which stage the process died or hung.

The function is called with `enter` and an argument. `with enter(name) as data` is a stage; the contents of `data` are
reported when it ends. The last stage, "exit", is the end of the interpreter.
"""

from __future__ import annotations

import contextlib
import ctypes
import dataclasses
import importlib
import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import traceback
from collections.abc import Callable, Iterator
from typing import Any

from xla_conformance.fair_time import TICK, FairClock

_EXIT_CODE = 23  # of a process that ended by itself; another code shows that the backend ended it
_TAIL = 20  # lines of the process's output that a failure shows
_TAIL_BYTES = 1 << 16  # which are among the last bytes

Enter = Callable[[str], contextlib.AbstractContextManager[dict[str, Any]]]
"""Begins a stage; the contents of the dictionary are reported when the stage ends."""


class StageError(AssertionError):
    """A stage failed, or was not reached because another one failed. `stage` is the one that failed."""

    def __init__(self, sentence: str, stage: str) -> None:
        super().__init__(sentence)
        self.stage = stage


@dataclasses.dataclass
class Outcome:
    """The outcome of the stages.

    Attributes:
        data: the report of each stage that ended, by name, in order.
        stage: the stage that failed; "" if none did.
        how: how it failed, as the end of a sentence: "raised KeyError: ...", "ended the process by SIGSEGV", "hung".
        output: the last lines that the process printed, and the traceback.
    """

    data: dict[str, dict[str, Any]] = dataclasses.field(default_factory=dict)
    stage: str = ""
    how: str = ""
    output: str = ""

    def require(self, stage: str, what: str) -> dict[str, Any]:
        """The data of a stage. `what` names it in the failure, "making the platform".

        Raises:
            StageError: the stage has no data, as it or another one failed.
        """
        if self.stage == stage:
            sentence = f"{what[0].upper()}{what[1:]} must work: it {self.how}.\n{self.output}".rstrip()
            raise StageError(sentence, self.stage)
        if stage not in self.data:
            sentence = f"{what[0].upper()}{what[1:]} was not reached: stage {self.stage!r} {self.how}."
            raise StageError(sentence, self.stage)
        return self.data[stage]


def run_in_stages(function: Callable[[Enter, Any], None], argument: Any, seconds: float) -> Outcome:
    """Runs `function(enter, argument)` in a new process, in which each stage may take `seconds`."""
    reader, writer = os.pipe()
    outcome = Outcome()
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(
            [sys.executable, "-m", __name__, str(writer), f"{function.__module__}:{function.__name__}"],
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=subprocess.STDOUT,
            pass_fds=[writer],
            env=child_environment(),
        )
        os.close(writer)
        lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        threading.Thread(target=_read, args=(reader, lines), daemon=True).start()
        try:
            assert process.stdin is not None
            with contextlib.suppress(BrokenPipeError):
                process.stdin.write(json.dumps(argument).encode())
                process.stdin.close()
            _follow(process, lines, seconds, outcome)
        finally:
            process.kill()
            process.wait()
        log.seek(max(0, log.seek(0, os.SEEK_END) - _TAIL_BYTES))
        tail = log.read().decode(errors="replace").splitlines()[-_TAIL:]
    outcome.output = "\n".join([outcome.output, *tail]).strip()
    return outcome


def _follow(
    process: subprocess.Popen[bytes], lines: queue.SimpleQueue[str | None], seconds: float, outcome: Outcome
) -> None:
    stage = "start"
    clock = FairClock(process.pid)

    def hangs() -> bool:
        clock.tick()
        return clock.seconds >= seconds

    while True:
        try:
            line = lines.get(timeout=TICK)
        except queue.Empty:
            if not hangs():
                continue
            outcome.stage, outcome.how = stage, f"hung: it did not end in {seconds:g} s"
            return
        if line is None:
            break
        clock.restart()
        event = json.loads(line)
        stage = event["stage"]
        if "raised" in event:
            outcome.stage, outcome.how, outcome.output = stage, f"raised {event['raised']}", event["traceback"]
            return
        if "data" in event:
            outcome.data[stage] = event["data"]
    while True:
        try:
            code = process.wait(TICK)
            break
        except subprocess.TimeoutExpired:
            if hangs():
                outcome.stage, outcome.how = stage, f"hung: it did not end in {seconds:g} s"
                return
    if code != _EXIT_CODE:
        how = f"by {signal.Signals(-code).name}" if code < 0 else f"with code {code}, not {_EXIT_CODE} as asked"
        outcome.stage, outcome.how = stage, f"ended the process {how}"
    else:
        outcome.data.setdefault(stage, {})


def _read(descriptor: int, lines: queue.SimpleQueue[str | None]) -> None:
    with os.fdopen(descriptor) as pipe:
        for line in pipe:
            lines.put(line)
    lines.put(None)


def child_environment() -> dict[str, str]:
    """The environment of a process with the same import path as this one."""
    path = os.pathsep.join(p or os.getcwd() for p in sys.path)
    return {**os.environ, "PYTHONPATH": path, "PYTHONFAULTHANDLER": "1"}


# -- in the process ---------------------------------------------------------------------------------------------------


def end_with_parent() -> None:
    """Makes the system end this process when its parent ends (Linux), and write no core dump when it crashes."""
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # 1: PR_SET_PDEATHSIG


def _main(descriptor: int, name: str) -> None:
    end_with_parent()

    # Closed by the end of the process only, so that the parent sees the whole exit of the interpreter.
    def send(**event: Any) -> None:
        os.write(descriptor, (json.dumps(event) + "\n").encode())

    @contextlib.contextmanager
    def enter(stage: str) -> Iterator[dict[str, Any]]:
        send(stage=stage)
        data: dict[str, Any] = {}
        try:
            yield data
        except BaseException as error:  # SystemExit too: a backend must not end the process
            text = "".join(traceback.format_exception(error)[-3:])
            send(stage=stage, raised=f"{type(error).__name__}: {error}", traceback=text)
            os._exit(1)
        send(stage=stage, data=data)

    module, _, function = name.partition(":")
    argument = json.load(sys.stdin)
    getattr(importlib.import_module(module), function)(enter, argument)
    send(stage="exit")
    sys.exit(_EXIT_CODE)


if __name__ == "__main__":
    _main(int(sys.argv[1]), sys.argv[2])
