"""The state of the process that no test may change, whatever it does with the backend."""

from __future__ import annotations

import decimal
import gc
import os
import stat
import sys
import threading
from collections.abc import Callable, Mapping

import numpy as np

from xla_conformance.failures import Failure

_SMALL, _DENORMAL = 2.0**-60, 5e-324


def floating_point_environment() -> tuple[str, ...]:
    """Values that depend on how this thread rounds, and on whether it flushes denormal numbers to zero.

    They are texts, because a thread that takes denormal numbers as zeros also compares them as zeros.
    """
    return tuple(repr(x) for x in (1.0 + _SMALL, 1.0 - _SMALL, -1.0 - _SMALL, _DENORMAL * 1.0))


QUICK_STATE: Mapping[str, Callable[[], object]] = {
    "how numbers are rounded": floating_point_environment,
    "the garbage collector": lambda: (gc.isenabled(), gc.get_threshold()),
    "decimal's context": lambda: repr(decimal.getcontext()),
    "numpy's error state": lambda: (np.geterr(), np.geterrcall()),
    "the recursion limit": sys.getrecursionlimit,
    "the switch interval of threads": sys.getswitchinterval,
    "the size of threads' stacks": threading.stack_size,
    "the trace function": lambda: (sys.gettrace(), sys.getprofile(), threading.gettrace(), threading.getprofile()),
    "the working directory": os.getcwd,
}
"""Description of a state of the process -> function that returns its value, in microseconds."""


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
        self._state, self._written = _state(), _written()

    def check(self) -> None:
        changed = [what for what, value in _state().items() if value != self._state[what]]
        if changed:
            raise Failure(
                f"A backend changes nothing of the whole process, but this test left {' and '.join(changed)} changed.",
                promise="hooks.changes-nothing",
            )
        if _written() != self._written:
            raise Failure(
                "No use of a backend prints to the standard output, but something was printed.",
                promise="hooks.prints-nothing",
            )


def _state() -> dict[str, object]:
    return {what: value() for what, value in QUICK_STATE.items()}


def _written() -> int:
    return os.lseek(1, 0, os.SEEK_CUR) if stat.S_ISREG(os.fstat(1).st_mode) else 0
