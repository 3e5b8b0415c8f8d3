"""HostQueue: work that host threads run in order.

Short work runs at once in the caller if the queue is idle, because a handoff to a thread would cost more than the
work itself. All other work runs in the queue's worker thread, so that enqueueing never blocks.

A handoff costs about 30 us of processor time, so callers that wait for each result have more work run inline: see
`HostQueue.expect_wait`.
"""

from __future__ import annotations

import os
import sys
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable

from xla_core import profiler
from xla_core.errors import CancelledError, FailedPreconditionError, ResourceExhaustedError, XlaError, as_xla_error
from xla_core.interruptible import start_thread
from xla_core.runtime.host import event
from xla_core.runtime.host.event import RecordedPoint
from xla_core.runtime.host.short_work import AWAITED_MICROSECONDS, AWAITED_RUNS, INLINE_MICROSECONDS
from xla_core.runtime.host.work import NamedWork, Work, forked_error, label_of

_IDLE_SECONDS = 2.0  # an idle worker ends after this; later work starts another


class HostQueue:
    """An in-order queue of work. An exception in the work poisons the queue: it skips later work until `recover`.

    Args:
        name: the name of the queue's row in a profile.
        inline: False runs all work in the worker.

    Attributes:
        worker: the thread that runs the work that doesn't run inline; None while no thread runs.
        turn, awaited, expect_wait: see `WorkQueue`.
    """

    def __init__(self, name: str, *, inline: bool = True) -> None:
        self.name = name
        self.worker: threading.Thread | None = None
        self.turn = 0
        self.awaited: RecordedPoint | None = None
        self._inline_limit = INLINE_MICROSECONDS if inline else -1.0
        self._awaited_runs = 0  # how many more times longer work may run inline
        self._busy = threading.Lock()  # held by the thread that runs this queue's work
        self._changed = threading.Condition(threading.Lock())
        self._queue: deque[Work | RecordedPoint] = deque()  # the first item is being run
        self._closing = False
        self._is_held = False  # the first item is kept back: see `HoldingQueue`
        self._error: XlaError | None = None
        self._sticky = False
        QUEUES.add(self)

    def enqueue(
        self,
        work: Work,
        microseconds: float = float("inf"),
        name: str = "",
        attempt: Callable[[], bool] | None = None,
    ) -> None:
        """Enqueues `work`. It runs at once in the caller if the stream is idle and `microseconds` is small.

        `microseconds` is an estimate of its duration. Other work runs in the worker. An exception in the work poisons
        the stream. A profile shows the work by its `name`, or by its function's.

        `attempt` is for work whose duration nobody knows before. It does the work and returns True, or it returns False
        when half a millisecond has passed, and has changed nothing. Callers that wait for each result try it first.
        """
        work = NamedWork(work, name) if name else work
        if microseconds <= self._inline_limit and not self._queue and self._busy.acquire(False):
            try:
                if not self._queue:
                    if microseconds > INLINE_MICROSECONDS:
                        self._count_awaited_run()
                    if self._error is None:
                        self._run(work)
                    return
            finally:
                self._busy.release()
        elif attempt is not None and self._inline_limit == AWAITED_MICROSECONDS and self._idle():
            try:
                if self._error is None and self._succeeds(attempt, name):
                    return
            finally:
                self._busy.release()
        self._push(work)

    def _succeeds(self, attempt: Callable[[], bool], name: str) -> bool:
        """Returns whether the attempt has ended, by doing its work or by an error."""
        done = False

        def run() -> None:
            nonlocal done
            done = attempt()

        self._run(NamedWork(run, name) if name else run)
        if done:
            self._count_awaited_run()
        return done or self._error is not None

    def release(self) -> None:
        """Lets the worker do the work that is held, if any is."""
        with self._changed:
            if self._is_held:
                self._wake()
                self._is_held = False

    def run_inline(self) -> None:
        self._inline_limit = float("inf")

    def expect_wait(self, point: RecordedPoint) -> None:
        """Lets longer work run inline from now on, if `point` is the newest item of all queues.

        A caller that waits for the newest item has enqueued nothing else meanwhile, so it will probably wait for its
        next work too, and a worker would gain it nothing.
        """
        if self._is_held:
            self.release()
        if _newest == id(point) and 0 < self._inline_limit < AWAITED_MICROSECONDS:
            self._inline_limit = AWAITED_MICROSECONDS
            self._awaited_runs = AWAITED_RUNS

    def _count_awaited_run(self) -> None:
        global _newest
        _newest = 0  # the caller may go on to another stream, and a worker could run this stream's work meanwhile
        if self._inline_limit == AWAITED_MICROSECONDS:
            self._awaited_runs -= 1
            if self._awaited_runs == 0:
                self._inline_limit = INLINE_MICROSECONDS

    def _run(self, work: Work, *, in_worker: bool = False) -> None:
        start = time.perf_counter_ns() if profiler.active is not None else 0
        self.turn = threading.get_ident()
        try:
            work()
        except Exception as error:
            # A traceback would keep the frames of the callers of inline work, and the buffers in them, alive.
            self._error = as_xla_error(error, f"work on {self.name}").with_traceback(None)
        except BaseException as error:  # Ctrl-C interrupted inline work, which poisons the stream too
            self._error = CancelledError(f"work on {self.name} was interrupted by {type(error).__name__}")
            if not in_worker:
                raise
        finally:
            self.turn = 0
        if start and (active := profiler.active) is not None:
            active.add(label_of(work), "stream", start, time.perf_counter_ns(), self.name)

    def _idle(self) -> bool:
        """Acquires `_busy` if no work runs or is queued. If it returns True, the caller must release `_busy`."""
        if self._queue or not self._busy.acquire(False):
            return False
        if self._queue:
            self._busy.release()
            return False
        return True

    def _push(self, item: Work | RecordedPoint) -> None:
        global _newest
        if item != self._forget:
            _newest = id(item)
        with self._changed:
            if self._sticky:  # the queue is abandoned
                if isinstance(item, RecordedPoint):
                    item.complete(self._error)
                return
            self._queue.append(item)
            if self._is_held and isinstance(item, RecordedPoint):
                return
            if not sys.is_finalizing():
                try:
                    self._wake()
                except ResourceExhaustedError:
                    self._queue.pop()
                    raise
                self._is_held = False
                return
            self._is_held = False
        self._finish_at_exit()

    def _wake(self) -> None:
        """Lets the worker look at the queue. The caller holds `_changed`."""
        if self.worker is not None:
            self._changed.notify_all()
            return
        worker = threading.Thread(target=self._work, name=self.name, daemon=True)
        start_thread(worker)
        self.worker = worker

    def _finish_at_exit(self) -> None:
        """Runs the queued work in the caller, because no other thread runs while the interpreter shuts down."""
        if not self._busy.acquire(False):
            self._queue.pop()
            raise FailedPreconditionError(
                f"{self.name} is at work, and the interpreter is shutting down",
                hint="run programs before the end of the main program, not in a __del__ or atexit function",
            )
        try:
            while self._queue:
                self._do(self._queue[0])
                self._queue.popleft()
        finally:
            self._busy.release()

    def _do(self, item: Work | RecordedPoint) -> None:
        if isinstance(item, RecordedPoint):
            item.complete(self._error)
            if item.recovers:
                self._forget()
        elif self._error is None or item == self._forget:
            self._run(item, in_worker=True)

    def _work(self) -> None:
        while True:
            with self._changed:
                while not self._queue or self._is_held:
                    if self._closing or (not self._changed.wait(_IDLE_SECONDS) and not self._queue):
                        self.worker = None
                        self._changed.notify_all()
                        return
            with self._busy:
                if self._queue and not self._is_held:  # a caller may have done the work meanwhile
                    self._do(self._queue[0])
                    # Popped while `_busy` is held, because an empty queue with `_busy` free means an idle stream.
                    self._queue.popleft()

    @property
    def is_idle(self) -> bool:
        """Whether no work runs or is queued."""
        return not self._queue and not self._busy.locked()

    def recover(self) -> None:
        if self._idle():
            self._forget()
            self._busy.release()
        else:
            self._push(self._forget)

    def _forget(self) -> None:
        if not self._sticky:
            self._error = None

    @property
    def error(self) -> XlaError | None:
        return self._error

    def close(self, timeout: float | None = None) -> None:
        """Waits for the enqueued work, `timeout` seconds at most, and ends the worker."""
        with self._changed:
            self._closing = True
            worker = self.worker
            self._changed.notify_all()
        if worker is not None and worker is not threading.current_thread():
            worker.join(timeout)

    def abandon(self, error: XlaError) -> None:
        """Drops enqueued and later work: everything that waits for it fails."""
        with self._changed:
            self._sticky = True
            self._error = error
            points = [item for item in self._queue if isinstance(item, RecordedPoint)]
        for point in points:
            point.complete(error)

    def reset_after_fork(self) -> None:
        """Resets the queue in a forked child, where the worker and the threads that held locks don't exist."""
        self._busy = threading.Lock()
        self._changed = threading.Condition(threading.Lock())
        self.worker = None
        self.turn = 0
        self._is_held = False
        self.abandon(forked_error())
        self._queue = deque()


QUEUES: weakref.WeakSet[HostQueue] = weakref.WeakSet()
_newest = 0  # id of the item that was last queued for any worker; items that end an error don't count


def _after_fork() -> None:
    event.reset_after_fork()
    for queue in list(QUEUES):
        queue.reset_after_fork()


os.register_at_fork(after_in_child=_after_fork)
