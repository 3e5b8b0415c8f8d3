"""StaticExecutable: a program with one compilation, on its devices."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import time
from collections.abc import Callable, Collection, Sequence
from typing import Any

from xla_core import profiler
from xla_core.backend.event import Event
from xla_core.backend.executable import Executable
from xla_core.backend.stream_executor import RunOptions
from xla_core.compile_options import CompileOptions
from xla_core.errors import FailedPreconditionError, as_xla_error
from xla_core.hlo.evaluation.dynamic_results import dynamic_results
from xla_core.hlo.ir.entry import donated_parameters
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.shape import Shape
from xla_core.interruptible import run_in_threads
from xla_core.runtime.buffers.buffer import Buffer
from xla_core.runtime.communicators import report_failure, starting
from xla_core.runtime.device import Device, DeviceSet
from xla_core.runtime.executables import serialization
from xla_core.runtime.executables.device_program import DeviceProgram
from xla_core.runtime.executables.loaded_executable import LoadedExecutable
from xla_core.runtime.host.work import raiser
from xla_core.runtime.host_array import as_argument
from xla_core.runtime.programs.signature import Signature
from xla_core.runtime.shape_cache import intern_shape

_run_ids = itertools.count(1)


class StaticExecutable(LoadedExecutable):
    """A `LoadedExecutable` with one compilation, whose argument sizes are fixed."""

    def __init__(self, device_set: DeviceSet, executable: Executable, options: CompileOptions, name: str) -> None:
        module = executable.module
        super().__init__(device_set, options, name, module.num_replicas, module.num_partitions)
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
            self._on_device(device_set.devices[id], replica, partition)
            for replica, row in enumerate(self._assignment)
            for partition, id in enumerate(row)
        ]
        self._run = self._programs[0].run
        self._is_plain = self._single and not self._dynamic
        # Without the feature, the call drives control flow itself, and waits in it for collectives of other devices.
        self._blocks = not all(device.executor.features.callbacks_may_enqueue for device in self._devices) and any(
            i.opcode in (Opcode.WHILE, Opcode.CONDITIONAL) for c in module.computations for i in c.instructions
        )

    def _on_device(self, device: Device, replica: int, partition: int) -> DeviceProgram:
        ordinals = tuple(tuple(self._device_set.devices[i].local_ordinal for i in row) for row in self._assignment)
        run_options = device.run_options(replica, partition, ordinals)
        name = self.name if self._single else f"{self.name} on {device}"
        return DeviceProgram(
            self._executable, device, run_options, self._shapes, self._all_results, self._donated, name
        )

    # -- running -----------------------------------------------------------------------------------------------------

    def execute(
        self,
        arguments: Sequence[Buffer],
        *,
        non_donatable: Collection[int] = (),
        ends: list[Event] | None = None,
    ) -> tuple[Buffer, ...]:
        if self._is_plain and profiler.active is None:
            if ends is None and not non_donatable:
                return self._run(arguments)
            return self._run(arguments, None, non_donatable, ends)
        if not self._single:
            raise self._not_single()
        program = self._programs[0]
        return self._sized(program, self._run_program(program, arguments, None, non_donatable, ends))

    def __call__(self, *arguments: Any) -> tuple[Buffer, ...]:
        if not self._single:
            raise self._not_single()
        program = self._programs[0]
        if len(arguments) != program.count:
            raise self._wrong_count(len(arguments))
        return self.execute([a if a.__class__ is Buffer else self._put(program, i, a) for i, a in enumerate(arguments)])

    def execute_sharded(
        self,
        arguments: Sequence[Sequence[Any]],
        *,
        non_donatable: Collection[int] = (),
        ends: list[Event] | None = None,
    ) -> list[tuple[Buffer, ...]]:
        self._check_rows(arguments)
        self._device_set.require_alive()
        run_id = next(_run_ids)
        rows = [
            [a if a.__class__ is Buffer else self._put(program, i, a) for i, a in enumerate(row)]
            for program, row in zip(self._programs, arguments, strict=True)
        ]

        own_ends: list[list[Event]] = [[] for _ in rows]  # devices may be started in any order

        def start(index: int) -> tuple[Buffer, ...]:
            program = self._programs[index]
            options = dataclasses.replace(program.run_options, run_id=run_id)
            try:
                return self._run_program(program, rows[index], options, non_donatable, own_ends[index])
            except BaseException as error:
                cause = as_xla_error(error, f"starting {self.name}")
                # The other devices must not wait for this one, nor for those that would be started after it.
                for missing in [program] if self._blocks else self._programs[index:]:
                    report_failure(missing.run_options, run_id, self._executable.module, cause)
                raise

        # Two runs with collectives must be enqueued in the same order on all their devices.
        with self._device_set.launch_lock, starting(run_id):
            results = self._start_each(start)
        if ends is not None:
            ends += itertools.chain(*own_ends)
        return [self._sized(program, made) for program, made in zip(self._programs, results, strict=True)]

    def _start_each(self, start: Callable[[int], tuple[Buffer, ...]]) -> list[tuple[Buffer, ...]]:
        """Calls `start` for the number of each device, in threads if it blocks until other devices are started."""
        numbers = range(len(self._programs))
        if not self._blocks:
            return list(map(start, numbers))
        return run_in_threads([functools.partial(start, number) for number in numbers], f"start {self.name}")

    def _sized(self, program: DeviceProgram, made: tuple[Buffer, ...]) -> tuple[Buffer, ...]:
        """Slices the results with dynamic dimensions to their sizes."""
        if not self._dynamic:
            return made
        from xla_core.runtime.executables.sized_results import slice_results  # few programs have such results

        return slice_results(made, len(self._results), self._dynamic, program.device)

    def _run_program(
        self,
        program: DeviceProgram,
        arguments: Sequence[Buffer],
        run_options: RunOptions | None,
        non_donatable: Collection[int],
        ends: list[Event] | None,
    ) -> tuple[Buffer, ...]:
        active = profiler.active
        if active is None:
            return program.run(arguments, run_options, non_donatable, ends)
        start = time.perf_counter_ns()
        with profiler.span(f"execute {self.name}", "execute", device=program.device.id):
            results = program.run(arguments, run_options, non_donatable, ends)
        if results and results[0].definition_event is not None:
            stream = program.run_options.stream
            stream.host_callback(
                lambda: active.add(
                    self.name,
                    "program",
                    start,
                    time.perf_counter_ns(),
                    f"{program.device.executor.device_name} from call to end",
                )
            )
        return results

    def _put(self, program: DeviceProgram, index: int, argument: Any) -> Buffer:
        if index >= program.count:
            raise program.wrong_count(index + 1)
        shape = self._shapes[index]
        array = as_argument(argument, shape.dtype, index, program.name)
        if array.shape != shape.dimensions or array.dtype != shape.dtype:
            raise program.mismatch(index, shape, Shape.of(array))
        return Buffer.from_host(array, program.device, shape)

    def _delete(self, error: FailedPreconditionError) -> None:
        self._deleted = True
        for program in self._programs:
            program.execute = raiser(error)
        self._executable.close()

    # -- what it is --------------------------------------------------------------------------------------------------

    def signatures(self) -> tuple[Signature, ...]:
        return (Signature.of(self._shapes),)

    def _specialized(self, arguments: Sequence[Any], shapes: Sequence[Shape]) -> StaticExecutable:
        for index, (have, want) in enumerate(zip(shapes, self._shapes, strict=True)):
            if not have.compatible(want):
                raise self._programs[0].mismatch(index, want, have)
        return self

    def _compilation(self, member: str) -> Executable:
        return self._executable

    def serialize(self) -> bytes:
        return serialization.pack(self._device_set, self._executable, self._options)

    def __repr__(self) -> str:
        return f"<StaticExecutable {self.name} on {', '.join(map(repr, self.devices))}>"
