"""DeviceProgram: one executable on one device, and how an execution is enqueued."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from xla_core.backend.device_memory import DeviceMemory
from xla_core.backend.event import Event
from xla_core.backend.executable import Executable
from xla_core.backend.stream_executor import RunOptions
from xla_core.checks import wrong_argument
from xla_core.errors import FailedPreconditionError, InvalidArgumentError, ResourceExhaustedError
from xla_core.hlo.evaluation.argument_checks import conversion_hint, wrong_count
from xla_core.hlo.values.shape import Shape
from xla_core.runtime.buffers.buffer import Buffer
from xla_core.runtime.device import Device
from xla_core.runtime.host.event import ready_event
from xla_core.runtime.host.stream import HostStream
from xla_core.runtime.memory.memory_stats import ShortageError

_READY = ready_event()


@dataclasses.dataclass(eq=False)
class DeviceProgram:
    """One executable on one device. It holds all that an execution needs, so that a call has nothing to look up."""

    executable: Executable
    device: Device
    run_options: RunOptions
    shapes: tuple[Shape, ...]
    results: tuple[Shape, ...]
    donated: tuple[int, ...]
    name: str

    def __post_init__(self) -> None:
        self.execute: Callable[[RunOptions, Sequence[DeviceMemory]], Sequence[DeviceMemory]]
        self.execute = self.executable.execute_async_on_stream
        self.count = len(self.shapes)
        self.lock = self.device.lock
        self.stream = self.run_options.stream
        self.finish = self.stream.finish
        self.deferring: HostStream | None = None  # the stream, once a run has gone to its worker

    def run(
        self,
        arguments: Sequence[Buffer],
        run_options: RunOptions | None = None,
        non_donatable: Collection[int] = (),
        ends: list[Event] | None = None,
        is_retry: bool = False,
        originals: Mapping[int, Buffer] | None = None,
    ) -> tuple[Buffer, ...]:
        """Enqueues one execution and returns its results. This is the hot path of every call.

        The event of the execution's end is appended to `ends`. `is_retry` tells that attempts before this one found
        too little memory, and `originals` are the caller's buffers of which they copied arguments.
        """
        if arguments.__class__ is not list or len(arguments) != self.count:
            self._check_count(arguments)
        device = self.device
        if device.dead is not None:
            raise device.dead.with_traceback(None)
        for argument, shape in zip(arguments, self.shapes, strict=True):
            if argument.__class__ is not Buffer or argument.shape is not shape or argument.device is not device:
                arguments, originals = self._adapted(arguments)  # may wait for a value, so the lock is not held
                break
        memories: list[DeviceMemory] = []
        waited = None
        foreign: list[Buffer] = []
        deferring = self.deferring if run_options is None else None
        shortage: ShortageError | None = None
        results: Sequence[DeviceMemory] = ()
        with self.lock:
            try:
                if deferring is not None:
                    deferring.is_deferring = True
                for argument in arguments:
                    event, memory = argument.definition_event, argument.memory
                    if memory is None or (event is not None and event is not waited):
                        memory = argument.acquire(self.stream)
                        if argument.is_foreign:
                            foreign.append(argument)
                        else:
                            waited = event
                    memories.append(memory)
                if self.donated:
                    results = self._run_donating(arguments, memories, run_options or self.run_options, non_donatable)
                    self._give_up_originals(originals or {}, non_donatable)
                else:
                    results = self.execute(run_options or self.run_options, memories)
            except ShortageError as error:  # nothing is enqueued
                shortage = error
            finally:
                if deferring is not None:
                    deferring.is_deferring = False
                done = self.finish()  # after a refused run too: its arguments may have poisoned the stream
            for argument in foreign:
                argument.add_usage(done)
        if shortage is not None:
            if is_retry:
                raise shortage
            again = functools.partial(
                self.run, arguments, run_options, non_donatable, ends, is_retry=True, originals=originals
            )
            return device.allocator.with_room(again, shortage.with_traceback(None))
        if ends is not None:
            ends.append(done)
        event = None if done is _READY else done
        made = tuple(
            [Buffer(device, memory, shape, event) for memory, shape in zip(results, self.results, strict=True)]
        )
        if deferring is not None:
            deferring.run_held()
        elif event is not None and run_options is None and isinstance(self.stream, HostStream):
            self.deferring = self.stream
        return made

    def _run_donating(
        self,
        arguments: Sequence[Buffer],
        memories: list[DeviceMemory],
        run_options: RunOptions,
        non_donatable: Collection[int],
    ) -> Sequence[DeviceMemory]:
        """Executes the program with the memory of donated arguments, and ends the donated buffers.

        An argument that the caller keeps, or whose memory is shared, is copied, and the program gets the copy.
        """
        if len({id(memory) for memory in memories}) != len(memories):
            self._check_donated_once(memories, non_donatable)
        free = self.device.allocator.free
        copies: dict[int, DeviceMemory] = {}
        try:
            for index in self.donated:
                memory, is_copy = arguments[index].writable_memory(run_options.stream, keep=index in non_donatable)
                memories[index] = memory
                if is_copy:
                    copies[index] = memory
        except BaseException:
            for copy in copies.values():
                free(copy)
            raise
        results: Sequence[DeviceMemory] = ()
        refused = False
        try:
            results = self.execute(run_options, memories)
        except (ResourceExhaustedError, FailedPreconditionError):  # refused before anything was enqueued
            refused = True
            for copy in copies.values():
                free(copy)
            raise
        finally:
            if not refused:
                returned = {id(memory) for memory in results}
                for index in self.donated:
                    if id(memories[index]) not in returned:
                        free(memories[index])
                    if index not in non_donatable:
                        arguments[index].give_up(f"donated to {self.name}", memory_taken=index not in copies)
        return results

    def _give_up_originals(self, originals: Mapping[int, Buffer], non_donatable: Collection[int]) -> None:
        """Ends the buffers of the caller whose copies, in another place or layout, were donated in their place."""
        for index, original in originals.items():
            if index in self.donated and index not in non_donatable:
                original.give_up(f"donated to {self.name}")

    # -- uncommon cases ----------------------------------------------------------------------------------------------

    def _adapted(self, arguments: Sequence[Any]) -> tuple[list[Buffer], dict[int, Buffer]]:
        """Copies arguments from host memory, and gives them the program's layouts.

        Returns them, and by index the originals of those that were copied. Raises an XlaError if an argument can't be
        used. Waits for the values of those that have another layout.
        """
        for index, (argument, shape) in enumerate(zip(arguments, self.shapes, strict=True)):
            self._check_argument(argument, shape, index)
        adapted, originals = list(arguments), {}
        for index, (argument, shape) in enumerate(zip(arguments, self.shapes, strict=True)):
            if argument.device is not self.device:
                adapted[index] = argument.copy_to_device(self.device)
            if adapted[index].shape != shape:
                adapted[index] = Buffer.from_host(adapted[index].to_numpy(), self.device, shape)
            if adapted[index] is not argument:
                originals[index] = argument
        return adapted, originals

    def _check_count(self, arguments: Any) -> None:
        try:
            count = len(arguments)
        except TypeError:
            raise wrong_argument("arguments", arguments, "a list of Buffers") from None
        if count != self.count:
            raise self.wrong_count(count)

    def _check_argument(self, argument: Any, shape: Shape, index: int) -> None:
        if argument.__class__ is not Buffer:
            raise InvalidArgumentError(
                f"argument {index} of {self.name} is a {type(argument).__name__}, not a Buffer",
                hint="call the executable itself, exe(...), which takes arrays, or use Client.buffer_from_host",
            )
        argument.require_memory()
        if not argument.device.belongs_to(self.device):
            if not self.device.is_beside(argument.device):
                raise InvalidArgumentError(
                    f"argument {index} of {self.name} is a buffer of another client", hint="copy it: np.asarray(buffer)"
                )
            raise InvalidArgumentError(
                f"argument {index} of {self.name} is on {argument.device}, the program runs on {self.device}",
                hint="use buffer.copy_to_device(device)",
            )
        if not argument.shape.compatible(shape):
            raise self.mismatch(index, shape, argument.shape)

    def mismatch(self, index: int, want: Shape, have: Shape) -> InvalidArgumentError:
        same = want.dimensions == have.dimensions
        hint = conversion_hint(want.element_type) if same else None
        return InvalidArgumentError(
            f"argument {index} of {self.name} must be {want.without_layout()}, not {have.without_layout()}", hint=hint
        )

    def wrong_count(self, count: int) -> InvalidArgumentError:
        return wrong_count(self.name, self.shapes, count)

    def _check_donated_once(self, memories: list[DeviceMemory], non_donatable: Collection[int]) -> None:
        donated = set(self.donated).difference(non_donatable)
        first: dict[int, int] = {}
        for index, memory in enumerate(memories):
            other = first.setdefault(id(memory), index)
            if other != index and (index in donated or other in donated):
                raise InvalidArgumentError(
                    f"arguments {other} and {index} of {self.name} are the same buffer, and it is donated",
                    hint="pass a copy, or compile with CompileOptions(donate=())",
                )
