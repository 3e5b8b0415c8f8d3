"""HoldingQueue: a host queue that can hold work back until its caller does it."""

from __future__ import annotations

import sys
import threading

from xla_core.errors import XlaError
from xla_core.runtime.host.event import RecordedPoint
from xla_core.runtime.host.queue import HostQueue
from xla_core.runtime.host.work import Work


class HoldingQueue(HostQueue):
    """A host queue whose first item may be held back: its caller does this work, unless it is needed earlier.

    The caller calls `hold`, and later `take`, does the work, and calls `give_back`; or it calls `release`, and the
    worker does it. The worker also does it if anyone waits for the queue, or enqueues other work, before `take`.

    Attributes:
        is_deferring: set by a caller while it enqueues under a lock, and calls `run_held` once it has left the lock.
    """

    is_deferring = False

    def hold(self, work: Work) -> bool:
        """Enqueues work that the caller will do, if the queue is idle. Returns whether it is enqueued.

        The work itself must enqueue nothing on the queue.
        """
        if self._inline_limit <= 0 or sys.is_finalizing() or not self._idle():
            return False
        try:
            with self._changed:
                if self._queue or self._error is not None or self._closing:  # another thread may have been quicker
                    return False
                self._is_held = True
                self._queue.append(work)
                return True
        finally:
            self._busy.release()

    def take(self) -> bool:
        """Begins the held work. Returns False if another thread does it."""
        if not self._busy.acquire(False):
            return False
        with self._changed:
            is_held, self._is_held = self._is_held, False
        if is_held:
            self.turn = threading.get_ident()
        else:
            self._busy.release()
        return is_held

    def give_back(self, *, done: bool, error: XlaError | None = None) -> None:
        """Ends the work that `take` began. If it is not done, the worker does it. An error poisons the queue."""
        self.turn = 0
        if done or error is not None:
            self._error = error
            self._queue.popleft()
            while self._queue and isinstance(item := self._queue[0], RecordedPoint):
                self._do(item)
                self._queue.popleft()
        self._busy.release()
        with self._changed:
            if self._queue:
                self._wake()

    def run_held(self) -> None:
        """Does the held work, unless another thread has taken it."""
        if not self._is_held:
            return
        if not self.take():  # another thread has the queue's lock and may have seen the work as held
            self.release()
            return
        try:
            if not isinstance(work := self._queue[0], RecordedPoint):
                self._run(work)
        finally:
            self.give_back(done=True, error=self._error)
