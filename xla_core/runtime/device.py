"""Device: one device with its streams and its memory. DeviceSet: those of one client."""

from __future__ import annotations

import atexit
import os
import threading
import weakref
from typing import TYPE_CHECKING, Any

import numpy as np

from xla_core.backend.executable import RunOptions
from xla_core.backend.platform import Platform
from xla_core.backend.stream import Event
from xla_core.checks import require_limit, wrong_argument
from xla_core.errors import FailedPreconditionError, InvalidArgumentError, XlaError
from xla_core.hlo.literal import Literal
from xla_core.hlo.shape import Shape
from xla_core.runtime.allocator import MemoryStats, PoolAllocator
from xla_core.runtime.handle import Handle
from xla_core.runtime.host_array import as_host_array
from xla_core.runtime.host_stream import forked_error

if TYPE_CHECKING:
    from xla_core.target import DeviceDescription  # loading a device needs no compiler's data

__all__ = ["Device", "DeviceSet", "wait_for"]

_SIZES = 8192  # shapes that a device knows the size of
_HOST_SHARE = 0.8  # of the host's memory, where that is the device's: the rest is left to the process


class Device(Handle):
    """Programs run on one stream, in order; copies from and to the host on two more, ordered by events.

    Attributes:
        id: its index in `Client.devices`. local_ordinal: the platform's number.
        lock: held while an execution takes its arguments and enqueues: units of work stay whole, and nobody deletes
            meanwhile.
        dead: why it can't be used any more (closed, or forked), else None.
    """

    __slots__ = (
        "__weakref__",
        "_set",
        "_sizes",
        "allocator",
        "compute_stream",
        "d2h_stream",
        "dead",
        "executor",
        "h2d_stream",
        "id",
        "local_ordinal",
        "lock",
        "platform",
    )
    _instead_of_pickle = "make a Client in the other process"

    def __init__(self, devices: DeviceSet, platform: Platform, index: int, ordinal: int) -> None:
        self._set = weakref.ref(devices)
        self.platform = platform
        self.id = index
        self.local_ordinal = ordinal
        self.executor = platform.executor(ordinal)
        self.compute_stream = self.executor.create_stream()
        self.h2d_stream = self.executor.create_stream()
        self.d2h_stream = self.executor.create_stream()
        streams = {
            "programs": self.compute_stream,
            "host to device": self.h2d_stream,
            "device to host": self.d2h_stream,
        }
        for what, stream in streams.items():
            stream.name = f"{platform.name}:{index} {what}"
        size = self.description.memory_bytes
        limit = int(size * _HOST_SHARE) if self.executor.features.host_addressable else size
        self.allocator = PoolAllocator(self.executor, self.compute_stream, limit or None)
        self.lock = threading.RLock()
        self._sizes: dict[int, tuple[Shape, int]] = {}  # by the id of a shape, which the entry keeps alive
        self.dead: XlaError | None = None
        _devices.add(self)

    @property
    def description(self) -> DeviceDescription:
        return self.executor.description

    @property
    def memory_limit(self) -> int | None:
        """Bytes that buffers and programs may take; None for no limit of ours. Can be set."""
        return self.allocator.limit

    @memory_limit.setter
    def memory_limit(self, limit: int | None) -> None:
        self.allocator.limit = limit

    def memory_stats(self) -> MemoryStats:
        return self.allocator.stats()

    def run_options(
        self, replica: int = 0, partition: int = 0, assignment: tuple[tuple[int, ...], ...] = ((0,),)
    ) -> RunOptions:
        """For executions here, at this place of an assignment of ordinals."""
        return RunOptions(
            self.executor,
            self.compute_stream,
            self.allocator,
            self.platform.transfer_manager,
            replica_id=replica,
            partition_id=partition,
            device_assignment=assignment,
        )

    def byte_size(self, shape: Shape) -> int:
        """Bytes that an array of `shape` takes here; looked up, since every upload asks."""
        found = self._sizes.get(id(shape))
        if found is None:
            if len(self._sizes) >= _SIZES:
                self._sizes.clear()
            found = self._sizes[id(shape)] = (shape, self.platform.transfer_manager.byte_size(shape))
        return found[1]

    def require_alive(self) -> None:
        """Raises why the device can't be used any more, if that is so."""
        if self.dead is not None:
            raise self.dead.with_traceback(None)

    def sibling(self, wanted: Device | int | str) -> Device:
        """A device as a caller says it: any device itself; or the number or the name of one of the same client."""
        if isinstance(wanted, Device):
            return wanted
        devices = self._set()
        if devices is None:
            raise FailedPreconditionError(f"the client of {self} is gone", hint="pass the Device itself")
        return devices.find(wanted)

    def is_beside(self, other: Device) -> bool:
        """Whether both are of one client."""
        return self._set == other._set

    def transfer_to_infeed(self, value: Any) -> None:
        """As `Client.transfer_to_infeed`."""
        self.require_alive()
        self.platform.transfer_manager.infeed(self.local_ordinal).put(_literal(value))

    def transfer_from_outfeed(self, timeout: float | None = None) -> Any:
        """As `Client.transfer_from_outfeed`."""
        self.require_alive()
        require_limit("timeout", timeout, "seconds")
        return _arrays(self.platform.transfer_manager.outfeed(self.local_ordinal).get(timeout))

    def synchronize(self) -> None:
        """Waits for everything that was enqueued on this device."""
        try:
            for stream in (self.h2d_stream, self.compute_stream, self.d2h_stream):
                stream.synchronize()
            self.executor.synchronize()
        except KeyboardInterrupt as interrupt:
            interrupt.add_note(_still_at_work(self))
            raise

    def close(self, error: XlaError) -> None:
        """Finishes the enqueued work and closes the device. Later uses raise `error`."""
        if self.dead is None:
            self.dead = error
            self.platform.transfer_manager.close_queues(self.local_ordinal)
            for stream in (self.h2d_stream, self.compute_stream, self.d2h_stream):
                stream.close()
            self.allocator.close()

    def __repr__(self) -> str:
        return f"<Device {self.platform.name}:{self.id}>"


