"""CpuExecutable: a native function that runs a program, given a table of buffer addresses."""

from __future__ import annotations

import ctypes
import dataclasses
import functools
import math
import weakref
from collections.abc import Sequence
from typing import TYPE_CHECKING

from xla_backend_cpu.blas import reserve, symbol_address
from xla_backend_cpu.calling_convention import CONTEXT_WORDS, ENTRY, Status
from xla_backend_cpu.executor import ALIGNMENT
from xla_backend_cpu.host import architecture, host_triple
from xla_backend_cpu.machine_code import CodeGenerator, LlvmCodeGenerator
from xla_backend_cpu.native_program import NativeProgram, check_program
from xla_backend_cpu.native_runtime import runtime_symbols, start_workers
from xla_core import profiler
from xla_core.backend import (
    Artifacts,
    CompilationReport,
    DeviceMemory,
    Executable,
    ExecutableMemoryStats,
    NativeEntry,
    RunOptions,
)
from xla_core.errors import (
    CancelledError,
    FailedPreconditionError,
    InternalError,
    InvalidArgumentError,
    ResourceExhaustedError,
    XlaError,
)
from xla_core.hlo import HloModule, Trait, parse_hlo
from xla_core.runtime import SKIPPED_RUNS, HostStream, InProcessRendezvous

if TYPE_CHECKING:
    from xla_backend_cpu.host_calls import HostCalls, HostRun
    from xla_backend_cpu.joint_run import JointRun


_TRIED_NANOSECONDS = 300_000
"""How long a program with a loop of unknown length may run in its caller, by estimate."""

_NATIVE_NANOSECONDS = 20_000
"""As _TRIED_NANOSECONDS, but of the loops alone, and for a caller that may not want to wait at all."""

_JOINT_MICROSECONDS = 100.0
"""How long a program with collectives may run on each device, by estimate, for one thread to run it on all."""

_UNLIMITED = (1 << 63) - 1


