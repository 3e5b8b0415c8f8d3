"""PJRT's FFI extension: a host registers native functions as custom calls.

(XLA: xla/pjrt/c/pjrt_c_api_ffi_extension.h, version 3.)
"""

from __future__ import annotations

import ctypes
import functools
from typing import Any

from xla_core.c_structures import read_structures
from xla_core.errors import UnimplementedError
from xla_core.ffi import register_ffi_handler
from xla_core.ffi.objects import register_type
from xla_core.pjrt import abi, native, python_entries
from xla_core.pjrt.functions import entry_of
from xla_core.pjrt.handles import keep_for_ever

TYPE = 5

STRUCTS = read_structures(
    f"""
{abi.EXTENSION_BASE}
Type_Register_Args: type_name type_name_size:z type_id:l type_info
UserData!: type_id:l data deleter
UserData_Add_Args: context user_data:UserData
Register_Handler_Args!: struct_size:z target_name target_name_size:z handler platform_name platform_name_size:z traits:i
Extension!: base:Extension_Base type_register user_data_add register_handler
"""
)
"""The structures by their names without `PJRT_FFI_`."""


def _type_register(args: Any) -> None:
    name = abi.text_at(args.type_name, args.type_name_size)
    deleter = ctypes.c_void_p.from_address(args.type_info).value if args.type_info else None
    args.type_id = register_type(name, args.type_id, deleter)


def _user_data_add(args: Any) -> None:
    raise UnimplementedError("PJRT_FFI_UserData_Add is not implemented")


def _register_handler(args: Any) -> None:
    """Registers the handler for every platform, as all run handlers on the host."""
    register_ffi_handler(abi.text_at(args.target_name, args.target_name_size), args.handler or 0)


_FUNCTIONS = {
    "type_register": ("Type_Register_Args", _type_register),
    "user_data_add": ("UserData_Add_Args", _user_data_add),
    "register_handler": ("Register_Handler_Args", _register_handler),
}


@functools.cache
def extension_address(following: int) -> int:
    """Returns the address of the extension, which is the same for all platforms and lives as long as the process.

    Args:
        following: the address of the next extension.
    """
    error = native.common().error
    entries = {name: entry_of(STRUCTS[args], function, error) for name, (args, function) in _FUNCTIONS.items()}
    code = python_entries.compile_entries(entries)
    extension = keep_for_ever(STRUCTS["Extension"]())
    base = extension.base
    base.struct_size, base.type, base.next = type(extension).full_size, TYPE, following
    for name in _FUNCTIONS:
        setattr(extension, name, code.address(name))
    return ctypes.addressof(extension)
