"""StreamExecutor: one device's memory and queues. (XLA: stream_executor/stream_executor.h.)"""

from __future__ import annotations

import abc
import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from xla_core.backend.communicator import Communicator, InProcessCommunicator
from xla_core.backend.device_memory import DeviceMemory
from xla_core.backend.stream import Event, HostBytes, Stream

if TYPE_CHECKING:
    from xla_core.backend.executable import RunOptions  # which names the executor
    from xla_core.target import DeviceDescription

__all__ = ["DeviceFeatures", "StreamExecutor"]


@dataclasses.dataclass(frozen=True, slots=True)
class DeviceFeatures:
    """What a device can beyond the least. The default claims nothing, and everything works.

    Attributes:
        memory_slices: DeviceMemory at an offset is as good as a whole allocation ("pointer arithmetic"). Without it
            every value of a program is an allocation of its own.
        host_addressable: `StreamExecutor.host_view` gives the device's bytes to the host without a copy.
        peer_copies: `memcpy_d2d` takes memory of the platform's other devices too. Without it, such copies go through
            the host.
        callbacks_may_enqueue: a host callback on a stream may enqueue on other streams and wait for them. With it,
            control flow that the host drives runs asynchronously; without it, the call that starts the program drives
            it, and blocks meanwhile (so that a loop can't hold a collective with a device that is started later).
    """

    memory_slices: bool = False
    host_addressable: bool = False
    peer_copies: bool = False
    callbacks_may_enqueue: bool = False


class StreamExecutor(abc.ABC):
    """One device. Made once for each ordinal by `Platform.create_executor`; may take the device's resources then.

    Thread-safe.
    """

    features: DeviceFeatures = DeviceFeatures()

    def __init__(self, ordinal: int) -> None:
        self.ordinal = ordinal

    @property
    @abc.abstractmethod
    def description(self) -> DeviceDescription:
        """What this device is: name, memory bytes, cores."""

    @abc.abstractmethod
    def allocate(self, size: int, memory_space: int = 0) -> DeviceMemory | None:
        """At least `size` > 0 bytes, aligned as the target says, contents undefined; None where there isn't that much.

        The core pools memory and keeps the limit; this is called rarely.
        """

    @abc.abstractmethod
    def deallocate(self, memory: DeviceMemory) -> None:
        """Gives back what `allocate` gave (never a slice). All work on it is done by then."""

    @abc.abstractmethod
    def create_stream(self) -> Stream:
        """A new queue, idle."""

    @abc.abstractmethod
    def create_event(self) -> Event:
        """A new event, not recorded."""

    # -- what has a default ------------------------------------------------------------------------------------------

    def memory_usage(self) -> tuple[int, int] | None:
        """Free and total bytes as the device's driver tells them; None where it doesn't."""
        return None

    def host_view(self, memory: DeviceMemory) -> memoryview | None:
        """The bytes of `memory`, writable, without a copy, for `DeviceFeatures.host_addressable`; else None."""
        return None

    def wrap_memory(self, address: int, size: int) -> DeviceMemory | None:
        """`size` bytes that another owns, at an `address` as `address` gives them (the host's, for a device that is
        `host_addressable`), aligned as the target says. None where the device can't use them, and they are copied.

        Such memory is read only. The core never gives it to `deallocate`, and has its owner keep it.
        """
        return None

    def read_at(self, stream: Stream, destination: HostBytes, source: DeviceMemory, offset: int) -> None:
        """Enqueues a copy that fills `destination` from byte `offset` of `source`. Without `memory_slices`, what comes
        before is copied too.
        """
        if self.features.memory_slices:
            stream.memcpy_d2h(destination, source.slice(offset, destination.size))
            return
        whole = np.empty(offset + destination.size, np.uint8)

        def cut() -> None:
            destination[:] = whole[offset:]

        stream.memcpy_d2h(whole, source)
        stream.host_callback(cut)

    def create_communicator(self, options: RunOptions, timeout: float, timeout_name: str) -> Communicator:
        """What the collectives of one execution on this device run by. The default meets the other devices in the
        host's memory, which suits all devices of one process.

        Args:
            timeout: seconds that a device waits for another; `timeout_name` says what a user can set it by.
        """
        return InProcessCommunicator(options, timeout, timeout_name)

    def address(self, memory: DeviceMemory) -> int | None:
        """A pointer that other libraries on this device understand (for DLPack); None where there is no such thing."""
        return None

    #: DLPack's device type (kDLCPU 1, kDLCUDA 2, ...) for `address`; 0 where there is none.
    dlpack_device_type: int = 0

    def synchronize(self) -> None:  # noqa: B027  (streams are synchronized one by one; a device may have a shorter way)
        """Waits for all work of this device that the executor knows of beyond its streams."""

    def close(self) -> None:  # noqa: B027  (nothing to give back is the common case)
        """Gives the device back. Nothing is called after it but `deallocate`, for memory that somebody still holds."""
