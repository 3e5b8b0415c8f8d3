"""Running programs on a backend's devices. A module or package imports only from the rows below its own.

| module or package | what is in it |
|---|---|
| `client` | the devices of one platform, and the operations on them |
| `platform_choice` | the platform of a client that names none |
| `executables` | compiled programs: compiling, running, serializing |
| `thunks`, `programs` | runs a schedule of thunks, for backends; reads any program into HLO |
| `buffers` | arrays on a device |
| `device` | streams and memory of one device, and the devices of one client |
| `communicators` | makes the communicators of an execution, and ends those of devices that could not be started |
| `in_process_communicator` | collectives between the devices of one process |
| `host`, `memory` | streams and events on host threads, for backends; memory pools |
| `host_array`, `shape_cache` | arrays of the host; shapes that calls share |

Code here uses devices only through the classes of `xla_core.backend`, and another object's memory only through
`TrackedBuffer`'s protocol. Only `device_program`, and `static_executable` for a buffer's definition
event, read a buffer's fields directly, because they run in every call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_core.lazy_names import loads_on_use
from xla_core.runtime.buffers.buffer import Buffer
from xla_core.runtime.client import Client
from xla_core.runtime.device import Device
from xla_core.runtime.executables.loaded_executable import LoadedExecutable
from xla_core.runtime.executables.static_executable import StaticExecutable
from xla_core.runtime.host.event import HostEvent
from xla_core.runtime.host.short_work import INLINE_MICROSECONDS, SKIPPED_RUNS
from xla_core.runtime.host.stream import HostStream
from xla_core.runtime.in_process_communicator import InProcessCommunicator, InProcessRendezvous, rendezvous_of
from xla_core.runtime.memory.allocator import PoolAllocator
from xla_core.runtime.memory.memory_stats import MemoryStats
from xla_core.runtime.programs.program import evaluate, parse
from xla_core.runtime.programs.signature import Signature

if TYPE_CHECKING:
    from xla_core.runtime.buffers.buffer_writer import BufferWriter
    from xla_core.runtime.executables.dynamic_executable import DynamicExecutable
    from xla_core.runtime.thunks.thunk_executor import ThunkExecutor
    from xla_core.runtime.thunks.thunk_run import ThunkHandler, ThunkRun

__all__ = [
    "INLINE_MICROSECONDS",
    "SKIPPED_RUNS",
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
    "BufferWriter": "buffers.buffer_writer",
    "DynamicExecutable": "executables.dynamic_executable",
    "ThunkExecutor": "thunks.thunk_executor",
    "ThunkHandler": "thunks.thunk_run",
    "ThunkRun": "thunks.thunk_run",
}


__getattr__ = loads_on_use(__name__, _LOADED_WHEN_USED)
