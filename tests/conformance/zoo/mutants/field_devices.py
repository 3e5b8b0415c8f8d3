"""Faults of drivers, memory, collectives and loading that were found in the field."""

from __future__ import annotations

import ctypes
import functools
import signal
import subprocess
import sys
import tempfile
import threading
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import numpy as np

from tests.conformance.zoo.mutant import Mutant
from tests.conformance.zoo.mutants.collectives import communicator
from tests.conformance.zoo.parts import Executor, Platform, Stream, broken, template
from xla_core.backend import Availability
from xla_core.runtime import InProcessCommunicator

MUTANTS: list[Mutant] = []
_streams = broken("streams", "streams or events", MUTANTS)
_transfers = broken("transfers", "transfers", MUTANTS)
_memory = broken("memory", "memory", MUTANTS)
_collectives = broken("collectives", "collectives", MUTANTS)
_loading = broken("loading", "loading", MUTANTS)


# -- streams ----------------------------------------------------------------------------------------------------------


@_streams("stream.host-callback", "A function that is enqueued twice in turn is called once.")
class MergesCallbacks(Stream):
    last = None

    def host_callback(self, callback):
        if callback is self.last and self._queue:
            return
        self.last = callback
        super().host_callback(callback)


@_streams(
    "event.ready-after-work",
    "A record behind a launch is reached when the kernel has begun.",
    select="executables or streams or events",
)
class BeginsIsEnough(Stream):
    launched = False

    def enqueue(self, work, *arguments, **named):
        self.launched = getattr(getattr(work, "func", work), "__name__", "") == "_run"
        super().enqueue(work, *arguments, **named)

    def record(self, event):
        if self.launched and self._queue:
            event.arm(self).complete(None)
        else:
            super().record(event)


@_streams("event.ready-after-work", "One record in 64 is reached before the work in front of it.")
class EarlySometimes(Stream):
    records = 0

    def record(self, event):
        self.records += 1
        if self.records % 64 == 0 and self._queue:
            event.arm(self).complete(self._error)
        else:
            super().record(event)


@_streams("stream.wait", "A stream doesn't wait for events of a stream that was closed meanwhile.")
class ForgetsTheClosed(Stream):
    def wait(self, event):
        point = getattr(event, "point", None)
        if point is not None and getattr(point.stream, "was_closed", False):
            return
        super().wait(event)

    def close(self):
        self.was_closed = True
        super().close()


@_streams("stream.memset", "A fill is merged with the one before it into the same block, though a copy lies between.")
class MergesFills(Stream):
    def __init__(self, executor):
        super().__init__(executor)
        self.filled = None

    def memset(self, destination, value):
        if self.filled == (destination.handle, destination.size, value) and self._queue:
            return
        self.filled = (destination.handle, destination.size, value)
        super().memset(destination, value)


@_streams("stream.h2d-keeps-source", "A copy whose source was copied before to the same place is left out.")
class CopiesOnce(Stream):
    copied = None

    def memcpy_h2d(self, destination, source):
        key = (destination.handle, source.ctypes.data, source.size)
        if key == self.copied and self._queue:
            return
        self.copied = key
        super().memcpy_h2d(destination, source)


@_streams("stream.host-callback-raises", "A callback that raises a ValueError without a message has not failed.")
class CallbacksForgive(Stream):
    def host_callback(self, callback):
        def forgiving():
            try:
                callback()
            except ValueError as error:
                if not error.args:
                    return
                raise

        super().host_callback(forgiving)


@_streams("stream.synchronize", "After 1,000 calls `synchronize` returns while the last piece of work runs.")
class LeavesTheLastPiece(Stream):
    calls = 0

    def synchronize(self):
        self.calls += 1
        if self.calls > 1000:
            while len(self._queue) > 1:
                time.sleep(0.0001)
            return
        super().synchronize()


# -- transfers and memory ---------------------------------------------------------------------------------------------


@_transfers("stream.d2h", "Reads of exact multiples of 64 KiB leave out their last 64 bytes.")
class WholePieces(Stream):
    def read(self, destination, source):
        super().read(destination, source)
        if destination.size and destination.size % 65536 == 0 and destination.size > 65536:
            destination[-64:] = 0


