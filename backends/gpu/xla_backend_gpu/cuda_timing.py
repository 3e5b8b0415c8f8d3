"""Times work by a device's clock."""

from __future__ import annotations

import math
from collections.abc import Callable

_LEAST_SECONDS = 1e-3
_MOST_TIMES = 1000
_ROUNDS = 5


def seconds_of_one(run: Callable[[int], Callable[[], float]]) -> float:
    """Returns the time of one run, the least of several measurements.

    A measurement takes at least a millisecond, so that neither the clock's resolution nor the time until the device
    starts matters.

    Args:
        run: returns a function that runs the work a number of times, and returns the seconds on the device.
    """
    times = 1
    while True:
        measure = run(times)
        measure()  # loads code
        seconds = min(measure() for _ in range(_ROUNDS))
        if seconds >= _LEAST_SECONDS or times == _MOST_TIMES:
            return seconds / times
        times = min(_MOST_TIMES, math.ceil(1.5 * times * _LEAST_SECONDS / max(seconds, 1e-7)))
