"""Verifies a buffer assignment with code that is independent of the code that made it."""

from __future__ import annotations

from collections import defaultdict

from xla_core.analysis.buffer_assignment import AllocationKind, BufferAssignment
from xla_core.analysis.buffer_sharing import CanShare, can_share_buffer
from xla_core.analysis.hlo_value import HloValue, ValueKind
from xla_core.errors import InternalError


def check_buffer_assignment(assignment: BufferAssignment, can_share: CanShare = can_share_buffer) -> None:
    """Checks that a buffer assignment is valid:

    - No two values that are alive at the same time overlap in memory, except a result that may overwrite an operand.
    - Values that must share a buffer have the same slice.
    - No instruction writes to a constant or to a parameter that is not donated.
    - Every slice lies within its allocation, and no two allocations hold the same output.

    Raises:
        InternalError: one of these conditions does not hold.
    """
    slices = assignment.slices
    for value, place in slices.items():
        if place.offset < 0 or place.offset + place.size > place.allocation.size:
            raise InternalError(f"the slice {place} of {value.name} is outside of its allocation")
        owner = place.allocation
        read_only = owner.kind is AllocationKind.CONSTANT or (
            owner.kind is AllocationKind.PARAMETER and owner.output is None
        )
        if read_only and place.size and value.kind not in (ValueKind.PARAMETER, ValueKind.CONSTANT):
            raise InternalError(f"{value.name} would overwrite {owner}")
    for edge in assignment.analysis.edges:
        source, target = slices[edge.source], slices[edge.target]
        if source != target and (source.size or target.size):
            raise InternalError(f"{edge.source.name} and {edge.target.name} must share a buffer but don't")
    outputs = [a.output for a in assignment.allocations if a.output is not None]
    if len(set(outputs)) != len(outputs):
        raise InternalError("two allocations hold one result")
    _check_no_overlap(assignment, can_share)


def _check_no_overlap(assignment: BufferAssignment, can_share: CanShare) -> None:
    starts: dict[int, list[tuple[HloValue, int]]] = defaultdict(list)
    for value, place in assignment.slices.items():
        if place.size:
            for start, end in value.segments():
                starts[start].append((value, end))
    alive: dict[int, list[tuple[HloValue, int]]] = defaultdict(list)  # by allocation
    for time in sorted(starts):
        for value, end in starts[time]:
            place = assignment.slices[value]
            neighbours = [(v, until) for v, until in alive[place.allocation.index] if until >= time]
            for other, until in neighbours:
                if not place.overlaps(assignment.slices[other]):
                    continue
                takes_over = until == time and assignment.slices[other] == place and time == value.start
                if not (takes_over and _may_overwrite(assignment, value, other, can_share)):
                    raise InternalError(
                        f"{value.name} and {other.name} are both alive at {time} and overlap: "
                        f"{place} and {assignment.slices[other]}"
                    )
            neighbours.append((value, end))
            alive[place.allocation.index] = neighbours


def _may_overwrite(assignment: BufferAssignment, value: HloValue, operand: HloValue, can_share: CanShare) -> bool:
    if value.kind is not ValueKind.INSTRUCTION:
        return False
    instruction = value.instruction
    leaf = value.index[0] if value.index else 0
    places = [n for n, o in enumerate(instruction.operands) if operand in assignment.analysis.leaves(o)]
    return bool(places) and all(can_share(instruction, n, leaf) for n in places)
