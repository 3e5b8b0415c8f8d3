"""Shows the progress of a long command, as a bar on a terminal or as occasional lines in a log."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Show = Callable[[int, "int | None", str, str], None]
"""(number done, number of all or None if not known yet, name of the last one, note in red or empty)"""

SECONDS_BETWEEN_LINES = 30.0


@contextmanager
def progress() -> Iterator[Show]:
    """Shows progress on stderr; results go to stdout."""
    from xla_core.cli import console

    stderr = console(stderr=True)
    if not stderr.is_terminal:
        yield _lines(stderr.print)
        return

    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.fields[last]}"))
    with Progress(*columns, TextColumn("[red]{task.fields[note]}"), console=stderr, transient=True) as bars:
        task = bars.add_task("", total=None, last="", note="")
        yield lambda done, total, last, note: bars.update(task, completed=done, total=total, last=last, note=note)


def _lines(write: Callable[[str], None]) -> Show:
    start = shown = time.monotonic()

    def show(done: int, total: int | None, last: str, note: str) -> None:
        nonlocal shown
        now = time.monotonic()
        if now - shown >= SECONDS_BETWEEN_LINES:
            shown = now
            of = "" if total is None else f" of {total:,}"
            write(f"{done:,}{of}, {now - start:.0f} s: {last}{note and ', ' + note}")

    return show
