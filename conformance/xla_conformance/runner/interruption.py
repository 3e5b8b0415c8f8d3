"""Signals that end a run, and leave its report."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator


@contextlib.contextmanager
def interruptible() -> Iterator[None]:
    """Lets SIGINT and SIGTERM raise KeyboardInterrupt, so that a run that a script or a CI system ends leaves a report.

    A shell that starts a command in the background has SIGINT ignored in it.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, _interrupt) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _interrupt(number: int, frame: object) -> None:
    raise KeyboardInterrupt
