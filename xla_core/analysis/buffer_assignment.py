"""Where every value lies in memory (XLA: xla/service/buffer_assignment.h).

A `BufferAllocation` is a piece of memory that the runtime supplies: one for each leaf of the entry's parameters, one
for each constant, one for each leaf of the entry's result (unless it lies in a donated parameter's), and one arena for
all temporaries of a memory space. A `BufferSlice` is a part of it. Tuples take no memory: their leaves do.
"""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Mapping, Sequence

from xla_core.analysis.buffer_classes import BufferClass, BufferClasses, SizeFunction
from xla_core.analysis.buffer_sharing import CanShare, can_share_buffer
from xla_core.analysis.dataflow import HloDataflowAnalysis, leaf_index
from xla_core.analysis.heap import HeapBlock, pack, peak_bytes
from xla_core.analysis.hlo_value import HloValue, Segment, ShapeIndex, ValueKind
from xla_core.errors import FailedPreconditionError, InvalidArgumentError, ResourceExhaustedError
from xla_core.hlo.computation import HloComputation
from xla_core.hlo.instruction import HloInstruction
from xla_core.hlo.module import HloModule

__all__ = ["AllocationKind", "BufferAllocation", "BufferAssignment", "BufferSlice", "assign_buffers"]


class AllocationKind(enum.Enum):
    PARAMETER = "entry parameter"
    CONSTANT = "constant"
    OUTPUT = "output"
    TEMP = "temporary"


@dataclasses.dataclass(frozen=True, slots=True)
class BufferAllocation:
    """Memory for the runtime to supply: `size` bytes in `memory_space`.

    `parameter` is (number, index) of the entry parameter leaf that it is, `output` the index of the result leaf that
    it holds at the end; a donated parameter that a result takes over has both. `constant` is the instruction.
    """

    index: int
    size: int
    kind: AllocationKind
    memory_space: int = 0
    parameter: tuple[int, ShapeIndex] | None = None
    output: ShapeIndex | None = None
    constant: HloInstruction | None = None

    def __str__(self) -> str:
        text = f"allocation {self.index}: size {self.size}, {self.kind.value}"
        if self.parameter is not None:
            text += f" {self.parameter[0]}" + (f" at {_index_text(self.parameter[1])}" if self.parameter[1] else "")
        if self.output is not None:
            text += f", holds result {_index_text(self.output)}"
        if self.constant is not None:
            text += f" {self.constant.name}"
        return text + (f", memory space {self.memory_space}" if self.memory_space else "")


@dataclasses.dataclass(frozen=True, slots=True)
class BufferSlice:
    """`size` bytes from `offset` of an allocation."""

    allocation: BufferAllocation
    offset: int
    size: int

    def overlaps(self, other: BufferSlice) -> bool:
        return (
            self.allocation.index == other.allocation.index
            and self.offset < other.offset + other.size
            and other.offset < self.offset + self.size
        )

    def __str__(self) -> str:
        return f"{{index:{self.allocation.index}, offset:{self.offset}, size:{self.size}}}"


class BufferAssignment:
    """The slice of every leaf of every instruction that runs in sequence (not of those inside fusions and reducers).

    `temp_bytes` is the size of all arenas of temporaries; `temp_bytes_without_reuse` what they would need if each
    instruction's result had memory of its own; `peak_live_bytes` the most that is alive at once.
    """

    def __init__(
        self, analysis: HloDataflowAnalysis, allocations: list[BufferAllocation], slices: dict[HloValue, BufferSlice]
    ) -> None:
        self.analysis = analysis
        self.allocations = allocations
        self.slices = slices
        self.temp_bytes = sum(a.size for a in allocations if a.kind is AllocationKind.TEMP)
        self.temp_bytes_without_reuse = 0
        self.peak_live_bytes = 0

    @property
    def module(self) -> HloModule:
        return self.analysis.module

    def slice(self, instruction: HloInstruction, index: ShapeIndex = ()) -> BufferSlice:
        """Where the leaf at `index` of an instruction's result lies.

        Raises InvalidArgumentError for an instruction of a fused or applied computation, and for a tuple.
        """
        if instruction not in self.analysis:
            raise InvalidArgumentError(f"{instruction.name} is not part of any sequence; it has no buffer")
        shape = instruction.shape
        for i in index:
            shape = shape.tuple_shapes[i]
        if shape.is_tuple:
            raise InvalidArgumentError(
                f"{instruction.name} at {_index_text(index)} is a tuple; only leaves have buffers"
            )
        return self.slices[self.analysis.leaves(instruction)[leaf_index(instruction.shape, index)]]

    def leaf_slices(self, instruction: HloInstruction) -> list[BufferSlice]:
        """The slices of all leaves of an instruction's result, left to right."""
        return [self.slices[value] for value in self.analysis.leaves(instruction)]

    def parameter_allocation(self, number: int, index: ShapeIndex = ()) -> BufferAllocation:
        return self.slice(self.module.entry.parameters[number], index).allocation

    def output_slice(self, index: ShapeIndex = ()) -> BufferSlice:
        """Where the result's leaf is when the program ends."""
        return self.slice(self.module.entry.root, index)

    def in_place(self, instruction: HloInstruction, operand: int, index: ShapeIndex = ()) -> bool:
        """Whether the result's leaf lies where the operand, an array, lies."""
        return self.slice(instruction, index) == self.slice(instruction.operand(operand))

    def to_text(self) -> str:
        """The report that XLA dumps as -buffer-assignment.txt."""
        lines = [f"BufferAssignment of {self.module.name}:"]
        by_allocation: dict[int, list[HloValue]] = {}
        for value, place in self.slices.items():
            by_allocation.setdefault(place.allocation.index, []).append(value)
        for allocation in self.allocations:
            lines.append(f"{allocation}:")
            values = by_allocation.get(allocation.index, [])
            for value in sorted(values, key=lambda v: (self.slices[v].offset, v.start)):
                place = self.slices[value]
                alive = " ".join(f"{start}-{end}" for start, end in value.segments())
                lines.append(
                    f"  value {value.name} ({value.kind.value}) offset {place.offset} size {place.size}"
                    f" alive {alive}: {value.shape}"
                )
        lines.append("")
        lines.append(f"Total bytes of temporaries: {self.temp_bytes}")
        lines.append(f"Peak of live temporaries: {self.peak_live_bytes}")
        lines.append(f"Without reuse: {self.temp_bytes_without_reuse}")
        return "\n".join(lines) + "\n"

    __str__ = to_text


