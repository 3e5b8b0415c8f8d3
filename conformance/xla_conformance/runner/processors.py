"""Workers that fill the machine keep to a processor each while their tests check data alone.

The threads of a worker mostly wait for each other then. One that wakes up another one on its own processor does that
sooner than one that moves it to a processor where the other worker runs. Tests of streams, events, memory and threads
use all processors, and so does the opening of the device, where backends count them.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Collection

from threadpoolctl import threadpool_limits

from xla_conformance.results import group_of

_GROUPS = ("ops", "programs")


def processor_for(workers: int, taken: Collection[int | None]) -> int | None:
    """Returns a processor that no other worker has; None if there are more or fewer processors than workers."""
    allowed = _allowed()
    return min(allowed.difference(taken), default=None) if len(allowed) == workers > 1 else None


class Processors:
    """The processors of this process.

    Args:
        own: the one that it keeps to for some tests; None for no such one.
    """

    def __init__(self, own: int | None) -> None:
        self._own, self._all, self._keeps = own, _allowed(), False

    def enter(self, file: str) -> None:
        """Chooses the processors for a test of this file, for all threads that have not chosen other ones."""
        keeps = group_of(file) in _GROUPS
        if self._own is None or keeps == self._keeps:
            return
        self._keeps = keeps
        before, after = (self._all, {self._own}) if keeps else ({self._own}, self._all)
        for thread in map(int, os.listdir("/proc/self/task")):
            with contextlib.suppress(ProcessLookupError):  # it ended meanwhile
                if os.sched_getaffinity(thread) == before:
                    os.sched_setaffinity(thread, after)


def use_one_blas_thread() -> None:
    """Lets numpy compute with matrices in the calling thread alone.

    The other threads of its BLAS wait in a loop for a while after each large call, on the worker's own processor.
    """
    threadpool_limits(1, user_api="blas")


def _allowed() -> set[int]:
    return os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set()  # Linux has it
