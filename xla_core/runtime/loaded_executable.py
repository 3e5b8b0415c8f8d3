"""LoadedExecutable: a program on the devices that it was compiled for, ready to be called."""

from __future__ import annotations

import dataclasses
import itertools
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from xla_core import profiler
from xla_core.backend.compile_options import CompileOptions
from xla_core.backend.entry import donated_parameters
from xla_core.backend.executable import CompilationReport, Executable, ExecutableMemoryStats, RunOptions
from xla_core.errors import FailedPreconditionError, InvalidArgumentError, XlaError
from xla_core.hlo.dynamic_results import dynamic_results
from xla_core.hlo.shape import Shape
from xla_core.runtime import serialization
from xla_core.runtime.buffer import Buffer, intern_shape
from xla_core.runtime.communicator import report_failure
from xla_core.runtime.device_program import DeviceProgram
from xla_core.runtime.host_array import as_argument
from xla_core.runtime.host_stream import as_xla_error
from xla_core.runtime.signature import Signature, shape_of

if TYPE_CHECKING:
    from xla_core.backend.device_memory import DeviceMemory
    from xla_core.runtime.client import Client
    from xla_core.runtime.device import Device

__all__ = ["LoadedExecutable"]

_run_ids = itertools.count(1)


def _raiser(error: XlaError) -> Callable[[RunOptions, Sequence[DeviceMemory]], Sequence[DeviceMemory]]:
    def refuse(run_options: RunOptions, arguments: Sequence[DeviceMemory]) -> Sequence[DeviceMemory]:
        raise error.with_traceback(None)

    return refuse


