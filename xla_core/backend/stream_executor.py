"""StreamExecutor: the memory and the queues of one device, and the options of a run on it.

XLA: stream_executor/stream_executor.h
"""

from __future__ import annotations

import abc
import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from xla_core.backend.communicator import Communicator
from xla_core.backend.device_memory import DeviceMemory
from xla_core.backend.stream import HostBytes, Stream
from xla_core.backend.transfer_manager import TransferManager
from xla_core.handle import Handle

if TYPE_CHECKING:
    from xla_core.target import DeviceDescription  # loading a device needs no compiler's data


@dataclasses.dataclass(frozen=True, slots=True)
class DeviceFeatures:
    """Optional features of a device. By default none is declared, and everything works without them.

    Attributes:
        memory_slices: DeviceMemory at an offset works like a whole allocation ("pointer arithmetic"). Without it, every
            value of a program is an allocation of its own.
        host_addressable: `StreamExecutor.host_view` gives the host access to the device's bytes without a copy.
        peer_copies: `memcpy_d2d` also accepts memory of the platform's other devices. Without it, such copies go
            through the host.
        callbacks_may_enqueue: a host callback on a stream may enqueue on other streams and wait for them. With it,
            control flow that the host drives runs asynchronously. Without it, the call that starts the program drives
            the control flow and blocks meanwhile; for several devices it starts each in a thread of its own.
    """

    memory_slices: bool = False
    host_addressable: bool = False
    peer_copies: bool = False
    callbacks_may_enqueue: bool = False


class Allocator(Handle, abc.ABC):
    """Allocates the result and temporary memory of an execution.

    The runtime implements it as a pool; a backend only calls it. Allocation follows the order of the stream that the
    allocator belongs to. Memory that is freed after work was enqueued may be handed out at once, because the next user
    enqueues its work behind that work.
    """

    @abc.abstractmethod
    def allocate(self, size: int, memory_space: int = 0) -> DeviceMemory:
        """Allocates at least `size` bytes (0 is allowed).

        Raises:
            ResourceExhaustedError: where there isn't that much memory; it says what holds the rest.
        """

    @abc.abstractmethod
    def free(self, memory: DeviceMemory) -> None:
        """Frees memory that `allocate` returned. It never blocks.

        It may be called as soon as the work that uses the memory is enqueued.
        """


@dataclasses.dataclass(slots=True, eq=False)
class RunOptions:
    """The options of an execution on one device. They are made once for each device and reused.

    Attributes:
        executor, stream, allocator: the device, the stream to run on, and the allocator of memory.
        transfer_manager: for infeed and outfeed (`transfer_manager.infeed(ordinal)`).
        replica_id, partition_id: this device's place in the assignment.
        device_assignment: device ordinals, one row for each replica, one column for each partition.
        run_id: the number of one sharded execution; equal on all its devices, different for other executions.
        collective_timeout: how many seconds a device waits for the other devices of its execution.
        further_stream: the device's nth stream (n >= 1) for independent branches of a program. What runs there begins
            and ends with an event that `stream` knows. None if there is `stream` alone.
    """

    executor: StreamExecutor
    stream: Stream
    allocator: Allocator
    transfer_manager: TransferManager
    replica_id: int = 0
    partition_id: int = 0
    device_assignment: tuple[tuple[int, ...], ...] = ((0,),)
    run_id: int = 0
    collective_timeout: float = 60.0
    further_stream: Callable[[int], Stream] | None = None


class StreamExecutor(Handle, abc.ABC):
    """One device. `Platform.create_executor` makes it once for each ordinal and may claim the device's resources.

    It is thread-safe.

    Attributes:
        device_name: the device in errors. The platform that opens it writes its own name and the ordinal, "cpu:0".
    """

    features: DeviceFeatures = DeviceFeatures()

    def __init__(self, ordinal: int) -> None:
        self.ordinal = ordinal
        self.device_name = f"device {ordinal}"

    @property
    @abc.abstractmethod
    def description(self) -> DeviceDescription:
        """The device's description: name, memory in bytes, cores."""

    @abc.abstractmethod
    def allocate(self, size: int, memory_space: int = 0) -> DeviceMemory | None:
        """Allocates at least `size` > 0 bytes of a memory space, aligned as the target says.

        The result's `memory_space` is the one that was asked for. Returns None if there isn't enough memory.
        An empty device gives a block of a third of its memory: a program's temporaries are one block.
        The contents are undefined. The core pools memory and enforces the limit, so it calls this rarely.
        """

    @abc.abstractmethod
    def deallocate(self, memory: DeviceMemory) -> None:
        """Frees memory that `allocate` returned (never a slice). All work on the memory is done before the call."""

    @abc.abstractmethod
    def create_stream(self) -> Stream:
        """Makes a new, idle stream."""

    # -- what has a default ------------------------------------------------------------------------------------------

    def host_view(self, memory: DeviceMemory) -> memoryview | None:
        """Returns a writable view of the bytes of `memory`. None unless `DeviceFeatures.host_addressable` is set."""
        return None

    def wrap_memory(self, address: int, size: int) -> DeviceMemory | None:
        """Wraps `size` bytes of foreign memory at an address, aligned as the target says.

        `address` is as the method `address` returns it; for a `host_addressable` device, it is the host's. The result
        is None where the device can't use the memory; the core then copies a host array, and refuses a DLPack tensor.
        It only reads such memory, never passes it to `deallocate`, and keeps its owner alive.
        """
        return None

    def read_at(self, stream: Stream, destination: HostBytes, source: DeviceMemory, offset: int) -> None:
        """Enqueues a copy that fills `destination` from byte `offset` of `source`.

        Without `memory_slices`, the bytes before `offset` are copied too.
        """
        if self.features.memory_slices:
            stream.memcpy_d2h(destination, source.slice(offset, destination.size))
            return
        whole = np.empty(offset + destination.size, np.uint8)

        def cut() -> None:
            destination[:] = whole[offset:]

        stream.memcpy_d2h(whole, source)
        stream.host_callback(cut)

    def write_at(self, stream: Stream, destination: DeviceMemory, source: HostBytes, offset: int) -> None:
        """Enqueues a copy of all of `source` to byte `offset` of `destination`.

        Without `memory_slices`, all of `destination` is read, changed on the host and written back.
        """
        if self.features.memory_slices:
            stream.memcpy_h2d(destination.slice(offset, source.size), source)
            return
        whole = np.empty(destination.size, np.uint8)

        def insert() -> None:
            whole[offset : offset + source.size] = source

        stream.memcpy_d2h(whole, destination)
        stream.host_callback(insert)
        stream.memcpy_h2d(destination, whole)

    def create_communicator(self, options: RunOptions) -> Communicator | None:
        """Makes the communicator for the collectives of one execution on this device.

        A device waits for the others for at most `options.collective_timeout` seconds. None takes
        `xla_core.runtime.InProcessCommunicator`, which exchanges values in the host's memory. The core also makes one
        for a device that could not be started, and ends it with the error, so that the other devices stop waiting.
        """
        return None

    def address(self, memory: DeviceMemory) -> int | None:
        """Returns a pointer that other libraries on this device understand (for DLPack); None where there is none."""
        return None

    dlpack_device_type: int = 0
    """DLPack's device type (kDLCPU 1, kDLCUDA 2, ...) for `address`; 0 where there is none."""

    def synchronize(self) -> None:
        """Waits for all work of this device, including work outside of its streams that the executor knows of."""

    def close(self) -> None:
        """Closes the device. After this, only `deallocate` is called, for memory that is still in use."""
