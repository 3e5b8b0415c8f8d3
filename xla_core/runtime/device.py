"""Device: one device with its streams and its memory. DeviceSet: the devices of one client."""

from __future__ import annotations

import atexit
import copy
import ctypes
import os
import threading
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from xla_core.backend.event import Event
from xla_core.backend.platform import Platform
from xla_core.backend.stream import Stream
from xla_core.backend.stream_executor import RunOptions
from xla_core.checks import require_limit, wrong_argument
from xla_core.config import flag_variable
from xla_core.errors import FailedPreconditionError, InvalidArgumentError, XlaError
from xla_core.handle import Handle
from xla_core.hlo.values.literal import Literal
from xla_core.hlo.values.shape import Shape
from xla_core.runtime.host.exit import finish_at_exit
from xla_core.runtime.host.work import forked_error
from xla_core.runtime.host_array import as_host_array
from xla_core.runtime.memory import idle_memory
from xla_core.runtime.memory.allocator import PoolAllocator
from xla_core.runtime.memory.memory_stats import MemoryStats
from xla_core.runtime.open_devices import OpenDevices, close_all, wait_at_exit

if TYPE_CHECKING:
    from xla_core.target import DeviceDescription  # loading a device needs no compiler's data

_SIZES = 8192  # how many shapes' sizes a device caches
_HOST_SHARE = 0.8  # the share of host memory that a device in host memory may use; the process needs the rest