class LoadedExecutable:
    """A compiled program on its devices.

    outs = exe(a, b)             # arrays or Buffers in, a tuple of Buffers out, at once
    outs = exe.execute([x, y])   # Buffers only: the fast path
    """

    _closed = False  # deleted

    def __init__(self, client: Client, executable: Executable, options: CompileOptions, name: str) -> None:
        module = executable.module
        self._place(client, options, name, module.num_replicas, module.num_partitions)
        self._executable = executable
        self._shapes = tuple(intern_shape(s) for s in executable.parameter_shapes)
        self._all_results = tuple(intern_shape(s) for s in executable.result_shapes)
        count, self._dynamic = dynamic_results(module)
        self._results = tuple(
            dataclasses.replace(s, dynamic_dimensions=tuple(d in self._dynamic[i] for d in range(s.rank)))
            if i in self._dynamic
            else s
            for i, s in enumerate(self._all_results[:count])
        )
        self._donated = donated_parameters(module)
        self._programs = [
            self._on_device(client.devices[id], replica, partition)
            for replica, row in enumerate(self._assignment)
            for partition, id in enumerate(row)
        ]
        self._run = self._programs[0].run

    def _place(self, client: Client, options: CompileOptions, name: str, replicas: int, partitions: int) -> None:
        """What every executable has."""
        self._client, self._options, self.name = client, options, name
        self.num_replicas, self.num_partitions = replicas, partitions
        self._assignment = client._device_assignment(replicas, partitions, options.device_assignment)
        self._devices = tuple(client.devices[id] for row in self._assignment for id in row)
        self._single = len(self._devices) == 1

    def _on_device(self, device: Device, replica: int, partition: int) -> DeviceProgram:
        ordinals = tuple(tuple(self._client.devices[i].local_ordinal for i in row) for row in self._assignment)
        run_options = RunOptions(
            device.executor,
            device.compute_stream,
            device.allocator,
            device.platform.transfer_manager,
            replica_id=replica,
            partition_id=partition,
            device_assignment=ordinals,
        )
        arguments = (self._executable, device, run_options, self._shapes, self._all_results, self._donated, self.name)
        if not self._dynamic:
            return DeviceProgram(*arguments)
        from xla_core.runtime.sized_results import SizedProgram  # few programs have such results

        return SizedProgram(*arguments).with_sizes(len(self._results), self._dynamic)

    # -- running -----------------------------------------------------------------------------------------------------

    def execute(self, arguments: Sequence[Buffer]) -> tuple[Buffer, ...]:
        """Runs on one device, on Buffers that are there. Returns at once.

        Raises InvalidArgumentError for a wrong number, shape or type of arguments or another device's buffer,
        FailedPreconditionError for a deleted or donated one, ResourceExhaustedError when there is no memory for the
        results. Whatever happens later is raised where a result is read.
        """
        if self._single and profiler._active is None:
            return self._run(arguments)
        if not self._single:
            raise self._not_single()
        program = self._programs[0]
        return program.sized(self._profiled(program, arguments, None))

    def __call__(self, *arguments: Any) -> tuple[Buffer, ...]:
        """As `execute`, for numpy arrays, DLPack objects, Python numbers and Buffers in any mixture."""
        if not self._single:
            raise self._not_single()
        program = self._programs[0]
        if len(arguments) != program.count:
            raise program.wrong_count(len(arguments))
        return self.execute([a if a.__class__ is Buffer else self._put(program, i, a) for i, a in enumerate(arguments)])

    def execute_sharded(self, arguments: Sequence[Sequence[Buffer]]) -> list[tuple[Buffer, ...]]:
        """Runs on all devices of the assignment: one list of arguments a device, replicas before partitions, and one
        tuple of results a device.
        """
        if len(arguments) != len(self._programs):
            raise self._wrong_devices(len(arguments))
        self._client._alive()
        run_id = next(_run_ids)
        rows = [
            [a if a.__class__ is Buffer else self._put(program, i, a) for i, a in enumerate(row)]
            for program, row in zip(self._programs, arguments, strict=True)
        ]
        results: list[tuple[Buffer, ...]] = []
        # Two runs that meet in collectives must come in the same order on all their devices.
        with self._client.launch_lock:
            try:
                for program, row in zip(self._programs, rows, strict=True):
                    results.append(self._profiled(program, row, program.run_options.with_run_id(run_id)))
            except BaseException as error:  # those that were started must not wait for the rest
                cause = as_xla_error(error, f"starting {self.name}")
                for program in self._programs[len(results) :]:
                    options = program.run_options
                    report_failure(run_id, (options.replica_id, options.partition_id), cause)
                raise
        return [program.sized(made) for program, made in zip(self._programs, results, strict=True)]

    def _profiled(
        self, program: DeviceProgram, arguments: Sequence[Buffer], run_options: RunOptions | None
    ) -> tuple[Buffer, ...]:
        active = profiler.active()
        if active is None:
            return program.start(arguments, run_options)
        start = time.perf_counter_ns()
        with profiler.span(f"execute {self.name}", "execute", device=program.device.id):
            results = program.start(arguments, run_options)
        if results and results[0]._event is not None:
            stream = program.run_options.stream
            stream.host_callback(
                lambda: active.add(
                    self.name, "program", start, time.perf_counter_ns(), f"programs of {program.device!r}"
                )
            )
        return results

    def _put(self, program: DeviceProgram, index: int, argument: Any) -> Buffer:
        if index >= program.count:
            raise program.wrong_count(index + 1)
        shape = self._shapes[index]
        array = as_argument(argument, shape.dtype, index, self.name)
        if array.shape != shape.dimensions or array.dtype != shape.dtype:
            raise program.mismatch(index, shape, Shape.of(array))
        return self._client._to_device(array, program.device, shape)

    def _not_single(self) -> InvalidArgumentError:
        return InvalidArgumentError(
            f"{self.name} runs on {len(self._devices)} devices",
            hint="use execute_sharded, one list of arguments a device",
        )

    def _wrong_devices(self, count: int) -> InvalidArgumentError:
        return InvalidArgumentError(
            f"{self.name} runs on {len(self._devices)} devices ({self.num_replicas} replicas x "
            f"{self.num_partitions} partitions), arguments are given for {count}"
        )

    def delete(self) -> None:
        """Ends runs that are under way, where the backend can, with CancelledError in their results. Later runs are
        errors.
        """
        self._closed = True
        error = FailedPreconditionError(f"the executable {self.name} was deleted")
        for program in self._programs:
            program.execute = _raiser(error)
        self._executable.close()

    # -- what it is --------------------------------------------------------------------------------------------------

    @property
    def client(self) -> Client:
        return self._client

    @property
    def devices(self) -> tuple[Device, ...]:
        """Where it runs, replicas before partitions."""
        return self._devices

    @property
    def parameter_shapes(self) -> tuple[Shape, ...]:
        """With the layouts that the compiler chose."""
        return self._shapes

    @property
    def result_shapes(self) -> tuple[Shape, ...]:
        return self._results

    @property
    def donated_parameters(self) -> tuple[int, ...]:
        return self._donated

    def signatures(self) -> tuple[Signature, ...]:
        """What it is compiled for. A program of open sizes may have none yet, or several, the least recently called
        first; any other has one.
        """
        return (Signature.of(self._shapes),)

    def specialize(self, *arguments: Any) -> LoadedExecutable:
        """The executable for these arguments, compiled where it isn't yet: of use where a program leaves sizes open.
        Any other is its own.

        Args:
            arguments: one for each parameter, or what stands for it: a Shape, or its sizes as a tuple.
        """
        if len(arguments) != len(self._shapes):
            raise self._programs[0].wrong_count(len(arguments))
        for index, (argument, shape) in enumerate(zip(arguments, self._shapes, strict=True)):
            have = shape_of(argument, shape.element_type)
            if not have.compatible(shape):
                raise self._programs[0].mismatch(index, shape, have)
        return self

    @property
    def report(self) -> CompilationReport:
        """What the compiler did, in numbers."""
        return self._executable.report

    @property
    def executable(self) -> Executable:
        """The backend's own."""
        return self._executable

    def cost_analysis(self) -> Mapping[str, float]:
        """Estimates for one execution on one device ("flops", "bytes accessed", ...)."""
        return self._executable.cost_analysis()

    def memory_stats(self) -> ExecutableMemoryStats:
        """Bytes of one execution on one device."""
        return self._executable.memory_stats()

    def as_text(self) -> str:
        """The optimized program as HLO text."""
        return self._executable.as_text()

    def artifacts(self) -> Mapping[str, str | bytes]:
        """What the compiler made on the way, by name: "hlo", and what the backend adds ("llvm", "asm", ...)."""
        return self._executable.artifacts()

    def serialize(self) -> bytes:
        """For `Client.deserialize`, in any process with the same backend, version and target."""
        return serialization.pack(self._client.platform, self._client.backend_version, self._executable, self._options)

    def __repr__(self) -> str:
        return f"<LoadedExecutable {self.name} on {', '.join(map(repr, self.devices))}>"
