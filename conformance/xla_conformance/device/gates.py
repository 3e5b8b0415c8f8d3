"""Gates: work that keeps a stream busy until a test lets it go on."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from xla_conformance.failures import Failure
from xla_core.backend import Stream
from xla_core.errors import XlaError

__all__ = ["PATIENCE", "Boom", "Gate", "fail", "pause", "required"]

PATIENCE = 20.0
"""Seconds that something may take that should be immediate."""


class Boom(RuntimeError):
    """The exception that callbacks of the tests raise."""


def fail(text: str = "boom") -> Callable[[], None]:
    """Returns a callback that raises Boom."""

    def callback() -> None:
        raise Boom(text)

    return callback


def pause(seconds: float) -> Callable[[], None]:
    """Returns a callback that sleeps."""
    return lambda: time.sleep(seconds)


class Gate:
    """Holds streams back until it is opened, at most for `seconds`.

    Attributes:
        expired: whether it opened by itself, because the test didn't come to open it: something blocked it.
    """

    def __init__(self, seconds: float = PATIENCE / 2) -> None:
        self.seconds = seconds
        self.expired = False
        self._opened = threading.Event()

    def hold(self, *streams: Stream) -> None:
        """Enqueues work on each stream that waits for the gate to open."""
        for stream in streams:
            stream.host_callback(self.wait)

    def wait(self) -> None:
        if not self._opened.wait(self.seconds):
            self.expired = True

    def open(self) -> None:
        self._opened.set()

    def require_closed(self, what: str, promise: str = "stream.enqueue-never-blocks") -> None:
        """Raises Failure if the gate opened by itself, because `what` waited for the work that the gate held back."""
        if self.expired:
            raise Failure(f"Enqueueing never blocks, but {what} waited for earlier work.", promise=promise)


def required(error: XlaError | None, sentence: str) -> XlaError:
    """Returns the error; raises Failure with the sentence if there is none."""
    if not isinstance(error, XlaError):
        raise Failure(f"{sentence} The error is {error!r}.")
    return error
