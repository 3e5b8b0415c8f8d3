"""The table of functions that a handler may call, `XLA_FFI_Api`."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable
from typing import Any

from xla_core.errors import InvalidArgumentError, NotFoundError, UnimplementedError
from xla_core.ffi import objects
from xla_core.ffi.structures import FUNCTIONS, HANDLER, MAJOR_VERSION, MINOR_VERSION, STRUCTS, Api
from xla_core.registration import registers_in

_Task = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_TypeId, _TypeInfo, _Version = STRUCTS["TypeId"], STRUCTS["TypeInfo"], STRUCTS["Api_Version"]

Function = Callable[[Any], int | None]

_IMPLEMENTED: dict[str, Function] = {}


_implements = registers_in(_IMPLEMENTED)
"""Makes a decorator for a function of the structure of arguments. It returns an error's pointer, or raises it."""


@_implements("Error_Create")
def _error_create(args: Any) -> int:
    return objects.make_error(args.errc, ctypes.string_at(args.message) if args.message else b"")


@_implements("Error_GetMessage")
def _error_get_message(args: Any) -> None:
    args.message = args.error  # an error's pointer is that of its text


@_implements("Error_Destroy")
def _error_destroy(args: Any) -> None:
    objects.destroy_error(args.error)


@_implements("Stream_Get")
def _stream_get(args: Any) -> None:
    raise UnimplementedError("handlers run on the host, where there is no stream")


@_implements("Type_Register")
def _type_register(args: Any) -> None:
    type_id = _TypeId.from_address(args.type_id)
    deleter = _TypeInfo.from_address(args.type_info).deleter if args.type_info else None
    type_id.type_id = objects.register_type(_text(args.name), type_id.type_id, deleter)


@_implements("ExecutionContext_Get")
def _execution_context_get(args: Any) -> None:
    raise NotFoundError(f"the execution has no user data of the type {_number(args)}")


@_implements("State_Set")
def _state_set(args: Any) -> None:
    _require_stage(args)
    objects.context_at(args.ctx).states(args.stage).set(args.stage, _number(args), args.state)


@_implements("State_Get")
def _state_get(args: Any) -> None:
    _require_stage(args)
    args.state = objects.context_at(args.ctx).states(args.stage).get(args.stage, _number(args))


@_implements("DeviceMemory_Allocate")
def _device_memory_allocate(args: Any) -> None:
    args.data = objects.context_at(args.ctx).allocate(args.size, args.alignment)


@_implements("DeviceMemory_Free")
def _device_memory_free(args: Any) -> None:
    objects.context_at(args.ctx).memory.pop(args.data or 0, None)


@_implements("ThreadPool_Schedule")
def _thread_pool_schedule(args: Any) -> None:
    _Task(args.task)(args.data)


@_implements("ThreadPool_NumThreads")
def _thread_pool_num_threads(args: Any) -> None:
    ctypes.c_int64.from_address(args.num_threads).value = 1


@_implements("Future_Create")
def _future_create(args: Any) -> None:
    args.future = objects.make_future()


@_implements("Future_SetAvailable")
def _future_set_available(args: Any) -> None:
    objects.complete_future(args.future, None)


@_implements("Future_SetError")
def _future_set_error(args: Any) -> None:
    objects.complete_future(args.future, objects.take_error(args.error))


@_implements("RunId_Get")
def _run_id_get(args: Any) -> None:
    args.run_id = objects.context_at(args.ctx).run_id


@_implements("DeviceOrdinal_Get")
def _device_ordinal_get(args: Any) -> None:
    args.device_ordinal = objects.context_at(args.ctx).device_ordinal


@_implements("Handler_Register")
def _handler_register(args: Any) -> None:
    raise UnimplementedError("handlers are registered by jax.ffi.register_ffi_target or xla_core.ffi")


def _text(span: Any) -> str:
    return ctypes.string_at(span.ptr, span.len).decode("utf-8", "replace")


def _number(args: Any) -> int:
    return int(_TypeId.from_address(args.type_id).type_id)


def _require_stage(args: Any) -> None:
    """Refuses the structure of version 0.1, which had no stage and other offsets after it."""
    if args.struct_size < type(args).full_size:
        raise InvalidArgumentError("the handler was compiled with an older xla/ffi/api: compile it with jaxlib's")


def _callback(name: str) -> Any:
    function, at = _IMPLEMENTED[name], STRUCTS[f"{name}_Args"].from_address

    def call(address: int) -> int:
        try:
            return function(at(address)) or 0
        except BaseException as error:  # an exception can't pass through the handler
            return objects.error_from(error)

    return HANDLER(call)


@functools.cache
def api_table() -> Api:
    """Returns the table, which is the same for all handlers and lives as long as the process."""
    table = Api(struct_size=ctypes.sizeof(Api))
    table.api_version = _Version(_Version.full_size, None, MAJOR_VERSION, MINOR_VERSION)
    for name in FUNCTIONS:
        callback = _callback(name)
        _callbacks.append(callback)
        setattr(table, name, ctypes.cast(callback, ctypes.c_void_p).value)
    return table


_callbacks: list[Any] = []
