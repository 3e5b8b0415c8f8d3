"""The arrays that kernels read of each other, and the bitcasts that are views of these arrays."""

from __future__ import annotations

from collections.abc import Collection

from xla_core.analysis.indexing import FusionAccesses, Index, IndexExpr, ReducedRows, RowParts, memory_index
from xla_core.hlo.ir.computation import HloComputation
from xla_core.hlo.ir.fused import fused_instructions, fused_parameters, fused_roots
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.shape import Shape
from xla_core.passes.fusion.index_space import is_elementwise_use
from xla_core.traversal import reachable

Members = Collection[HloInstruction]
"""The instructions of a kernel: fusions, and instructions that are kernels of their own."""


def fits_rows(rows: ReducedRows, members: Members, parts: RowParts | None = None) -> bool:
    """Whether every result of a kernel has one element for each element of the rows, or one for each row.

    With `parts`, results may also be reductions of their columns, which nothing else in the kernel needs.
    """
    alone = (Opcode.DYNAMIC_UPDATE_SLICE, Opcode.CONCATENATE)
    for member in members:
        roots = fused_roots(member)
        others = roots if parts is None else [root for root in roots if not parts.is_column(root)]
        if any(root.opcode in alone or not rows.fits(next(root.shape.leaves())) for root in others):
            return False
        if parts is not None and any(parts.is_column(i) and i not in roots for i in fused_instructions(member)):
            return False
    return True


def reads_its_row(producer: Members, consumer: Members, rows: ReducedRows, parts: RowParts | None = None) -> bool:
    """Whether the consumer reads the producer's results only at the row, or the element of it, that it computes.

    `parts` is as in `fits_rows`.
    """
    place = rows.place_variable

    def at(shape: Shape) -> Index:
        return memory_index(shape, rows.position(shape, IndexExpr.of(place)))

    for reader in consumer:
        read = {n: o for n, o in enumerate(reader.operands) if viewed(o) in producer}
        if not read:
            continue
        if parts is not None and any(parts.is_column(r) for o in read.values() for r in fused_roots(viewed(o))):
            return False  # a part is complete after its last row only
        bound = fused_parameters(reader)
        accesses = FusionAccesses(bound, lambda space, count: [place])
        for root in fused_roots(reader):
            if parts is not None and parts.is_column(root):
                for term, index in parts.terms(root, IndexExpr.of(place)):
                    accesses.visit(term, index)
            else:
                accesses.visit(root, at(next(root.shape.leaves())))
        if any(index != at(o.shape) for number, o in read.items() for index in accesses.indices(bound[number])):
            return False
    return True


def reads_in_step(producer: Members, consumer: Members) -> bool:
    """Whether the consumer reads the producer's results only at the index that it computes itself."""
    for source in producer:
        for reader in consumer:
            for number, operand in enumerate(reader.operands):
                if viewed(operand) is not source:
                    continue
                if operand is not source:
                    return False
                if reader.opcode != Opcode.FUSION:
                    if not is_elementwise_use(reader, operand):
                        return False
                elif not _only_elementwise(fused_parameters(reader)[number]):
                    return False
    return True


def _only_elementwise(parameter: HloInstruction) -> bool:
    def readers(node: HloInstruction) -> list[HloInstruction]:
        return [user for user in node.users if not (user.opcode == Opcode.TUPLE and user.is_root)]

    return all(is_elementwise_use(user, node) for node in reachable([parameter], readers) for user in readers(node))


def is_view(instruction: HloInstruction) -> bool:
    return instruction.opcode == Opcode.BITCAST and instruction.shape.is_array


def viewed(instruction: HloInstruction) -> HloInstruction:
    """Follows a chain of bitcasts, which are views of one array, to the instruction that computes the array."""
    while is_view(instruction):
        instruction = instruction.operand(0)
    return instruction


def with_views(computation: HloComputation, members: list[HloInstruction]) -> list[HloInstruction]:
    """Moves bitcasts into a kernel, and returns its members with these bitcasts.

    A bitcast moves if the kernel computes its array, or reads the array in several shapes. The kernel gets a copy of
    the bitcast, so that the array is one operand or one result of it.
    """
    inside = set(members)
    shapes: dict[HloInstruction, set[HloInstruction]] = {}
    for operand in (o for member in members for o in member.operands):
        shapes.setdefault(viewed(operand), set()).add(operand)
    views: dict[HloInstruction, HloInstruction] = {}
    for member in members:
        for number, operand in enumerate(member.operands):
            source = viewed(operand)
            if operand is source or not (source in inside or len(shapes[source]) > 1):
                continue
            if operand not in views:
                views[operand] = computation.add_instruction(operand.clone([source]))
            member.replace_operand(number, views[operand])
    for unused in views:
        while unused in computation and is_view(unused) and not unused.user_count and not unused.is_root:
            following = unused.operand(0)
            computation.remove(unused)
            unused = following
    return [*members, *views.values()]