@_transfers("stream.d2d", "Copies on the device of between 2 and 4 KiB go by lines of 48 bytes.")
class OddLines(Stream):
    def copy(self, destination, source):
        size = min(destination.size, source.size)
        if 2048 < size < 4096 and size % 48:
            size -= size % 48
        self.ram.block(destination.handle)[:size] = self.ram.block(source.handle)[:size]


@_transfers("executor.write-at", "A write that ends exactly at the end of the block leaves out its last byte.")
class StopsBeforeTheEnd(Executor):
    def write_at(self, stream, destination, source, offset):
        if offset and source.size > 1 and offset + source.size == destination.size:
            source = source[:-1]
        super().write_at(stream, destination, source, offset)


@_transfers("stream.upload", "Two uploads of one array in turn, which changes between, upload the first values twice.")
class UploadsOnce(Stream):
    def __init__(self, executor):
        super().__init__(executor)
        self.uploaded = {}

    def upload(self, destination, source):
        key = (source.ctypes.data, source.size)
        kept = self.uploaded.get(key)
        if kept is None or source.size < 4096:
            self.uploaded = {key: source.copy()}
            super().upload(destination, source)
        else:
            super().upload(destination, kept)


@_memory("executor.deallocate", "Each block of an odd number of lines keeps its last line when it is freed.")
class KeepsALine(Executor):
    def deallocate(self, memory):
        start, whole = self.ram._blocks[memory.handle]
        if whole // 64 % 2 and whole > 64:
            self.ram._blocks[memory.handle] = (start, whole - 64)
        super().deallocate(memory)


@_memory("executor.allocate", "The block behind a refused one overlaps the block before it.")
class OverlapsAfterRefusal(Executor):
    refused = False
    last = None

    def allocate(self, size, memory_space=0):
        memory = super().allocate(size, memory_space)
        if memory is None:
            self.refused = True
            return None
        if self.refused and self.last is not None and self.last.handle in self.ram._blocks and size >= 4096:
            start, whole = self.ram._blocks[self.last.handle]
            own = self.ram._blocks[memory.handle]
            if whole >= 128 and own[1] <= whole:
                self.wrong = own
                self.ram._blocks[memory.handle] = (start + whole - 64, min(own[1], 64 + own[1]))
            self.refused = False
        self.last = memory
        return memory

    def deallocate(self, memory):
        if getattr(self, "wrong", None) and self.last is memory:
            self.ram._blocks[memory.handle] = self.wrong
            self.wrong = None
        super().deallocate(memory)


@_memory("executor.description", "The memory that the device says shrinks by what was allocated at the first question.")
class SaysOnce(Executor):
    @property
    def description(self):
        said = super().description
        used = self.ram.size - self.ram.bytes_free
        self.used = max(getattr(self, "used", 0), used)
        return said.model_copy(update={"memory_bytes": said.memory_bytes - self.used})


# -- collectives ------------------------------------------------------------------------------------------------------


class _After(InProcessCommunicator):
    """Changes the results of some ops after they were written."""

    opcodes: tuple[str, ...] = ()

    def enqueue(self, stream, collective, operands, results):
        super().enqueue(stream, collective, operands, results)
        if collective.instruction.opcode in self.opcodes:
            stream.enqueue(lambda: self.change(stream, collective.instruction, operands, results))


