"""ThunkRun: one execution of a thunk program, and its control flow that the host drives."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

from xla_core.analysis import BufferSlice
from xla_core.backend.communicator import Communicator
from xla_core.backend.device_memory import DeviceMemory
from xla_core.backend.stream import Stream
from xla_core.backend.stream_executor import RunOptions
from xla_core.runtime.host.work import raiser
from xla_core.schedule import Thunk

Place = tuple[int, int, int]
"""An allocation's index, an offset and a size in bytes."""


@dataclasses.dataclass(slots=True, eq=False)
class ThunkRun:
    """One execution of a program: its options, its stream, and the memory of each slice.

    Attributes:
        communicator: None for a program without collectives.
        driving: whether the caller drives control flow itself and may block.
    """

    options: RunOptions
    stream: Stream
    memory_of: dict[Place, DeviceMemory]
    communicator: Communicator | None = None
    driving: bool = False

    def memory(self, place: BufferSlice) -> DeviceMemory:
        key = (place.allocation.index, place.offset, place.size)
        memory = self.memory_of.get(key)
        if memory is None:
            whole = self.memory_of[place.allocation.index, 0, place.allocation.size]
            memory = self.memory_of[key] = whole.slice(place.offset, place.size)
        return memory

    def memories(self, places: Sequence[BufferSlice]) -> list[DeviceMemory]:
        return [self.memory(place) for place in places]


ThunkHandler = Callable[[Thunk, ThunkRun], None]


def drive_from_host(drive: Callable[[ThunkRun], None], run: ThunkRun) -> None:
    """Runs host-driven control flow: a callback on the run's stream calls `drive` with a run on another stream.

    If the device's callbacks may not enqueue work, calls `drive` at once, which blocks the caller.
    """
    if run.driving:
        drive(run)
        return
    if not run.options.executor.features.callbacks_may_enqueue:
        try:
            drive(run)
        except Exception as error:  # poisons the stream, so that the results have the error
            run.stream.host_callback(raiser(error))
        return

    def in_turn() -> None:
        stream = run.options.executor.create_stream()
        stream.run_inline()
        try:
            drive(dataclasses.replace(run, stream=stream, driving=True))
            done = stream.finish()
            done.synchronize()
            if done.error is not None:
                raise done.error
        finally:
            stream.close()

    run.stream.host_callback(in_turn)
