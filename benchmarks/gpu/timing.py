"""How long a device takes for a program, without the time that the host takes to enqueue it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import xla_core


def copy_program(count: int) -> str:
    """A program that moves `count` f32 in and out, by the backend's own simplest kernel."""
    return f"HloModule copy\n\nENTRY main {{\n  x = f32[{count}] parameter(0)\n  ROOT y = f32[{count}] negate(x)\n}}\n"


class DeviceTimer:
    """Times calls that enqueue work and return.

    The device is kept busy while the host enqueues, so that the work that is timed runs without gaps. The time of the
    work that keeps it busy is subtracted.

    Args:
        client: its first device is timed.
        elements: f32 elements of the program that keeps the device busy. On a GPU of 3 TB/s, 2^28 take 0.7 ms.
    """

    def __init__(self, client: xla_core.Client, elements: int) -> None:
        self._busy = client.compile(copy_program(elements))
        self._array = client.buffer_from_host(np.zeros(elements, np.float32))
        self._seconds = min(_timed(self._keep_busy, 4) for _ in range(3)) / 4

    def _keep_busy(self) -> Sequence[Any]:
        return self._busy.execute([self._array])

    def seconds(self, call: Callable[[], Sequence[Any]], *, budget: float = 0.5) -> float:
        """The least time of one call among several rounds, in about `budget` seconds."""
        call()[0].block_until_ready()
        start = time.perf_counter()
        call()[0].block_until_ready()
        once = time.perf_counter() - start
        calls = int(max(1, min(50, budget / 8 / once)))
        busy = min(40, 1 + int(2e-4 * calls / self._seconds))
        best = float("inf")
        deadline = time.perf_counter() + budget
        while best == float("inf") or time.perf_counter() < deadline:
            last: Sequence[Any] = ()
            start = time.perf_counter()
            for _ in range(busy):
                last = self._keep_busy()
            for _ in range(calls):
                last = call()
            last[0].block_until_ready()
            best = min(best, time.perf_counter() - start)
        return max(best - busy * self._seconds, 1e-9) / calls


def _timed(call: Callable[[], Sequence[Any]], calls: int) -> float:
    call()[0].block_until_ready()
    start = time.perf_counter()
    last: Sequence[Any] = ()
    for _ in range(calls):
        last = call()
    last[0].block_until_ready()
    return time.perf_counter() - start
