"""Reduces a failing mutant by leaving out pieces while it still fails in the same way."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T", str, bytes)


def shrink(data: T, fails: Callable[[T], bool], seconds: float = 60.0) -> T:
    """Returns the smallest mutant found in `seconds`. Leaves out halves first, then smaller pieces."""
    deadline = time.monotonic() + seconds
    size = len(data) // 2
    while size and time.monotonic() < deadline:
        at = 0
        while at < len(data) and time.monotonic() < deadline:
            smaller = data[:at] + data[at + size :]
            if fails(smaller):
                data = smaller
            else:
                at += size
        size //= 2
    return data
