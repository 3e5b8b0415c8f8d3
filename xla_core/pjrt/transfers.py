"""Arrays that the host writes in parts (PJRT_AsyncHostToDeviceTransferManager), and memory of the host's own."""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Sequence
from typing import Any

from xla_core.errors import CancelledError, InvalidArgumentError, UnimplementedError, XlaError, error_of_status
from xla_core.hlo.values.element_type import ElementType
from xla_core.hlo.values.shape import Shape
from xla_core.pjrt import abi
from xla_core.pjrt.buffer import PjrtBuffer, element_type_of, host_array, shape_in
from xla_core.pjrt.buffer_pool import strides_of
from xla_core.pjrt.client import PjrtMemory, memory_at
from xla_core.pjrt.event import event_address
from xla_core.pjrt.functions import implements
from xla_core.pjrt.handles import Handle, handle_at
from xla_core.runtime import Buffer, BufferWriter

_ShapeSpec = abi.STRUCTS["ShapeSpec"]
_OnDelete = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)


class PjrtTransferManager(Handle):
    """Arrays of one memory that the host writes in parts. The host may get their buffers before they are written."""

    kind = "AsyncHostToDeviceTransferManager"

    def __init__(self, memory: PjrtMemory, shapes: Sequence[Shape]) -> None:
        super().__init__()
        self.memory, self.shapes = memory, shapes
        self.writers = [BufferWriter(memory.storage, shape) for shape in shapes]
        self._open = set(range(len(shapes)))

    def check(self, index: int) -> int:
        if not 0 <= index < len(self.shapes):
            raise InvalidArgumentError(f"there is no buffer {index} among {len(self.shapes)}")
        return index

    def finish(self, index: int, error: XlaError | None = None) -> None:
        self.writers[self.check(index)].finish(error)
        self._open.discard(index)

    def destroy(self) -> None:
        for index in tuple(self._open):
            self.finish(index, CancelledError("the host destroyed the transfer manager before the last transfer"))
        super().destroy()


def _manager(args: Any) -> PjrtTransferManager:
    return handle_at(args.transfer_manager, PjrtTransferManager)


@implements("Client_CreateBuffersForAsyncHostToDevice")
def _create_buffers(args: Any) -> None:
    memory = memory_at(None, args.memory)
    size = ctypes.sizeof(_ShapeSpec)
    specs = [_ShapeSpec.from_address(args.shape_specs + index * size) for index in range(args.num_shape_specs)]
    layouts: Sequence[int | None] = [None] * len(specs)
    if args.num_device_layouts:
        layouts = abi.pointers_at(args.device_layouts, args.num_device_layouts)
    if len(layouts) != len(specs):
        raise InvalidArgumentError(f"there are {len(layouts)} layouts for {len(specs)} shapes")
    shapes = [
        shape_in(memory, Shape(element_type_of(spec.element_type), abi.integers_at(spec.dims, spec.num_dims)), layout)
        for spec, layout in zip(specs, layouts, strict=True)
    ]
    args.transfer_manager = PjrtTransferManager(memory, shapes).address


@implements("AsyncHostToDeviceTransferManager_TransferData")
def _transfer_data(args: Any) -> None:
    manager = _manager(args)
    writer = manager.writers[manager.check(args.buffer_index)]
    if args.transfer_size:
        writer.write(host_array(args.data or 0, ElementType.U8, (args.transfer_size,), (1,)), args.offset)
    if args.is_last_transfer:
        manager.finish(args.buffer_index)
    args.done_with_h2d_transfer = event_address(None)  # `write` has copied the bytes


@implements("AsyncHostToDeviceTransferManager_TransferLiteral")
def _transfer_literal(args: Any) -> None:
    manager = _manager(args)
    shape = manager.shapes[manager.check(args.buffer_index)]
    given = Shape(element_type_of(args.shape_element_type), abi.integers_at(args.shape_dims, args.shape_num_dims))
    if given != shape.without_layout():
        raise InvalidArgumentError(f"buffer {args.buffer_index} is {shape.without_layout()}, not {given}")
    array = host_array(args.data or 0, given.element_type, given.dimensions, strides_of(given))
    data = manager.memory.storage.platform.transfer_manager.to_device(array, shape)
    manager.writers[args.buffer_index].write(data)
    manager.finish(args.buffer_index)
    args.done_with_h2d_transfer = event_address(None)


@implements("AsyncHostToDeviceTransferManager_SetBufferError")
def _set_buffer_error(args: Any) -> None:
    error = error_of_status(args.error_code, abi.text_at(args.error_message, args.error_message_size))
    _manager(args).finish(args.buffer_index, error)


@implements("AsyncHostToDeviceTransferManager_RetrieveBuffer")
def _retrieve_buffer(args: Any) -> None:
    manager = _manager(args)
    buffer = manager.writers[manager.check(args.buffer_index)].buffer
    args.buffer_out = PjrtBuffer(buffer, manager.memory).address


@implements("AsyncHostToDeviceTransferManager_Device")
def _device(args: Any) -> None:
    args.device_out = _manager(args).memory.device.address


@implements("AsyncHostToDeviceTransferManager_BufferCount")
def _buffer_count(args: Any) -> None:
    args.buffer_count = len(_manager(args).shapes)


@implements("AsyncHostToDeviceTransferManager_BufferSize")
def _buffer_size(args: Any) -> None:
    manager = _manager(args)
    args.buffer_size = manager.memory.storage.byte_size(manager.shapes[manager.check(args.buffer_index)])


@implements("AsyncHostToDeviceTransferManager_AddMetadata")
def _add_metadata(args: Any) -> None:
    pass  # it is for the host's own traces


@implements("AsyncHostToDeviceTransferManager_Destroy")
def _destroy(args: Any) -> None:
    _manager(args).destroy()


class _HostMemory:
    """Memory that a host lends. It is told when nothing uses it any longer."""


@implements("Client_CreateViewOfDeviceBuffer")
def _create_view(args: Any) -> None:
    memory = memory_at(args.device, args.memory)
    shape = Shape(element_type_of(args.element_type), abi.integers_at(args.dims, args.num_dims))
    owner, address = _HostMemory(), args.device_buffer_ptr or 0
    buffer = Buffer.of_foreign_memory(address, memory.storage, shape_in(memory, shape, args.layout), owner)
    if buffer is None:
        raise UnimplementedError(
            f"{memory.name} memory of {memory.device.device!r} can't use {shape} at {address:#x} in place: it takes "
            "row-major arrays with elements, at addresses of its alignment",
            hint="copy the array with PJRT_Client_BufferFromHostBuffer",
        )
    if args.on_delete_callback:
        callback = _OnDelete(args.on_delete_callback)
        weakref.finalize(owner, callback, address, args.on_delete_callback_arg).atexit = False
    args.buffer = PjrtBuffer(buffer, memory).address


@implements("Client_DmaMap")
def _dma_map(args: Any) -> None:
    pass  # transfers take any memory of the host; a backend that needs pinned memory copies it there


@implements("Client_DmaUnmap")
def _dma_unmap(args: Any) -> None:
    pass


class PjrtExecuteContext(Handle):
    """Data that a host passes to an execution for its native functions. Nothing is kept here: see `ffi_extension`."""

    kind = "ExecuteContext"


@implements("ExecuteContext_Create")
def _execute_context_create(args: Any) -> None:
    args.context = PjrtExecuteContext().address


@implements("ExecuteContext_Destroy")
def _execute_context_destroy(args: Any) -> None:
    handle_at(args.context, PjrtExecuteContext).destroy()
