"""ThunkExecutor: enqueues a program's thunks on a stream, and drives its control flow from the host."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from xla_core.analysis import AllocationKind, BufferAllocation, BufferSlice
from xla_core.backend.device_memory import DeviceMemory
from xla_core.backend.executable import Allocator, RunOptions
from xla_core.backend.stream import Event, Stream
from xla_core.backend.stream_executor import StreamExecutor
from xla_core.backend.transfer_manager import TransferManager
from xla_core.errors import CancelledError, InternalError, UnimplementedError
from xla_core.hlo.literal import Literal
from xla_core.hlo.shape import Shape
from xla_core.runtime.host_stream import HostStream
from xla_core.schedule import (
    CallThunk,
    ConditionalThunk,
    CopyThunk,
    FillThunk,
    HostCallbackThunk,
    InfeedThunk,
    KernelThunk,
    OutfeedThunk,
    Thunk,
    ThunkProgram,
    WhileThunk,
    walk,
)

__all__ = ["ThunkExecutor", "ThunkHandler", "ThunkRun"]

_Key = tuple[int, int, int]


class ThunkRun:
    """One execution: where each slice lies now."""

    __slots__ = ("_memories", "driving", "options", "stream")

    def __init__(
        self, options: RunOptions, stream: Stream, memories: dict[_Key, DeviceMemory], driving: bool = False
    ) -> None:
        self.options = options
        self.stream = stream
        self.driving = driving  # the host may block here: nobody waits for this to return
        self._memories = memories

    def memory(self, place: BufferSlice) -> DeviceMemory:
        """The memory of a slice of the program."""
        key = (place.allocation.index, place.offset, place.size)
        memory = self._memories.get(key)
        if memory is None:
            whole = self._memories[place.allocation.index, 0, place.allocation.size]
            memory = self._memories[key] = whole.slice(place.offset, place.size)
        return memory

    def memories(self, places: Sequence[BufferSlice]) -> list[DeviceMemory]:
        return [self.memory(place) for place in places]

    def on(self, stream: Stream) -> ThunkRun:
        """The same run, enqueueing elsewhere."""
        return ThunkRun(self.options, stream, self._memories, driving=True)


ThunkHandler = Callable[[Thunk, ThunkRun], None]


class _Constant:
    """A constant's memory on one device, and the event of its last upload."""

    __slots__ = ("_settled", "allocator", "memory", "uploaded")

    def __init__(self, memory: DeviceMemory, allocator: Allocator) -> None:
        self.memory = memory
        self.allocator = allocator
        self.uploaded: Event | None = None
        self._settled = False

    def is_there(self) -> bool:
        if not self._settled and self.uploaded is not None:
            self._settled = self.uploaded.ready and self.uploaded.error is None
        return self._settled


