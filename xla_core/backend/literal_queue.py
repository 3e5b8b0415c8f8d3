"""LiteralQueue: the infeed or the outfeed of one device."""

from __future__ import annotations

import threading
import time
from collections import deque

from xla_core.errors import CancelledError, DeadlineExceededError
from xla_core.hlo.values.literal import Literal

_SIGNAL_SECONDS = 0.1  # a signal just before a wait doesn't wake it, so waits are short


class LiteralQueue:
    """A thread-safe first-in-first-out queue of literals into (infeed) or out of (outfeed) a running program."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._items: deque[Literal] = deque()
        self._changed = threading.Condition()
        self._closed = False

    def put(self, literal: Literal) -> None:
        """Appends a literal without blocking.

        Raises:
            CancelledError: where the queue is closed.
        """
        with self._changed:
            if self._closed:
                raise CancelledError(f"{self.name} is closed")
            self._items.append(literal)
            self._changed.notify()

    def get(self, timeout: float | None = None) -> Literal:
        """Removes and returns the oldest literal; waits for one for at most `timeout` seconds.

        Raises:
            CancelledError: where the queue is closed and empty.
            DeadlineExceededError: where no literal comes within the timeout.
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        with self._changed:
            while not (self._items or self._closed):
                left = _SIGNAL_SECONDS if deadline is None else deadline - time.monotonic()
                if left <= 0:
                    raise DeadlineExceededError(f"no value arrived in {self.name} within {timeout} s")
                self._changed.wait(min(left, _SIGNAL_SECONDS))
            if not self._items:
                raise CancelledError(f"{self.name} was closed while a program waited for a value")
            return self._items.popleft()

    def close(self) -> None:
        """Closes the queue and wakes all waiting threads."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def __len__(self) -> int:
        return len(self._items)
