"""Records time spans as a Chrome trace. Without an active profiler, a span costs one read of a global."""

from __future__ import annotations

import contextlib
import json
import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from xla_core.checks import require
from xla_core.errors import NotFoundError
from xla_core.profile_span import Span

__all__ = ["Profiler", "Span", "active", "span", "trace"]


class Profiler:
    """Collects spans of all threads.

    Attributes:
        spans: those so far, in the order in which they ended.
    """

    def __init__(self) -> None:
        self.spans: list[Span] = []
        self._origin = time.perf_counter_ns()

    def add(self, name: str, category: str, start: int, end: int, track: str = "", arguments: Any = None) -> None:
        """Adds a finished span; times are in nanoseconds.

        `track` is a row of the trace, "" the calling thread's row.
        """
        self.spans.append(Span(name, category, start, end, track or threading.current_thread().name, arguments or {}))

    def to_chrome_trace(self) -> dict[str, Any]:
        """Returns the trace-event format of chrome://tracing and Perfetto, with a row for each thread or stream.

        Times are in microseconds.
        """
        rows: dict[str, int] = {}
        events: list[dict[str, Any]] = []
        for name, category, start, end, track, arguments in list(self.spans):
            events.append(
                {
                    "name": name,
                    "cat": category,
                    "ph": "X",
                    "ts": (start - self._origin) / 1000,
                    "dur": (end - start) / 1000,
                    "pid": os.getpid(),
                    "tid": rows.setdefault(track, len(rows) + 1),
                    "args": arguments,
                }
            )
        names = [
            {"name": "thread_name", "ph": "M", "pid": os.getpid(), "tid": row, "args": {"name": track}}
            for track, row in rows.items()
        ]
        return {"traceEvents": names + events, "displayTimeUnit": "ms"}

    def write(self, path: str | Path) -> None:
        """Writes the Chrome trace, or a picture of the spans where `path` ends with .png, .svg or .pdf."""
        from xla_core.timeline import PICTURE_SUFFIXES, plot_timeline  # deferred: a profile is rarely drawn

        if Path(path).suffix.lower() in PICTURE_SUFFIXES:
            plot_timeline(self.spans, path)
        else:
            Path(path).write_text(json.dumps(self.to_chrome_trace(), default=str))


active: Profiler | None = None
"""The profiler of the innermost `trace`, or None."""

listeners: list[Callable[[Profiler | None], None]] = []
"""Functions that are called with `active` when it changes, for code that records nothing and has to step aside."""

_NO_SPAN = contextlib.nullcontext()


def span(name: str, category: str = "", **arguments: Any) -> contextlib.AbstractContextManager[None]:
    """Returns a context manager that times its block while a profiler is active."""
    return _NO_SPAN if active is None else _timed(active, name, category, arguments)


@contextlib.contextmanager
def _timed(profiler: Profiler, name: str, category: str, arguments: dict[str, Any]) -> Iterator[None]:
    start = time.perf_counter_ns()
    try:
        yield
    except BaseException as error:
        arguments["error"] = f"{type(error).__name__}: {error}"
        raise
    finally:
        profiler.add(name, category, start, time.perf_counter_ns(), arguments=arguments)


def _set_active(profiler: Profiler | None) -> None:
    global active
    active = profiler
    for listener in listeners:
        listener(profiler)


@contextlib.contextmanager
def trace(path: str | Path | None = None) -> Iterator[Profiler]:
    """Profiles the block, and writes the Chrome trace to `path` at the end if given.

    Where `path` ends with .png, .svg or .pdf, it becomes a picture of the timeline. A nested `trace` adds its spans to
    the outer one's profiler.

    Raises:
        NotFoundError: where the directory of `path` doesn't exist.
        UnavailableError: a picture is wanted, and matplotlib is not installed.
    """
    if path is not None:
        require("path", path, (str, os.PathLike), "a file's path or None")
        folder = Path(path).parent
        if not folder.is_dir():
            raise NotFoundError(f"cannot write {path}: there is no directory {folder}", hint="make it first")
    outer = active
    profiler = outer or Profiler()
    _set_active(profiler)
    try:
        yield profiler
    finally:
        _set_active(outer)
        if path is not None:
            profiler.write(path)
