"""Faults of runtimes: results that are kept, figures that wrap, staging that comes late, and devices that reach into the process."""

from __future__ import annotations

import dataclasses
import re
import signal
import threading
import time

import ml_dtypes
from xla_backend_cpu import xla_backend
from xla_backend_cpu.executor import CpuExecutor
from xla_backend_cpu.platform import CpuPlatform
from xla_backend_template.memory import RamHandle

from tests.conformance.zoo.mutant import Mutant
from tests.conformance.zoo.parts import Compiler, Executor, Platform, Stream, TemplateExecutable, broken
from xla_core.backend import BackendSpec, DeviceMemory, TransferManager
from xla_core.errors import InternalError, ResourceExhaustedError
from xla_core.runtime import HostEvent

MUTANTS: list[Mutant] = []
_runs = broken("executables", "executables or programs", MUTANTS)
_transfers = broken("transfers", "transfers", MUTANTS)
_memory = broken("memory", "memory", MUTANTS)
_streams = broken("streams", "streams or events", MUTANTS)


# -- executables ------------------------------------------------------------------------------------------------------


@_runs(
    "executable.out-of-memory",
    "An execution for which there isn't enough memory fails with an internal error.",
    select="executables or programs or memory",
)
class InternalForMemory(TemplateExecutable):
    def execute_async_on_stream(self, run_options, arguments):
        try:
            return super().execute_async_on_stream(run_options, arguments)
        except ResourceExhaustedError as error:
            raise InternalError("launch failed with status 2") from error


@_runs("executable.memory-stats-sizes", "The memory statistics have the temporaries as they are without reuse.")
class TemporariesWithoutReuse(TemplateExecutable):
    def memory_stats(self):
        stats = super().memory_stats()
        return dataclasses.replace(stats, temp_bytes=self.report.temp_bytes_without_reuse)


@_runs("executable.serialize", "A serialized program has forgotten which layouts its caller fixed.")
class SerializesWithoutLayouts(TemplateExecutable):
    def serialize(self):
        text = self.module.to_text()
        head, line, rest = text.partition("\n")
        return (re.sub(r"(\w\[[\d,]*\])\{[\d,]*(?::[^}]*)?\}", r"\1", head) + line + rest).encode()


@_runs("executable.run", "A program whose result is a constant returns the memory of its first execution each time.")
class KeepsConstantResults(TemplateExecutable):
    kept = None

    def execute_async_on_stream(self, run_options, arguments):
        root = self.module.entry.root
        value = root.operand(0) if root.opcode == "copy" else root
        if value.opcode != "constant":
            return super().execute_async_on_stream(run_options, arguments)
        if self.kept is None:
            self.kept = super().execute_async_on_stream(run_options, arguments)
        return self.kept


@_runs("executable.fingerprint", "The fingerprint is a hash that each process seeds for itself.")
class SeededFingerprint(TemplateExecutable):
    def fingerprint(self):
        return f"{hash(self.serialize()) & (1 << 64) - 1:016x}"


@_runs("executable.cost", "Costs are 32-bit numbers, which wrap.")
class WrapsCosts(TemplateExecutable):
    def cost_analysis(self):
        return {name: float(int(cost) & 0xFFFFFFFF) for name, cost in super().cost_analysis().items()}


# -- streams and memory -----------------------------------------------------------------------------------------------


class _Current(HostEvent):
    """An event that has its stream's failure of the moment when it is asked, not of the record."""

    __slots__ = ("stream",)

    def arm(self, stream=None):
        self.stream = stream
        return super().arm(stream)

    @property
    def error(self):
        stream = getattr(self, "stream", None)
        own = super().error
        return own or (stream._error if stream is not None and self.ready else None)


@_streams("event.first-error", "An event that was recorded before a failure has it, once the stream has failed.")
class FailuresOfTheMoment(Stream):
    def create_event(self):
        return _Current()


