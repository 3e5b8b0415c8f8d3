"""Thunks: the steps of a program that a host drives, as data. (XLA: xla/backends/gpu/runtime/thunk.h, and cpu's.)

A thunk refers to slices of memory (`analysis.BufferSlice`), never to the memory itself, so that one program runs on any
device and many times. `runtime.ThunkExecutor` enqueues thunks on a stream; a backend may enqueue them in another way.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from xla_core.analysis import BufferAllocation, BufferSlice
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.shape import Shape


@dataclasses.dataclass(frozen=True, slots=True)
class LaunchDimensions:
    """How a kernel is launched: its blocks and threads in up to three dimensions, and each block's shared memory."""

    blocks: tuple[int, int, int] = (1, 1, 1)
    threads: tuple[int, int, int] = (1, 1, 1)
    shared_memory_bytes: int = 0


@dataclasses.dataclass(frozen=True, slots=True)
class BufferUse:
    """Memory that a thunk reads or writes. (XLA: xla/runtime/buffer_use.h.)"""

    slice: BufferSlice
    is_write: bool


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Thunk:
    """One step of a program. `name` is the instruction's name, for profiles and errors.

    A backend's own thunk is a subclass and a dataclass. It overrides `nested` if it runs other thunks.

    Attributes:
        shares_streams: whether it may run on another stream than the program's, at the same time as thunks that don't
            use its memory. Any other thunk runs alone.
        only_read, only_written: the fields whose memory the thunk only reads, or only writes. It may read and write the
            memory of its other fields.
    """

    shares_streams: ClassVar[bool] = False
    only_read: ClassVar[tuple[str, ...]] = ()
    only_written: ClassVar[tuple[str, ...]] = ()

    name: str

    def buffer_uses(self) -> tuple[BufferUse, ...]:
        """Returns the memory that the thunk uses itself, without that of its nested thunks.

        That is each field that is a slice of memory or a tuple of slices.
        """
        slices = [
            (field.name, part) for field in dataclasses.fields(self) for part in _slices(getattr(self, field.name))
        ]
        reads = [BufferUse(part, False) for name, part in slices if name not in self.only_written]
        writes = [BufferUse(part, True) for name, part in slices if name not in self.only_read]
        return (*reads, *writes)

    def nested(self) -> Iterator[Thunk]:
        """Yields the thunks that this one runs, such as a loop's; by default none."""
        yield from ()


ThunkSequence = tuple[Thunk, ...]