class CpuExecutable(Executable):
    """A compiled program that is linked into the process.

    `generator` made its code; the default is LLVM's. `artifacts` are those besides the object files ("object",
    "object.1", ...).
    """

    def __init__(
        self,
        module: HloModule,
        program: NativeProgram,
        report: CompilationReport | None = None,
        artifacts: Artifacts | None = None,
        generator: CodeGenerator | None = None,
    ) -> None:
        generator = generator or LlvmCodeGenerator()
        objects = {f"object.{i}" if i else "object": code for i, code in enumerate(program.objects)}
        super().__init__(module, report, {**(artifacts or {}), **objects})
        self._program = program
        if program.routines:
            reserve(program.threads)
        imports = {name: symbol_address(name) for name in program.routines}
        self._host_calls: HostCalls | None = None
        if program.host_calls:
            from xla_backend_cpu.host_calls import HostCalls

            self._host_calls = HostCalls(module, program.host_calls, program.collective_timeout)
        self._runs_here = architecture(program.triple) == architecture(host_triple())
        if self._runs_here:
            self._library = generator.load(program.objects, [ENTRY], imports | runtime_symbols(generator))
            self._entry = self._library.function(ENTRY, ctypes.c_int32, ctypes.c_void_p)
            if program.threads > 1:
                start_workers(program.threads, generator)
        storage = ctypes.create_string_buffer(len(program.constants) + ALIGNMENT)
        base = -(-ctypes.addressof(storage) // ALIGNMENT) * ALIGNMENT
        ctypes.memmove(base, program.constants, len(program.constants))
        self._constants = storage  # keeps the memory
        self._table_type = ctypes.c_void_p * program.slots
        self._fixed = [(slot, base + offset) for slot, offset in program.constant_slots.items()]
        if program.time_slot:
            self._fixed.append((program.time_slot, _UNLIMITED))
        self._contexts: dict[tuple[int, int], ctypes.Array[ctypes.c_int32]] = {}
        self._joint_runs: weakref.WeakKeyDictionary[InProcessRendezvous, JointRun] = weakref.WeakKeyDictionary()
        is_inline = not program.time_slot and not program.host_calls
        self._microseconds = program.microseconds if is_inline else math.inf
        is_sharded = bool(program.host_calls) and module.num_replicas * module.num_partitions > 1
        self._is_joint = is_sharded and not program.time_slot and program.microseconds <= _JOINT_MICROSECONDS
        self._may_be_brief = not program.time_slot and not is_sharded
        left = _TRIED_NANOSECONDS - 1000 * program.microseconds
        is_repeatable = not program.host_calls and all(place.donor is None for place in program.results)
        may_try = program.time_slot > 0 and left > 0 and is_repeatable and not _has_state(module)
        self._loop_nanoseconds = int(left) if may_try else 0  # of a caller that runs the program; 0 if none may
        self._untried = 0

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
            rendezvous = host_run.rendezvous if host_run is not None else None
            if host_run is not None and rendezvous is not None and self._is_joint and profiler.active is None:
                self._join(rendezvous, stream, table, host_run)
                host_run = None  # which reports its end itself
            elif not (stream.is_deferring and self._is_brief() and stream.hold(work)):
                name = self.module.name if profiler.active is not None else ""
                attempt = functools.partial(self._try, table) if self._loop_nanoseconds else None
                stream.enqueue(work, self._microseconds, name, attempt)
        except BaseException:
            for memory in taken:
                allocator.free(memory)
            raise
        if temporaries is not None:
            allocator.free(temporaries)
        if host_run is not None:
            host_run.report_end(stream)
        return results

    def _is_brief(self) -> bool:
        """Whether the caller had better run the program, which calls the host."""
        calls = self._host_calls
        return self._may_be_brief and calls is not None and calls.is_brief and profiler.active is None

    def _run(self, table: ctypes.Array[ctypes.c_void_p]) -> None:
        status = self._entry(table)
        if status != Status.OK:
            raise self._error(status)

    def _try(self, table: ctypes.Array[ctypes.c_void_p]) -> bool:
        """Runs the program, and gives up if its loops take long.

        It may then run again, because it writes to results and temporaries only.
        """
        if self._untried > 0:  # other threads may change it too, so that it may become negative
            self._untried -= 1
            return False
        table[self._program.time_slot] = self._loop_nanoseconds
        status = self._entry(table)
        if status == Status.OUT_OF_TIME:
            table[self._program.time_slot] = _UNLIMITED
            self._untried = SKIPPED_RUNS
            return False
        if status != Status.OK:
            raise self._error(status)
        return True

    def _error(self, status: int) -> XlaError:
        """The error for a status that ends a run."""
        if status == Status.OUT_OF_MEMORY:
            return ResourceExhaustedError(
                f"{self.module.name} needs scratch memory for a kernel, and none is left",
                hint="sorts and Fourier transforms of long rows need up to 40 bytes an element of a row and thread",
            )
        return CancelledError(f"the execution of {self.module.name} was cancelled")

    def _run_with_host(self, table: ctypes.Array[ctypes.c_void_p], host_run: HostRun) -> None:
        with host_run:
            if host_run.pending:  # a joint run began it
                host_run.call()
            while (status := self._entry(table)) == Status.HOST_CALL:
                host_run.call()
        if status != Status.OK:
            raise self._error(status)

    def _join(
        self,
        rendezvous: InProcessRendezvous,
        stream: HostStream,
        table: ctypes.Array[ctypes.c_void_p],
        host_run: HostRun,
    ) -> None:
        from xla_backend_cpu.joint_run import JointRun, Member

        def finish() -> None:
            error = None
            try:
                self._run_with_host(table, host_run)
            except XlaError as failure:
                error = failure
                raise
            finally:
                rendezvous.end(host_run.device, error)

        run = self._joint_runs.get(rendezvous)
        if run is None:
            run = self._joint_runs[rendezvous] = JointRun(len(rendezvous.devices))
            rendezvous.when_failed = run.dissolve
        run.add(Member(host_run, stream, functools.partial(self._entry, table), finish, self._error))

    def _context(self, replica: int, partition: int) -> ctypes.Array[ctypes.c_int32]:
        """The context of a device's runs. They have its address, so it is never replaced."""
        key = (replica, partition)
        found = self._contexts.get(key)
        return found or self._contexts.setdefault(key, (ctypes.c_int32 * CONTEXT_WORDS)(0, replica, partition))

    def native_entry(self) -> NativeEntry | None:
        """The compiled function, for a program that neither calls the host nor returns its arguments' memory."""
        program, module = self._program, self.module
        is_donated = bool(module.input_output_aliases or module.buffer_donors)
        is_single = module.num_replicas * module.num_partitions == 1
        if not self._runs_here or self._host_calls is not None or is_donated or not is_single:
            return None
        table = [0] * program.slots
        table[0] = ctypes.addressof(self._context(0, 0))
        for slot, address in self._fixed:
            table[slot] = address
        microseconds = self._microseconds
        if self._loop_nanoseconds:
            table[program.time_slot] = _NATIVE_NANOSECONDS
            microseconds = program.microseconds + _NATIVE_NANOSECONDS / 1000
        results = tuple(place.slot for place in program.results)
        for slot in (*program.parameters, *results):  # a result without elements may share a constant's slot
            table[slot] = 0
        return NativeEntry(
            address=self._library.addresses[ENTRY],
            table=tuple(table),
            parameters=program.parameters,
            results=results,
            temporaries=((program.temp_slot, program.temp_bytes),) if program.temp_bytes else (),
            microseconds=microseconds,
        )

    def serialize(self) -> bytes:
        return self._program.to_bytes(self.module.to_text())

    @staticmethod
    def deserialize(data: bytes, generator: CodeGenerator | None = None) -> CpuExecutable:
        """Restores an executable from the bytes that `serialize` returned.

        The bytes contain native code, which cannot be checked. Pass only bytes from a source that you trust.

        Raises:
            InvalidArgumentError: the bytes are damaged.
        """
        program, text = NativeProgram.from_bytes(data)
        module = parse_hlo(text)
        check_program(program, module)
        try:
            return CpuExecutable(module, program, generator=generator)
        except AttributeError as error:  # OpenBLAS has no routine of that name
            raise InvalidArgumentError(f"the serialized CPU program is damaged: {error}") from error

    def memory_stats(self) -> ExecutableMemoryStats:
        return dataclasses.replace(
            super().memory_stats(),
            temp_bytes=self._program.temp_bytes,
            constant_bytes=len(self._program.constants),
            generated_code_bytes=sum(map(len, self._program.objects)),
        )

    def close(self) -> None:
        """Cancels the runs in progress: each stops at its next loop iteration or host call."""
        for context in list(self._contexts.values()):  # another thread may add one
            context[0] = 1
        if self._host_calls is not None:
            self._host_calls.cancel()


def _has_state(module: HloModule) -> bool:
    """Whether a run changes a state of the executable, so that a run that was given up would be seen."""
    return any(Trait.SIDE_EFFECT in i.op.traits for c in module.computations for i in c.instructions)
