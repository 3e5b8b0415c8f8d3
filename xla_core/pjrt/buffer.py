"""PJRT_Buffer: transfers, and the properties of a buffer."""

from __future__ import annotations

import ctypes
import dataclasses
import time
import weakref
from typing import Any

import numpy as np

from xla_core.backend.event import Event
from xla_core.errors import InvalidArgumentError, UnimplementedError, error_of_status
from xla_core.hlo.values.element_type import ElementType
from xla_core.hlo.values.shape import Layout, Shape
from xla_core.pjrt import abi
from xla_core.pjrt.buffer_pool import BufferPool, strides_of, use_for_uploads
from xla_core.pjrt.client import PjrtDevice, PjrtMemory, memory_at
from xla_core.pjrt.event import event_address
from xla_core.pjrt.functions import implements
from xla_core.pjrt.handles import Handle, Slots, handle_at
from xla_core.pjrt.pool_code import code
from xla_core.pjrt.ready_events import is_ready
from xla_core.runtime import INLINE_MICROSECONDS, Buffer, HostEvent
from xla_core.runtime.shape_cache import intern_shape, row_major_bytes

TYPE_NUMBERS = {kind: kind.pjrt for kind in ElementType if kind.pjrt is not None}
"""PJRT_Buffer_Type: the numbers of the element types."""

TOKEN_NUMBER = TYPE_NUMBERS[ElementType.TOKEN]

_TYPE_OF = {number: element_type for element_type, number in TYPE_NUMBERS.items() if element_type.is_array}

_ZERO_COPY = 2  # PJRT_HostBufferSemantics_kImmutableZeroCopy
_MEMORY_LAYOUT = abi.STRUCTS["Buffer_MemoryLayout"]


class PjrtBuffer(Handle):
    """A buffer that a host owns."""

    kind = "Buffer"

    def __init__(self, buffer: Buffer, memory: PjrtMemory, slots: Slots | None = None) -> None:
        self._buffer, self.memory = buffer, memory
        self.holds: list[object] = []
        self.pool = pool_of(buffer.shape, memory)
        if slots is not None:
            super().__init__(slots)
            return
        super().__init__(self.pool.description.copy())
        self.slots.set(pool=self.pool.address)
        self.publish()

    @property
    def buffer(self) -> Buffer:
        if self.slots["is_deleted"] and not self._buffer.is_deleted():
            self._buffer.donate_to("a program")  # which ran in native code
        return self._buffer

    def publish(self) -> None:
        """Tells native code that the value is computed, once it is."""
        buffer = self.buffer
        if self.slots["data"] or not is_ready(buffer.definition_event):
            return
        self.slots.set(is_ready=True)
        if buffer.memory is not None and self.memory.is_host_addressable:
            code().set(self.slots.address_of("data"), buffer.device.executor.address(buffer.memory) or 0)

    def withdraw(self) -> None:
        """Keeps native code away from the memory, which may be freed or overwritten afterwards.

        Other threads may be reading it in native code: no new read begins, and this function waits for the reads that
        have begun. It polls, because a read takes some microseconds (`INLINE_MICROSECONDS`) and notifying a waiter
        would make each read longer.
        """
        self.holds += [self.buffer.share() for _ in range(code().withdraw(self.address))]
        while self.slots["users"]:
            time.sleep(INLINE_MICROSECONDS * 1e-6)

    def mark_deleted(self) -> None:
        if self.buffer.is_deleted():
            self.slots.set(is_deleted=True)

    def destroy(self) -> None:
        self.withdraw()
        super().destroy()


def pool_of(shape: Shape, memory: PjrtMemory) -> BufferPool:
    """Returns the pool of a memory's buffers of a shape."""
    shape = intern_shape(shape)
    pool = memory.pools.find(shape)
    if pool is None:
        slots = Slots(PjrtBuffer.kind)
        slots.set(**_describe(memory, shape))
        pool = memory.pools.add(BufferPool(memory, shape, slots, PjrtBuffer))
    return pool


def _describe(memory: PjrtMemory, shape: Shape) -> dict[str, Any]:
    dimensions = abi.int64s(shape.dimensions)
    return {
        "type": TYPE_NUMBERS[shape.element_type],
        "dims": dimensions,
        "unpadded_dims": dimensions,
        "num_dims": len(shape.dimensions),
        "on_device_size_in_bytes": memory.storage.byte_size(shape),
        "device": memory.device.address,
        "memory": memory.address,
        "is_on_cpu": memory.is_host_addressable and row_major_bytes(shape) is not None,
    }


