"""CpuExecutable: a native function that runs a program, given a table of buffer addresses."""

from __future__ import annotations

import ctypes
import dataclasses
import functools
import json
import struct
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from xla_backend_cpu.blas import reserve, symbol_address
from xla_backend_cpu.calling_convention import ENTRY, HOST_CALL, Status
from xla_backend_cpu.executor import ALIGNMENT
from xla_backend_cpu.host import architecture, host_triple, load_objects, runtime_symbols, start_workers
from xla_backend_cpu.program_checks import check_program
from xla_core.backend import CompilationReport, DeviceMemory, Executable, ExecutableMemoryStats, RunOptions
from xla_core.errors import (
    CancelledError,
    FailedPreconditionError,
    InternalError,
    InvalidArgumentError,
    ResourceExhaustedError,
    XlaError,
)
from xla_core.hlo import HloModule, parse_hlo
from xla_core.runtime import HostStream

if TYPE_CHECKING:
    from xla_backend_cpu.host_calls import HostCalls, HostRun

__all__ = ["CpuExecutable", "NativeProgram", "ResultPlace"]


@dataclasses.dataclass(frozen=True, slots=True)
class ResultPlace:
    """The source of a result leaf: a new buffer of `size` bytes in `slot`, or the buffer of argument `donor`."""

    slot: int
    size: int
    donor: int | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class NativeProgram:
    """The data that a run needs, in the form in which it is serialized.

    Attributes:
        triple: the target triple of the code.
        objects: object files that are linked together; one of them defines the entry.
        slots: length of the table of addresses; slot 0 holds the run's context.
        parameters: the slot of each argument.
        results: the source of each result leaf.
        temp_slot, temp_bytes: slot and size of the arena of temporaries; the slot is 0 if the program has none.
        constants: the bytes of all constants.
        constant_slots: slot -> offset of its constant in `constants`.
        routines: names of the BLAS and LAPACK routines that the code calls.
        threads: the number of threads among which kernels may be divided.
        microseconds: an estimate of a run's time; infinite for a program with loops or host calls.
        host_calls: (computation, instruction) names of the instructions that run on the host.
        collective_timeout: the most seconds that a device waits for the others in a collective.
    """

    triple: str
    objects: tuple[bytes, ...]
    slots: int
    parameters: tuple[int, ...]
    results: tuple[ResultPlace, ...]
    temp_slot: int
    temp_bytes: int
    constants: bytes
    constant_slots: Mapping[int, int]
    routines: tuple[str, ...]
    threads: int
    microseconds: float
    host_calls: tuple[tuple[str, str], ...] = ()
    collective_timeout: float = 60.0

    def to_bytes(self, hlo_text: str) -> bytes:
        """Serializes the program: the header's length, a JSON header, then HLO text, constants and object files."""
        fields = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}
        text = hlo_text.encode()
        del fields["objects"], fields["constants"]
        fields["results"] = [dataclasses.astuple(r) for r in self.results]
        fields["sizes"] = [len(text), len(self.constants), *map(len, self.objects)]
        header = json.dumps(fields).encode()
        return struct.pack("<I", len(header)) + header + text + self.constants + b"".join(self.objects)

    @staticmethod
    def from_bytes(data: bytes) -> tuple[NativeProgram, str]:
        """Parses what `to_bytes` returned; gives the program and its HLO text.

        Raises:
            InvalidArgumentError: the data is damaged.
        """
        try:
            (length,) = struct.unpack_from("<I", data)
            fields = json.loads(data[4 : 4 + length])
            parts, position = [], 4 + length
            sizes = fields.pop("sizes")
            if not all(type(size) is int and size >= 0 for size in sizes):
                raise ValueError(f"its parts are {sizes} bytes long")
            for size in sizes:
                parts.append(data[position : position + size])
                position += size
            if position != len(data):
                raise ValueError(f"{len(data)} bytes instead of {position}")
            text, constants, *objects = parts
            fields["results"] = tuple(ResultPlace(*r) for r in fields["results"])
            fields["constant_slots"] = {int(k): v for k, v in fields["constant_slots"].items()}
            fields["parameters"], fields["routines"] = tuple(fields["parameters"]), tuple(fields["routines"])
            fields["host_calls"] = tuple((computation, name) for computation, name in fields["host_calls"])
            return NativeProgram(objects=tuple(objects), constants=constants, **fields), text.decode()
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError, struct.error) as error:
            raise InvalidArgumentError(f"the serialized CPU program is damaged: {error}") from error


