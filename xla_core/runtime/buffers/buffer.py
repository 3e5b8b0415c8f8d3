"""Buffer: an array on a device, whose value may still be being computed."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

from xla_core import profiler
from xla_core.backend.device_memory import DeviceMemory
from xla_core.backend.event import Event
from xla_core.backend.stream import Stream
from xla_core.checks import wrong_argument
from xla_core.errors import InvalidArgumentError, XlaError
from xla_core.event_callbacks import EventCallback
from xla_core.hlo.values.shape import Shape
from xla_core.runtime.buffers.tracked_buffer import TrackedBuffer
from xla_core.runtime.device import Device, wait_for
from xla_core.runtime.host.event import ready_event
from xla_core.runtime.host.work import raiser
from xla_core.runtime.shape_cache import intern_shape, row_major_bytes

_READY = ready_event()


class Buffer(TrackedBuffer):
    """An immutable array in a device's memory. `Client.buffer_from_host` and executions make buffers.

    The value may still be being computed: `np.asarray`, `__dlpack__` and `block_until_ready` wait for it, and raise the
    error that made the computation fail. The memory returns to the device's pool after the last work that reads it.
    """

    __slots__ = ()
    _instead_of_pickle = "pickle np.asarray(buffer)"

    # -- making one --------------------------------------------------------------------------------------------------

    @staticmethod
    def from_host(array: np.ndarray, device: Device, shape: Shape, *, immutable: bool = False) -> Buffer:
        """Copies `array` (native byte order, of `shape`'s dtype and dimensions) to the device in `shape`'s layout.

        `immutable` promises that nobody changes the array as long as the buffer lives. Then the buffer uses the array's
        memory without a copy if the device can. Without the promise the array may be changed once this returns.
        """
        device.require_alive()
        shape = intern_shape(shape)
        if immutable and row_major_bytes(shape) is not None and array.flags.c_contiguous:
            address = array.__array_interface__["data"][0]
            borrowed = Buffer.of_foreign_memory(address, device, shape, owner=array)
            if borrowed is not None:
                return borrowed
        manager = device.platform.transfer_manager

        def enqueue(stream: Stream, memory: DeviceMemory) -> None:
            manager.transfer_to_device_async(stream, array, memory, shape, immutable=immutable)

        if profiler.active is None:
            return _written(device, shape, enqueue)
        with profiler.span("host to device", "transfer", bytes=array.nbytes):
            return _written(device, shape, enqueue)

    @staticmethod
    def of_foreign_memory(address: int, device: Device, shape: Shape, owner: object) -> Buffer | None:
        """Makes a buffer over foreign memory, a row-major array at `address` that `owner` keeps alive.

        Returns None for memory that the device can't use, for example because of its alignment.
        """
        size = row_major_bytes(shape)
        alignment = device.platform.transfer_manager.target_config.alignment.allocation
        if not size or address % alignment:
            return None
        memory = device.executor.wrap_memory(address, size)
        if memory is None:
            return None
        buffer = Buffer(device, memory, intern_shape(shape), _READY)
        buffer.borrow_from(owner)
        return buffer

    @staticmethod
    def of_undefined(device: Device, shape: Shape) -> Buffer:
        """Makes a buffer whose bytes are undefined."""
        return _written(device, intern_shape(shape), lambda stream, memory: None)

    @staticmethod
    def of_error(error: XlaError, device: Device, shape: Shape) -> Buffer:
        """Makes a buffer whose value could not be computed. Every use of the value fails with `error`."""
        return _written(device, intern_shape(shape), lambda stream, memory: stream.host_callback(raiser(error)))

    # -- what it is --------------------------------------------------------------------------------------------------

    @property
    def dtype(self) -> np.dtype:
        return self.shape.dtype

    @property
    def dimensions(self) -> tuple[int, ...]:
        return self.shape.dimensions

    @property
    def ndim(self) -> int:
        return self.shape.rank

    @property
    def size(self) -> int:
        """The number of elements."""
        return self.shape.num_elements

    @property
    def byte_size(self) -> int:
        """The number of bytes on the device."""
        return self.device.byte_size(self.shape)

    @property
    def memory_space(self) -> int:
        """The number of the buffer's memory space, as in `TargetConfig.memory_spaces`."""
        return self.require_memory().memory_space

    def is_ready(self) -> bool:
        """Tells whether the value is computed or its computation has failed. Never blocks."""
        return self.definition_event is None or self.definition_event.ready

    def when_ready(self, callback: EventCallback) -> None:
        """Calls `callback(error)` once, when the value is computed or has failed; see `Event.when_ready`."""
        self.require_memory()
        (self.definition_event or _READY).when_ready(callback)

    def block_until_ready(self) -> Buffer:
        """Waits for the value and returns the buffer.

        Raises:
            XlaError: the first error that made the computation fail.
        """
        self.require_memory()
        if self.definition_event is not None:
            wait_for(self.definition_event, self.device)
            if not self.is_foreign:
                self.definition_event = None
        return self

    # -- reading -----------------------------------------------------------------------------------------------------

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        array = self.to_numpy()
        if dtype is not None and np.dtype(dtype) != array.dtype:
            return array.astype(dtype)
        return array.copy() if copy and not array.flags.writeable else array

    def to_numpy(self) -> np.ndarray:
        """Waits for the value and returns it as an array on the host.

        The array is a read-only view of the buffer's memory if the host can address it and the layout is row-major.
        Otherwise it is a copy.

        Raises:
            XlaError: the error that made the computation fail.
        """
        size = row_major_bytes(self.shape)
        if size is not None and self.device.executor.features.host_addressable:
            if self.definition_event is not None:
                self.block_until_ready()
            raw = np.asarray(self.share())
            return np.ndarray(self.shape.dimensions, self.shape.element_type.dtype, raw)
        data, event = self._read()
        wait_for(event, self.device)
        return self.device.platform.transfer_manager.from_device(data, self.shape)

    def copy_to_host(self, destination: np.ndarray) -> Event:
        """Starts to copy the value into the caller's array, and returns an event that is ready after the copy.

        If the computation failed, the event has its error. The array must live until the event is ready.

        Raises:
            InvalidArgumentError: where `destination` is not a writable array of the buffer's dtype and dimensions.
        """
        if not isinstance(destination, np.ndarray) or not destination.flags.writeable:
            raise wrong_argument("destination", destination, "a writable numpy array")
        if destination.dtype != self.dtype or destination.shape != self.dimensions:
            raise InvalidArgumentError(
                f"destination must be {self.shape.without_layout()}, not {Shape.of(destination).without_layout()}"
            )
        if row_major_bytes(self.shape) is not None and destination.flags.c_contiguous:
            data = destination.reshape(-1).view(np.uint8)
            return self._enqueue_read(lambda stream, memory: stream.memcpy_d2h(data, memory))
        manager = self.device.platform.transfer_manager
        staged = np.empty(self.byte_size, np.uint8)

        def arrange() -> None:
            destination[...] = manager.from_device(staged, self.shape)

        def enqueue(stream: Stream, memory: DeviceMemory) -> None:
            stream.memcpy_d2h(staged, memory)
            stream.host_callback(arrange)

        return self._enqueue_read(enqueue)

    def copy_raw_to_host(self, destination: np.ndarray, offset: int = 0) -> Event:
        """Like `copy_to_host`, but copies bytes in the device's layout, from byte `offset` of the buffer on.

        It fills `destination`, a one-dimensional contiguous array of uint8.

        Raises:
            InvalidArgumentError: for another array, and for bytes outside of the buffer.
        """
        check_raw_bytes("destination", destination, offset, self.byte_size, writes=True)
        executor = self.device.executor
        return self._enqueue_read(lambda stream, memory: executor.read_at(stream, destination, memory, offset))

    def _read(self) -> tuple[np.ndarray, Event]:
        """Starts to copy the buffer's bytes to the host. Returns them and an event that is ready after the copy."""
        manager = self.device.platform.transfer_manager
        data: list[np.ndarray] = []
        event = self._enqueue_read(
            lambda stream, memory: data.append(manager.transfer_from_device_async(stream, memory, self.shape))
        )
        return data[0], event

    def _enqueue_read(self, enqueue: Callable[[Stream, DeviceMemory], object]) -> Event:
        """Calls `enqueue(stream, memory)` to enqueue a read. Returns an event that is ready when the read is done."""
        stream = self.device.d2h_stream
        with self.device.lock:
            memory = self.acquire(stream)
            try:
                enqueue(stream, memory)
            finally:
                done = stream.finish()
                self.add_usage(done)
        return done

    # -- other libraries and devices ---------------------------------------------------------------------------------

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """Exports a DLPack capsule of the device's memory if other libraries can address it, else of a host copy."""
        from xla_core.runtime.buffers import dlpack  # imported here because it loads ctypes

        for what, pair in (("max_version", max_version), ("dl_device", dl_device)):
            if pair is not None and not (isinstance(pair, (tuple, list)) and len(pair) == 2):
                raise wrong_argument(what, pair, "a pair of numbers or None")
        executor = self.device.executor
        here, host = self.__dlpack_device__(), (dlpack.CPU, 0)
        if dl_device is not None and tuple(dl_device) not in (here, host):
            raise InvalidArgumentError(f"a buffer on DLPack device {here} cannot be exported to {tuple(dl_device)}")
        wanted_here = copy is not True and (dl_device is None or tuple(dl_device) == here)
        owner: object
        address: int | None
        if (
            wanted_here
            and row_major_bytes(self.shape) is not None
            and executor.dlpack_device_type
            and executor.address(self.require_memory()) is not None
        ):
            self.block_until_ready()
            hold = self.share()
            owner, address, read_only = hold, executor.address(hold.memory), True
        else:
            if copy is False:
                raise InvalidArgumentError("this buffer's memory cannot be exported without a copy")
            array = self.to_numpy()
            array = array.copy() if copy or not array.flags.c_contiguous else array
            owner, address, read_only = array, array.__array_interface__["data"][0], not array.flags.writeable
            here = host
        element_type, dimensions = self.shape.element_type, self.dimensions
        return dlpack.export(
            owner, address, here, element_type, dimensions, read_only=read_only, max_version=max_version
        )

    def __dlpack_device__(self) -> tuple[int, int]:
        """Returns DLPack's (device type, device id): the host if other libraries can't address the device's memory."""
        from xla_core.runtime.buffers import dlpack

        executor = self.device.executor
        kind = executor.dlpack_device_type
        if kind and executor.address(self.require_memory()) is not None:
            return (kind, 0 if kind == dlpack.CPU else executor.ordinal)
        return (dlpack.CPU, 0)

    def copy_to_device(self, device: Device | int | str) -> Buffer:
        """Copies the value to another device without blocking. If the computation fails, the copy has its error.

        Args:
            device: a device of any client, or the number or name ("cpu:1") of a device of the buffer's own client.
        """
        device = self.device.sibling(device)
        if device is self.device:
            return self
        device.require_alive()
        if device.platform is self.device.platform and device.executor.features.peer_copies:
            return self._copied(device, self.shape)
        there = device.platform.transfer_manager
        here = self.device.platform.transfer_manager
        shape = intern_shape(there.device_shape(self.shape.without_layout()))
        event = self.definition_event
        if self.device.executor.features.host_addressable and (event is None or (event.ready and event.error is None)):
            return Buffer.from_host(self.to_numpy(), device, shape, immutable=True)
        data, arrived = self._read()
        staged = np.empty(device.byte_size(shape), np.uint8)

        def arrange() -> None:
            laid_out = there.to_device(here.from_device(data, self.shape), shape)
            staged[: laid_out.size] = laid_out

        def enqueue(stream: Stream, memory: DeviceMemory) -> None:
            if device.platform is self.device.platform:
                stream.wait(arrived)
            else:  # events order only the streams of one platform
                stream.host_callback(lambda: wait_for(arrived, self.device))
            stream.host_callback(arrange)
            stream.memcpy_h2d(memory, staged)

        return _written(device, shape, enqueue)

    def copy(self, memory_space: int | None = None) -> Buffer:
        """Copies the value within the device without blocking. If the computation fails, the copy has its error.

        Args:
            memory_space: the number of one of the target's memory spaces; by default the buffer's own.
        """
        if memory_space is None or memory_space == self.memory_space:
            return self._copied(self.device, self.shape)
        layout = self.shape.with_default_layout().layout
        assert layout is not None
        shape = self.shape.with_layout(dataclasses.replace(layout, memory_space=memory_space))
        return self._copied(self.device, intern_shape(shape))

    def _copied(self, device: Device, shape: Shape) -> Buffer:
        first, second = sorted((self.device, device), key=id)  # copies in both directions must not deadlock

        def copy() -> Buffer:
            with first.lock, second.lock:
                copy = _write(device, shape, lambda stream, memory: stream.memcpy_d2d(memory, self.acquire(stream)))
                self.add_usage(copy.definition_event or _READY)
                return copy

        return device.allocator.with_room(copy)

    # -- Python ------------------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        if not self.shape.dimensions:
            raise TypeError("len() of a scalar buffer")
        return self.shape.dimensions[0]

    def __float__(self) -> float:
        return float(self.to_numpy())

    def __int__(self) -> int:
        return int(self.to_numpy())

    def __bool__(self) -> bool:
        return bool(self.to_numpy())

    def item(self) -> Any:
        return self.to_numpy().item()

    def __repr__(self) -> str:
        shape = self.shape.without_layout()
        if self.memory is None:
            return f"<Buffer {shape}, {self._gone.split()[0]}>"
        return f"<Buffer {shape} on {self.device!r}{'' if self.is_ready() else ', not ready'}>"


def check_raw_bytes(what: str, data: np.ndarray, offset: int, size: int, *, writes: bool = False) -> None:
    """Raises InvalidArgumentError unless `data` is an array of bytes that fits at `offset` of a buffer.

    Where `writes` is set, bytes are copied into it, so that it must be writable.
    """
    if not isinstance(data, np.ndarray) or data.dtype != np.uint8 or data.ndim != 1 or not data.flags.c_contiguous:
        raise wrong_argument(what, data, "a one-dimensional contiguous numpy array of uint8")
    if writes and not data.flags.writeable:
        raise InvalidArgumentError(f"{what} is a read-only array", hint="copy to an array made by numpy.empty")
    if not 0 <= offset <= size - data.size:
        raise InvalidArgumentError(f"bytes {offset}..{offset + data.size} are not within the {size} of this buffer")


def _written(device: Device, shape: Shape, enqueue: Callable[[Stream, DeviceMemory], object]) -> Buffer:
    """Makes a buffer whose memory is filled by the work that `enqueue(stream, memory)` enqueues."""
    return device.allocator.with_room(lambda: _write(device, shape, enqueue))


def _write(device: Device, shape: Shape, enqueue: Callable[[Stream, DeviceMemory], object]) -> Buffer:
    stream, allocator = device.h2d_stream, device.allocator
    space = shape.layout.memory_space if shape.layout is not None else 0
    with device.lock:
        device.require_alive()  # another thread may have closed it meanwhile
        memory = allocator.allocate(device.byte_size(shape), space)
        # Pooled memory is reused in the compute stream's order, so earlier work there may still read it.
        free = device.compute_stream.finish()
        if free is not _READY:
            stream.wait(free)
        try:
            enqueue(stream, memory)
        except BaseException:
            allocator.keep_until(memory, [stream.finish()])
            raise
        done = stream.finish()
    if done is _READY:
        return Buffer(device, memory, shape, None)
    buffer = Buffer(device, memory, shape, None)
    buffer.define(done)
    return buffer
