"""The table PJRT_Api of one platform."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable
from typing import Any

from xla_core.pjrt import (
    abi,
    abi_table,
    buffer,
    client,
    event,
    executable,
    execution,
    ffi_extension,
    launches,
    native,
    profiler_extension,
    promises,
    python_entries,
    ready_events,
    topology,
    transfers,
    warm_path,
)
from xla_core.pjrt.functions import IMPLEMENTED, entry_of, unimplemented
from xla_core.pjrt.handles import GETTERS, keep_for_ever
from xla_core.runtime import Client

# Importing these modules fills IMPLEMENTED.
_modules = (buffer, client, event, executable, execution, launches, promises, topology, transfers)
_alive: list[abi.Api] = keep_for_ever([])


@functools.cache
def _shared_entries() -> native.NativeCode:
    """Compiles the functions that are the same for all platforms, once a process."""
    make_error = native.common().error
    functions = [name for name in abi_table.FUNCTIONS if name not in (*GETTERS, *native.ERROR_FUNCTIONS)]
    return python_entries.compile_entries(
        {
            name: entry_of(abi.STRUCTS[f"{name}_Args"], IMPLEMENTED.get(name) or unimplemented(name), make_error)
            for name in functions
        }
    )


@functools.cache
def _ready_event_functions() -> native.NativeCode:
    return ready_events.compile_functions(_shared_entries())


@functools.cache
def _warm_functions() -> native.NativeCode:
    return warm_path.compile_functions(_shared_entries())


def _function(name: str) -> int:
    """Returns the address of a function that is the same for all platforms."""
    if name in GETTERS or name in native.ERROR_FUNCTIONS:
        return native.common().address(name)
    if name in ready_events.FUNCTIONS:
        return _ready_event_functions().address(name)
    code = _warm_functions() if name in warm_path.FUNCTIONS else _shared_entries()
    return code.address(name)


def _create_client(args: Any, platform: str, name: str) -> None:
    args.client = client.PjrtClient(Client(platform), name).address


OF_PLATFORM: dict[str, Callable[[Any, str, str], None]] = {
    "Client_Create": _create_client,
    "TopologyDescription_Create": topology.create_topology,
    "TopologyDescription_Deserialize": topology.read_topology,
}
"""The functions that depend on the table's platform. They take the arguments, the backend's name and the platform's."""


def make_api(platform: str, name: str | None = None) -> int:
    """Makes the table of functions for a backend and returns its address. No device is opened before a function of
    OF_PLATFORM is called.

    Args:
        platform: the backend's name.
        name: the platform's name that hosts see; by default the backend's.
    """
    make_error = native.common().error
    names = {"platform": platform, "name": name or platform}
    own = python_entries.compile_entries(
        {
            key: entry_of(abi.STRUCTS[f"{key}_Args"], functools.partial(function, **names), make_error)
            for key, function in OF_PLATFORM.items()
        }
    )
    version = abi.STRUCTS["Api_Version"]
    api = abi.Api(struct_size=ctypes.sizeof(abi.Api))
    api.pjrt_api_version = version(version.full_size, None, abi_table.MAJOR_VERSION, abi_table.MINOR_VERSION)
    for function in abi_table.FUNCTIONS:
        setattr(api, function, _function(function))
    api.extension_start = ffi_extension.extension_address(profiler_extension.extension_address())
    for key in OF_PLATFORM:
        setattr(api, key, own.address(key))
    _alive.append(api)
    return ctypes.addressof(api)


def capsule(address: int) -> Any:
    """Wraps the table's address in the capsule that jaxlib takes."""
    make = ctypes.pythonapi.PyCapsule_New
    make.restype, make.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
    return make(address, b"pjrt_c_api", None)
