"""Event: a point in a stream. Callbacks of events run on the core's own threads, never on a device's.

XLA: stream_executor/event.h
"""

from __future__ import annotations

import abc
import sys
from collections.abc import Callable

from xla_core.errors import XlaError
from xla_core.event_callbacks import EventCallback, call_when_ready
from xla_core.handle import Handle


class Event(Handle, abc.ABC):
    """A point in a stream. It becomes ready once all work before that point is done or has been skipped.

    An event that was never recorded is ready. Events are thread-safe. A wait, by the host or by a stream, waits for the
    last record made before the wait; recording the event again doesn't prolong it.
    """

    _closed = False

    @property
    @abc.abstractmethod
    def ready(self) -> bool:
        """Whether the point has been reached. It never blocks."""

    @property
    @abc.abstractmethod
    def error(self) -> XlaError | None:
        """The first failure of the work before the point; None if nothing failed, or while the event isn't ready."""

    @abc.abstractmethod
    def synchronize(self, timeout: float | None = None) -> bool:
        """Blocks the host until the event is ready, for `timeout` seconds at most. Returns `ready`; raises no `error`.

        It must not hold a lock that native work needs (such as the GIL), and must let Ctrl-C through.
        """

    # -- what has a default ------------------------------------------------------------------------------------------

    def when_ready(self, callback: EventCallback) -> None:
        """Calls `callback(error)` once when the event is ready.

        If the event is ready now, the caller's thread calls it; otherwise another thread does, but not the device's
        own. By default, a thread of the core polls the event every millisecond.
        """
        if self.ready:
            callback(self.error)
        else:
            call_when_ready(self, callback)

    def destroy(self) -> None:
        """Frees the driver's resources of the event. The core calls this once, when nobody uses the event any longer.

        It may be called from any thread, also after the device was closed.
        """

    def close(self) -> None:
        """Calls `destroy`, unless that was done. Dropping the last reference to the event does this, too.

        An event that is dropped while the interpreter ends is not destroyed: the end of the process frees it.
        """
        if not self._closed:
            self._closed = True
            self.destroy()

    def __del__(self, is_finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        if not is_finalizing():  # later, the globals of the driver's modules may be None
            self.close()