def wait_for(event: Event, device: Device) -> None:
    """Blocks until the event is ready. Raises its error; says on Ctrl-C what ends the work that is waited for."""
    try:
        event.synchronize()
    except KeyboardInterrupt as interrupt:
        interrupt.add_note(_still_at_work(device))
        raise
    if event.error is not None:
        raise event.error.with_traceback(None)


def _still_at_work(device: Device) -> str:
    return f"{device} is still at work; LoadedExecutable.delete() ends a program's runs where the backend can"


class DeviceSet:
    """The open devices of one client.

    Attributes:
        backend_version: of the backend that they belong to.
        launch_lock: held while a sharded run is enqueued on all its devices.
    """

    def __init__(self, platform: Platform, backend_version: str, count: int) -> None:
        self.platform = platform
        self.backend_version = backend_version
        self.launch_lock = threading.RLock()
        self.devices = tuple(Device(self, platform, i, i) for i in range(count))

    def require_alive(self) -> None:
        """Raises where the client is closed."""
        self.devices[0].require_alive()

    def find(self, wanted: Device | int | str | None) -> Device:
        """A device as a caller says it: itself, its number, its name; None is the first."""
        if wanted is None:
            return self.devices[0]
        if isinstance(wanted, Device):
            if wanted not in self.devices:
                raise InvalidArgumentError(f"{wanted!r} is not a device of this client")
            return wanted
        names = {f"{self.platform.name}:{device.id}": device for device in self.devices}
        if isinstance(wanted, str) and wanted in names:
            return names[wanted]
        if type(wanted) is int and 0 <= wanted < len(self.devices):
            return self.devices[wanted]
        known = ", ".join([*names][:8]) + (", ..." if len(names) > 8 else "")
        raise wrong_argument("device", wanted, "a Device, its number or its name", hint=f"this client has {known}")

    def assignment(
        self, replicas: int, partitions: int, wanted: tuple[tuple[int, ...], ...] | None
    ) -> tuple[tuple[int, ...], ...]:
        """Ids of the devices that a program runs on, one row a replica, one column a partition: those `wanted`, or the
        first ones. Raises InvalidArgumentError where there are too few, or the wanted ones don't fit.
        """
        if replicas < 1 or partitions < 1:
            raise InvalidArgumentError(f"a program runs on 1 device at least, not on {replicas} x {partitions}")
        if replicas * partitions > len(self.devices):
            flag = self.platform.device_count_flag
            raise InvalidArgumentError(
                f"the program needs {replicas} x {partitions} devices, {self.platform.name} has {len(self.devices)}",
                hint=f"set XLA_FLAGS=--{flag}={replicas * partitions} before the client is made" if flag else None,
            )
        if wanted is None:
            return tuple(tuple(range(r * partitions, (r + 1) * partitions)) for r in range(replicas))
        ids = [id for row in wanted for id in row]
        if (len(wanted), len(wanted[0]) if wanted else 0) != (replicas, partitions):
            raise InvalidArgumentError(
                f"device_assignment {wanted} is not {replicas} replicas x {partitions} partitions"
            )
        if len(set(ids)) != len(ids) or not all(0 <= id < len(self.devices) for id in ids):
            raise InvalidArgumentError(
                f"device_assignment {wanted} must name different devices below {len(self.devices)}"
            )
        return wanted

    def close(self, error: XlaError) -> None:
        """Finishes what was enqueued and gives the devices back. Any later use raises `error`."""
        already = all(device.dead is not None for device in self.devices)
        if not already:
            self.platform.transfer_manager.close()  # a program that waits for an infeed would wait for ever
        for device in self.devices:
            device.close(error)
        if not already:
            self.platform.close()


def _literal(value: Any) -> Literal:
    if isinstance(value, Literal):
        return value
    if isinstance(value, tuple):
        return Literal([_literal(v) for v in value])
    return Literal(np.array(as_host_array(value)))


def _arrays(literal: Literal) -> Any:
    return tuple(_arrays(e) for e in literal.elements) if literal.shape.is_tuple else literal.array


_devices: weakref.WeakSet[Device] = weakref.WeakSet()


def _after_fork() -> None:
    for device in list(_devices):
        device.dead = device.dead or forked_error()
        device.lock = threading.RLock()
        device.allocator.reset_after_fork()


def _at_exit() -> None:
    """Closes the feeds before the streams are finished: a program that waits for an infeed would never end."""
    for device in list(_devices):
        if device.dead is None:
            manager = vars(device.platform).get("transfer_manager")  # a cached property: made here, it has no feeds
            if manager is not None:
                manager.close_queues(device.local_ordinal)


atexit.register(_at_exit)
os.register_at_fork(after_in_child=_after_fork)
