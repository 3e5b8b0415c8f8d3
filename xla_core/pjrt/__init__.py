"""PJRT's C interface over the runtime, by which every backend is a device of JAX and of other hosts of PJRT.

    jax_plugin          registers the installed backends with JAX
    shared_library      makes a library of a backend for hosts that are not Python programs
    api                 makes the table of functions of one platform
    executable          programs: PJRT_Executable, PJRT_LoadedExecutable; compile_options reads their options
    execution           Execute in Python
    program             the code and the signature of a program
    transfers           arrays that the host writes in parts or lends the memory of
    buffer              arrays: PJRT_Buffer
    client              PJRT_Client, its devices, their memories and the topology
    event               PJRT_Event
    ffi_extension       the extension by which a host registers native functions as custom calls
    profiler_extension  the extension by which a host profiles the devices
    xspace              writes spans in the format of the host's profiler
    warm_path           native functions for the calls that hosts make all the time
    native_execute      the native function for Execute
    native_buffers      the native functions for buffers; native_text has the pieces that both share
    buffer_pool         pools of buffers that need no Python; pool_code has their native functions
    ready_events        native functions for events that are ready
    functions           enters what Python implements in a table, and makes entries of it
    python_entries      the native functions that call Python, from whichever thread
    native              the native functions that need no Python
    handles             what pointers of a host stand for
    abi, abi_table      C structures, and their description as data

Code here uses the public names of the runtime. (XLA: xla/pjrt/c/pjrt_c_api.h.)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_core.lazy_names import loads_on_use

if TYPE_CHECKING:
    from xla_core.pjrt.api import make_api
    from xla_core.pjrt.shared_library import build_library

__all__ = ["build_library", "make_api"]

_LOADED_WHEN_USED = {"build_library": "shared_library", "make_api": "api"}  # JAX imports this package when it starts


__getattr__ = loads_on_use(__name__, _LOADED_WHEN_USED)
