"""Stream, Event and Kernel: work on a device, in order. (XLA: stream_executor/stream.h, event.h, kernel.h.)"""

from __future__ import annotations

import abc
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from xla_core.backend.event_callbacks import EventCallback, watch
from xla_core.errors import XlaError

if TYPE_CHECKING:
    from xla_core.backend.device_memory import DeviceMemory
    from xla_core.schedule import LaunchDimensions

__all__ = ["Event", "HostBytes", "Kernel", "Stream"]

HostBytes = npt.NDArray[np.uint8]  # one-dimensional and contiguous


class Event(abc.ABC):
    """A point in a stream. It becomes ready once, when all work before that point is done or was given up.

    An event that was never recorded is ready. Thread-safe. A wait, of the host or of a stream, is for the last record
    made before the wait; recording the event again doesn't prolong it.

    `close` is called once, when nobody holds the event any more: the core never uses an event after that.
    """

    @property
    @abc.abstractmethod
    def ready(self) -> bool:
        """Whether the point was reached. Never blocks."""

    @property
    @abc.abstractmethod
    def error(self) -> XlaError | None:
        """Why the work before the point failed: the first cause. None while it isn't ready, and where all went well."""

    @abc.abstractmethod
    def synchronize(self, timeout: float | None = None) -> bool:
        """Blocks the host until ready, `timeout` seconds at most; returns `ready`. Doesn't raise `error`.

        Must hold no lock that native work needs (the GIL is one), and let Ctrl-C through.
        """

    # -- what has a default ------------------------------------------------------------------------------------------

    def when_ready(self, callback: EventCallback) -> None:
        """Has `callback(error)` called once when the event is ready: now, in the caller, where it is; else on a thread
        that is not the device's own. The default has a thread of the core look at the event every millisecond.
        """
        if self.ready:
            callback(self.error)
        else:
            watch(self, callback)

    def close(self) -> None:  # noqa: B027  (nothing to give back is the common case)
        """Gives back what the driver keeps for the event. May be called from any thread, also after the device was
        closed.
        """

    def __del__(self) -> None:
        self.close()


class Stream(abc.ABC):
    """An in-order queue of work on one device. Two streams run concurrently unless events order them.

    Enqueueing never blocks. A failure poisons the stream: later work is skipped and events recorded later carry the
    first cause, until `recover` is reached. Nothing here raises for a failure of earlier work.

    A backend whose device does its work on host threads takes `xla_core.runtime.HostStream` instead of writing one.

    Attributes:
        name: its row in a profile; set by its owner.
    """

    name: str = ""

    @abc.abstractmethod
    def memcpy_h2d(self, destination: DeviceMemory, source: HostBytes) -> None:
        """Enqueues a copy of all of `source` to the start of `destination`. The caller leaves `source` unchanged until
        it is done; the stream keeps it alive.
        """

    @abc.abstractmethod
    def memcpy_d2h(self, destination: HostBytes, source: DeviceMemory) -> None:
        """Enqueues a copy that fills all of `destination` from the start of `source`."""

    @abc.abstractmethod
    def memcpy_d2d(self, destination: DeviceMemory, source: DeviceMemory) -> None:
        """Enqueues a copy of min(sizes) bytes. Both lie on this stream's device; the ranges don't overlap."""

    @abc.abstractmethod
    def memset(self, destination: DeviceMemory, value: int) -> None:
        """Enqueues setting every byte of `destination` to `value`."""

    @abc.abstractmethod
    def record(self, event: Event) -> None:
        """Enqueues: `event` becomes ready when all work enqueued before is done. A later record re-arms it."""

    @abc.abstractmethod
    def wait(self, event: Event) -> None:
        """Enqueues: later work waits for the record of `event` that was made last before this call, by any stream of
        this platform. Its error poisons this stream.
        """

    @abc.abstractmethod
    def host_callback(self, callback: Callable[[], None]) -> None:
        """Enqueues a call on the host. An exception in it poisons the stream (wrapped as an XlaError, cause kept)."""

    @abc.abstractmethod
    def synchronize(self) -> None:
        """Blocks the host until all enqueued work is done. Doesn't raise `error`. Lets Ctrl-C through."""

    @property
    @abc.abstractmethod
    def error(self) -> XlaError | None:
        """The poison, as far as the host knows it; None for a stream that works."""

    @abc.abstractmethod
    def recover(self) -> None:
        """Enqueues: forget the poison, so that a failure ends here. A device that can't go on stays poisoned."""

    @abc.abstractmethod
    def create_event(self) -> Event:
        """An event of this stream's device, as `StreamExecutor.create_event` makes it."""

    # -- what has a default ------------------------------------------------------------------------------------------

    def finish(self) -> Event:
        """Ends a unit of work (an execution, a transfer): records an event for all that was enqueued, which carries
        its failure, and enqueues `recover`, so that what comes after starts without the poison. Doesn't wait. A stream
        on which nothing is pending may return a shared event that is ready.
        """
        event = self.create_event()
        self.record(event)
        self.recover()
        return event

    def upload(self, destination: DeviceMemory, source: HostBytes) -> None:
        """Like memcpy_h2d, but the caller may change `source` as soon as this returns."""
        self.memcpy_h2d(destination, source.copy())

    def launch(self, kernel: Kernel, arguments: Sequence[DeviceMemory], dimensions: LaunchDimensions) -> None:
        """Enqueues a kernel."""
        kernel.launch(self, arguments, dimensions)

    def run_inline(self) -> None:  # noqa: B027  (most devices have nothing to gain)
        """From now on only a thread that may block uses the stream: work may run in it, without a handoff."""

    def close(self) -> None:  # noqa: B027  (nothing to give back is the common case)
        """Waits for the enqueued work and gives back what the stream holds. Called once, by its owner."""


class Kernel(abc.ABC):
    """Code on a device, ready to be launched. Only for backends whose executables launch kernels."""

    name: str = ""

    @abc.abstractmethod
    def launch(self, stream: Stream, arguments: Sequence[DeviceMemory], dimensions: LaunchDimensions) -> None:
        """Enqueues one launch on `stream`. `arguments` in the order the kernel declares: operands, then results."""
