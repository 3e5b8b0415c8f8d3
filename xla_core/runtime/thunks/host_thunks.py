"""Handlers of the thunks that run partly on the host: callbacks, infeed, outfeed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from xla_core import profiler
from xla_core.analysis import BufferSlice
from xla_core.backend.event import Event
from xla_core.errors import InvalidArgumentError
from xla_core.hlo.evaluation.evaluation_context import flatten_value, unflatten_value
from xla_core.hlo.values.literal import Literal
from xla_core.hlo.values.shape import Shape
from xla_core.runtime.thunks.thunk_run import ThunkRun, drive_from_host
from xla_core.schedule import HostCallbackThunk, InfeedThunk, OutfeedThunk, Thunk


def _host_callback(thunk: HostCallbackThunk, run: ThunkRun) -> None:
    def drive(run: ThunkRun) -> None:
        if profiler.active is not None:
            _wait(run)  # the span must cover only the host's work and its transfers
        with profiler.span(thunk.name, "host"):
            call(run)

    def call(run: ThunkRun) -> None:
        manager = run.options.transfer_manager
        arrays = []
        for place, shape in zip(thunk.operands, thunk.operand_shapes, strict=True):
            array = manager.from_device(read(run, place, manager.byte_size(shape)), shape)
            array.flags.writeable = False
            arrays.append(array)
        results = thunk.function(*arrays)
        if len(results) != len(thunk.results):
            raise InvalidArgumentError(f"{thunk.name} returned {len(results)} arrays, expected {len(thunk.results)}")
        for array, place, shape in zip(results, thunk.results, thunk.result_shapes, strict=True):
            _write(run, thunk, np.asarray(array), place, shape)

    drive_from_host(drive, run)


def _infeed(thunk: InfeedThunk, run: ThunkRun) -> None:
    def drive(run: ThunkRun) -> None:
        manager = run.options.transfer_manager
        leaves = flatten_value(manager.infeed(run.options.executor.ordinal).get().value)
        if len(leaves) != len(thunk.results):
            raise InvalidArgumentError(f"{thunk.name} takes {len(thunk.results)} arrays, the infeed gave {len(leaves)}")
        for array, place, shape in zip(leaves, thunk.results, thunk.result_shapes, strict=True):
            _write(run, thunk, array, place, shape)

    drive_from_host(drive, run)


def _outfeed(thunk: OutfeedThunk, run: ThunkRun) -> None:
    def drive(run: ThunkRun) -> None:
        manager = run.options.transfer_manager
        shapes = thunk.shape.array_leaves()
        arrays = iter(
            [
                manager.from_device(read(run, place, manager.byte_size(shape)), shape)
                for place, shape in zip(thunk.operands, shapes, strict=True)
            ]
        )
        manager.outfeed(run.options.executor.ordinal).put(Literal.of_value(unflatten_value(thunk.shape, arrays)))

    drive_from_host(drive, run)


def read(run: ThunkRun, place: BufferSlice, size: int) -> np.ndarray:
    """Reads the first `size` bytes of a slice. Waits for the work enqueued before, and raises its error."""
    data = np.empty(size, np.uint8)
    run.stream.memcpy_d2h(data, run.memory(place))
    _wait(run)
    return data


def _wait(run: ThunkRun) -> None:
    """Waits for the work enqueued before, and raises its error."""
    event = run.stream.create_event()
    run.stream.record(event)
    require_done(event)


def require_done(event: Event) -> None:
    """Waits for the work before the event, and raises its error."""
    event.synchronize()
    if event.error is not None:
        raise event.error


def _write(run: ThunkRun, thunk: Thunk, array: np.ndarray, place: BufferSlice, shape: Shape) -> None:
    if array.shape != shape.dimensions or array.dtype != shape.dtype:
        got = f"{array.dtype}{list(array.shape)}"
        raise InvalidArgumentError(f"{thunk.name} expected an array of {shape.without_layout()}, not {got}")
    run.options.transfer_manager.transfer_to_device_async(run.stream, array, run.memory(place), shape)


HOST_HANDLERS: Mapping[type[Thunk], Callable[[Any, ThunkRun], None]] = {
    HostCallbackThunk: _host_callback,
    InfeedThunk: _infeed,
    OutfeedThunk: _outfeed,
}
