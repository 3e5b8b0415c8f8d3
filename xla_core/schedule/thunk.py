"""Thunks: the steps of a program that a host drives, as data. (XLA: xla/backends/gpu/runtime/thunk.h, cpu likewise.)

A thunk names slices of memory (`analysis.BufferSlice`), never the memory itself, so that one program runs on any
device and many times. `runtime.ThunkExecutor` enqueues them on a stream; a backend may do it in a way of its own.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from xla_core.analysis import BufferAllocation, BufferSlice
from xla_core.hlo.computation import HloComputation
from xla_core.hlo.opcode import Opcode
from xla_core.hlo.shape import Shape

__all__ = [
    "CallThunk",
    "CollectiveThunk",
    "ConditionalThunk",
    "CopyThunk",
    "FillThunk",
    "HostCallbackThunk",
    "InfeedThunk",
    "KernelThunk",
    "LaunchDimensions",
    "LibraryCallThunk",
    "OutfeedThunk",
    "RecvThunk",
    "SendThunk",
    "Thunk",
    "ThunkProgram",
    "ThunkSequence",
    "WhileThunk",
    "walk",
]


@dataclasses.dataclass(frozen=True, slots=True)
class LaunchDimensions:
    """How often a kernel runs: blocks of threads, each up to three-dimensional, and bytes of memory a block shares."""

    blocks: tuple[int, int, int] = (1, 1, 1)
    threads: tuple[int, int, int] = (1, 1, 1)
    shared_memory_bytes: int = 0


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Thunk:
    """One step. `name` is the instruction's, for profiles and errors."""

    name: str


ThunkSequence = tuple[Thunk, ...]


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class KernelThunk(Thunk):
    """Launches device code. `kernel` is a `backend.Kernel`, or what the backend makes one of when it loads."""

    kernel: Any
    operands: tuple[BufferSlice, ...]
    results: tuple[BufferSlice, ...]
    dimensions: LaunchDimensions = LaunchDimensions()


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class CopyThunk(Thunk):
    """Copies all of `source` to `destination`, of the same size."""

    source: BufferSlice
    destination: BufferSlice


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class FillThunk(Thunk):
    """Sets every byte of `destination` to `value`."""

    destination: BufferSlice
    value: int = 0


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class LibraryCallThunk(Thunk):
    """Calls function `target` of a library that the backend knows, with what it needs besides memory."""

    target: str
    operands: tuple[BufferSlice, ...]
    results: tuple[BufferSlice, ...]
    attributes: Mapping[str, Any] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class WhileThunk(Thunk):
    """Runs `condition`, which leaves a pred in `predicate`, then `body`, as long as that is true.

    The state lies where initial value, condition, body and result all have it. `trip_count`, where it is known, spares
    reading the predicate.
    """

    predicate: BufferSlice
    condition: ThunkSequence
    body: ThunkSequence
    trip_count: int | None = None


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class ConditionalThunk(Thunk):
    """Runs one of `branches`. `index` holds an s32, out of range meaning the last; or, with `is_predicate`, a pred,
    true meaning the first.
    """

    index: BufferSlice
    branches: tuple[ThunkSequence, ...]
    is_predicate: bool = False


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class CallThunk(Thunk):
    """Runs a sequence."""

    thunks: ThunkSequence


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class CollectiveThunk(Thunk):
    """One device's part of a collective. `opcode` and `attributes` are the instruction's."""

    opcode: Opcode
    operands: tuple[BufferSlice, ...]
    results: tuple[BufferSlice, ...]
    operand_shapes: tuple[Shape, ...] = ()
    result_shapes: tuple[Shape, ...] = ()
    attributes: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    reduction: HloComputation | None = None


HostFunction = Callable[..., Sequence[np.ndarray]]


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class HostCallbackThunk(Thunk):
    """Calls `function` on the host with the operands as read-only arrays; it returns the results as arrays."""

    function: HostFunction
    operands: tuple[BufferSlice, ...]
    operand_shapes: tuple[Shape, ...]
    results: tuple[BufferSlice, ...]
    result_shapes: tuple[Shape, ...]


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class InfeedThunk(Thunk):
    """Takes the next literal of the device's infeed, of these leaves."""

    results: tuple[BufferSlice, ...]
    result_shapes: tuple[Shape, ...]


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class OutfeedThunk(Thunk):
    """Gives the operands to the device's outfeed, as a literal of `shape` (the leaves in order)."""

    operands: tuple[BufferSlice, ...]
    shape: Shape


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class SendThunk(Thunk):
    """Sends the operand to whoever receives on `channel`."""

    operand: BufferSlice
    operand_shape: Shape
    channel: int
    is_host_transfer: bool = False
    attributes: Mapping[str, Any] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class RecvThunk(Thunk):
    """Receives from `channel`."""

    result: BufferSlice
    result_shape: Shape
    channel: int
    is_host_transfer: bool = False
    attributes: Mapping[str, Any] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class ThunkProgram:
    """A whole program: what memory it needs, its steps, and where the results lie.

    `parameters` are the arguments' allocations in order (None for one that the program never reads), `results` those
    of the result leaves: outputs, or parameters that are donated.
    """

    allocations: tuple[BufferAllocation, ...]
    thunks: ThunkSequence
    parameters: tuple[BufferAllocation | None, ...]
    results: tuple[BufferSlice, ...]


def walk(thunks: Sequence[Thunk]) -> Iterator[Thunk]:
    """All thunks, those within control flow after it."""
    for thunk in thunks:
        yield thunk
        match thunk:
            case WhileThunk(condition=condition, body=body):
                yield from walk(condition)
                yield from walk(body)
            case ConditionalThunk(branches=branches):
                for branch in branches:
                    yield from walk(branch)
            case CallThunk(thunks=inner):
                yield from walk(inner)
