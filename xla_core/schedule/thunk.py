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
from xla_core.hlo.instruction import HloInstruction
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
    "leaf_shapes",
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


def leaf_shapes(shape: Shape) -> tuple[Shape, ...]:
    """The arrays in it, left to right."""
    return tuple(leaf for leaf in shape.leaves() if leaf.is_array)


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
    """One device's part of what several devices do together: a collective, a send or receipt between them, or the
    device's own number. `operands` and `results` are the array leaves of the instruction's.
    """

    instruction: HloInstruction
    operands: tuple[BufferSlice, ...]
    results: tuple[BufferSlice, ...]

    @property
    def opcode(self) -> Opcode:
        return self.instruction.opcode

    @property
    def operand_shapes(self) -> tuple[Shape, ...]:
        """With the layouts that the operands have on the device."""
        return tuple(s for operand in self.instruction.operands for s in leaf_shapes(operand.shape))

    @property
    def result_shapes(self) -> tuple[Shape, ...]:
        return leaf_shapes(self.instruction.shape)


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
    """Sends the operand to the host, on `channel`."""

    operand: BufferSlice
    operand_shape: Shape
    channel: int
    attributes: Mapping[str, Any] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class RecvThunk(Thunk):
    """Receives what the host sends on `channel`."""

    result: BufferSlice
    result_shape: Shape
    channel: int
    attributes: Mapping[str, Any] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class ThunkProgram:
    """A whole program: its allocations, its thunks, and where its parameters and results lie.

    `parameters` has the allocation of each argument (None for one that the program never reads), `results` the slice of
    each result leaf: in an output's allocation or in a donated parameter's.
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
