"""Mutants of the CPU backend with the mistakes of a port to another processor: code, memory and native entries."""

from __future__ import annotations

import contextlib
import ctypes
import dataclasses
import time
from unittest import mock

from xla_backend_cpu import code_generation, xla_backend
from xla_backend_cpu.compiler import CpuCompiler
from xla_backend_cpu.executable import CpuExecutable
from xla_backend_cpu.executor import CpuExecutor
from xla_backend_cpu.platform import CpuPlatform

from tests.conformance.zoo.mutant import Mutant
from tests.conformance.zoo.native_code import native_mutant, replaced
from xla_core.backend import DeviceMemory

MUTANTS: list[Mutant] = []
_FLOAT = r"(?:half|bfloat|float|double)"


def _says(level: str, select: str, breaks: str, fault: str):
    """Makes a mutant of a device or of an executable: the CPU backend with that part."""

    def add(part: type) -> type:
        name = "".join(f"-{c.lower()}" if c.isupper() else c for c in part.__name__).lstrip("-")
        MUTANTS.append(
            Mutant(name=f"{level}/cpu-{name}", breaks=breaks, fault=fault, make=lambda: _backend(part), select=select)
        )
        return part

    return add


def _backend(part: type):
    class Platform(CpuPlatform):
        def visible_device_count(self):
            return 2

        def create_executor(self, ordinal):
            device = super().create_executor(ordinal)
            return part(ordinal, device.description) if issubclass(part, CpuExecutor) else device

        def create_compiler(self):
            if issubclass(part, CpuExecutable):
                mock.patch.object(code_generation, "CpuExecutable", part).start()
            return CpuCompiler()

    Platform.device_count_flag = ""
    return dataclasses.replace(xla_backend(), platform=Platform)


# -- devices -----------------------------------------------------------------------------------------------------------


@_says("memory", "memory", "executor.allocate-aligned", "Small blocks are aligned to 8 bytes.")
class AlignedToWords(CpuExecutor):
    def allocate(self, size, memory_space=0):
        memory = super().allocate(size + 64, memory_space)
        if memory is not None and size < 4096:
            memory.handle, memory.size = memory.handle + 8, size
        return memory

    def deallocate(self, memory):
        aligned = DeviceMemory(memory.handle // 64 * 64, memory.size + 64, memory_space=memory.memory_space)
        super().deallocate(aligned)


@_says("memory", "memory or transfers", "executor.host-view", "The host's view of more than 64 KiB is a copy.")
class ViewsAreCopies(CpuExecutor):
    def host_view(self, memory):
        view = super().host_view(memory)
        return memoryview(bytearray(view)) if memory.size > 1 << 16 else view


@_says("memory", "memory or transfers", "executor.address", "The address of a slice is that of its block.")
class AddressOfTheBlock(CpuExecutor):
    def address(self, memory):
        return memory.handle


@_says("memory", "memory or transfers", "executor.wrap-memory", "Wrapped memory of more than a page is a copy.")
class WrapsCopies(CpuExecutor):
    def wrap_memory(self, address, size):
        if size <= 4096:
            return super().wrap_memory(address, size)
        memory = self.allocate(size)
        ctypes.memmove(memory.handle, address, size)
        return memory


@_says("memory", "memory or transfers", "executor.allocate-space", "All memory is said to be in space 1.")
class AnotherSpace(CpuExecutor):
    def allocate(self, size, memory_space=0):
        memory = super().allocate(size, memory_space)
        if memory is not None:
            memory.memory_space = 1
        return memory


class _ForgetsItsPlace(DeviceMemory):
    __slots__ = ()

    def slice(self, offset, size):
        found = super().slice(offset, size)
        return _ForgetsItsPlace(found.handle, size, offset, found.memory_space, found.base)


@_says("transfers", "transfers", "memory.slice", "A slice of a slice forgets where the first one begins.")
class SlicesOfSlices(CpuExecutor):
    def allocate(self, size, memory_space=0):
        memory = super().allocate(size, memory_space)
        return None if memory is None else _ForgetsItsPlace(memory.handle, size, 0, memory_space)


@_says("transfers", "transfers", "executor.dlpack-device-type", "The host's memory is said to be a CUDA device's.")
class MemoryOfCuda(CpuExecutor):
    dlpack_device_type = 2


# -- executables -------------------------------------------------------------------------------------------------------

_NATIVE = "native"


class _Entry(CpuExecutable):
    """A native entry that `changed` changes."""

    def native_entry(self):
        entry = super().native_entry()
        return None if entry is None else self.changed(entry)


class _Called(_Entry):
    """A native entry that is a function of Python, `called`."""

    made = 0

    def changed(self, entry):
        function = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.POINTER(ctypes.c_size_t))
        run = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p)(entry.address)
        self.callback = function(lambda table: self.called(entry, run, table))
        return dataclasses.replace(entry, address=ctypes.cast(self.callback, ctypes.c_void_p).value)


@_says("executables", _NATIVE, "native-entry.parameters", "The first two parameters of a native entry change places.")
class EntryParameters(_Entry):
    def changed(self, entry):
        first = entry.parameters
        return dataclasses.replace(entry, parameters=(*reversed(first[:2]), *first[2:]))