@_memory(
    "executor.thread-safe",
    "The device's list of free blocks has no lock: two threads may get one block.",
    select="memory or executables or streams",
)
class NoLock(Executor):
    def allocate(self, size, memory_space=0):
        padded = -(-size // 64) * 64
        ram = self.ram
        gaps = list(ram._free)
        for n, (start, gap) in enumerate(gaps):
            if gap >= padded:
                time.sleep(0)
                gaps[n : n + 1] = [(start + padded, gap - padded)] if gap > padded else []
                ram._free = gaps
                handle = RamHandle(start)
                ram._blocks[handle] = (start, padded)
                return DeviceMemory(handle, size, memory_space=memory_space)
        return None


class _UnalignedExecutor(CpuExecutor):
    def allocate(self, size, memory_space=0):
        memory = super().allocate(size + 64, memory_space) if size >= 1 << 20 else super().allocate(size, memory_space)
        if memory is None or size < 1 << 20:
            return memory
        return DeviceMemory(memory.handle + 16, size, memory_space=memory_space)

    def deallocate(self, memory):
        if memory.size >= 1 << 20:
            memory = DeviceMemory(memory.handle - 16, memory.size + 64, memory_space=memory.memory_space)
        super().deallocate(memory)


class _UnalignedPlatform(CpuPlatform):
    def create_executor(self, ordinal):
        return _UnalignedExecutor(ordinal)


def _unaligned() -> BackendSpec:
    return dataclasses.replace(xla_backend(), platform=_UnalignedPlatform, stream_executor=_UnalignedExecutor)


MUTANTS.append(
    Mutant(
        name="memory/unaligned-large-blocks",
        breaks="executor.allocate-aligned",
        fault="Blocks of 1 MiB and more are aligned to 16 bytes, as the C library gives them, where the target says 64.",
        make=_unaligned,
        select="memory or transfers",
    )
)


# -- transfers --------------------------------------------------------------------------------------------------------


@_transfers("stream.upload", "An upload of more than 1 MiB reads its source when the stream comes to it.")
class LateLargeUploads(Stream):
    def upload(self, destination, source):
        if source.size > 1 << 20:
            self.memcpy_h2d(destination, source)
        else:
            super().upload(destination, source)


@_transfers(
    "executor.write-at", "A write within a block begins at a multiple of four bytes: other places are rounded down."
)
class WritesAtWords(Executor):
    def write_at(self, stream, destination, source, offset):
        super().write_at(stream, destination, source, offset & ~3)


@_transfers(
    "stream.d2d",
    "A copy into a smaller block copies all of the source, over the block behind.",
    select="transfers or memory",
)
class CopiesAllOfTheSource(Stream):
    def copy(self, destination, source):
        start, _ = self.ram._blocks[destination.handle]
        data = self.ram.block(source.handle)[: source.size].copy()
        self.ram._bytes[start : start + data.size] = data[: self.ram.size - start]


class _WholeBytes(TransferManager):
    def from_device(self, data, shape):
        array = super().from_device(data, shape)
        if array.dtype in (ml_dtypes.int4, ml_dtypes.uint4) and array.size % 2 and array.size > 1:
            array = array.copy()
            array.reshape(-1)[-1] = 0
        return array


@broken("transfers", "transfers", MUTANTS)(
    "transfer-manager.layouts", "An odd number of 4-bit elements is read in whole bytes: the last one is 0."
)
class ReadsWholeBytes(Platform):
    def create_transfer_manager(self):
        return _WholeBytes(self.compiler.target_config)


# -- claims and loading -----------------------------------------------------------------------------------------------


@broken("claims", "claims or ops", MUTANTS)(
    "compiler.supported-after-passes",
    "The compiler has no name for f8e4m3b11fnuz, which the target claims: it raises a KeyError.",
)
class NoNameForAType(Compiler):
    def make_kernel(self, instruction, environment):
        names = {str(s.element_type) for s in instruction.shape.array_leaves()}
        if any("f8e4m3b11fnuz" in name.lower() for name in names):
            raise KeyError("f8e4m3b11fnuz")
        return super().make_kernel(instruction, environment)


@broken("loading", "loading or streams or events", MUTANTS)(
    "platform.create-executor", "Opening the device installs a handler of SIGINT: Ctrl-C does nothing any more."
)
class TakesControlC(Platform):
    def create_executor(self, ordinal):
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, lambda number, frame: None)
        return super().create_executor(ordinal)


@broken("loading", "loading or memory or streams", MUTANTS)(
    "executor.deallocate-after-close", "A closed device refuses to free memory that is still in use."
)
class FreesNothingWhenClosed(Executor):
    is_closed = False

    def deallocate(self, memory):
        if self.is_closed:
            raise InternalError("the device is closed")
        super().deallocate(memory)

    def close(self):
        super().close()
        self.is_closed = True
