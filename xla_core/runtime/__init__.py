"""Running programs on a backend's devices. A module imports only from those below its own line.

    client                      the devices of one platform, and the operations on them
    compilation                 compiles a program to an executable on a client's devices
    dynamic_executable          is compiled for each signature; specialization_cache keeps the compilations
    static_executable           has one compilation; device_program enqueues it, sized_results slices its results
    loaded_executable           base class of both; serialization writes and reads them; signature has argument shapes
    buffer                      an array on a device; buffer_writer writes one in parts, dlpack shares it
    tracked_buffer              memory, its definition event and its users: the protocol for code that enqueues work
    device                      streams and memory of one device, and the devices of one client
    allocator                   pools memory; idle_memory returns what nobody uses any longer to the device;
                                memory_stats says what memory is used for
    thunk_executor              runs a schedule of thunks, for backends; thunk_run, host_thunks, device_constants
    in_process_communicator     collectives between the devices of one process
    host_stream, host_event     streams and events on host threads, for backends; host_queue runs their work
    program, bounded_module     read any program into HLO; shape_cache, host_array, handle and
                                platform_choice import none of these

Code here uses devices only through the classes of `xla_core.backend`, and another object's memory only through
`TrackedBuffer`'s protocol. Only `device_program` reads a buffer's fields directly, because it runs in every call.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from xla_core.runtime.allocator import PoolAllocator
from xla_core.runtime.buffer import Buffer
from xla_core.runtime.client import Client
from xla_core.runtime.device import Device
from xla_core.runtime.host_event import HostEvent
from xla_core.runtime.host_queue import INLINE_MICROSECONDS
from xla_core.runtime.host_stream import HostStream
from xla_core.runtime.in_process_communicator import InProcessCommunicator, InProcessRendezvous, rendezvous_of
from xla_core.runtime.loaded_executable import LoadedExecutable
from xla_core.runtime.memory_stats import MemoryStats
from xla_core.runtime.program import evaluate, parse
from xla_core.runtime.signature import Signature
from xla_core.runtime.static_executable import StaticExecutable

if TYPE_CHECKING:
    from xla_core.runtime.buffer_writer import BufferWriter
    from xla_core.runtime.dynamic_executable import DynamicExecutable
    from xla_core.runtime.thunk_executor import ThunkExecutor
    from xla_core.runtime.thunk_run import ThunkHandler, ThunkRun

__all__ = [
    "INLINE_MICROSECONDS",
    "Buffer",
    "BufferWriter",
    "Client",
    "Device",
    "DynamicExecutable",
    "HostEvent",
    "HostStream",
    "InProcessCommunicator",
    "InProcessRendezvous",
    "LoadedExecutable",
    "MemoryStats",
    "PoolAllocator",
    "Signature",
    "StaticExecutable",
    "ThunkExecutor",
    "ThunkHandler",
    "ThunkRun",
    "evaluate",
    "parse",
    "rendezvous_of",
]

_LOADED_WHEN_USED = {
    "BufferWriter": "buffer_writer",
    "DynamicExecutable": "dynamic_executable",
    "ThunkExecutor": "thunk_executor",
    "ThunkHandler": "thunk_run",
    "ThunkRun": "thunk_run",
}


def __getattr__(name: str) -> Any:
    if name not in _LOADED_WHEN_USED:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_LOADED_WHEN_USED[name]}"), name)
