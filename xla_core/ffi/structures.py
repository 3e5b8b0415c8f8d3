"""The structures and functions of XLA's FFI, as data. (XLA: xla/ffi/api/c_api.h, version 0.3.)"""

from __future__ import annotations

import ctypes
import enum

from xla_core.c_structures import read_structures

MAJOR_VERSION, MINOR_VERSION = 0, 3

_STRUCTURES = """
Extension_Base!: struct_size:z type:i next
Api_Version: major_version:i minor_version:i
Error_Create_Args: message errc:i
Error_GetMessage_Args: error message
Error_Destroy_Args: error
Buffer: dtype:i data rank:l dims
ByteSpan!: ptr len:z
Scalar!: dtype:i value
Array!: dtype:i size:z data
TypeId!: type_id:l
TypeInfo: deleter
Future_Create_Args: future
Future_SetAvailable_Args: future
Future_SetError_Args: future error
Args: size:l types args
Rets: size:l types rets
Attrs: size:l types names attrs
CallFrame: api ctx stage:i args:Args rets:Rets attrs:Attrs future
Handler_Bundle!: instantiate prepare initialize execute
Handler_Register_Args: name:ByteSpan platform:ByteSpan bundle:Handler_Bundle traits:I
Type_Register_Args: name:ByteSpan type_id type_info
ExecutionContext_Get_Args: ctx type_id data
State_Set_Args: ctx stage:i type_id state
State_Get_Args: ctx stage:i type_id state
Stream_Get_Args: ctx stream
DeviceMemory_Allocate_Args: ctx size:z alignment:z data
DeviceMemory_Free_Args: ctx size:z data
ThreadPool_Schedule_Args: ctx task data
ThreadPool_NumThreads_Args: ctx num_threads
RunId_Get_Args: ctx run_id:l
DeviceOrdinal_Get_Args: ctx device_ordinal:i
Metadata!: struct_size:z api_version:Api_Version traits:I state_type_id:TypeId
Metadata_Extension!: extension_base:Extension_Base metadata
"""

STRUCTS = read_structures(_STRUCTURES)
"""The structures by their names without `XLA_FFI_`."""

_FUNCTIONS_TEXT = """
    Error_Create Error_GetMessage Error_Destroy Handler_Register Stream_Get Type_Register ExecutionContext_Get State_Set
    State_Get DeviceMemory_Allocate DeviceMemory_Free ThreadPool_Schedule ThreadPool_NumThreads Future_Create
    Future_SetAvailable Future_SetError RunId_Get DeviceOrdinal_Get
"""

FUNCTIONS = tuple(_FUNCTIONS_TEXT.split())
"""The functions of the table `XLA_FFI_Api`, in order and without `XLA_FFI_`. Each takes the structure NAME_Args."""


class Api(ctypes.Structure):
    """The table of functions that a handler may call."""

    _fields_ = (
        ("struct_size", ctypes.c_size_t),
        ("extension_start", ctypes.c_void_p),
        ("api_version", STRUCTS["Api_Version"]),
        ("internal_api", ctypes.c_void_p),
        *[(name, ctypes.c_void_p) for name in FUNCTIONS],
    )


class Stage(enum.IntEnum):
    """When a handler is called: once for each custom call of a program, or in each execution."""

    INSTANTIATE = 0
    PREPARE = 1
    INITIALIZE = 2
    EXECUTE = 3


class AttributeKind(enum.IntEnum):
    ARRAY = 1
    DICTIONARY = 2
    SCALAR = 3
    STRING = 4


BUFFER = 1  # the only kind of operands and results
METADATA_EXTENSION = 1

HANDLER = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)
"""A handler takes a CallFrame and returns an error or null. It is called without the GIL."""
