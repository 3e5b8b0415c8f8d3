"""Buffer: an array on a device, maybe not computed yet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from xla_core.backend.device_memory import DeviceMemory
from xla_core.backend.stream import Event
from xla_core.errors import FailedPreconditionError
from xla_core.hlo.shape import Shape

if TYPE_CHECKING:
    from xla_core.runtime.device import Device

__all__ = ["Buffer", "intern_shape"]

_shapes: dict[Shape, Shape] = {}
_plain_bytes: dict[int, int] = {}  # by id of an interned shape: bytes of a row-major array as numpy has it, else -1


def intern_shape(shape: Shape) -> Shape:
    """The one object for all equal shapes, so that checking an argument is one `is`. Never forgotten."""
    interned = _shapes.setdefault(shape, shape)
    layout = interned.layout
    plain = layout is None or (layout.is_row_major and not layout.tiles and not layout.element_size_in_bits)
    _plain_bytes[id(interned)] = interned.byte_size if plain else -1
    return interned


class MemoryHold:
    """Owns memory that arrays outside this runtime look into. It returns to the allocator when the last lets go."""

    __slots__ = ("__array_interface__", "_device", "memory", "pending")

    def __init__(self, device: Device, memory: DeviceMemory, pending: list[Event] | None) -> None:
        self._device = device
        self.memory = memory
        self.pending = pending
        address = device.executor.address(memory)
        self.__array_interface__ = {"data": (address, True), "shape": (memory.size,), "typestr": "|u1", "version": 3}

    def __del__(self) -> None:
        _release(self._device, self.memory, self.pending)


def _release(device: Device, memory: DeviceMemory, pending: list[Event] | None) -> None:
    if pending is None:
        device.allocator.free(memory)
    else:
        device.allocator.free_after(memory, pending)


class Buffer:
    """An immutable array in a device's memory. Made by `Client.buffer_from_host` and by executions.

    It may stand for a value that is still being computed: `np.asarray`, `__dlpack__` and `block_until_ready` wait,
    and raise what made the computation fail. Its memory returns to the device's pool after the last work that reads it.
    """

    # _event: when the value is there, None once it is known to be. _pending: events of other streams than the compute
    # stream that must come before the memory is used again. _hold: set when the memory is owned outside as well.
    __slots__ = ("__weakref__", "_device", "_event", "_gone", "_hold", "_memory", "_pending", "_shape")

    def __init__(self, device: Device, memory: DeviceMemory, shape: Shape, event: Event | None) -> None:
        self._device = device
        self._memory: DeviceMemory | None = memory
        self._shape = shape
        self._event = event
        self._pending: list[Event] | None = None
        self._hold: MemoryHold | None = None
        self._gone = ""

    def __del__(self) -> None:
        memory = self._memory
        if memory is not None and self._hold is None:
            if self._pending is None:
                self._device.allocator.free(memory)
            else:
                self._device.allocator.free_after(memory, self._pending)

    # -- what it is --------------------------------------------------------------------------------------------------

    @property
    def shape(self) -> Shape:
        """Element type, dimensions and layout on the device."""
        return self._shape

    @property
    def dtype(self) -> np.dtype:
        return self._shape.dtype

    @property
    def dimensions(self) -> tuple[int, ...]:
        return self._shape.dimensions

    @property
    def ndim(self) -> int:
        return self._shape.rank

    @property
    def size(self) -> int:
        """Elements."""
        return self._shape.num_elements

    @property
    def device(self) -> Device:
        return self._device

    @property
    def byte_size(self) -> int:
        """Bytes on the device."""
        return self._device.platform.transfer_manager.byte_size(self._shape)

    def is_deleted(self) -> bool:
        """Deleted or donated."""
        return self._memory is None

    def is_ready(self) -> bool:
        """Whether the value, or the failure to compute it, is there. Never blocks."""
        return self._event is None or self._event.ready

    # -- life --------------------------------------------------------------------------------------------------------

    def delete(self) -> None:
        """Gives the memory back as soon as no work reads it. Any later use is an error. Deleting twice is fine."""
        with self._device.lock:
            self._take("deleted")

    def _take(self, gone: str) -> None:
        """Ends this buffer; its memory goes where its owner says."""
        memory, self._memory = self._memory, None
        if memory is not None:
            self._gone = gone
            if self._hold is None:
                _release(self._device, memory, self._pending)
            self._hold = None

    def _require(self) -> DeviceMemory:
        """The memory of a buffer that can be used. Raises FailedPreconditionError for one that can't."""
        if self._device.dead is not None:
            raise self._device.dead.with_traceback(None)
        if self._memory is None:
            donated = self._gone.startswith("donated")
            raise FailedPreconditionError(
                f"this buffer {self._shape.without_layout()} was {self._gone}",
                hint="use the result that took its place; or compile with CompileOptions(donate=())"
                if donated
                else "keep it until its last use",
            )
        return self._memory

    def block_until_ready(self) -> Buffer:
        """Waits for the value. Raises what made its computation fail: the first cause. Returns the buffer."""
        self._require()
        event = self._event
        if event is not None:
            event.synchronize()
            if event.error is not None:
                raise event.error.with_traceback(None)
            self._event = None
        return self

    # -- reading -----------------------------------------------------------------------------------------------------

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        array = self.to_numpy()
        if dtype is not None and np.dtype(dtype) != array.dtype:
            return array.astype(dtype)
        return array.copy() if copy and not array.flags.writeable else array

    def to_numpy(self) -> np.ndarray:
        """The value on the host, once it is there. Read-only and without a copy where the device's memory is the
        host's and the layout row-major; else an array of the caller's own.
        """
        executor = self._device.executor
        if executor.features.host_addressable and self._plain_layout():
            return self._exported()
        return self._fetched()

    def _plain_layout(self) -> bool:
        return _plain_bytes[id(self._shape)] >= 0

    def _exported(self) -> np.ndarray:
        """A view of device memory that keeps it."""
        self.block_until_ready()
        raw = np.asarray(self._export_hold())
        shape = self._shape
        return raw[: _plain_bytes[id(shape)]].view(shape.element_type.dtype).reshape(shape.dimensions)

    def _export_hold(self) -> MemoryHold:
        with self._device.lock:
            memory = self._require()
            if self._hold is None:
                self._hold = MemoryHold(self._device, memory, self._pending)
            return self._hold

    def _fetched(self) -> np.ndarray:
        device = self._device
        manager = device.platform.transfer_manager
        stream = device.d2h_stream
        with device.lock:
            memory = self._require()
            if self._event is not None:
                stream.wait(self._event)
            data = manager.transfer_from_device_async(stream, memory, self._shape)
            done = stream.finish()
            if not done.ready:
                self._add_usage(done)
        done.synchronize()
        if done.error is not None:
            raise done.error.with_traceback(None)
        return manager.from_device(data, self._shape)

    def _add_usage(self, event: Event) -> None:
        """The memory is in use, on another stream than the compute stream, until `event`."""
        pending = [e for e in self._pending or () if not e.ready]
        self._pending = [*pending, event]
        if self._hold is not None:
            self._hold.pending = self._pending

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """A DLPack capsule: of the device's memory where other libraries can address it, else of a copy on the host."""
        from xla_core.runtime import dlpack  # only those who ask pay for ctypes

        return dlpack.export(self, max_version, dl_device, copy)

    def __dlpack_device__(self) -> tuple[int, int]:
        from xla_core.runtime import dlpack

        return dlpack.device_of(self)

    def copy_to_device(self, device: Device | int | str) -> Buffer:
        """The same value on another device; through the host.

        Args:
            device: of any client; or the number or the name ("cpu:1") of one of the buffer's own client.
        """
        if device is self._device:
            return self
        client = getattr(device, "client", self._device.client)
        if client is None:
            raise FailedPreconditionError(f"the client of {device} is gone")
        return client.buffer_from_host(self.to_numpy(), device)

    # -- Python ------------------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        if not self._shape.dimensions:
            raise TypeError("len() of a scalar buffer")
        return self._shape.dimensions[0]

    def __float__(self) -> float:
        return float(self.to_numpy())

    def __int__(self) -> int:
        return int(self.to_numpy())

    def __bool__(self) -> bool:
        return bool(self.to_numpy())

    def item(self) -> Any:
        """The single element as a Python number."""
        return self.to_numpy().item()

    def __repr__(self) -> str:
        shape = self._shape.without_layout()
        if self._memory is None:
            return f"<Buffer {shape}, {self._gone.split()[0]}>"
        return f"<Buffer {shape} on {self._device!r}{'' if self.is_ready() else ', not ready'}>"
