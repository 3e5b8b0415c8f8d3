"""Running compiled programs: clients, devices, buffers, executables, and what a backend on the host may use."""

from xla_core.runtime.allocator import MemoryStats, PoolAllocator
from xla_core.runtime.buffer import Buffer
from xla_core.runtime.client import Client
from xla_core.runtime.device import Device
from xla_core.runtime.dynamic_executable import DynamicExecutable
from xla_core.runtime.host_event import HostEvent
from xla_core.runtime.host_stream import INLINE_MICROSECONDS, HostStream
from xla_core.runtime.loaded_executable import LoadedExecutable
from xla_core.runtime.program import evaluate, parse
from xla_core.runtime.signature import Signature
from xla_core.runtime.static_executable import StaticExecutable
from xla_core.runtime.thunk_executor import ThunkExecutor
from xla_core.runtime.thunk_run import ThunkHandler, ThunkRun

__all__ = [
    "INLINE_MICROSECONDS",
    "Buffer",
    "Client",
    "Device",
    "DynamicExecutable",
    "HostEvent",
    "HostStream",
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
]
