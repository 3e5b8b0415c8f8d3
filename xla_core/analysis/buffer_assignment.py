"""Buffer assignment: gives each value a slice of an allocation (XLA: xla/service/buffer_assignment.h).

A `BufferAllocation` is a piece of memory that the runtime supplies. There is one for each leaf of the entry's
parameters, one for each constant, one for each leaf of the entry's result (unless that leaf takes over a donated
parameter), and one arena per memory space for all temporaries. A `BufferSlice` is a range of bytes in an allocation.
Only the leaves of a tuple have buffers; the tuple itself has none.
"""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Sequence

from xla_core.analysis.buffer_classes import BufferClass, BufferClasses, SizeFunction
from xla_core.analysis.buffer_sharing import CanShare, can_share_buffer
from xla_core.analysis.dataflow import HloDataflowAnalysis
from xla_core.analysis.heap import HeapBlock, pack, padded, peak_bytes
from xla_core.analysis.hlo_value import HloValue, ShapeIndex, ValueKind, merged_segments
from xla_core.errors import FailedPreconditionError, InvalidArgumentError, ResourceExhaustedError
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.ir.module import HloModule
from xla_core.hlo.text.shapes import index_to_text


class AllocationKind(enum.Enum):
    PARAMETER = "entry parameter"
    CONSTANT = "constant"
    OUTPUT = "output"
    TEMP = "temporary"


@dataclasses.dataclass(frozen=True, slots=True)
class BufferAllocation:
    """`size` bytes in `memory_space` that the runtime supplies.

    Attributes:
        parameter: the number of the entry parameter, and the index of its leaf, whose memory this is.
        output: the index of the leaf of the entry's result that the memory holds when the program ends. An allocation
            has both `parameter` and `output` where a result takes over a donated parameter.
        constant: the constant instruction whose value the memory holds.
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
            text += f" {self.parameter[0]}" + (f" at {index_to_text(self.parameter[1])}" if self.parameter[1] else "")
        if self.output is not None:
            text += f", holds result {index_to_text(self.output)}"
        if self.constant is not None:
            text += f" {self.constant.name}"
        return text + (f", memory space {self.memory_space}" if self.memory_space else "")


@dataclasses.dataclass(frozen=True, slots=True)
class BufferSlice:
    """The `size` bytes of an allocation that start at `offset`."""

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
    """Maps each leaf of each instruction to its slice; instructions inside fusions and reducers have none.

    Attributes:
        temp_bytes: the total size of the arenas of temporaries, in bytes.
        temp_bytes_without_reuse: the bytes that they would need if each temporary had memory of its own.
        peak_live_bytes: the most bytes of temporaries that are alive at one time.
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
        """The slice of the leaf at `index` of an instruction's result.

        Raises:
            InvalidArgumentError: the instruction is in a fused or applied computation, or `index` selects a tuple.
        """
        if instruction not in self.analysis:
            raise InvalidArgumentError(f"{instruction.name} is not part of any sequence; it has no buffer")
        if instruction.shape.subshape(index).is_tuple:
            raise InvalidArgumentError(
                f"{instruction.name} at {index_to_text(index)} is a tuple; only leaves have buffers"
            )
        return self.slices[self.analysis.leaves(instruction)[instruction.shape.leaf_number(index)]]

    def leaf_slices(self, instruction: HloInstruction) -> list[BufferSlice]:
        """The slices of all leaves of an instruction's result, left to right."""
        return [self.slices[value] for value in self.analysis.leaves(instruction)]

    def to_text(self) -> str:
        """The report in the manner of XLA's `-buffer-assignment.txt` dump."""
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
    *,
    alignment: int = 64,
    size: SizeFunction | None = None,
    can_share: CanShare = can_share_buffer,
) -> BufferAssignment:
    """Assigns a buffer to every value of a scheduled module.

    Args:
        module: a module after copy insertion, with a flat call graph.
        alignment: offsets in an arena are multiples of this number of bytes.
        size: gives the bytes that an array of a shape takes on the target; `Shape.byte_size` by default.
        can_share: decides which operands an instruction may overwrite with its result.

    Raises:
        FailedPreconditionError: two values that must share a buffer are alive at once (copy insertion did not run).
        ResourceExhaustedError: the program needs more memory than 64 bits can address.
    """
    size = size or (lambda shape: shape.byte_size)
    analysis = HloDataflowAnalysis(module)
    classes = BufferClasses(analysis, size, can_share)
    _require_no_failure(classes)
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
        offsets, total, alive = _packed(groups, alignment)
        peak += alive
        arena = BufferAllocation(len(allocations), total, AllocationKind.TEMP, space)
        allocations.append(arena)
        for group, offset in zip(groups, offsets, strict=True):
            slices.update(dict.fromkeys(group.values, BufferSlice(arena, offset, group.size)))

    assignment = BufferAssignment(analysis, allocations, slices)
    assignment.peak_live_bytes = peak
    outputs = set(analysis.leaves(module.entry.root))
    assignment.temp_bytes_without_reuse = sum(
        padded(size(v.shape), alignment)
        for v in analysis.values
        if v.kind is ValueKind.INSTRUCTION and v.shape.is_array and v not in outputs
    )
    return assignment


def _require_no_failure(classes: BufferClasses) -> None:
    if classes.failures:
        edge = classes.failures[0]
        raise FailedPreconditionError(
            f"{edge.source.name} must lie where {edge.target.name} lies, but both are alive at once",
            op=edge.place.opcode,
            location=edge.place.location,
            hint="run copy_insertion before buffer assignment",
        )


def _packed(groups: Sequence[BufferClass], alignment: int) -> tuple[Sequence[int], int, int]:
    """Returns the offset of each group in an arena, the arena's size, and the most bytes that are alive at once."""
    blocks = [
        HeapBlock(g.size, tuple(merged_segments((start, end) for start, end, _, _ in g.segments))) for g in groups
    ]
    return (*pack(blocks, alignment), peak_bytes(blocks, alignment))


def _check_addressable(classes: BufferClasses) -> None:
    """Refuses programs whose offsets would not fit into 64 bits, the width of an offset on every device."""
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