class ThunkExecutor:
    """Runs a ThunkProgram on any stream. Made once for a program; runs of it may overlap.

    Args:
        program: what to run.
        handlers: what enqueues the backend's own kinds of thunk (library calls, collectives), by thunk class; may
            replace those that are here: kernel, copy, fill, while, conditional, call, host callback, infeed, outfeed.

    Raises UnimplementedError for a program with thunks that nothing handles, naming them.
    """

    def __init__(self, program: ThunkProgram, handlers: Mapping[type[Thunk], ThunkHandler] | None = None) -> None:
        self._constants: dict[tuple[StreamExecutor, int], _Constant] = {}
        self._pieces: dict[bool, list[tuple[BufferAllocation, list[_Key]]]] = {}
        self._lengths: dict[int, int] = {}  # by the id of a loop
        self._lock = threading.Lock()
        self._cancelled = False
        self.program = program
        self._handlers = dict(handlers or {})
        strange = [t for t in walk(program.thunks) if type(t) not in self._handlers and type(t) not in _OWN]
        if strange:
            names = ", ".join(f"{t.name} ({getattr(t, 'opcode', type(t).__name__)})" for t in strange[:10])
            raise UnimplementedError(f"the program has {len(strange)} steps that this backend cannot run: {names}")

    # -- an execution ------------------------------------------------------------------------------------------------

    def execute(self, options: RunOptions, arguments: Sequence[DeviceMemory]) -> list[DeviceMemory]:
        """What `Executable.execute_async_on_stream` promises: results come from the allocator, donated arguments that
        hold a result are returned.
        """
        allocator = options.allocator
        memories: dict[_Key, DeviceMemory] = {}
        temporaries: list[DeviceMemory] = []
        taken: list[DeviceMemory] = []
        try:
            for allocation, places in self._needed(options.executor.features.memory_slices):
                if allocation.kind is AllocationKind.CONSTANT:
                    memories[places[0]] = self._constant(options, allocation)
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
            run = ThunkRun(options, options.stream, memories)
            for thunk in self.program.thunks:
                self.enqueue(thunk, run)
            results = run.memories(self.program.results)
        except BaseException:
            for memory in taken:  # free in the stream's order: after what was enqueued
                allocator.free(memory)
            raise
        for memory in temporaries:
            allocator.free(memory)
        return results

    def enqueue(self, thunk: Thunk, run: ThunkRun) -> None:
        """Enqueues one thunk on the run's stream."""
        handler = self._handlers.get(type(thunk))
        if handler is not None:
            handler(thunk, run)
        else:
            _OWN[type(thunk)](self, thunk, run)

    def _needed(self, slices: bool) -> list[tuple[BufferAllocation, list[_Key]]]:
        """Each allocation with the memory it takes: one piece, or, where a device has no slices of memory, one for
        each slice that is used. (Two slices of an arena that overlap are never alive together.)
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

    def _used(self, index: int) -> set[_Key]:
        found: set[_Key] = set()
        for thunk in walk(self.program.thunks):
            for name in type(thunk).__slots__:
                value = getattr(thunk, name)
                for place in value if isinstance(value, tuple) else (value,):
                    if isinstance(place, BufferSlice) and place.allocation.index == index:
                        found.add((index, place.offset, place.size))
        return found

    def _constant(self, options: RunOptions, allocation: BufferAllocation) -> DeviceMemory:
        """Constants stay on each device. They are put there by each run until one upload is known to have succeeded: a
        stream whose work has failed does none.
        """
        key = (options.executor, allocation.index)
        with self._lock:
            if allocation.constant is None:
                raise InternalError(f"{allocation} has no constant")
            held = self._constants.get(key)
            if held is None:
                memory = options.allocator.allocate(allocation.size, allocation.memory_space)
                held = self._constants[key] = _Constant(memory, options.allocator)
            if not held.is_there():
                shape = allocation.constant.shape.with_default_layout()
                array = np.asarray(allocation.constant.literal.array, order="C")
                stream, manager = options.stream, options.transfer_manager
                manager.transfer_to_device_async(stream, array, held.memory, shape, immutable=True)
                held.uploaded = stream.create_event()
                stream.record(held.uploaded)
            return held.memory

    def cancel(self) -> None:
        """Ends the loops of runs that are under way, and of later ones, with CancelledError."""
        self._cancelled = True

    def __del__(self) -> None:
        for held in self._constants.values():
            held.allocator.free(held.memory)

    # -- thunks that need nothing of the host --------------------------------------------------------------------------

    def _kernel(self, thunk: KernelThunk, run: ThunkRun) -> None:
        arguments = run.memories(thunk.operands) + run.memories(thunk.results)
        run.stream.launch(thunk.kernel, arguments, thunk.dimensions)

    def _copy(self, thunk: CopyThunk, run: ThunkRun) -> None:
        run.stream.memcpy_d2d(run.memory(thunk.destination), run.memory(thunk.source))

    def _fill(self, thunk: FillThunk, run: ThunkRun) -> None:
        run.stream.memset(run.memory(thunk.destination), thunk.value)

    def _call(self, thunk: CallThunk, run: ThunkRun) -> None:
        for inner in thunk.thunks:
            self.enqueue(inner, run)

    # -- thunks that the host takes part in ----------------------------------------------------------------------------

    def _while(self, thunk: WhileThunk, run: ThunkRun) -> None:
        if thunk.trip_count is not None and self._unrolled(thunk) <= _UNROLLED:
            for _ in range(thunk.trip_count):
                for inner in thunk.body:
                    self.enqueue(inner, run)
            return

        def drive(run: ThunkRun) -> None:
            trips = 0
            while True:
                if self._cancelled:
                    raise CancelledError(f"{thunk.name} was cancelled after {trips} trips")
                if thunk.trip_count is None:
                    for inner in thunk.condition:
                        self.enqueue(inner, run)
                    if not _read(run, thunk.predicate, 1)[0]:
                        return
                elif trips == thunk.trip_count:
                    return
                for inner in thunk.body:
                    self.enqueue(inner, run)
                trips += 1

        self._driven(drive, run)

    def _unrolled(self, thunk: WhileThunk) -> int:
        """How many items are enqueued when a loop of known length and the short ones within it are unrolled."""
        found = self._lengths.get(id(thunk))
        if found is None:
            found = self._lengths[id(thunk)] = (thunk.trip_count or 0) * sum(map(self._items, thunk.body))
        return found

    def _items(self, thunk: Thunk) -> int:
        if isinstance(thunk, WhileThunk) and thunk.trip_count is not None:
            length = self._unrolled(thunk)
            return length if length <= _UNROLLED else 1  # a longer one is one item, driven in its turn
        return sum(map(self._items, thunk.thunks)) if isinstance(thunk, CallThunk) else 1

    def _conditional(self, thunk: ConditionalThunk, run: ThunkRun) -> None:
        def drive(run: ThunkRun) -> None:
            if thunk.is_predicate:
                chosen = 0 if _read(run, thunk.index, 1)[0] else 1
            else:
                chosen = int(_read(run, thunk.index, 4).view(np.int32)[0])
                if not 0 <= chosen < len(thunk.branches):
                    chosen = len(thunk.branches) - 1
            for inner in thunk.branches[chosen]:
                self.enqueue(inner, run)

        self._driven(drive, run)

    def _host_callback(self, thunk: HostCallbackThunk, run: ThunkRun) -> None:
        def drive(run: ThunkRun) -> None:
            manager = run.options.transfer_manager
            arrays = []
            for place, shape in zip(thunk.operands, thunk.operand_shapes, strict=True):
                array = manager.from_device(_read(run, place, manager.byte_size(shape)), shape)
                array.flags.writeable = False
                arrays.append(array)
            results = thunk.function(*arrays)
            if len(results) != len(thunk.results):
                raise InternalError(f"{thunk.name} returned {len(results)} arrays, expected {len(thunk.results)}")
            for array, place, shape in zip(results, thunk.results, thunk.result_shapes, strict=True):
                _write(run, manager, np.asarray(array), place, shape)

        self._driven(drive, run)

    def _infeed(self, thunk: InfeedThunk, run: ThunkRun) -> None:
        def drive(run: ThunkRun) -> None:
            manager = run.options.transfer_manager
            leaves = list(_leaves(manager.infeed(run.options.device_ordinal).get()))
            if len(leaves) != len(thunk.results):
                raise InternalError(f"{thunk.name} takes {len(thunk.results)} arrays, the infeed gave {len(leaves)}")
            for array, place, shape in zip(leaves, thunk.results, thunk.result_shapes, strict=True):
                _write(run, manager, array, place, shape)

        self._driven(drive, run)

    def _outfeed(self, thunk: OutfeedThunk, run: ThunkRun) -> None:
        def drive(run: ThunkRun) -> None:
            manager = run.options.transfer_manager
            shapes = [s for s in thunk.shape.leaves() if s.is_array]
            arrays = iter(
                [
                    manager.from_device(_read(run, place, manager.byte_size(shape)), shape)
                    for place, shape in zip(thunk.operands, shapes, strict=True)
                ]
            )
            manager.outfeed(run.options.device_ordinal).put(_as_literal(thunk.shape, arrays))

        self._driven(drive, run)

    def _driven(self, drive: Callable[[ThunkRun], None], run: ThunkRun) -> None:
        """Calls `drive` in the stream's turn, with a run on a stream of its own, where the device's callbacks may do
        that; else now, which blocks.
        """
        if run.driving:
            drive(run)
            return
        if not run.options.executor.features.callbacks_may_enqueue:
            try:
                drive(run)
            except Exception as error:  # the results carry it, as if it had happened on the device
                run.stream.host_callback(_raiser(error))
            return

        def in_turn() -> None:
            stream = run.options.executor.create_stream()
            if isinstance(stream, HostStream):
                stream.run_everything_inline()
            try:
                drive(run.on(stream))
                done = stream.finish()
                done.synchronize()
                if done.error is not None:
                    raise done.error
            finally:
                stream.close()

        run.stream.host_callback(in_turn)


_OWN: Mapping[type[Thunk], Callable[..., None]] = {
    KernelThunk: ThunkExecutor._kernel,
    CopyThunk: ThunkExecutor._copy,
    FillThunk: ThunkExecutor._fill,
    WhileThunk: ThunkExecutor._while,
    ConditionalThunk: ThunkExecutor._conditional,
    CallThunk: ThunkExecutor._call,
    HostCallbackThunk: ThunkExecutor._host_callback,
    InfeedThunk: ThunkExecutor._infeed,
    OutfeedThunk: ThunkExecutor._outfeed,
}

_UNROLLED = 4096  # thunks that a loop of known length may enqueue at once


def _raiser(error: Exception) -> Callable[[], None]:
    def fail() -> None:
        raise error

    return fail


def _read(run: ThunkRun, place: BufferSlice, size: int) -> np.ndarray:
    """The first `size` bytes of a slice, waited for. Raises what made the work before it fail."""
    data = np.empty(size, np.uint8)
    stream = run.stream
    stream.memcpy_d2h(data, run.memory(place))
    event = stream.create_event()
    stream.record(event)
    event.synchronize()
    if event.error is not None:
        raise event.error
    return data


def _write(run: ThunkRun, manager: TransferManager, array: np.ndarray, place: BufferSlice, shape: Shape) -> None:
    if array.shape != shape.dimensions or array.dtype != shape.dtype:
        raise InternalError(f"expected an array of {shape.without_layout()}, not {array.dtype}{list(array.shape)}")
    manager.transfer_to_device_async(run.stream, array, run.memory(place), shape)


def _leaves(literal: Literal) -> list[np.ndarray]:
    if literal.shape.is_tuple:
        return [leaf for element in literal.elements for leaf in _leaves(element)]
    return [literal.array]


def _as_literal(shape: Shape, arrays: Iterator[np.ndarray]) -> Literal:
    if shape.is_tuple:
        return Literal([_as_literal(s, arrays) for s in shape.tuple_shapes])
    return Literal(next(arrays))
