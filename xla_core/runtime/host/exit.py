"""At the end of the process, host queues finish their work; the wait for them is bounded."""

from __future__ import annotations

import atexit
import ctypes
import functools
import os
import sys
import time

from xla_core.errors import CancelledError
from xla_core.runtime.host.queue import QUEUES, HostQueue

_EXIT_SECONDS = 10.0


@functools.cache
def finish_at_exit() -> bool:
    """Lets the workers finish the enqueued work at exit. Returns False if some are still at work after a while.

    The wait is bounded, because work may wait for something that never comes, such as an infeed.
    """
    try:
        busy = _close([*QUEUES], min(1.0, _EXIT_SECONDS))
        if busy:
            names = " and ".join(queue.name for queue in busy)
            end = f"the process waits {_EXIT_SECONDS:.0f} s for it; Ctrl-C ends it at once"
            print(f"xla-core: work on {names} still runs; {end}", file=sys.stderr)
            busy = _close(busy, _EXIT_SECONDS)
    except KeyboardInterrupt:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(130)
    if busy:
        skip_library_teardown()
    for queue in busy:  # exit functions of other modules may also wait for this queue
        queue.abandon(CancelledError(f"the process ended while work on {queue.name} still ran"))
    return not busy


def skip_library_teardown() -> None:
    """Ends the process before libraries (OpenBLAS, LLVM) free memory that running threads still use."""
    libc = ctypes.CDLL(None)
    if hasattr(libc, "on_exit"):
        libc.on_exit(libc._exit, None)


def _close(queues: list[HostQueue], seconds: float) -> list[HostQueue]:
    """Closes the queues, and returns those that are at work after `seconds`."""
    deadline = time.monotonic() + seconds
    for queue in queues:
        queue.close(max(0.0, deadline - time.monotonic()))
    return [queue for queue in queues if queue.worker is not None]


atexit.register(finish_at_exit)
