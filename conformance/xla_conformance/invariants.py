"""What no test of the suite may do, whatever it does with the backend: leave the process changed, or print."""

from __future__ import annotations

import os
import stat

from xla_conformance.failures import Failure
from xla_conformance.process_state import QUICK_STATE, ProcessState


def own_standard_output() -> None:
    """Opens the standard output's file again, so that its position does not count what is written to stderr.

    A terminal and a pipe stay as they are, because their positions do not count what is written.
    """
    if stat.S_ISREG(os.fstat(1).st_mode) and os.path.exists("/proc/self/fd/1"):
        descriptor = os.open("/proc/self/fd/1", os.O_WRONLY | os.O_APPEND)
        os.dup2(descriptor, 1)
        os.close(descriptor)


class Invariants:
    """The state before a test. `check` raises Failure if the test left another one."""

    def __init__(self) -> None:
        self._state, self._written = ProcessState(QUICK_STATE), _written()

    def check(self) -> None:
        changed = " and ".join(self._state.changes(ProcessState(QUICK_STATE)))
        if changed:
            raise Failure(
                f"A backend changes nothing of the whole process, but this test {changed}.",
                promise="hooks.changes-nothing",
            )
        if _written() != self._written:
            raise Failure(
                "No use of a backend prints to the standard output, but something was printed.",
                promise="hooks.prints-nothing",
            )


def _written() -> int:
    return os.lseek(1, 0, os.SEEK_CUR) if stat.S_ISREG(os.fstat(1).st_mode) else 0
