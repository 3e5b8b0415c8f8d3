"""Groups the values that share a buffer (XLA: HloAliasAnalysis and the colocated sets of BufferAssigner).

A class is a set of values whose live ranges are disjoint. The one exception: an instruction may overwrite an operand
that it is the last to read, so the live ranges of operand and result may meet at that instruction.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable

from xla_core.analysis.alias_edge import AliasEdge
from xla_core.analysis.buffer_sharing import CanShare, can_share_buffer
from xla_core.analysis.dataflow import HloDataflowAnalysis
from xla_core.analysis.hlo_value import HloValue, ValueKind
from xla_core.hlo.values.shape import Shape

SizeFunction = Callable[[Shape], int]


class BufferClass:
    """The values in one buffer, and their live ranges in order of time."""

    __slots__ = ("read_only", "segments", "size", "values")

    def __init__(self, value: HloValue, size: int, read_only: bool) -> None:
        self.size = size
        self.read_only = read_only
        self.values = [value]
        self.segments: list[tuple[int, int, int, HloValue]] = [
            (start, end, value.id, value) for start, end in value.segments()
        ]


class BufferClasses:
    """A partition of the values of a dataflow analysis into buffers.

    `failures` are the alias edges whose two values cannot share a buffer, since their live ranges overlap. Copy
    insertion inserts a copy for each; after it, the list is empty.
    """

    def __init__(
        self, analysis: HloDataflowAnalysis, size: SizeFunction, can_share: CanShare = can_share_buffer
    ) -> None:
        self.analysis = analysis
        self._can_share = can_share
        aliased = {(a.parameter_number, a.parameter_index) for a in analysis.module.input_output_aliases}
        self._class: dict[HloValue, BufferClass] = {}
        for value in analysis.values:
            read_only = value.kind is ValueKind.CONSTANT or (
                value.kind is ValueKind.PARAMETER and (value.instruction.parameter_number, value.index) not in aliased
            )
            self._class[value] = BufferClass(value, size(value.shape) if value.shape.is_array else 0, read_only)
        self.failures: list[AliasEdge] = [
            edge
            for edge in sorted(analysis.edges, key=lambda e: (e.kind.value, -e.depth))
            if not self.join(edge.source, edge.target)
        ]

    def of(self, value: HloValue) -> BufferClass:
        return self._class[value]

    def classes(self) -> list[BufferClass]:
        """All classes, in the order of their first values."""
        return list({id(c): c for c in self._class.values()}.values())

    def share_operands(self) -> None:
        """Joins each result with an operand that it may overwrite and whose live range ends at the instruction."""
        for value in self.analysis.values:
            if value.kind is not ValueKind.INSTRUCTION or not self._class[value].size:
                continue
            instruction = value.instruction
            for operand in instruction.operands:
                if operand.shape.is_tuple:
                    continue
                source = self.analysis.leaves(operand)[0]
                mine, other = self._class[value], self._class[source]
                if mine is other or mine.size != other.size or source.segments()[-1][1] > value.start:
                    continue
                if self._overwrites(value, source):
                    self.join(source, value)

    def join(self, a: HloValue, b: HloValue) -> bool:
        """Merges the classes of two values. Returns False, and changes nothing, where their live ranges conflict."""
        large, small = self._class[a], self._class[b]
        if large is small:
            return True
        if not large.size and not small.size:
            return True
        if large.read_only or small.read_only or large.size != small.size:
            return False
        if len(large.segments) < len(small.segments):
            large, small = small, large
        if not all(self._fits(segment, large.segments) for segment in small.segments):
            return False
        large.segments = sorted(large.segments + small.segments)
        large.values += small.values
        for value in small.values:
            self._class[value] = large
        return True

    # -- parts -------------------------------------------------------------------------------------------------------

    def _fits(self, segment: tuple[int, int, int, HloValue], others: list[tuple[int, int, int, HloValue]]) -> bool:
        start, end, _, value = segment
        first = bisect_left(others, (start,))
        # The previous segment may end at the instruction where this one begins, if that instruction overwrites its
        # value.
        if first:
            before = others[first - 1]
            if before[1] > start or (before[1] == start and not self._overwrites(value, before[3])):
                return False
        last = bisect_right(others, (end, float("inf")))
        for after_start, _, _, after in others[first:last]:
            if after_start == start or after_start < end or not self._overwrites(after, value):
                return False
        return True

    def _overwrites(self, value: HloValue, operand: HloValue) -> bool:
        """Whether the instruction that defines `value` may write it to the buffer of `operand`, which it reads."""
        if value.kind is not ValueKind.INSTRUCTION:
            return False
        instruction = value.instruction
        if len(value.index) > 1:
            return False
        leaf = value.index[0] if value.index else 0
        places = []
        for number, source in enumerate(instruction.operands):
            leaves = self.analysis.leaves(source)
            if operand in leaves:
                if source.shape.is_tuple:
                    return False
                places.append(number)
        return bool(places) and all(self._can_share(instruction, number, leaf) for number in places)