class Device(Handle):
    """One device.

    Programs run in order on the compute stream. Independent branches of a program may run on further streams, and join
    it again. Copies to and from the host run on two more streams, ordered by events.

    Attributes:
        id: its index in `Client.devices`.
        local_ordinal: its number on the platform.
        lock: held while an execution acquires its arguments and enqueues its work, so that the work of executions is
            not interleaved and no argument is deleted meanwhile. A thread that holds it must not wait for memory: the
            work that would free some may need the lock. See `PoolAllocator.with_room`.
        dead: the error for every use of a device that was closed or belongs to a forked parent; else None.
    """

    def __init__(
        self, devices: weakref.ref[DeviceSet], platform: Platform, index: int, ordinal: int, opened: OpenDevices
    ) -> None:
        self._set = devices
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
        self._further: list[Stream] = []
        size = self.description.memory_bytes
        limit = int(size * _HOST_SHARE) if self.executor.features.host_addressable else size
        release = weakref.WeakMethod(self._release_idle_memory)
        self.lock = threading.RLock()
        self.allocator = PoolAllocator(
            self.executor, self.compute_stream, limit or None, lambda: idle_memory.watch(release), _holds(self.lock)
        )
        self._sizes: dict[int, tuple[Shape, int]] = {}  # by id(shape); the entry keeps the shape alive
        self.dead: XlaError | None = None
        self._opened = opened
        self._open = opened.add(self.h2d_stream, self.compute_stream, self.d2h_stream, self.allocator)
        self._host_memory: HostMemory | None = None
        _devices.add(self)

    @property
    def description(self) -> DeviceDescription:
        return self.executor.description

    @property
    def host_memory(self) -> HostMemory:
        """The host's memory as a place for this device's arrays, such as parameters that don't fit in its own memory.

        `buffer.copy_to_device(device.host_memory)` moves an array there without waiting. Programs of the device take
        such arrays as arguments.
        """
        with self.lock:
            if self._host_memory is None:
                self._host_memory = HostMemory(self)
            return self._host_memory

    @property
    def memory_limit(self) -> int | None:
        """The bytes that buffers and programs may take; None for no limit besides the device's own. Can be set."""
        return self.allocator.limit

    @memory_limit.setter
    def memory_limit(self, limit: int | None) -> None:
        self.allocator.limit = limit

    def memory_stats(self) -> MemoryStats:
        return self.allocator.stats()

    def run_options(
        self, replica: int = 0, partition: int = 0, assignment: tuple[tuple[int, ...], ...] = ((0,),)
    ) -> RunOptions:
        """Returns the options of executions on this device, as this replica and partition of a device assignment."""
        return RunOptions(
            self.executor,
            self.compute_stream,
            self.allocator,
            self.platform.transfer_manager,
            replica,
            partition,
            assignment,
            further_stream=self._further_stream,
        )

    def _further_stream(self, number: int) -> Stream:
        """Returns a stream for independent branches of programs, which the callers of `execute` use in turn."""
        while len(self._further) < number:
            stream = self.executor.create_stream()
            stream.name = f"{self.platform.name}:{self.id} programs, stream {len(self._further) + 1}"
            self._further.append(stream)
            self._open.insert(0, stream)
        return self._further[number - 1]

    def byte_size(self, shape: Shape) -> int:
        """Returns the bytes of an array of `shape` on this device. The results are cached for uploads."""
        found = self._sizes.get(id(shape))
        if found is None:
            if len(self._sizes) >= _SIZES:
                self._sizes.clear()
            found = self._sizes[id(shape)] = (shape, self.platform.transfer_manager.byte_size(shape))
        return found[1]

    def require_alive(self) -> None:
        """Raises the error `dead` if the device can't be used any more."""
        if self.dead is not None:
            raise self.dead.with_traceback(None)

    def sibling(self, wanted: Device | int | str) -> Device:
        """Returns the device that a caller names: a Device, or the number or name of one of the same client."""
        if isinstance(wanted, Device):
            return wanted
        devices = self._set()
        if devices is None:
            raise FailedPreconditionError(f"the client of {self} is gone", hint="pass the Device itself")
        return devices.find(wanted)

    def belongs_to(self, device: Device) -> bool:
        """Whether this is the device, or its host memory."""
        return self is device

    def is_beside(self, other: Device) -> bool:
        return self._set == other._set

    def transfer_to_infeed(self, value: Any) -> None:
        self.require_alive()
        self.platform.transfer_manager.infeed(self.local_ordinal).put(_literal(value))

    def transfer_from_outfeed(self, timeout: float | None = None) -> Any:
        self.require_alive()
        require_limit("timeout", timeout, "seconds")
        return self.platform.transfer_manager.outfeed(self.local_ordinal).get(timeout).value

    def synchronize(self) -> None:
        """Waits for everything that was enqueued on this device."""
        try:
            for stream in (self.h2d_stream, self.compute_stream, self.d2h_stream):
                stream.synchronize()
            self.executor.synchronize()
        except KeyboardInterrupt as interrupt:
            interrupt.add_note(_still_at_work(self))
            raise

    def _release_idle_memory(self) -> bool:
        """Releases the allocator's idle memory, unless the device is in use. Returns whether to call this again."""
        if not self.lock.acquire(blocking=False):
            return True
        try:
            return self.dead is None and self.allocator.release_idle()
        finally:
            self.lock.release()

    def close(self, error: XlaError) -> None:
        """Finishes the enqueued work and closes the device. Later uses raise `error`.

        Ctrl-C may interrupt the wait for the work. Another call then closes the rest.
        """
        with self.lock:  # not while another thread releases idle memory
            self.dead = self.dead or error
        failure: Exception | None = None
        if self._host_memory is not None:
            try:
                self._host_memory.close(error)
            except Exception as raised:  # its streams may be a driver's
                failure = raised
        close_all(self._open, failure)

    def __repr__(self) -> str:
        return f"<Device {self.platform.name}:{self.id}>"


class HostMemory(Device):
    """The host's memory as a place for arrays of a device.

    It runs no programs. A program of the device takes its arrays as arguments: each run copies them to the device.

    Attributes:
        device: the device whose arrays it keeps.
    """

    def __init__(self, device: Device) -> None:
        from xla_core.runtime.host.memory import HostMemoryPlatform  # few programs need it

        platform = HostMemoryPlatform(device.platform.name, device.local_ordinal)
        super().__init__(device._set, platform, device.id, device.local_ordinal, device._opened)
        self.device = device
        self.dead = device.dead

    def belongs_to(self, device: Device) -> bool:
        return self is device or self.device is device

    def __repr__(self) -> str:
        return f"<HostMemory of {self.device!r}>"


def _holds(lock: threading.RLock) -> Callable[[], bool]:
    """Returns a function that tells whether its caller holds `lock`."""
    condition = threading.Condition(lock)

    def holds() -> bool:
        try:
            condition.notify(0)  # wakes nobody, and refuses to work for those who don't hold the lock
        except RuntimeError:
            return False
        return True

    return holds