def _slices(value: object) -> list[BufferSlice]:
    return [part for part in (value if isinstance(value, tuple) else (value,)) if isinstance(part, BufferSlice)]


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class KernelThunk(Thunk):
    """Launches device code. `kernel` is a `backend.Kernel`, or an object of which the backend makes one on loading."""

    shares_streams: ClassVar[bool] = True
    only_read: ClassVar[tuple[str, ...]] = ("operands",)
    only_written: ClassVar[tuple[str, ...]] = ("results",)

    kernel: Any
    operands: tuple[BufferSlice, ...]
    results: tuple[BufferSlice, ...]
    dimensions: LaunchDimensions = LaunchDimensions()


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class CopyThunk(Thunk):
    """Copies `source` to `destination`; if one is larger, only its beginning is read or written."""

    shares_streams: ClassVar[bool] = True
    only_read: ClassVar[tuple[str, ...]] = ("source",)
    only_written: ClassVar[tuple[str, ...]] = ("destination",)

    source: BufferSlice
    destination: BufferSlice


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class FillThunk(Thunk):
    """Sets every byte of `destination` to `value`."""

    shares_streams: ClassVar[bool] = True
    only_written: ClassVar[tuple[str, ...]] = ("destination",)

    destination: BufferSlice
    value: int = 0


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class LibraryCallThunk(Thunk):
    """Calls the function `target` of a library that the backend knows. `attributes` are its non-memory arguments."""

    only_read: ClassVar[tuple[str, ...]] = ("operands",)
    only_written: ClassVar[tuple[str, ...]] = ("results",)

    target: str
    operands: tuple[BufferSlice, ...]
    results: tuple[BufferSlice, ...]
    attributes: Mapping[str, Any] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class WhileThunk(Thunk):
    """Runs `condition`, which writes a pred to `predicate`, and then `body`, for as long as the predicate is true.

    Initial value, condition, body and result share the memory of the loop state. A known `trip_count` makes reading the
    predicate unnecessary.
    """

    only_read: ClassVar[tuple[str, ...]] = ("predicate",)

    predicate: BufferSlice
    condition: ThunkSequence
    body: ThunkSequence
    trip_count: int | None = None

    def nested(self) -> Iterator[Thunk]:
        yield from self.condition
        yield from self.body


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class ConditionalThunk(Thunk):
    """Runs one of `branches`.

    `index` holds an s32, where a value out of range selects the last branch. With `is_predicate`, it holds a pred,
    where true selects the first branch.
    """

    only_read: ClassVar[tuple[str, ...]] = ("index",)

    index: BufferSlice
    branches: tuple[ThunkSequence, ...]
    is_predicate: bool = False

    def nested(self) -> Iterator[Thunk]:
        for branch in self.branches:
            yield from branch


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class CallThunk(Thunk):
    """Runs a sequence of thunks."""

    thunks: ThunkSequence

    def nested(self) -> Iterator[Thunk]:
        yield from self.thunks


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class CollectiveThunk(Thunk):
    """One device's part of an op between devices: a collective, a send or receive, or the device's own id.

    `operands` and `results` are the array leaves of the instruction's operands and results.
    """

    only_read: ClassVar[tuple[str, ...]] = ("operands",)
    only_written: ClassVar[tuple[str, ...]] = ("results",)

    instruction: HloInstruction
    operands: tuple[BufferSlice, ...]
    results: tuple[BufferSlice, ...]

    @property
    def opcode(self) -> Opcode:
        return self.instruction.opcode

    @property
    def operand_shapes(self) -> tuple[Shape, ...]:
        """The operands' shapes with their layouts on the device."""
        return tuple(s for operand in self.instruction.operands for s in operand.shape.array_leaves())

    @property
    def result_shapes(self) -> tuple[Shape, ...]:
        return self.instruction.shape.array_leaves()


HostFunction = Callable[..., Sequence[np.ndarray]]


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class HostCallbackThunk(Thunk):
    """Calls `function` on the host with the operands as read-only arrays; it returns the results as arrays."""

    only_read: ClassVar[tuple[str, ...]] = ("operands",)
    only_written: ClassVar[tuple[str, ...]] = ("results",)

    function: HostFunction
    operands: tuple[BufferSlice, ...]
    operand_shapes: tuple[Shape, ...]
    results: tuple[BufferSlice, ...]
    result_shapes: tuple[Shape, ...]


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class InfeedThunk(Thunk):
    """Reads the next literal of the device's infeed into these leaves."""

    only_written: ClassVar[tuple[str, ...]] = ("results",)

    results: tuple[BufferSlice, ...]
    result_shapes: tuple[Shape, ...]


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class OutfeedThunk(Thunk):
    """Writes the operands to the device's outfeed, as a literal of `shape` (the leaves in order)."""

    only_read: ClassVar[tuple[str, ...]] = ("operands",)

    operands: tuple[BufferSlice, ...]
    shape: Shape


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class SendThunk(Thunk):
    """Sends the operand to the host, on `channel`."""

    only_read: ClassVar[tuple[str, ...]] = ("operand",)

    operand: BufferSlice
    operand_shape: Shape
    channel: int
    attributes: Mapping[str, Any] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class RecvThunk(Thunk):
    """Receives the value that the host sends on `channel`."""

    only_written: ClassVar[tuple[str, ...]] = ("result",)

    result: BufferSlice
    result_shape: Shape
    channel: int
    attributes: Mapping[str, Any] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class ThunkProgram:
    """A whole program: its allocations, its thunks, and the memory of its parameters and results.

    `parameters` has the allocation of each argument, or None for an argument that the program never reads. `results`
    has the slice of each result leaf, in the allocation of an output or of a donated parameter.
    """

    allocations: tuple[BufferAllocation, ...]
    thunks: ThunkSequence
    parameters: tuple[BufferAllocation | None, ...]
    results: tuple[BufferSlice, ...]


def walk(thunks: Iterable[Thunk]) -> Iterator[Thunk]:
    """Yields all thunks, each before the thunks within its control flow."""
    for thunk in thunks:
        yield thunk
        yield from walk(thunk.nested())
