"""Stream and Kernel: ordered work on a device. (XLA: stream_executor/stream.h, kernel.h.)"""

from __future__ import annotations

import abc
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from xla_core.backend.event import Event
from xla_core.errors import XlaError
from xla_core.handle import Handle

if TYPE_CHECKING:
    from xla_core.backend.device_memory import DeviceMemory
    from xla_core.schedule import LaunchDimensions

HostBytes = npt.NDArray[np.uint8]  # one-dimensional and contiguous


class Stream(Handle, abc.ABC):
    """An in-order queue of work on one device. Two streams run concurrently unless events order them.

    Enqueueing never blocks. A failure poisons the stream: later work is skipped, and events that are recorded later
    carry the first failure, until the stream reaches a `recover`. No method raises for a failure of earlier work.

    A backend whose device works on host threads uses `xla_core.runtime.HostStream` instead of writing a stream.

    Attributes:
        name: the stream's row in a profile, set by its owner.
    """

    name: str = ""

    @abc.abstractmethod
    def memcpy_h2d(self, destination: DeviceMemory, source: HostBytes) -> None:
        """Enqueues a copy of all of `source` to the start of `destination`.

        The caller must not change `source` until the copy is done; the stream keeps it alive.
        """

    @abc.abstractmethod
    def memcpy_d2h(self, destination: HostBytes, source: DeviceMemory) -> None:
        """Enqueues a copy that fills all of `destination` from the start of `source`."""

    @abc.abstractmethod
    def memcpy_d2d(self, destination: DeviceMemory, source: DeviceMemory) -> None:
        """Enqueues a copy of min(sizes) bytes. Both ranges are on this stream's device and don't overlap."""

    @abc.abstractmethod
    def memset(self, destination: DeviceMemory, value: int) -> None:
        """Enqueues setting every byte of `destination` to `value`."""

    @abc.abstractmethod
    def record(self, event: Event) -> None:
        """Records `event`: it becomes ready when all work enqueued before is done. A later record re-arms it."""

    @abc.abstractmethod
    def wait(self, event: Event) -> None:
        """Makes later work wait for the last record of `event` before this call, by any stream of this platform.

        An error of the event poisons this stream.
        """

    @abc.abstractmethod
    def host_callback(self, callback: Callable[[], None]) -> None:
        """Enqueues a call on the host. An exception in it poisons the stream, wrapped in an XlaError.

        A callback may block until callbacks of other streams, also of other devices, have run: by default, the devices
        of a program meet in callbacks for its collectives. Where the driver calls all callbacks on one thread, the
        stream must pass them on to threads of its own. A callback uses the device only with `callbacks_may_enqueue`.
        """

    @abc.abstractmethod
    def synchronize(self) -> None:
        """Blocks the host until all enqueued work is done. It doesn't raise `error`, and lets Ctrl-C through."""

    @property
    @abc.abstractmethod
    def error(self) -> XlaError | None:
        """The failure that poisoned the stream, as far as the host knows; None for a stream that works."""

    @abc.abstractmethod
    def recover(self) -> None:
        """Enqueues the end of the poisoned state, so that later work runs again, unless the device can't go on."""

    @abc.abstractmethod
    def create_event(self) -> Event:
        """Makes an event of this stream's device. It is not recorded, so it is ready."""

    # -- what has a default ------------------------------------------------------------------------------------------

    def finish(self) -> Event:
        """Ends a unit of work (an execution, a transfer) without waiting for it.

        It records and returns an event for all work enqueued so far, which carries the failure of that work. It then
        enqueues `recover`, so that later work starts unpoisoned. A stream without pending work may return a shared
        event that is ready.
        """
        event = self.create_event()
        self.record(event)
        self.recover()
        return event

    def upload(self, destination: DeviceMemory, source: HostBytes) -> None:
        """Does what memcpy_h2d does, but the caller may change `source` as soon as this returns."""
        self.memcpy_h2d(destination, source.copy())

    def run_inline(self) -> None:
        """Declares that only a thread that may block uses the stream from now on, so work may run in that thread."""

    def close(self) -> None:
        """Waits for the enqueued work and frees the stream's resources. Its owner calls this once."""


class Kernel(Handle, abc.ABC):
    """Device code that is ready to be launched. Only backends whose executables launch kernels need it."""

    name: str = ""

    @abc.abstractmethod
    def launch(self, stream: Stream, arguments: Sequence[DeviceMemory], dimensions: LaunchDimensions) -> None:
        """Enqueues one launch on `stream`. `arguments` are the operands, then the results, in the kernel's order.

        A result may have the memory of an operand, as `xla_core.analysis.can_share_buffer` says. A kernel of several
        steps therefore writes no element of a result before its last read of that element of an operand.
        """