def wait_for(event: Event, device: Device) -> None:
    """Blocks until the event is ready, and raises its error. A KeyboardInterrupt gets a note on ending the work."""
    try:
        event.synchronize()
    except KeyboardInterrupt as interrupt:
        interrupt.add_note(_still_at_work(device))
        raise
    error = event.error
    if error is not None:
        # A copy, because the traceback of a raised error keeps the caller's buffers alive.
        fresh = copy.copy(error)
        fresh.__dict__.update(error.__dict__)
        raise fresh from error.__cause__


def _still_at_work(device: Device) -> str:
    return f"{device} is still at work; the executable's delete() ends a program's runs where the backend can"


class DeviceSet:
    """The open devices of one client.

    Attributes:
        backend_version: the version of the devices' backend.
        launch_lock: held while a sharded run is enqueued on all its devices.
    """

    def __init__(self, platform: Platform, backend_version: str, count: int) -> None:
        self.platform = platform
        self.backend_version = backend_version
        self._closing = threading.Lock()  # several threads may close a client
        self._is_closed = False
        self._process = os.getpid()
        self.launch_lock = threading.RLock()
        self._opened = OpenDevices(platform)
        self.devices = tuple(Device(weakref.ref(self), platform, i, i, self._opened) for i in range(count))

    def require_alive(self) -> None:
        """Raises FailedPreconditionError if the client is closed."""
        self.devices[0].require_alive()

    def find(self, wanted: Device | int | str | None) -> Device:
        """Returns the device that a caller names: a Device, its number or its name. None is the first device.

        Raises:
            InvalidArgumentError: for anything else.
        """
        if wanted is None:
            return self.devices[0]
        if isinstance(wanted, Device):
            if not any(wanted.belongs_to(device) for device in self.devices):
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
        """Returns the device ids of a program, a row per replica and a column per partition.

        These are `wanted`, or the first devices.

        Raises:
            InvalidArgumentError: where there are too few devices, or `wanted` has another shape, unknown ids or an id
                twice.
        """
        if replicas < 1 or partitions < 1:
            raise InvalidArgumentError(f"a program runs on 1 device at least, not on {replicas} x {partitions}")
        if replicas * partitions > len(self.devices):
            flag = self.platform.device_count_flag
            raise InvalidArgumentError(
                f"the program needs {replicas} x {partitions} devices, {self.platform.name} has {len(self.devices)}",
                hint=f"set {flag_variable(flag)}=--{flag}={replicas * partitions} before the client is made"
                if flag
                else None,
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
        """Finishes the enqueued work and closes the devices and the platform. Any later use raises `error`.

        It returns at once while another thread closes them, because that thread may wait for the caller's own work, and
        in a forked process, because the devices belong to its parent.
        """
        if self._is_closed or self._process != os.getpid() or not self._closing.acquire(blocking=False):
            return
        try:
            self._close(error)
        finally:
            self._closing.release()

    def _close(self, error: XlaError) -> None:
        self.platform.close_transfers()
        failure: Exception | None = None
        for device in self.devices:
            try:
                device.close(error)
            except KeyboardInterrupt as interrupt:
                interrupt.add_note(_still_at_work(device))
                raise
            except Exception as raised:  # a driver may raise anything, and the other devices must be closed too
                failure = failure or raised
        self.platform.close()
        self._is_closed = True
        self._opened.all_closed()
        if failure is not None:
            raise failure


def _literal(value: Any) -> Literal:
    if isinstance(value, Literal):
        return value
    if isinstance(value, tuple):
        return Literal([_literal(v) for v in value])
    return Literal(np.array(as_host_array(value)))


_devices: weakref.WeakSet[Device] = weakref.WeakSet()


def _after_fork() -> None:
    for device in list(_devices):
        device.dead = device.dead or forked_error()
        device.lock = threading.RLock()
        device.allocator.reset_after_fork()


def _at_exit() -> None:
    """Closes infeeds before the streams are finished, because a program that waits for one would never end."""
    wait_at_exit()
    for device in list(_devices):
        if device.dead is None:
            device.platform.close_transfers()
    if not finish_at_exit():
        for device in list(_devices):  # Python's teardown must not free memory that kernels use
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(device))


atexit.register(_at_exit)
os.register_at_fork(after_in_child=_after_fork)
