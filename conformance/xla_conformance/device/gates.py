"""Gates: work that keeps a stream busy until a test lets it go on."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from xla_conformance.failures import Failure
from xla_conformance.patience import FACTOR
from xla_core.backend import Stream
from xla_core.errors import XlaError

PATIENCE = 20.0 * FACTOR
"""Seconds that something may take that should be immediate."""

_TICK = 0.05
"""Seconds of one wait. A limit is a number of such waits, because each takes longer on a machine that is busy or stops
for a while: the limit grows with the machine's delay.
"""


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


def patiently(wait: Callable[[float], object], seconds: float) -> bool:
    """Calls `wait` with a short time, again and again until it returns a true value or `seconds` are over.

    Returns whether it did. The limit is longer on a busy machine, because it counts waits.
    """
    return any(wait(_TICK) for _ in range(max(1, round(seconds / _TICK))))


def settles(count: Callable[[], int], most: int) -> int:
    """Waits until there are `most` at most, and returns how many there are. Ended threads count for a while."""

    def wait(seconds: float) -> bool:
        if count() > most:
            time.sleep(seconds)
        return count() <= most

    patiently(wait, PATIENCE / 2)
    return count()


class Gate:
    """Holds streams back until it is opened. It opens by itself when the test has not used it for `seconds`.

    Attributes:
        expired: whether it opened by itself, because the test didn't come to open it: something blocked it.
    """

    def __init__(self, seconds: float = PATIENCE / 2) -> None:
        self.seconds = seconds
        self.expired = False
        self._opened = threading.Event()
        self._uses = 0

    def hold(self, *streams: Stream) -> None:
        """Enqueues work on each stream that waits for the gate to open."""
        for stream in streams:
            self._uses += 1
            stream.host_callback(self.wait)

    def wait(self) -> None:
        uses = -1
        while uses != self._uses:
            uses = self._uses
            if patiently(self._opened.wait, self.seconds):
                return
        self.expired = True

    def open(self) -> None:
        self._opened.set()

    def require_closed(self, what: str, promise: str = "stream.enqueue-never-blocks") -> None:
        """Raises Failure if the gate opened by itself, because `what` waited for the work that the gate held back.

        A test that enqueues much work calls it after each piece, so that the gate's time limit is for one piece.
        """
        self._uses += 1
        if self.expired:
            raise Failure(f"Enqueueing never blocks, but {what} waited for earlier work.", promise=promise)


def required(error: XlaError | None, sentence: str, promise: str) -> XlaError:
    """Returns the error; raises Failure with the sentence if there is none."""
    if not isinstance(error, XlaError):
        raise Failure(f"{sentence} The error is {error!r}.", promise=promise)
    return error