def element_type_of(number: int) -> ElementType:
    if number not in _TYPE_OF:
        raise UnimplementedError(f"arrays of PJRT's element type {number} are not supported")
    return _TYPE_OF[number]


# -- from the host -----------------------------------------------------------------------------------------------------


def host_array(address: int, element_type: ElementType, sizes: tuple[int, ...], strides: tuple[int, ...]) -> np.ndarray:
    """Makes an array over a host's memory, with strides in bytes."""
    dtype = element_type.dtype
    if 0 in sizes:
        return np.empty(sizes, dtype)
    if not address:
        raise InvalidArgumentError(f"the pointer to the host's {dtype.name}{list(sizes)} is null")
    spans = [stride * (size - 1) for stride, size in zip(strides, sizes, strict=True)]
    first = sum(span for span in spans if span < 0)
    memory = (ctypes.c_uint8 * (dtype.itemsize + sum(map(abs, spans)))).from_address(address + first)
    return np.ndarray(sizes, dtype, memoryview(memory), -first, strides)


def shape_in(memory: PjrtMemory, shape: Shape, layout: int | None) -> Shape:
    """Returns a shape with a layout: the one at an address, or the memory's default."""
    if layout:
        shape = shape.with_layout(_layout_at(layout, shape))
    else:
        shape = memory.storage.platform.transfer_manager.device_shape(shape)
    if memory.space:
        known = shape.with_default_layout().layout
        assert known is not None
        shape = shape.with_layout(dataclasses.replace(known, memory_space=memory.space))
    return shape


def _layout_at(address: int, shape: Shape) -> Layout:
    """Reads a PJRT_Buffer_MemoryLayout without tiles."""
    wanted = _MEMORY_LAYOUT.from_address(address)
    if wanted.type == 0:
        if wanted.layout.tiled.num_tiles:
            raise UnimplementedError("tiled layouts are not supported")
        return Layout(abi.integers_at(wanted.layout.tiled.minor_to_major, wanted.layout.tiled.minor_to_major_size))
    strides = abi.integers_at(wanted.layout.strides.byte_strides, wanted.layout.strides.num_byte_strides)
    order = sorted(range(len(strides)), key=lambda dimension: (strides[dimension], -dimension))
    return Layout(tuple(order))


def _untiled_layout(shape: Shape) -> Layout:
    layout = shape.with_default_layout().layout
    assert layout is not None
    if layout.tiles:
        raise UnimplementedError(f"the layout of {shape} has tiles", hint="pass a layout for the host's array")
    return layout


@implements("Client_BufferFromHostBuffer")
def _buffer_from_host_buffer(args: Any) -> None:
    memory = memory_at(args.device, args.memory)
    element_type = element_type_of(args.type)
    sizes = abi.integers_at(args.dims, args.num_dims)
    shape = Shape(element_type, sizes)
    strides = abi.integers_at(args.byte_strides, args.num_byte_strides) or strides_of(shape)
    array = host_array(args.data or 0, element_type, sizes, strides)
    immutable = args.host_buffer_semantics == _ZERO_COPY
    on_device = shape_in(memory, shape, args.device_layout)
    buffer = Buffer.from_host(array, memory.storage, on_device, immutable=immutable)
    done: Event | None = None
    if buffer.is_foreign:
        done = released = HostEvent()
        weakref.finalize(array, released.arm().complete).atexit = False
    elif immutable:
        done = buffer.definition_event
    args.done_with_host_buffer = event_address(done)
    handle = PjrtBuffer(buffer, memory)
    args.buffer = handle.address
    if not args.device_layout:
        use_for_uploads(handle.pool)


@implements("Client_CreateUninitializedBuffer")
def _create_uninitialized_buffer(args: Any) -> None:
    memory = memory_at(args.device, args.memory)
    shape = Shape(element_type_of(args.shape_element_type), abi.integers_at(args.shape_dims, args.shape_num_dims))
    shape = shape_in(memory, shape, args.shape_layout)
    args.buffer = PjrtBuffer(Buffer.of_undefined(memory.storage, shape), memory).address


@implements("Client_CreateErrorBuffer")
def _create_error_buffer(args: Any) -> None:
    memory = memory_at(None, args.memory)
    shape = Shape(element_type_of(args.shape_element_type), abi.integers_at(args.shape_dims, args.shape_num_dims))
    error = error_of_status(args.error_code, abi.text_at(args.error_message, args.error_message_size))
    shape = shape_in(memory, shape, args.shape_layout)
    args.buffer = PjrtBuffer(Buffer.of_error(error, memory.storage, shape), memory).address