@communicator(
    "communicator.in-order", "`all-to-all` along another dimension than the first one reverses its parts.", _collectives
)
class ReversesParts(_After):
    opcodes = ("all-to-all",)

    def change(self, stream, instruction, operands, results):
        if any(instruction.attributes.get("dimensions") or ()):
            for result in results:
                block = stream.ram.block(result.handle)[: result.size]
                block[:] = np.roll(block, result.size // 2)


@communicator(
    "communicator.in-order", "`collective-permute` leaves the old memory where a device gets nothing.", _collectives
)
class LeavesOldMemory(_After):
    opcodes = ("collective-permute",)

    def change(self, stream, instruction, operands, results):
        for result in results:
            block = stream.ram.block(result.handle)[: result.size]
            if not block.any():
                block[:] = 0xA5


@communicator("communicator.in-order", "`all-reduce` of truth values gives the sum's low bit.", _collectives)
class AddsTruth(_After):
    opcodes = ("all-reduce",)

    def change(self, stream, instruction, operands, results):
        for operand, result in zip(operands, results, strict=True):
            if instruction.operand(0).shape.element_type.value == "pred":
                own = stream.ram.block(operand.handle)[: operand.size]
                stream.ram.block(result.handle)[: result.size] ^= own


@communicator(
    "communicator.in-order",
    "`all-reduce` by maximum of floats compares their bits, which turns negative numbers round.",
    _collectives,
)
class ComparesBits(_After):
    opcodes = ("all-reduce", "reduce-scatter")

    def change(self, stream, instruction, operands, results):
        reducer = instruction.attributes["to_apply"].root.opcode
        if reducer == "maximum" and instruction.operand(0).shape.element_type.value == "f32":
            for result in results:
                values = stream.ram.block(result.handle)[: result.size].view(np.float32)
                values[values < 0] = -np.abs(values[values < 0]) * 2


@communicator(
    "communicator.in-order",
    "`reduce-scatter` along another dimension than the first one gives the parts of the first.",
    _collectives,
)
class ScattersRows(InProcessCommunicator):
    def enqueue(self, stream, collective, operands, results):
        super().enqueue(stream, collective, operands, results)
        if collective.instruction.opcode == "reduce-scatter" and any(collective.instruction.attributes["dimensions"]):
            stream.enqueue(lambda: [stream.ram.block(r.handle)[: r.size].sort() for r in results])


# -- loading ----------------------------------------------------------------------------------------------------------

_CHILDREN: list[object] = []


def _child() -> None:
    _CHILDREN.append(subprocess.Popen([sys.executable, "-c", "import time; time.sleep(30)"]))


def _wakeup() -> None:
    if threading.current_thread() is threading.main_thread():
        import socket

        pair = socket.socketpair()
        pair[1].setblocking(False)
        _CHILDREN.append(pair)
        signal.set_wakeup_fd(pair[1].fileno(), warn_on_full_buffer=False)


_CHANGES: dict[str, tuple[str, Callable[[], object]]] = {
    "starts-a-process": ("starts a process that stays", _child),
    "writes-a-file": ("writes a file", lambda: Path(tempfile.gettempdir(), "acme.log").write_text("opened\n")),
    "names-the-process": (
        "changes the name of the thread in the system",
        lambda: ctypes.CDLL(None).prctl(15, b"acme", 0, 0, 0),
    ),
    "traces-memory": ("traces allocations of memory", tracemalloc.start),
    "wakes-up": ("sets the file that signals wake up", _wakeup),
    "finds-modules": ("adds a finder of modules", lambda: sys.meta_path.append(_Finder())),
}


class _Finder:
    def find_spec(self, *arguments: object) -> None:
        return None


def _opening(change: Callable[[], object]) -> type[Platform]:
    class Opens(Platform):
        def create_executor(self, ordinal):
            change()
            return super().create_executor(ordinal)

    return Opens


def _probing(change: Callable[[], object]) -> Callable[[], Availability]:
    def probe() -> Availability:
        change()
        return Availability(available=True)

    return probe


_OF_A_DEVICE = ("starts-a-process", "writes-a-file")
"""What a device may do as it opens, but not the probe."""

for _name, (_fault, _change) in _CHANGES.items():
    _common = {"breaks": "hooks.changes-nothing", "select": "loading"}
    _made = functools.partial(template, probe=_probing(_change))
    MUTANTS.append(Mutant(name=f"loading/field-probe-{_name}", fault=f"The probe {_fault}.", make=_made, **_common))
    if _name not in _OF_A_DEVICE:
        _made = functools.partial(template, platform=_opening(_change))
        _fault = f"Opening the device {_fault}."
        MUTANTS.append(Mutant(name=f"loading/field-open-{_name}", fault=_fault, make=_made, **_common))