def assign_buffers(
    module: HloModule,
    schedule: Mapping[HloComputation, Sequence[HloInstruction]] | None = None,
    *,
    alignment: int = 64,
    size: SizeFunction | None = None,
    can_share: CanShare = can_share_buffer,
) -> BufferAssignment:
    """Gives every value of a scheduled module its memory.

    Args:
        module: after copy insertion, with a flat call graph.
        schedule: the order of each computation; the module's own by default.
        alignment: offsets in the arena are multiples of it, in bytes.
        size: bytes that an array of a shape takes on the target; `Shape.byte_size` by default.
        can_share: which operands an instruction may write its result over.

    Raises FailedPreconditionError when values that must be in one place are alive together (no copy insertion ran).
    """
    size = size or (lambda shape: shape.byte_size)
    analysis = HloDataflowAnalysis(module, schedule)
    classes = BufferClasses(analysis, size, can_share)
    if classes.failures:
        edge = classes.failures[0]
        raise FailedPreconditionError(
            f"{edge.source.name} must lie where {edge.target.name} lies, but both are alive at once",
            op=edge.place.opcode,
            location=edge.place.location,
            hint="run copy_insertion before buffer assignment",
        )
    classes.share_operands()

    allocations: list[BufferAllocation] = []
    slices: dict[HloValue, BufferSlice] = {}
    temporaries: dict[int, list[BufferClass]] = {}
    for kind in (ValueKind.PARAMETER, ValueKind.CONSTANT, ValueKind.OUTPUT, None):
        for group in classes.classes():
            if group.values[0] in slices:
                continue
            if kind is None:
                temporaries.setdefault(_memory_space(group), []).append(group)
            elif any(v.kind is kind for v in group.values):
                allocation = _own_allocation(len(allocations), group)
                allocations.append(allocation)
                place = BufferSlice(allocation, 0, group.size)
                slices.update(dict.fromkeys(group.values, place))
    _check_addressable(classes)
    peak = 0
    for space, groups in sorted(temporaries.items()):
        blocks = [HeapBlock(g.size, _lifetime(g)) for g in groups]
        offsets, total = pack(blocks, alignment)
        peak += peak_bytes(blocks, alignment)
        arena = BufferAllocation(len(allocations), total, AllocationKind.TEMP, space)
        allocations.append(arena)
        for group, offset in zip(groups, offsets, strict=True):
            slices.update(dict.fromkeys(group.values, BufferSlice(arena, offset, group.size)))

    assignment = BufferAssignment(analysis, allocations, slices)
    assignment.peak_live_bytes = peak
    outputs = set(analysis.leaves(module.entry.root))
    assignment.temp_bytes_without_reuse = sum(
        _padded(size(v.shape), alignment)
        for v in analysis.values
        if v.kind is ValueKind.INSTRUCTION and v.shape.is_array and v not in outputs
    )
    return assignment


def _check_addressable(classes: BufferClasses) -> None:
    """Offsets are numbers of 64 bits, in here and on every device."""
    if sum(group.size for group in classes.classes()) < 1 << 62:
        return
    largest = max(classes.classes(), key=lambda group: group.size)
    instruction = largest.values[0].instruction
    raise ResourceExhaustedError(
        f"the program needs more memory than 64 bits can address; {instruction.name} alone has {largest.size} bytes",
        op=instruction.opcode,
        location=instruction.location,
        hint="look for a dimension that is too large",
    )


def _own_allocation(number: int, group: BufferClass) -> BufferAllocation:
    parameter: tuple[int, ShapeIndex] | None = None
    output: ShapeIndex | None = None
    constant: HloInstruction | None = None
    kind = AllocationKind.OUTPUT
    for value in group.values:
        if value.kind is ValueKind.PARAMETER:
            parameter, kind = (value.instruction.parameter_number, value.index), AllocationKind.PARAMETER
        elif value.kind is ValueKind.CONSTANT:
            constant, kind = value.instruction, AllocationKind.CONSTANT
        elif value.kind is ValueKind.OUTPUT:
            output = value.index
    return BufferAllocation(number, group.size, kind, _memory_space(group), parameter, output, constant)


def _memory_space(group: BufferClass) -> int:
    return next((v.shape.layout.memory_space for v in group.values if v.shape.layout is not None), 0)


def _lifetime(group: BufferClass) -> tuple[Segment, ...]:
    merged: list[Segment] = []
    for start, end, _, _ in group.segments:
        if merged and start <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((start, end))
    return tuple(merged)


def _padded(size: int, alignment: int) -> int:
    return -(-size // alignment) * alignment


def _index_text(index: ShapeIndex) -> str:
    return "{" + ",".join(map(str, index)) + "}"
