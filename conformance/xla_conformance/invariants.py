"""The state of the process that no test may change, whatever it does with the backend."""

from __future__ import annotations

import os
import stat

from xla_conformance.failures import Failure

_SMALL, _DENORMAL = 2.0**-60, 5e-324


def floating_point_environment() -> tuple[str, ...]:
    """Values that depend on how this thread rounds, and on whether it flushes denormal numbers to zero.

    They are texts, because a thread that takes denormal numbers as zeros also compares them as zeros.
    """
    return tuple(repr(x) for x in (1.0 + _SMALL, 1.0 - _SMALL, -1.0 - _SMALL, _DENORMAL * 1.0))


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
        self._rounding, self._written = floating_point_environment(), _written()

    def check(self) -> None:
        if floating_point_environment() != self._rounding:
            raise Failure(
                "A backend changes nothing of the whole process, but this thread rounds numbers differently now.",
                promise="hooks.changes-nothing",
            )
        if _written() != self._written:
            raise Failure(
                "No use of a backend prints to the standard output, but something was printed.",
                promise="hooks.prints-nothing",
            )


def _written() -> int:
    return os.lseek(1, 0, os.SEEK_CUR) if stat.S_ISREG(os.fstat(1).st_mode) else 0
