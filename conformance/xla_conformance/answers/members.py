"""The public members of the contract's classes, and those that do something instead of answering."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping

from xla_core.backend import (
    Compiler,
    DeviceFeatures,
    DeviceMemory,
    Event,
    Executable,
    LiteralQueue,
    Platform,
    Stream,
    StreamExecutor,
    TransferManager,
)
from xla_core.backend.executable import CompilationReport, ExecutableMemoryStats
from xla_core.target import DeviceDescription

CLASSES: tuple[type, ...] = (
    *(Platform, Compiler, Executable, CompilationReport, ExecutableMemoryStats, TransferManager, LiteralQueue),
    *(StreamExecutor, DeviceFeatures, DeviceDescription, Stream, Event, DeviceMemory),
)

ACTIONS: Mapping[str, str] = {
    "Platform": "create_executor create_compiler create_transfer_manager close_transfers close",
    "Compiler": "run_backend run_hlo_passes compile compile_ahead_of_time ahead_of_time_files deserialize",
    "Executable": "execute_async_on_stream close",
    "TransferManager": "transfer_to_device_async transfer_from_device_async close",
    "LiteralQueue": "put get close",
    "StreamExecutor": "allocate deallocate create_stream wrap_memory read_at write_at create_communicator synchronize "
    "close",
    "Stream": "memcpy_h2d memcpy_d2h memcpy_d2d memset record wait host_callback synchronize recover create_event "
    "finish upload run_inline close",
    "Event": "synchronize when_ready destroy close",
}
"""Members that do something. Other tests of the suite name the promises of each."""


PROMISES: Mapping[str, str] = {
    "Platform": "platform.device-count",
    "Compiler": "compiler.target-is-data",
    "Executable": "executable.immutable",
    "CompilationReport": "executable.immutable",
    "ExecutableMemoryStats": "executable.memory-stats",
    "TransferManager": "transfer-manager.byte-size",
    "LiteralQueue": "transfer-manager.infeed",
    "StreamExecutor": "executor.thread-safe",
    "DeviceFeatures": "features.works-without",
    "DeviceDescription": "executor.description",
    "Stream": "stream.error",
    "Event": "event.never-recorded",
    "DeviceMemory": "executor.allocate",
}
"""The sentence of the contract that an answer of a class is about."""


def members(cls: type) -> Iterator[str]:
    """Yields the public methods and attributes of a class, those of its instances too."""
    own = {**vars(cls), **inspect.get_annotations(cls)}
    made = re.findall(r"^ +self\.([a-z]\w*)(?:: .+?)? = ", inspect.getsource(cls), re.MULTILINE)
    fields = [name for name in (*own, *made) if not name.startswith("_") and name != "model_config"]
    yield from dict.fromkeys(fields)
