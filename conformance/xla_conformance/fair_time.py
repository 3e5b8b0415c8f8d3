"""Time limits that count only time in which a process could run, so that a busy or stopped machine is no failure."""

from __future__ import annotations

import time
from pathlib import Path

TICK = 1.0
"""Seconds between two ticks of a clock."""

_MOST = 0.9  # of a tick may be lost by waiting: a process whose own threads crowd each other out still comes to its end


class FairClock:
    """Counts the seconds in which another process could run.

    It leaves out seconds in which that process was stopped or waited for a processor (on Linux, which reports them),
    and those in which the process that calls `tick` was stopped itself.

    Args:
        process: the number of the process.

    Attributes:
        seconds: the count.
    """

    def __init__(self, process: int) -> None:
        self._process = process
        self.restart()

    def restart(self) -> None:
        self.seconds = 0.0
        self._last = time.monotonic()
        self._waited: dict[int, float] = {}  # read by the first tick, because most work ends before that

    def tick(self) -> None:
        """Adds the time since the last tick, unless that was less than `TICK` seconds ago. Call it often."""
        now = time.monotonic()
        if now - self._last < TICK:
            return
        waited = _waited_seconds(self._process)
        step = min(now - self._last, 2 * TICK)
        if _is_stopped(self._process):
            step = 0.0
        lost = max((seconds - self._waited.get(thread, seconds) for thread, seconds in waited.items()), default=0.0)
        self.seconds += step - min(lost, _MOST * step)
        self._last, self._waited = now, waited


def _waited_seconds(process: int) -> dict[int, float]:
    """Returns how long each thread of a process has waited for a processor, by its number; {} if nothing says so."""
    found = {}
    try:
        for thread in Path(f"/proc/{process}/task").iterdir():
            found[int(thread.name)] = int((thread / "schedstat").read_text().split()[1]) * 1e-9
    except (OSError, ValueError, IndexError):  # it ended, or the system has no such file
        return found
    return found


def _is_stopped(process: int) -> bool:
    try:
        status = Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return False
    return status.rpartition(")")[2].split()[0] in "Tt"


def own_waited_seconds() -> float:
    """Returns how long the calling thread has waited for a processor; 0 if nothing says so."""
    try:
        return int(Path("/proc/thread-self/schedstat").read_text().split()[1]) * 1e-9
    except (OSError, ValueError, IndexError):
        return 0.0
