"""The contract: the classes that a vendor implements.

Read the modules in this order: hooks, platform, stream_executor, device_memory, stream, event, compiler,
ahead_of_time, executable, native_entry, transfer_manager, literal_queue, communicator. The registry is the core's part.
A vendor must implement the abstract methods; every other method has a default that works.
"""

from xla_core.backend.ahead_of_time import AheadOfTimeOptions
from xla_core.backend.communicator import Communicator
from xla_core.backend.compiler import Compiler
from xla_core.backend.device_memory import DeviceMemory
from xla_core.backend.event import Event
from xla_core.backend.executable import Artifacts, CompilationReport, Executable, ExecutableMemoryStats
from xla_core.backend.hooks import ENTRY_POINT_GROUP, Availability, BackendSpec, Requirement, hookimpl, hookspec
from xla_core.backend.literal_queue import LiteralQueue
from xla_core.backend.native_entry import NativeEntry
from xla_core.backend.platform import Platform
from xla_core.backend.registry import BackendInfo, backends, inspect_backends, load_backend
from xla_core.backend.stream import HostBytes, Kernel, Stream
from xla_core.backend.stream_executor import Allocator, DeviceFeatures, RunOptions, StreamExecutor
from xla_core.backend.transfer_manager import TransferManager
from xla_core.backend.version import CONTRACT_VERSION
from xla_core.compile_options import BackendOptions, CompileOptions
from xla_core.event_callbacks import EventCallback

__all__ = [
    "CONTRACT_VERSION",
    "ENTRY_POINT_GROUP",
    "AheadOfTimeOptions",
    "Allocator",
    "Artifacts",
    "Availability",
    "BackendInfo",
    "BackendOptions",
    "BackendSpec",
    "Communicator",
    "CompilationReport",
    "CompileOptions",
    "Compiler",
    "DeviceFeatures",
    "DeviceMemory",
    "Event",
    "EventCallback",
    "Executable",
    "ExecutableMemoryStats",
    "HostBytes",
    "Kernel",
    "LiteralQueue",
    "NativeEntry",
    "Platform",
    "Requirement",
    "RunOptions",
    "Stream",
    "StreamExecutor",
    "TransferManager",
    "backends",
    "hookimpl",
    "hookspec",
    "inspect_backends",
    "load_backend",
]