# -- to the host -------------------------------------------------------------------------------------------------------


@implements("Buffer_ToHostBuffer")
def _to_host_buffer(args: Any) -> None:
    buffer = handle_at(args.src, PjrtBuffer).buffer
    shape = buffer.shape
    size = shape.dtype.itemsize * shape.num_elements
    if not args.dst:
        args.dst_size = size
        return
    if args.dst_size < size:
        raise InvalidArgumentError(f"{shape.without_layout()} needs {size} bytes, and {args.dst_size} are given")
    layout = _layout_at(args.host_layout, shape) if args.host_layout else _untiled_layout(shape)
    strides = strides_of(shape, layout.minor_to_major)
    destination = host_array(args.dst, shape.element_type, shape.dimensions, strides)
    args.event = event_address(buffer.copy_to_host(destination), of_value=True)


@implements("Buffer_CopyRawToHost")
def _copy_raw_to_host(args: Any) -> None:
    buffer = handle_at(args.buffer, PjrtBuffer).buffer
    destination = host_array(args.dst or 0, ElementType.U8, (args.transfer_size,), (1,))
    args.event = event_address(buffer.copy_raw_to_host(destination, args.offset))


@implements("Buffer_ReadyEvent")
def _ready_event(args: Any) -> None:
    args.event = event_address(handle_at(args.buffer, PjrtBuffer).buffer.definition_event, of_value=True)


# -- copies, memory, and the end ---------------------------------------------------------------------------------------


@implements("Buffer_CopyToDevice")
def _copy_to_device(args: Any) -> None:
    handle, device = handle_at(args.buffer, PjrtBuffer), handle_at(args.dst_device, PjrtDevice)
    memory = device.memory_of_kind(handle.memory.name)
    args.dst_buffer = PjrtBuffer(copy_to(handle.buffer, memory), memory).address


@implements("Buffer_CopyToMemory")
def _copy_to_memory(args: Any) -> None:
    memory = memory_at(None, args.dst_memory)
    args.dst_buffer = PjrtBuffer(copy_to(handle_at(args.buffer, PjrtBuffer).buffer, memory), memory).address


def copy_to(buffer: Buffer, memory: PjrtMemory) -> Buffer:
    there = buffer.copy_to_device(memory.storage)
    return there if there is not buffer and there.memory_space == memory.space else there.copy(memory.space)


@implements("Buffer_GetMemoryLayout")
def _memory_layout(args: Any) -> None:
    handle = handle_at(args.buffer, PjrtBuffer)
    layout = _untiled_layout(handle.buffer.shape)
    order = handle.slots.once("minor_to_major", lambda: abi.int64s(layout.minor_to_major))
    args.layout.struct_size, args.layout.type = _MEMORY_LAYOUT.full_size, 0
    tiled = args.layout.layout.tiled
    tiled.struct_size, tiled.num_tiles = abi.STRUCTS["Buffer_MemoryLayout_Tiled"].full_size, 0
    tiled.minor_to_major, tiled.minor_to_major_size = abi.address_of(order), len(layout.minor_to_major)


@implements("Buffer_UnsafePointer")
def _unsafe_pointer(args: Any) -> None:
    args.buffer_pointer = _address(handle_at(args.buffer, PjrtBuffer).buffer)


@implements("Buffer_OpaqueDeviceMemoryDataPointer")
def _opaque_device_memory_data_pointer(args: Any) -> None:
    args.device_memory_ptr = _address(handle_at(args.buffer, PjrtBuffer).buffer)


def _address(buffer: Buffer) -> int:
    address = buffer.device.executor.address(buffer.require_memory())
    if address is None:
        raise UnimplementedError(f"{buffer.device} has no pointers to its memory")
    return address


@implements("Buffer_IncreaseExternalReferenceCount")
def _increase_external_reference_count(args: Any) -> None:
    handle = handle_at(args.buffer, PjrtBuffer)
    handle.holds.append(handle.buffer.share())


@implements("Buffer_DecreaseExternalReferenceCount")
def _decrease_external_reference_count(args: Any) -> None:
    handle_at(args.buffer, PjrtBuffer).holds.pop()


@implements("Buffer_Delete")
def _delete(args: Any) -> None:
    handle = handle_at(args.buffer, PjrtBuffer)
    handle.withdraw()
    handle.buffer.delete()
    handle.mark_deleted()


@implements("Buffer_Destroy")
def _destroy(args: Any) -> None:
    handle_at(args.buffer, PjrtBuffer).destroy()
