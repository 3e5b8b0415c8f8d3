"""A span of a profile, which the profiler records and the timeline draws."""

from __future__ import annotations

from typing import Any, NamedTuple


class Span(NamedTuple):
    """A piece of work that has ended. `start` and `end` are nanoseconds of `time.perf_counter_ns`."""

    name: str
    category: str
    start: int
    end: int
    track: str
    arguments: dict[str, Any]
