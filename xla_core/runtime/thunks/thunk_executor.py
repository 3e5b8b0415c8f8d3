"""ThunkExecutor: enqueues a program's thunks on a stream, and drives its control flow from the host."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from xla_core.analysis import AllocationKind, BufferAllocation
from xla_core.backend.communicator import Communicator
from xla_core.backend.device_memory import DeviceMemory
from xla_core.backend.event import Event
from xla_core.backend.stream import Stream
from xla_core.backend.stream_executor import RunOptions
from xla_core.errors import CancelledError, UnimplementedError, as_xla_error
from xla_core.runtime.communicators import make_communicator
from xla_core.runtime.thunks.device_constants import DeviceConstants
from xla_core.runtime.thunks.host_thunks import HOST_HANDLERS, read, require_done
from xla_core.runtime.thunks.thunk_run import Place, ThunkHandler, ThunkRun, drive_from_host
from xla_core.schedule import (
    START,
    CallThunk,
    CollectiveThunk,
    ConditionalThunk,
    CopyThunk,
    FillThunk,
    KernelThunk,
    Thunk,
    ThunkProgram,
    WhileThunk,
    assign_streams,
    walk,
)


class ThunkExecutor:
    """Runs a ThunkProgram on any stream. One executor serves all executions of a program, which may overlap.

    Args:
        program: the program to run.
        handlers: functions that enqueue the backend's own kinds of thunk (such as library calls), by thunk class. They
            may replace the handlers for kernel, copy, fill, while, conditional, call, collective, host callback, infeed
            and outfeed thunks here.
        collective_timeout: how many seconds a device waits for the other devices of its execution.
        streams: the most streams on which independent branches of the program run (see `assign_streams`).
        least_bytes: the least bytes that the first step of a branch moves.

    Raises:
        UnimplementedError: for a program with thunks that have no handler; it names them.
    """

    def __init__(
        self,
        program: ThunkProgram,
        handlers: Mapping[type[Thunk], ThunkHandler] | None = None,
        *,
        collective_timeout: float = 60.0,
        streams: int = 1,
        least_bytes: int = 1 << 16,
    ) -> None:
        placements = assign_streams(program.thunks, streams, least_bytes) if streams > 1 else ()
        self._placements = placements if any(placement.stream for placement in placements) else ()
        self._awaited = frozenset(number for placement in placements for number in placement.waits)
        self._constants = DeviceConstants()
        self._pieces: dict[bool, list[tuple[BufferAllocation, list[Place]]]] = {}
        self._lengths: dict[int, int] = {}  # by id(thunk) of a loop
        self._cancelled = False
        self.program = program
        self._handlers = {**_HANDLERS, **(handlers or {})}
        self._timeout = collective_timeout
        self._meets = any(type(thunk) is CollectiveThunk for thunk in walk(program.thunks))
        known = {**_CONTROL_FLOW, **self._handlers}
        strange = [t for t in walk(program.thunks) if type(t) not in known]
        if strange:
            names = ", ".join(f"{t.name} ({getattr(t, 'opcode', type(t).__name__)})" for t in strange[:10])
            raise UnimplementedError(f"the program has {len(strange)} steps that this backend cannot run: {names}")

    # -- an execution ------------------------------------------------------------------------------------------------

    def execute(self, options: RunOptions, arguments: Sequence[DeviceMemory]) -> list[DeviceMemory]:
        """Enqueues one execution; implements `Executable.execute_async_on_stream`.

        Results are allocated by the allocator, or are donated arguments that hold a result.
        """
        allocator = options.allocator
        memories: dict[Place, DeviceMemory] = {}
        temporaries: list[DeviceMemory] = []
        taken: list[DeviceMemory] = []
        communicator: Communicator | None = None
        try:
            for allocation, places in self._needed(options.executor.features.memory_slices):
                if allocation.kind is AllocationKind.CONSTANT:
                    memories[places[0]] = self._constants.memory(options, allocation)
                elif allocation.kind is not AllocationKind.PARAMETER:
                    for place in places:
                        memory = allocator.allocate(place[2], allocation.memory_space)
                        taken.append(memory)
                        memories[place] = memory
                        if allocation.kind is AllocationKind.TEMP:
                            temporaries.append(memory)
            for parameter, argument in zip(self.program.parameters, arguments, strict=True):
                if parameter is not None:
                    memories[parameter.index, 0, parameter.size] = argument
            communicator = self._communicator(options)
            run = ThunkRun(options, options.stream, memories, communicator)
            self.enqueue_program(run)
            results = run.memories(self.program.results)
            if communicator is not None:
                event = options.stream.create_event()
                options.stream.record(event)
                event.when_ready(communicator.end)
        except BaseException as error:
            for memory in taken:  # the stream reuses it only after the work enqueued so far
                allocator.free(memory)
            if communicator is not None:
                communicator.end(as_xla_error(error, "enqueueing the program"))
            raise
        for memory in temporaries:
            allocator.free(memory)
        return results

    def _communicator(self, options: RunOptions) -> Communicator | None:
        if not self._meets:
            return None
        return make_communicator(dataclasses.replace(options, collective_timeout=self._timeout), _TIMEOUT_NAME)

    @property
    def has_branches(self) -> bool:
        """Whether independent branches of the program run on streams of their own."""
        return bool(self._placements)

    def enqueue_program(self, run: ThunkRun) -> None:
        """Enqueues the whole program, on several streams if it has independent branches and the device has streams.

        A backend may override it to enqueue the same work in another way.
        """
        further, awaited = run.options.further_stream, self._awaited
        if not self._placements or further is None:
            for thunk in self.program.thunks:
                self.enqueue(thunk, run)
            return
        events, runs = dict[int, Event](), {0: run}
        try:
            if START in awaited:
                events[START] = _recorded(run.stream)
            for number, (thunk, placement) in enumerate(zip(self.program.thunks, self._placements, strict=True)):
                own = runs.get(placement.stream)
                if own is None:
                    own = runs[placement.stream] = dataclasses.replace(run, stream=further(placement.stream))
                for earlier in placement.waits:
                    own.stream.wait(events[earlier])
                self.enqueue(thunk, own)
                if number in awaited:
                    events[number] = _recorded(own.stream)
        finally:  # the streams meet again, also after an error
            for number, own in runs.items():
                if number:
                    run.stream.wait(own.stream.finish())

    def enqueue(self, thunk: Thunk, run: ThunkRun) -> None:
        handler = self._handlers.get(type(thunk))
        if handler is not None:
            handler(thunk, run)
        else:
            _CONTROL_FLOW[type(thunk)](self, thunk, run)

    def _needed(self, slices: bool) -> list[tuple[BufferAllocation, list[Place]]]:
        """Returns each allocation with the pieces of memory to allocate for it.

        An allocation is one piece. Without `memory_slices`, the arena of temporaries has a piece for each slice in use,
        which is correct because overlapping slices of an arena are never live together.
        """
        cached = self._pieces.get(slices)
        if cached is None:
            cached = []
            for allocation in self.program.allocations:
                whole = (allocation.index, 0, allocation.size)
                apart = allocation.kind is AllocationKind.TEMP and not slices
                keys = sorted(self._used(allocation.index)) if apart else [whole]
                cached.append((allocation, keys))
            self._pieces[slices] = cached
        return cached

    def _used(self, index: int) -> set[Place]:
        slices = (use.slice for thunk in walk(self.program.thunks) for use in thunk.buffer_uses())
        return {(index, place.offset, place.size) for place in slices if place.allocation.index == index}

    def cancel(self) -> None:
        """Makes host-driven loops of current and later executions fail with CancelledError."""
        self._cancelled = True

    def __del__(self, is_finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        if not is_finalizing():
            self._constants.close()

    # -- control flow --------------------------------------------------------------------------------------------------

    def _call(self, thunk: CallThunk, run: ThunkRun) -> None:
        for inner in thunk.thunks:
            self.enqueue(inner, run)

    def _while(self, thunk: WhileThunk, run: ThunkRun) -> None:
        if thunk.trip_count is not None and self._unrolled(thunk) <= _UNROLLED:
            for _ in range(thunk.trip_count):
                for inner in thunk.body:
                    self.enqueue(inner, run)
            return

        def drive(run: ThunkRun) -> None:
            trips = 0
            ahead = self._trips_ahead(thunk)
            earlier: Event | None = None
            while True:
                if self._cancelled:
                    raise CancelledError(f"{thunk.name} was cancelled after {trips} trips")
                if thunk.trip_count is None:
                    for inner in thunk.condition:
                        self.enqueue(inner, run)
                    if not read(run, thunk.predicate, 1)[0]:
                        return
                elif trips == thunk.trip_count:
                    return
                for inner in thunk.body:
                    self.enqueue(inner, run)
                trips += 1
                if ahead and trips % ahead == 0:
                    if earlier is not None:
                        require_done(earlier)
                    earlier = _recorded(run.stream)

        drive_from_host(drive, run)

    def _trips_ahead(self, thunk: WhileThunk) -> int:
        """Returns after how many trips the host waits for earlier ones; 0 if it reads a predicate in each trip."""
        if thunk.trip_count is None:
            return 0
        return max(1, _UNROLLED * thunk.trip_count // max(1, self._unrolled(thunk)))

    def _unrolled(self, thunk: WhileThunk) -> int:
        """Returns how many thunks unrolling a loop of known trip count, and the short loops in it, would enqueue."""
        found = self._lengths.get(id(thunk))
        if found is None:
            found = self._lengths[id(thunk)] = (thunk.trip_count or 0) * sum(map(self._items, thunk.body))
        return found

    def _items(self, thunk: Thunk) -> int:
        if isinstance(thunk, WhileThunk) and thunk.trip_count is not None:
            length = self._unrolled(thunk)
            return length if length <= _UNROLLED else 1  # a longer loop is one host-driven item
        return sum(map(self._items, thunk.thunks)) if isinstance(thunk, CallThunk) else 1

    def _conditional(self, thunk: ConditionalThunk, run: ThunkRun) -> None:
        def drive(run: ThunkRun) -> None:
            if thunk.is_predicate:
                chosen = 0 if read(run, thunk.index, 1)[0] else 1
            else:
                chosen = int(read(run, thunk.index, 4).view(np.int32)[0])
                if not 0 <= chosen < len(thunk.branches):
                    chosen = len(thunk.branches) - 1
            for inner in thunk.branches[chosen]:
                self.enqueue(inner, run)

        drive_from_host(drive, run)


def _recorded(stream: Stream) -> Event:
    event = stream.create_event()
    stream.record(event)
    return event


def _kernel(thunk: KernelThunk, run: ThunkRun) -> None:
    arguments = run.memories(thunk.operands) + run.memories(thunk.results)
    thunk.kernel.launch(run.stream, arguments, thunk.dimensions)


def _copy(thunk: CopyThunk, run: ThunkRun) -> None:
    run.stream.memcpy_d2d(run.memory(thunk.destination), run.memory(thunk.source))


def _collective(thunk: CollectiveThunk, run: ThunkRun) -> None:
    assert run.communicator is not None  # the program has collectives
    run.communicator.enqueue(run.stream, thunk, run.memories(thunk.operands), run.memories(thunk.results))


def _fill(thunk: FillThunk, run: ThunkRun) -> None:
    run.stream.memset(run.memory(thunk.destination), thunk.value)


_HANDLERS: Mapping[type[Thunk], Callable[[Any, ThunkRun], None]] = {
    KernelThunk: _kernel,
    CopyThunk: _copy,
    FillThunk: _fill,
    CollectiveThunk: _collective,
    **HOST_HANDLERS,
}
_CONTROL_FLOW: Mapping[type[Thunk], Callable[[ThunkExecutor, Any, ThunkRun], None]] = {
    WhileThunk: ThunkExecutor._while,
    ConditionalThunk: ThunkExecutor._conditional,
    CallThunk: ThunkExecutor._call,
}

_TIMEOUT_NAME = "ThunkExecutor's collective_timeout"
_UNROLLED = 4096  # the most thunks that a loop of known trip count enqueues before it waits for earlier ones