class CpuExecutable(Executable):
    """A compiled program that is linked into the process. `artifacts` are the texts to show besides HLO and code."""

    def __init__(
        self,
        module: HloModule,
        program: NativeProgram,
        report: CompilationReport | None = None,
        artifacts: Mapping[str, str | bytes] | None = None,
    ) -> None:
        super().__init__(module, report)
        self._program = program
        self._artifacts = dict(artifacts or {})
        if program.routines:
            reserve(program.threads)
        imports = {name: symbol_address(name) for name in program.routines}
        self._host_calls: HostCalls | None = None
        if program.host_calls:
            from xla_backend_cpu.host_calls import HostCalls, host_call_address

            self._host_calls = HostCalls(module, program.host_calls, program.collective_timeout)
            imports[HOST_CALL] = host_call_address()
        self._runs_here = architecture(program.triple) == architecture(host_triple())
        if self._runs_here:
            self._library = load_objects(program.objects, [ENTRY], imports | runtime_symbols())
            self._entry = self._library.function(ENTRY, ctypes.c_int32, ctypes.c_void_p)
            if program.threads > 1:
                start_workers(program.threads)
        storage = ctypes.create_string_buffer(len(program.constants) + ALIGNMENT)
        base = -(-ctypes.addressof(storage) // ALIGNMENT) * ALIGNMENT
        ctypes.memmove(base, program.constants, len(program.constants))
        self._constants = storage  # keeps the memory
        self._table_type = ctypes.c_void_p * program.slots
        self._fixed = [(slot, base + offset) for slot, offset in program.constant_slots.items()]
        self._contexts: dict[tuple[int, int], ctypes.Array[ctypes.c_int32]] = {}

    def execute_async_on_stream(
        self, run_options: RunOptions, arguments: Sequence[DeviceMemory]
    ) -> Sequence[DeviceMemory]:
        """Allocates results and temporaries, fills the table of addresses, and enqueues one native call."""
        program, allocator = self._program, run_options.allocator
        if not self._runs_here:
            raise FailedPreconditionError(
                f"the code is for {program.triple}, this process is {host_triple()}",
                hint="take its artifacts (`xla compile --emit asm` or `object`) to a machine of that kind",
            )
        table = self._table_type()
        host_run = None
        if self._host_calls is not None:
            host_run = self._host_calls.begin(run_options)
            table[0] = host_run.address
            work = functools.partial(self._run_with_host, table, host_run)
        else:
            table[0] = ctypes.addressof(self._context(run_options.replica_id, run_options.partition_id))
            work = functools.partial(self._run, table)
        for slot, address in self._fixed:
            table[slot] = address
        for slot, memory in zip(program.parameters, arguments, strict=True):
            table[slot] = memory.handle + memory.offset
        stream = run_options.stream
        if not isinstance(stream, HostStream):
            raise InternalError(f"a CPU executable runs on host streams, not on {type(stream).__name__}")
        results, taken = [], []
        try:
            for place in program.results:
                if place.donor is None:
                    memory = allocator.allocate(place.size)
                    taken.append(memory)
                    table[place.slot] = memory.handle + memory.offset
                else:
                    memory = arguments[place.donor]
                results.append(memory)
            temporaries = None
            if program.temp_bytes:
                temporaries = allocator.allocate(program.temp_bytes)
                taken.append(temporaries)
                table[program.temp_slot] = temporaries.handle + temporaries.offset
            stream.enqueue(work, program.microseconds)
        except BaseException:
            for memory in taken:
                allocator.free(memory)
            raise
        if temporaries is not None:
            allocator.free(temporaries)
        if host_run is not None:
            host_run.report_end(stream)
        return results

    def _run(self, table: ctypes.Array[ctypes.c_void_p]) -> None:
        status = self._entry(table)
        if status != Status.OK:
            raise self._error(status)

    def _error(self, status: int) -> XlaError:
        """The error for a status other than OK. The error of a failed host call is in its `HostRun`."""
        if status == Status.OUT_OF_MEMORY:
            return ResourceExhaustedError(
                f"{self.module.name} found no memory for what a kernel keeps while it runs",
                hint="sorts and Fourier transforms of long rows need up to 40 bytes an element of a row and thread",
            )
        return CancelledError(f"the execution of {self.module.name} was cancelled")

    def _run_with_host(self, table: ctypes.Array[ctypes.c_void_p], host_run: HostRun) -> None:
        with host_run:
            status = self._entry(table)
        if host_run.error is not None:
            raise host_run.error
        if status != Status.OK:
            raise self._error(status)

    def _context(self, replica: int, partition: int) -> ctypes.Array[ctypes.c_int32]:
        key = (replica, partition)
        if key not in self._contexts:
            self._contexts[key] = (ctypes.c_int32 * 16)(0, replica, partition)
        return self._contexts[key]

    def serialize(self) -> bytes:
        return self._program.to_bytes(self.module.to_text())

    @staticmethod
    def deserialize(data: bytes) -> CpuExecutable:
        """Restores an executable from the bytes that `serialize` returned.

        The bytes contain native code, which cannot be checked. Pass only bytes from a source that you trust.

        Raises:
            InvalidArgumentError: the bytes are damaged.
        """
        program, text = NativeProgram.from_bytes(data)
        module = parse_hlo(text)
        check_program(program, module)
        try:
            return CpuExecutable(module, program)
        except AttributeError as error:  # OpenBLAS has no routine of that name
            raise InvalidArgumentError(f"the serialized CPU program is damaged: {error}") from error

    def artifacts(self) -> Mapping[str, str | bytes]:
        """The optimized HLO, the object files ("object", "object.1", ...), the buffer assignment, and LLVM IR and
        assembly if the compilation kept them.
        """
        objects = {f"object.{i}" if i else "object": code for i, code in enumerate(self._program.objects)}
        return {"hlo": self.as_text(), **self._artifacts, **objects}

    def memory_stats(self) -> ExecutableMemoryStats:
        return dataclasses.replace(
            super().memory_stats(),
            temp_bytes=self._program.temp_bytes,
            constant_bytes=len(self._program.constants),
            generated_code_bytes=sum(map(len, self._program.objects)),
        )

    def close(self) -> None:
        """Cancels the runs in progress: each stops at its next loop iteration or host call."""
        for context in self._contexts.values():
            context[0] = 1
        if self._host_calls is not None:
            self._host_calls.cancel()