@_says("executables", _NATIVE, "native-entry.results", "The first two results of a native entry change places.")
class EntryResults(_Entry):
    def changed(self, entry):
        return dataclasses.replace(entry, results=(*reversed(entry.results[:2]), *entry.results[2:]))


@_says("executables", _NATIVE, "native-entry.temporaries", "A native entry says half of its temporary memory.")
class EntryTemporaries(_Entry):
    def changed(self, entry):
        return dataclasses.replace(entry, temporaries=tuple((slot, size // 2) for slot, size in entry.temporaries))


@_says("executables", _NATIVE, "native-entry.fixed-entries", "A native entry's table has the results' numbers.")
class EntryTable(_Entry):
    def changed(self, entry):
        table = [slot if slot in entry.results else value for slot, value in enumerate(entry.table)]
        return dataclasses.replace(entry, table=tuple(table))


@_says("executables", _NATIVE, "native-entry.microseconds", "A native entry says that each call takes -1 microseconds.")
class EntryTakesNoTime(_Entry):
    def changed(self, entry):
        return dataclasses.replace(entry, microseconds=-1.0)


@_says("executables", _NATIVE, "native-entry.microseconds", "A native entry says that each call takes 1 microsecond.")
class EntryTakesOneMicrosecond(_Entry):
    def changed(self, entry):
        return dataclasses.replace(entry, microseconds=1.0)


@_says("executables", _NATIVE, "executable.native-entry", "Executables with donated arguments have a native entry.")
class EntryOfDonations(CpuExecutable):
    def native_entry(self):
        module = self.module
        aliases, donors = module.input_output_aliases, module.buffer_donors
        module.input_output_aliases, module.buffer_donors = [], []
        try:
            return super().native_entry()
        finally:
            module.input_output_aliases, module.buffer_donors = aliases, donors


@_says("executables", _NATIVE, "native-entry.writes-results", "A native entry says that it is done, and did nothing.")
class EntryDoesNothing(_Called):
    def called(self, entry, run, table):
        return 0


@_says("executables", _NATIVE, "native-entry.reads-arguments", "A native entry writes to its first argument.")
class EntryWritesArguments(_Called):
    def called(self, entry, run, table):
        status = run(ctypes.addressof(table.contents))
        if entry.parameters:
            ctypes.memset(table[entry.parameters[0]], 0, 1)
        return status


@_says("executables", _NATIVE, "native-entry.many-threads", "All calls of a native entry share one table.")
class EntryOfOneTable(_Called):
    shared = None

    def called(self, entry, run, table):
        if self.shared is None:
            self.shared = (ctypes.c_size_t * len(entry.table))()
        self.shared[:] = table[: len(entry.table)]
        time.sleep(0)
        return run(ctypes.addressof(self.shared))


@_says("executables", _NATIVE, "native-entry.without-python", "A native entry is a function of Python.")
class EntryNeedsPython(_Called):
    def called(self, entry, run, table):
        return run(ctypes.addressof(table.contents))


@_says("executables", _NATIVE, "native-entry.lifetime", "A native entry does nothing once there is a later one.")
class OnlyTheLastEntry(_Called):
    def changed(self, entry):
        _Called.made += 1
        self.number = _Called.made
        return super().changed(entry)

    def called(self, entry, run, table):
        return run(ctypes.addressof(table.contents)) if self.number == _Called.made else 0


@_says("executables", _NATIVE, "native-entry.close", "A native entry hangs after `close`.")
class EntryHangsAfterClose(_Called):
    is_closed = False

    def called(self, entry, run, table):
        while self.is_closed:
            with contextlib.suppress(BaseException):
                time.sleep(1)
        return run(ctypes.addressof(table.contents))

    def close(self):
        super().close()
        self.is_closed = True


# -- code --------------------------------------------------------------------------------------------------------------

MUTANTS += [
    native_mutant(
        "root-of-reciprocal",
        "A square root is the number times the reciprocal of its root.",
        replaced(
            rf"^  (%v\d+) = call(?: \w+)* ({_FLOAT}) @llvm\.sqrt\.(\w+)\({_FLOAT} (\S+)\)$",
            r"  \1.r = call \2 @llvm.sqrt.\3(\2 \4)\n  \1.i = fdiv \2 1.0, \1.r\n  \1 = fmul \2 \4, \1.i",
        ),
        select="[sqrt-",
    ),
    native_mutant(
        "remainder-by-reciprocal",
        "An integer remainder is that of unsigned numbers where they have 32 bits.",
        replaced(r"= srem i32 ", "= urem i32 "),
        select="[remainder-",
    ),
    native_mutant(
        "wide-index-cut",
        "Conversions of 64-bit integers to floating-point numbers go through 32 bits.",
        replaced(
            rf"^  (%v\d+) = sitofp i64 (\S+) to ({_FLOAT})$",
            r"  \1.t = trunc i64 \2 to i32\n  \1 = sitofp i32 \1.t to \3",
        ),
        select="[convert-",
    ),
]
