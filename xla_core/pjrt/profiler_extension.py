"""PJRT's profiler extension: a host records what the devices do.

One profiler serves all platforms. It costs nothing until a host starts it. (XLA: xla/pjrt/c/
pjrt_c_api_profiler_extension.h, version 1, and xla/backends/profiler/plugin/profiler_c_api.h.)
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import itertools
import time
from typing import Any

from xla_core import profiler
from xla_core.c_structures import read_structures
from xla_core.errors import FailedPreconditionError, InvalidArgumentError
from xla_core.pjrt import abi, native, python_entries
from xla_core.pjrt.functions import entry_of
from xla_core.pjrt.handles import keep_for_ever
from xla_core.pjrt.xspace import write_xspace

TYPE = 1

STRUCTS = read_structures(
    f"""
{abi.EXTENSION_BASE}
Create_Args!: struct_size:z options options_size:z profiler
Destroy_Args!: struct_size:z profiler
Start_Args!: struct_size:z profiler
Stop_Args!: struct_size:z profiler
CollectData_Args!: struct_size:z profiler buffer buffer_size_in_bytes:z
Api!: struct_size:z priv error_destroy error_message error_get_code create destroy start stop collect_data
Extension!: base:Extension_Base profiler_api traceme_context_id:l
"""
)
"""The structures by their names without `PLUGIN_Profiler_` and `PJRT_Profiler_`."""


class _Session:
    """The recording of a host between a start and a stop."""

    def __init__(self) -> None:
        self._ends = contextlib.ExitStack()
        self._profiler: profiler.Profiler | None = None
        self._first = self._epoch = 0
        self.data: ctypes.Array[ctypes.c_char] = (ctypes.c_char * 0)()

    def start(self) -> None:
        if self._profiler is not None:
            raise FailedPreconditionError("the profiler is started already")
        self._epoch = time.time_ns() - time.perf_counter_ns()
        self._profiler = self._ends.enter_context(profiler.trace())
        self._first = len(self._profiler.spans)

    def stop(self) -> None:
        if self._profiler is None:
            raise FailedPreconditionError("the profiler is not started")
        self._ends.close()
        data = write_xspace(self._profiler.spans[self._first :], self._epoch)
        self.data = (ctypes.c_char * len(data)).from_buffer_copy(data)
        self._profiler = None

    def close(self) -> None:
        self._ends.close()


_sessions: dict[int, _Session] = {}
_numbers = itertools.count(1)


def _session(args: Any) -> _Session:
    found = _sessions.get(args.profiler or 0)
    if found is None:
        raise InvalidArgumentError(f"{args.profiler or 0} is no profiler")
    return found


def _create(args: Any) -> None:
    args.profiler = next(_numbers)
    _sessions[args.profiler] = _Session()


def _destroy(args: Any) -> None:
    _session(args).close()
    del _sessions[args.profiler]


def _start(args: Any) -> None:
    _session(args).start()


def _stop(args: Any) -> None:
    _session(args).stop()


def _collect_data(args: Any) -> None:
    """Gives the XSpace, which lives as long as the profiler, or writes it to the buffer of a host that has one.

    jaxlib reads what it is given. By XLA's header, a host makes a buffer of the size that it is told first.
    """
    data = _session(args).data
    if not args.buffer:
        args.buffer = ctypes.addressof(data)
    elif args.buffer_size_in_bytes < len(data):
        raise InvalidArgumentError(f"the buffer has {args.buffer_size_in_bytes} of {len(data)} bytes")
    else:
        ctypes.memmove(args.buffer, data, len(data))
    args.buffer_size_in_bytes = len(data)


_FUNCTIONS = {
    "create": ("Create_Args", _create),
    "destroy": ("Destroy_Args", _destroy),
    "start": ("Start_Args", _start),
    "stop": ("Stop_Args", _stop),
    "collect_data": ("CollectData_Args", _collect_data),
}


@functools.cache
def extension_address() -> int:
    """Returns the address of the extension, which is the same for all platforms and lives as long as the process."""
    common = native.common()
    entries = {  # jaxlib does not set `struct_size`
        name: entry_of(STRUCTS[args], function, common.error, is_sized=False)
        for name, (args, function) in _FUNCTIONS.items()
    }
    code = python_entries.compile_entries(entries)
    api = keep_for_ever(STRUCTS["Api"]())
    api.struct_size = type(api).full_size
    for name, of_pjrt in (  # its errors are PJRT's, and so are the arguments of these functions
        ("error_destroy", "Error_Destroy"),
        ("error_message", "Error_Message"),
        ("error_get_code", "Error_GetCode"),
    ):
        setattr(api, name, common.address(of_pjrt))
    for name in _FUNCTIONS:
        setattr(api, name, code.address(name))
    extension = keep_for_ever(STRUCTS["Extension"](profiler_api=ctypes.addressof(api)))
    extension.base.struct_size, extension.base.type = type(extension).full_size, TYPE
    return ctypes.addressof(extension)
