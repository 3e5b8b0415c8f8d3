"""Promises of a host: where to copy bytes to, when a donated buffer is free, and the value of a buffer.

A device works in the order in which work is enqueued, and waits for the host in that order too. A host must enqueue the
work that computes a promised value before the work that uses it, or the device waits for ever.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from xla_core.errors import InvalidArgumentError, XlaError, error_of_status
from xla_core.hlo.values.element_type import ElementType
from xla_core.hlo.values.shape import Shape
from xla_core.pjrt import abi, native, python_entries
from xla_core.pjrt.buffer import PjrtBuffer, element_type_of, host_array, shape_in
from xla_core.pjrt.client import memory_at
from xla_core.pjrt.event import event_address
from xla_core.pjrt.functions import entry_of, implements
from xla_core.pjrt.handles import Handle, handle_at
from xla_core.runtime import Buffer, BufferWriter, HostEvent
from xla_core.runtime.buffers.views import view_of

_RAW_COPY, _DONATION = "Buffer_CopyRawToHostFuture_Callback_Args", "Buffer_DonateWithControlDependency_Callback_Args"


class _Promise(Handle):
    """The object to which a host's callback refers. It ends with the only call of the callback."""

    kind = "Promise"

    def __init__(self) -> None:
        super().__init__()
        self.event = HostEvent()
        self.complete = self.event.arm().complete


class _RawCopy(_Promise):
    """A copy of a buffer's bytes that begins when the host says where to."""

    def __init__(self, buffer: Buffer, offset: int, size: int) -> None:
        super().__init__()
        self._buffer, self._offset, self._size = buffer, offset, size

    def begin(self, destination: int) -> None:
        try:
            array = host_array(destination, ElementType.U8, (self._size,), (1,))
            self._buffer.copy_raw_to_host(array, self._offset).when_ready(self.complete)
        except XlaError as error:
            self.complete(error)


@functools.cache
def _callbacks() -> native.NativeCode:
    """Compiles the functions that hosts call to keep a promise."""
    make_error = native.common().error
    functions = {_RAW_COPY: _raw_copy_begins, _DONATION: _dependency_is_ready}
    return python_entries.compile_entries(
        {name: entry_of(abi.STRUCTS[name], function, make_error) for name, function in functions.items()}
    )


def _error_of(args: Any) -> XlaError | None:
    """Returns the error that a host gives instead of keeping its promise."""
    if not args.error_code:
        return None
    return error_of_status(args.error_code, abi.text_at(args.error_message, args.error_message_size))


def _raw_copy_begins(args: Any) -> None:
    promise = handle_at(args.callback_data, _RawCopy)
    promise.destroy()
    error = _error_of(args)
    if error is None:
        promise.begin(args.dst or 0)
    else:
        promise.complete(error)


def _dependency_is_ready(args: Any) -> None:
    promise = handle_at(args.callback_data, _Promise)
    promise.destroy()
    promise.complete(_error_of(args))


@implements("Buffer_CopyRawToHostFuture")
def _copy_raw_to_host_future(args: Any) -> None:
    buffer = handle_at(args.buffer, PjrtBuffer).buffer
    buffer.require_memory()
    promise = _RawCopy(buffer, args.offset, args.transfer_size)
    args.event = event_address(promise.event)
    args.callback_data, args.future_ready_callback = promise.address, _callbacks().address(_RAW_COPY)


@implements("Buffer_DonateWithControlDependency")
def _donate_with_control_dependency(args: Any) -> None:
    handle = handle_at(args.buffer, PjrtBuffer)
    promise = _Promise()
    view = view_of(handle.buffer, handle.buffer.shape, promise.event)
    handle.withdraw()
    handle.buffer.donate_to("a buffer that waits for the host")
    handle.mark_deleted()
    args.out_buffer = PjrtBuffer(view, handle.memory).address
    args.callback_data, args.dependency_ready_callback = promise.address, _callbacks().address(_DONATION)


@implements("Buffer_Bitcast")
def _bitcast(args: Any) -> None:
    handle = handle_at(args.buffer, PjrtBuffer)
    shape = Shape(element_type_of(args.element_type), abi.integers_at(args.dims, args.num_dims))
    view = view_of(handle.buffer, shape_in(handle.memory, shape, args.device_layout))
    args.out_buffer = PjrtBuffer(view, handle.memory).address


class _Alias(Handle):
    """A buffer that takes the value of another buffer, which the host names later."""

    kind = "AliasBuffer"

    def __init__(self, writer: BufferWriter) -> None:
        super().__init__()
        self._writer = writer
        self._shape = writer.buffer.shape

    def fulfill(self, real: Buffer) -> None:
        """Begins to copy the value of a buffer, which may be on another device."""
        wanted, given = self._shape.without_layout(), real.shape.without_layout()
        if wanted != given:
            raise InvalidArgumentError(f"the alias buffer is {wanted}, and its value {given}")
        array = np.empty(given.dimensions, given.element_type.dtype)
        real.copy_to_host(array).when_ready(lambda error: self._write(array, error))

    def _write(self, array: np.ndarray, error: XlaError | None) -> None:
        try:
            if error is None:
                manager = self._writer.buffer.device.platform.transfer_manager
                self._writer.write(manager.to_device(array, self._shape))
        except XlaError as failure:
            error = failure
        self._writer.finish(error)

    def fail(self, error: XlaError) -> None:
        self._writer.finish(error)


@implements("Client_CreateAliasBuffer")
def _create_alias_buffer(args: Any) -> None:
    memory = memory_at(None, args.memory)
    shape = Shape(element_type_of(args.shape_element_type), abi.integers_at(args.shape_dims, args.shape_num_dims))
    writer = BufferWriter(memory.storage, shape_in(memory, shape, args.shape_layout))
    args.alias_buffer = PjrtBuffer(writer.buffer, memory).address
    args.fulfill_alias_buffer_cb = _Alias(writer).address


@implements("Client_FulfillAliasBuffer")
def _fulfill_alias_buffer(args: Any) -> None:
    alias = handle_at(args.fulfill_alias_buffer_cb, _Alias)
    if args.status_code:
        alias.fail(error_of_status(args.status_code, abi.text_at(args.error_message, args.error_message_size)))
    else:
        alias.fulfill(handle_at(args.buffer, PjrtBuffer).buffer)
    alias.destroy()
