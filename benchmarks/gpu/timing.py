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


_LEAST_SECONDS = 1e-3
_MOST_CALLS = 256
_ENQUEUE_SECONDS = 2e-4  # more than a call takes to enqueue its work


class DeviceTimer:
    """Times calls that enqueue work and return.

    The device is kept busy while the host enqueues, so that the work that is timed runs without gaps. What that takes,
    and what a wait takes, is the same in rounds of few and of many calls, and cancels out in their difference.

    Args:
        client: its first device is timed.
        elements: f32 elements of the program that keeps the device busy. On a GPU of 3 TB/s, 2^28 take 0.7 ms.
    """

    def __init__(self, client: xla_core.Client, elements: int) -> None:
        self._busy = client.compile(copy_program(elements))
        self._array = client.buffer_from_host(np.zeros(elements, np.float32))
        self._keep_busy()[0].block_until_ready()
        self._seconds = min(self._round(self._keep_busy, 4, 0) for _ in range(3)) / 4

    def _keep_busy(self) -> Sequence[Any]:
        return self._busy.execute([self._array])

    def _round(self, call: Callable[[], Sequence[Any]], calls: int, busy: int) -> float:
        last: Sequence[Any] = ()
        start = time.perf_counter()
        for _ in range(busy):
            last = self._keep_busy()
        for _ in range(calls):
            last = call()
        last[0].block_until_ready()
        return time.perf_counter() - start

    def seconds(self, call: Callable[[], Sequence[Any]], *, budget: float = 0.5) -> float:
        """The time of one call, by rounds that take about `budget` seconds.

        Raises:
            RuntimeError: the call is too short to be measured.
        """
        call()[0].block_until_ready()

        def measure(calls: int, most: int) -> float:
            return self._round(call, calls, min(40, 1 + int(_ENQUEUE_SECONDS * most / self._seconds)))

        return seconds_of_one(measure, budget)


def seconds_of_one(measure: Callable[[int, int], float], budget: float) -> float:
    """Returns the time of one call, from the least times of rounds of few and of many calls.

    Args:
        measure: the time of a round of so many calls, where the longest round has as many as the second number.
        budget: about how many seconds to measure.

    Raises:
        RuntimeError: rounds of many calls take no longer.
    """
    deadline = time.perf_counter() + budget
    few = 1
    while True:
        short, long = (min(measure(calls, 4 * few) for _ in range(2)) for calls in (few, 4 * few))
        enough = 0.0 if time.perf_counter() > deadline else _LEAST_SECONDS
        if long - short > enough or 16 * few > _MOST_CALLS:
            break
        few *= 4
    while time.perf_counter() < deadline:
        short, long = min(short, measure(few, 4 * few)), min(long, measure(4 * few, 4 * few))
    if long <= short:
        raise RuntimeError(f"{4 * few} calls take no longer than {few}, so one can't be measured")
    return (long - short) / (3 * few)
